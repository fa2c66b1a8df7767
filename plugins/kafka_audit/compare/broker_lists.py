"""How the list of brokers of a view differs from the brokers that are registered."""

from collections.abc import Collection, Mapping
from enum import Enum

from kafka_audit.compare.addresses import HostPort, is_among


class ListDifference(Enum):
    """How a list differs about one broker; the value is for a sentence about a view, the worst first."""

    NOTHING = "lists no broker"
    MISSING = "not listed"
    ELSEWHERE = "listed at another address than registered"
    UNREGISTERED = "listed, and not registered"


def list_differences(
    registered: Mapping[int, Collection[HostPort]], listed: Mapping[int, HostPort], *, empty: bool = False
) -> Mapping[int, ListDifference]:
    """Return the brokers about which a list differs, and how; no entry where it agrees.

    Args:
        registered: the addresses of each broker that belongs into the list; none where only its presence can be compared.
        listed: the address of each broker in the list.
        empty: the view lists no broker at all.
    """
    found = {}
    for broker, addresses in registered.items():
        address = listed.get(broker)
        if address is None:
            found[broker] = ListDifference.NOTHING if empty else ListDifference.MISSING
        elif addresses and not is_among(address, addresses):
            found[broker] = ListDifference.ELSEWHERE
    return found | dict.fromkeys(listed.keys() - registered.keys(), ListDifference.UNREGISTERED)

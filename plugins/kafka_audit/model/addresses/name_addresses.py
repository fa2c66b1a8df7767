"""Whether another broker answers than the one that was meant, and which addresses of a name a client takes in vain. Pure."""

from collections.abc import Iterable

from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import AddressProbe, BrokerIdentity, Probe


def answers_for_another(row: AddressProbe | BrokerIdentity | Probe) -> bool:
    """Return whether a broker answers at an address that another one advertises; at one of no broker, any may."""
    return row.broker_id >= 0 and row.answered_by not in {None, row.broker_id}


def leads_there(row: AddressProbe) -> bool:
    """Return whether a broker answers at an address, as far as is known the one that advertises the name."""
    return row.outcome == "ok" and not answers_for_another(row)


def taken_in_vain(rows: Iterable[AddressProbe]) -> list[AddressProbe]:
    """Return the addresses that fail a client.

    Java takes the addresses of one family only, by default IPv4 (`ClientUtils.filterPreferredAddresses`): an IPv6 address that
    leads nowhere counts beside another one that leads there. An address without a route from the vantage says nothing.
    """
    rows = list(rows)
    with_ipv6 = {_name(row) for row in rows if ":" in row.address and leads_there(row)}
    return [row for row in rows if not leads_there(row) and (row.outcome == "ok" or _is_tried(row, _name(row) in with_ipv6))]


def _is_tried(row: AddressProbe, with_ipv6: bool) -> bool:  # noqa: FBT001 -- of one caller
    return row.failure is not ReadFailure.NETWORK_UNREACHABLE and (":" not in row.address or with_ipv6)


def _name(row: AddressProbe) -> tuple[str, int | None, int, str]:
    return row.vantage, row.from_broker, row.broker_id, row.listener

"""Which broker ids are kept where parties name more than `limits.brokers`. Pure.

Any party can name any number of ids, and an id means nothing: what is kept depends on who vouches for it. Between those who
vouch for ids in the same way it goes in turn, so the list of one party, however long, takes nothing away from another's share.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from types import MappingProxyType

_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Vouchers:
    """Broker ids by who vouches for them; the order of each list and of the parties counts, the first are kept first.

    Attributes:
        named: ids at addresses in the cluster file, one for each address: the owner vouches for them.
        registered: ids in /brokers/ids, or in the registry of the KRaft quorum.
        long_known: ids of earlier snapshots or readings, those known longest first.
        claimed: ids that other parties name: lists of brokers, replicas, leaders; by party.
    """

    named: Collection[int] = ()
    registered: Collection[int] = ()
    long_known: Collection[int] = ()
    claimed: Mapping[str, Collection[int]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, kw_only=True)
class KeptBrokers:
    """The ids that are kept, those with the best vouchers first, and what was left out.

    Attributes:
        ids: kept, at most as many as allowed.
        cut: how many different ids were left out.
        first_cut: the first ten of them.
    """

    ids: tuple[int, ...]
    cut: int
    first_cut: tuple[int, ...]

    @property
    def message(self) -> str:
        """Which ids were left out, for the one row that says so."""
        shown = ", ".join(map(str, self.first_cut))
        more = ", …" if self.cut > len(self.first_cut) else ""
        return f"{self.cut} of {self.cut + len(self.ids)} broker ids are left out: {shown}{more}"


def keep_brokers(most: int, vouchers: Vouchers) -> KeptBrokers:
    """Return at most so many of the ids.

    First come those that the cluster file names, then those that are registered and long known, then those that are one of both,
    then what several parties claim, then what one party claims.
    """
    found: dict[int, None] = {}
    known = frozenset(vouchers.long_known)
    claimed = [sorted(set(ids)) for ids in vouchers.claimed.values()]  # their order differs between answers of one broker
    parties = Counter(chain.from_iterable(claimed))
    _take(found, [vouchers.named])
    _take(found, [[broker for broker in vouchers.registered if broker in known]])
    _take(found, [vouchers.registered, vouchers.long_known])
    _take(found, [[broker for broker in ids if parties[broker] > 1] for ids in claimed])
    _take(found, claimed)
    ids = tuple(islice(found, most))
    return KeptBrokers(ids=ids, cut=len(found) - len(ids), first_cut=tuple(islice(found, most, most + _SHOWN)))


def _take(found: dict[int, None], lists: Iterable[Iterable[int]]) -> None:
    """Add the ids of these lists in turn: from each the next one that is not there yet."""
    waiting = deque(map(iter, lists))
    while waiting:
        ids = waiting.popleft()
        broker = next((broker for broker in ids if broker not in found), None)
        if broker is not None:
            found[broker] = None
            waiting.append(ids)

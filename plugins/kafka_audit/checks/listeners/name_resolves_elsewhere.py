"""KA317."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeVar

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.hosts import canonical_host, is_number
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ControllerProbe, ControllerProbeFromBroker, Probe, Row, VoterProbe
from kafka_audit.model.text import listing

_R = TypeVar("_R", bound=Row)


class _Place(NamedTuple):
    """Where a name was resolved."""

    vantage: str
    kind: str = ""  # of the node on whose host: broker or controller
    node: int = -1

    def __str__(self) -> str:
        return f"{self.vantage} at {self.kind} {self.node}" if self.kind else self.vantage


_Resolved = tuple[_Place, str, tuple[str, ...]]
"""Where a name was resolved, the name, and its addresses."""


class _RowsOf(Protocol):
    """Returns the rows of a table in one sample of one snapshot."""

    def __call__(self, table: type[_R], /) -> tuple[_R, ...]: ...


@check(code="KA317", severity=Severity.INFO)
def name_resolves_elsewhere(view: ClusterView) -> Iterator[Judgement]:
    """An advertised name of a broker or controller resolves to other addresses than in the previous snapshot."""
    now, earlier = _resolved(view.newest), _resolved(view.earlier)
    compared = now.keys() & earlier.keys()
    moved = sorted(key for key in compared if not now[key] & earlier[key])
    if moved:
        texts = [
            f"{host} ({place}) from {listing(sorted(earlier[place, host]), 2)} to {listing(sorted(now[place, host]), 2)}"
            for place, host in moved
        ]
        hosts = tuple(dict.fromkeys(host for _, host in moved))
        evidence = {"count": len(hosts), "compared": len({host for _, host in compared}), "hosts": hosts}
        nodes = tuple(sorted({place.node for place, _ in moved if place.kind}))
        evidence |= {"nodes": nodes} if nodes else {}
        yield view.judge("KA317", "cluster", Status.FAIL, evidence, names=listing(texts, 3))
    elif compared:
        yield view.judge("KA317", "cluster", Status.PASS, compared=len(compared))
    elif earlier and not now:
        error, needs = "no advertised name resolved", "a vantage that resolves the advertised names"
        yield view.judge("KA317", "cluster", Status.UNKNOWN, error=error, needs=needs)
    else:
        reason = "no previous snapshot" if view.previous is None else "no name was probed in both snapshots"
        yield view.judge("KA317", "cluster", Status.NOT_APPLICABLE, reason=reason)


def _resolved(rows_of: _RowsOf) -> Mapping[tuple[_Place, str], frozenset[str]]:
    """Return addresses by place and name; addresses that are advertised as such are no names."""
    found: dict[tuple[_Place, str], frozenset[str]] = {}
    for place, name, addresses in (*_of_brokers(rows_of(Probe)), *_of_controllers(rows_of)):
        host = canonical_host(name)
        if addresses and not is_number(host):
            found[place, host] = found.get((place, host), frozenset()) | {*addresses}
    return found


def _of_brokers(probes: Iterable[Probe]) -> Iterator[_Resolved]:
    for probe in probes:
        if probe.layer == "dns" and probe.outcome == "ok" and probe.via is None:
            yield _place(probe.vantage, "broker", probe.from_broker), probe.host, probe.addresses


def _of_controllers(rows_of: _RowsOf) -> Iterator[_Resolved]:
    for asked in rows_of(ControllerProbe):
        if asked.via is None:
            yield _Place(WORKER), asked.address.rpartition(":")[0], asked.addresses
    for probe in rows_of(ControllerProbeFromBroker):
        yield _place(probe.vantage, "broker", probe.from_broker), probe.address.rpartition(":")[0], probe.addresses
    for voter in rows_of(VoterProbe):
        if voter.via is None:
            yield _place(voter.vantage, "controller", voter.from_controller), voter.address.rpartition(":")[0], voter.addresses


def _place(vantage: str, kind: str, node: int | None) -> _Place:
    return _Place(vantage) if node is None else _Place(vantage, kind, node)

"""The addresses that each vantage resolved for the names of brokers and controllers, now and in the previous snapshot."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_host, is_number
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.tables import ControllerProbe, ControllerProbeFromBroker, Probe, Row, VoterProbe

_R = TypeVar("_R", bound=Row)


class ResolvingPlace(NamedTuple):
    """Where a name was resolved."""

    vantage: str
    kind: str = ""  # of the node on whose host: broker or controller
    node: int = -1

    def __str__(self) -> str:
        """Return it as a finding names it."""
        return f"{self.vantage} at {self.kind} {self.node}" if self.kind else self.vantage


_Resolved = tuple[ResolvingPlace, str, tuple[str, ...]]
"""Where a name was resolved, the name, and its addresses."""


class _RowsOf(Protocol):
    """Returns the rows of a table in one sample of one snapshot."""

    def __call__(self, table: type[_R], /) -> tuple[_R, ...]: ...


class ResolvedNames:
    """Addresses by place and name."""

    def __init__(self, view: ClusterView) -> None:
        """Take the view."""
        self._view = view

    @cached_property
    def now(self) -> Mapping[tuple[ResolvingPlace, str], frozenset[str]]:
        """Those of the newest sample."""
        return _resolved(self._view.newest)

    @cached_property
    def earlier(self) -> Mapping[tuple[ResolvingPlace, str], frozenset[str]]:
        """Those of the previous snapshot."""
        return _resolved(self._view.earlier)


def _resolved(rows_of: _RowsOf) -> Mapping[tuple[ResolvingPlace, str], frozenset[str]]:
    """Return addresses by place and name; addresses that are advertised as such are no names."""
    found: dict[tuple[ResolvingPlace, str], frozenset[str]] = {}
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
            yield ResolvingPlace(WORKER), asked.address.rpartition(":")[0], asked.addresses
    for probe in rows_of(ControllerProbeFromBroker):
        yield _place(probe.vantage, "broker", probe.from_broker), probe.address.rpartition(":")[0], probe.addresses
    for voter in rows_of(VoterProbe):
        if voter.via is None:
            yield _place(voter.vantage, "controller", voter.from_controller), voter.address.rpartition(":")[0], voter.addresses


def _place(vantage: str, kind: str, node: int | None) -> ResolvingPlace:
    return ResolvingPlace(vantage) if node is None else ResolvingPlace(vantage, kind, node)


def reached_at(view: ClusterView) -> Mapping[int, frozenset[str]]:
    """Return the addresses of each node; a name that no vantage resolved stays a name."""
    resolved: defaultdict[str, set[str]] = defaultdict(set)
    for (_, name), addresses in view.derived(ResolvedNames).now.items():
        resolved[name] |= addresses
    hosts = [(endpoint.broker_id, endpoint.host) for endpoint in view.endpoints.known]
    hosts += [(voter, host) for voter, (host, _) in view.voter_addresses.items()]
    found: defaultdict[int, frozenset[str]] = defaultdict(frozenset)
    for node, host in hosts:
        found[node] |= resolved.get(canonical_host(host)) or {host}
    return found

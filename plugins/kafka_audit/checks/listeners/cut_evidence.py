"""Evidence for and against a cut between brokers: probes, views of brokers, followers out of the ISR, other causes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from kafka_audit.checks.run import said
from kafka_audit.cluster.view import AdvertisedEndpoint, ClusterView, Layer, ProbeResult
from kafka_audit.differences.tables import ReplicaGap
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import LogLine

_NETWORK = ("closed", "moving", "open", "unknown")
"""How a side reaches an endpoint on the network; where several probes of one side differ, the first of these counts."""

_RIGHT = "KA401 (no ClusterAction for the inter-broker principal)"
_LOGIN = "KA412 (a refused inter-broker login)"


@dataclass(frozen=True, kw_only=True)
class Sides:
    """How brokers' own hosts reach an endpoint: dns and tcp alone. Ids are sorted."""

    closed: tuple[int, ...]  # in both samples
    moving: tuple[int, ...]  # failed in one sample
    open: tuple[int, ...]
    failed: Layer | None  # of the first closed side, the controller's where that is closed
    vantage: str | None
    needs: str | None  # what would let a side be measured that could not


@dataclass(frozen=True, kw_only=True)
class ViewSymptom:
    """A broker's own view is empty or stale, as the controller leaves it when it cannot reach the broker."""

    settled: bool
    empty: bool


@dataclass(frozen=True, kw_only=True)
class Rivals:
    """Causes with the symptoms of a cut: those that another check found, and those that are not ruled out."""

    found: tuple[str, ...]
    open: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CutEvidence:
    """All that KA302 weighs of one broker."""

    broker: int
    controller: int | None
    listener: str | None  # on which it receives other brokers; None where that is unknown
    endpoint: AdvertisedEndpoint | None  # of that listener; None where it is unknown
    answered: bool  # the broker gave a view
    sides: Sides
    unmeasured: tuple[int, ...]  # brokers whose side is not measured open
    symptom: ViewSymptom | None  # None too where the controller's side is measured open
    absent: tuple[int, ...]  # followers in the ISR of nothing that it leads, without another reason, not measured open
    broken: bool  # its view is wrong, or a follower whose side is closed is out of an ISR
    rivals: Rivals

    @property
    def resource(self) -> str:
        """The endpoint, or the broker where that is unknown."""
        return f"broker/{self.broker}" if self.endpoint is None else self.endpoint.resource


class Cuts:
    """The evidence of one view, by broker."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; nothing is computed yet."""
        self._view = view
        self._between = view.inter_broker
        self._logs = view.logs
        self._controller = view.controller

    def of(self, broker: int) -> CutEvidence:
        """Return the evidence for and against a cut of a registered broker."""
        listener = self._between.listener(broker)
        name = None if listener is None else listener.name
        endpoint = None if name is None else self._endpoints.get((broker, name))
        sides = self._sides(() if endpoint is None else self._probes.get((broker, endpoint.listener), ()))
        symptom, gaps = self._symptoms.get(broker), self._gaps.get(broker, ())
        behind = {gap.replica for gap in gaps if self._lasts(gap)}
        return CutEvidence(
            broker=broker,
            controller=self._controller,
            listener=name,
            endpoint=endpoint,
            answered=broker in self._answered,
            sides=sides,
            unmeasured=tuple(sorted(self._view.brokers.keys() - set(sides.open))),
            symptom=None if self._controller in sides.open else symptom,
            absent=tuple(sorted({gap.replica for gap in gaps if self._is_absent(gap)} - set(sides.open))),
            broken=(symptom is not None and symptom.settled) or bool(behind & set(sides.closed)),
            rivals=self._rivals(broker, endpoint),
        )

    def logged(self, cut: CutEvidence, sources: Iterable[int]) -> LogLine | None:
        """Return a line in which a broker that is thought to be cut off from this one says so itself."""
        wanted, listener = set(sources), None if cut.endpoint is None else cut.endpoint.listener
        lines = self._logs.counting("KA302", cut.broker, listener)
        return next((row for row in lines if not wanted or row.broker_id in wanted), None)

    @cached_property
    def _endpoints(self) -> Mapping[tuple[int, str], AdvertisedEndpoint]:
        # In KRaft only settings name a listener that brokers keep to themselves: no client is given its address.
        every = (*self._view.endpoints.all, *self._view.advertised)
        return {(endpoint.broker_id, endpoint.listener): endpoint for endpoint in every}

    @cached_property
    def _answered(self) -> frozenset[int]:
        return frozenset(
            int(observer.name) for observer in self._view.observers if observer.answered and observer.name.isdecimal()
        )

    @cached_property
    def _probes(self) -> Mapping[tuple[int, str], list[ProbeResult]]:
        found: dict[tuple[int, str], list[ProbeResult]] = defaultdict(list)
        for probe in self._view.probes:
            if probe.role == "broker" and probe.from_broker is not None:
                found[probe.broker_id, probe.listener].append(probe)
        return found

    def _sides(self, probes: Iterable[ProbeResult]) -> Sides:
        worst: dict[int | None, ProbeResult] = {}
        needs = [probe.unknown.needs for probe in probes if probe.unknown is not None and probe.unknown.needs is not None]
        for probe in sorted(probes, key=lambda probe: _NETWORK.index(probe.network)):
            worst.setdefault(probe.from_broker, probe)
        by_network: dict[str, list[int]] = defaultdict(list)
        for source, probe in worst.items():
            if source is not None:
                by_network[probe.network].append(source)
        closed = sorted(by_network["closed"], key=lambda source: (source != self._controller, source))
        first = min((source for source in worst if source is not None), default=None)
        return Sides(
            closed=tuple(sorted(closed)),
            moving=tuple(sorted(by_network["moving"])),
            open=tuple(sorted(by_network["open"])),
            failed=worst[closed[0]].failed if closed else None,
            vantage=None if first is None else worst[first].vantage,
            needs=max(needs, default=None),
        )

    @cached_property
    def _symptoms(self) -> Mapping[int, ViewSymptom]:
        """Symptoms by broker. Without a controller, no broker receives updates."""
        found: dict[int, ViewSymptom] = {}
        for observer in self._view.observers if self._controller is not None else ():
            matters = (self._view.disagreement(observer.name, matter) for matter in ("leader", "no_leader"))
            signs = [disagreement for disagreement in matters if disagreement is not None]
            listed = self._view.disagreement(observer.name, "broker")
            if listed is not None and listed.empty:
                signs.append(listed)
            if signs and observer.name.isdecimal():
                settled, empty = (
                    any(disagreement.settled for disagreement in signs),
                    any(disagreement.empty for disagreement in signs),
                )
                found[int(observer.name)] = ViewSymptom(settled=settled, empty=empty)
        return found

    @cached_property
    def _gaps(self) -> Mapping[int, list[ReplicaGap]]:
        found: dict[int, list[ReplicaGap]] = defaultdict(list)
        for gap in self._view.differences.of(ReplicaGap):
            found[gap.leader].append(gap)
        return found

    def _lasts(self, gap: ReplicaGap) -> bool:
        return gap.repeated and self._view.steady

    def _is_absent(self, gap: ReplicaGap) -> bool:
        """Return whether a follower that replicates elsewhere is in the ISR of nothing that the leader leads.

        A follower that has just restarted is catching up. In KRaft, the time of registration is unknown, so the leader must have
        no follower. A follower with a wrong view does not know its leader, and one with a failed disk cannot follow.
        """
        follower = self._view.brokers.get(gap.replica)
        created, oldest = None if follower is None else follower.created, gap.oldest_version
        cut_later = gap.leader_alone if created is None or oldest is None else created < oldest
        works = gap.follows_others and not gap.listed_offline and gap.replica not in self._symptoms
        return self._lasts(gap) and gap.in_sync == 0 and works and cut_later

    def _rivals(self, broker: int, endpoint: AdvertisedEndpoint | None) -> Rivals:
        """A missing right needs an authorizer, a refused login needs a login."""
        right = {judgement.status for judgement in said(self._view, "KA401") if judgement.resource == f"broker/{broker}"}
        login = {
            judgement.status
            for judgement in said(self._view, "KA412")
            if endpoint is not None and judgement.resource == endpoint.resource
        }
        no_authorizer = self._between.authorizer(broker).state == "unset"
        no_login = endpoint is not None and endpoint.protocol == "PLAINTEXT"
        named = ((_RIGHT, right, no_authorizer), (_LOGIN, login, no_login))
        found = tuple(name for name, statuses, _ in named if Status.FAIL in statuses)
        excluded = {name for name, statuses, out in named if out or statuses & {Status.PASS, Status.NOT_APPLICABLE}}
        return Rivals(found=found, open=tuple(name for name, *_ in named if name not in {*found, *excluded}))

"""What causes read of one view, computed once: paths, rights, logins and log lines of an edge."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.cluster.throttles import throttled_topics
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import FollowedLeader
from kafka_audit.faults.authorizers import Pair, pairs_at
from kafka_audit.faults.edges import COORDINATE, FOLLOW, Edge, Edges, Effect
from kafka_audit.faults.serve_edges import ServeEdges
from kafka_audit.model.tables import AuthorityCertificate, Certificate, LogLine, Probe, SourceRead
from kafka_audit.says.signs import shown_by

_WORST_FIRST = ("closed", "moving", "open", "unknown")
"""How a host reaches an endpoint; where several probes of one host differ, the first of these counts."""


@dataclass(frozen=True, kw_only=True)
class Paths:
    """The hosts by how they reach an endpoint. Ids are sorted."""

    closed: tuple[int, ...]  # in both samples
    moving: tuple[int, ...]  # failed in one sample
    open: tuple[int, ...]
    losing: tuple[int, ...]  # open; in both samples a large request got no answer and a small one did
    failed: Mapping[int, Probe]  # of each closed one
    vantage: str | None
    needs: str | None  # what would let a host be measured that could not

    @property
    def whole(self) -> frozenset[int]:
        """The hosts that reach it, and lose nothing."""
        return frozenset(self.open) - {*self.losing}

    def fails(self, source: int) -> bool:
        """Return whether a host does not reach it, or loses large packets, in both samples."""
        return source in {*self.closed, *self.losing}


def paths(probes: Iterable[ProbeResult]) -> Paths:
    """Return how the hosts of brokers reach an endpoint, from all probes of it."""
    worst: dict[int, ProbeResult] = {}
    asked = [probe for probe in probes if probe.role == "broker" and probe.from_broker is not None]
    needs = [probe.unknown.needs for probe in asked if probe.unknown is not None and probe.unknown.needs is not None]
    for probe in sorted(asked, key=lambda probe: _WORST_FIRST.index(probe.network)):
        if probe.from_broker is not None:
            worst.setdefault(probe.from_broker, probe)
    by_network: dict[str, list[int]] = defaultdict(list)
    for source in sorted(worst):
        by_network[worst[source].network].append(source)
    failed = {source: layer for source in by_network["closed"] if (layer := worst[source].failed) is not None}
    return Paths(
        closed=tuple(by_network["closed"]),
        moving=tuple(by_network["moving"]),
        open=tuple(by_network["open"]),
        losing=tuple(source for source in by_network["open"] if _loses(worst[source])),
        failed=failed,
        vantage=worst[min(worst)].vantage if worst else None,
        needs=max(needs, default=None),
    )


def _loses(probe: ProbeResult) -> bool:
    return probe.repeated and probe.failed is not None and probe.failed.layer == "packets"


_LIMITS = ("max.connections.per.ip", "max.connections.per.ip.overrides", "max.connections", "max.connection.creation.rate")
_ANOTHER_KEY = "certificate signature failure"  # of OpenSSL: the auditor trusts another key of that name
_NO_LIMIT = {None, "", "2147483647"}

PROMPT_MS, SLOW_MS, TIMES = 1_000, 2_000, 10
"""An answer is prompt up to the first, and late from the second on if it also takes so many times the usual."""


class Facts:
    """The facts of one view; each is computed when it is first asked for."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; nothing is read yet."""
        self.view = view
        self.between = view.inter_broker
        self.edges = Edges(view)
        self._paths: dict[tuple[int, str], Paths] = {}
        self._rights: dict[int, tuple[Pair, ...]] = {}
        self._certificates: dict[str, Mapping[int, Certificate]] = {}

    def paths(self, broker: int, listener: str) -> Paths:
        """Return how brokers' hosts reach a listener of a broker."""
        key = (broker, listener)
        if key not in self._paths:
            self._paths[key] = paths(self.view.probes_of(broker, listener))
        return self._paths[key]

    def cut_from(self, broker: int) -> tuple[int, ...]:
        """Return the brokers from whose hosts probes of another one's address fail in both samples, and count.

        Where nothing is broken that they explain, those count that reach their own broker, if one host reaches the other one:
        a vantage that is on one other host for all of them fails alike for each, the other broker's own host among them.
        """
        paths = self.used_paths(broker)
        if self._all_count(broker):
            return paths.closed
        return self.at_their_brokers(paths.closed) if paths.whole else ()

    def reached(self, broker: int) -> tuple[Edge, ...]:
        """Return the edges that end at a broker; before them that of all whose probes count (`cut_from`), where one failed.

        Where some have no effect, the others say nothing of these: a follower's log measures no cut from the controller.
        """
        every_edge, listener = self.edges.into(broker), self.between.listener(broker)
        edges = tuple(edge for edge in every_edge if edge.effect.state == "missing") or every_edge
        every = () if listener is None else self.view.probes_of(broker, listener.name)
        probes = {probe.from_broker: probe.failed for probe in every if probe.role == "broker" and probe.from_broker is not None}
        if not any(probes.values()):
            return edges
        sources = sorted(probes)
        paths, all_count = self.used_paths(broker), self._all_count(broker)
        at_home = {*self.at_their_brokers(sources)} if all_count or paths.whole else set()
        counting = tuple(source for source in sources if source in at_home or (all_count and source not in paths.losing))
        return (replace(edges[-1], sources=counting, effect=Effect(state="unknown")), *edges) if counting else edges

    def at_their_brokers(self, sources: Iterable[int]) -> tuple[int, ...]:
        """Return those of these brokers that their own probes reach, and lose nothing: others do not start on that host."""
        return tuple(source for source in sources if source in self.used_paths(source).whole)

    def is_lost(self, broker: int) -> bool:
        """Return whether no host connects to the address that brokers use of a broker, its own host and clients included."""
        endpoint = self.edges.into(broker)[0].endpoint
        return endpoint is not None and self.view.derived(ServeEdges).is_lost(endpoint)

    def _all_count(self, broker: int) -> bool:
        """Return whether each failed probe of a broker counts, from wherever it was made."""
        closed = self.used_paths(broker).closed
        return self.is_broken(broker, closed) or self._is_unused(broker, closed)

    def _is_unused(self, broker: int, closed: Collection[int]) -> bool:
        """Return whether no host connects to a KRaft broker that no other follows, so that nothing can be missing by it yet.

        Of a listener that clients use, too, their probes say it.
        """
        endpoint = self.edges.into(broker)[0].endpoint
        if not self.between.kraft or endpoint is None or not closed or self.followers(broker) or not self.is_lost(broker):
            return False
        of_clients = any(edge.of_clients for edge in self.view.derived(ServeEdges).to(endpoint))
        return not of_clients and all(map(self.is_where_it_was, closed))

    def followers(self, broker: int) -> frozenset[int]:
        """Return who is in the ISR of something that a broker leads: their fetches pass."""
        return self._followers.get(broker, frozenset())

    @cached_property
    def _followers(self) -> Mapping[int, frozenset[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        for row in self.view.differences.of(FollowedLeader):
            for leader in row.leaders:
                found[leader].add(row.broker_id)
        return {leader: frozenset(followers) for leader, followers in found.items()}

    def is_where_it_was(self, source: int) -> bool:
        """Return whether nothing shows that the vantage of a broker is on another host.

        It reaches its own broker, or did in the previous audit; or no host reaches that, and it reaches each other one.
        """
        others = [broker for broker in self.between.brokers if broker != source and not self.is_lost(broker)]
        return source in {*self.at_their_brokers((source,)), *self._at_home_earlier} or (
            self.is_lost(source) and bool(others) and all(source in self.used_paths(broker).open for broker in others)
        )

    @cached_property
    def _at_home_earlier(self) -> frozenset[int]:
        rows = (row for row in self.view.earlier(Probe) if row.role == "broker" and row.from_broker == row.broker_id)
        return frozenset(row.broker_id for row in rows if row.layer == "tcp" and row.outcome == "ok")

    def used_paths(self, broker: int) -> Paths:
        """Return how brokers' hosts reach the address that brokers use of a broker."""
        listener = self.between.listener(broker)
        return self.paths(broker, "" if listener is None else listener.name)

    def is_broken(self, broker: int, closed: Collection[int]) -> bool:
        """Return whether something is broken that these closed paths to a broker explain."""
        control, controller = self.edges.control(broker).state, self.view.controller
        lost = self.edges.behind(broker) & {*closed}
        return control == "missing" or bool(lost) or (control == "unknown" and controller in closed)

    def rights(self, broker: int) -> tuple[Pair, ...]:
        """Return what a broker's authorizer says of each principal that brokers appear as; nothing without an authorizer."""
        if broker not in self._rights:
            self._rights[broker] = tuple(pairs_at(self.view, broker)) if self.between.authorizer(broker).value else ()
        return self._rights[broker]

    def let_in_again(self, broker: int) -> bool:
        """Return whether ACLs allow now what a broker refused since its start: what is sent next arrives, the rest never does.

        Without the registrations it is not known whose refused requests count: each line may.
        """
        pairs, logs = self.rights(broker), self.view.logs
        allowed = bool(pairs) and all(pair.allowed for pair in pairs) and any(pair.acl for pair in pairs)
        lines = logs.lines_of("KA401", broker) if self.view.gap("brokers") else logs.counting("KA401", broker)
        return allowed and bool(lines)

    def users(self, edge: Edge) -> tuple[int, ...]:
        """Return the sources of an edge that use the listener where it ends; where it names none, all that do."""
        users = () if edge.listener is None else self.between.users.get(edge.listener.name, ())
        return tuple(user for user in users if not edge.sources or user in edge.sources)

    def lines(self, edge: Edge, code: str) -> tuple[LogLine, ...]:
        """Return the lines of logs that count and show the fault of a check on an edge, of its sources where these are known."""
        if edge.kind in {FOLLOW, COORDINATE}:
            logs = self.view.logs
            own = logs.to_controllers(edge.target) if edge.kind == FOLLOW else logs.to_zookeeper(edge.target)
            return tuple(row for row in own if shown_by(row) == code)
        found = self.view.logs.counting(code, edge.target, None if edge.listener is None else edge.listener.name)
        return tuple(row for row in found if not edge.sources or self._concerns(row, edge))

    def log_was_read(self, broker: int) -> bool:
        """Return whether a log of a broker was read: what it does not report did not happen, or not lately."""
        return any(read.outcome == "answered" for read in self.view.reads.of_logs.get(broker, ()))

    def _concerns(self, row: LogLine, edge: Edge) -> bool:
        refused = {*self.view.logs.refused(row)}
        return bool(refused & {*edge.sources}) or refused == {edge.target} == {row.broker_id}

    def symptom(self, broker: int) -> str | None:
        """Return what shows in two samples that a broker does not get what its controller or its followers exchange with it."""
        missing = (edge.effect.text for edge in self.edges.into(broker) if edge.effect.state == "missing")
        return next(missing, None)

    def accepted(self, broker: int) -> str | None:
        """Return how it is known that a broker let its controller in: its view is filled and up to date. Not in KRaft."""
        effect = self.edges.control(broker)
        return effect.text if effect.state == "works" else None

    def limits(self, broker: int, listener: str) -> Mapping[str, str] | None:
        """Return the limits on connections that a broker sets, by key; None where its settings do not say all."""
        read = {key: self.between.settings.running_at(broker, listener, key) for key in _LIMITS}
        limits = {key: setting.value for key, setting in read.items() if setting.value not in _NO_LIMIT}
        return (
            {key: value or "" for key, value in limits.items()}
            if limits or all(setting.known for setting in read.values())
            else None
        )

    @cached_property
    def has_throttled_topics(self) -> bool | None:
        """Whether a topic names replicas to be throttled; None where not every topic's settings were read."""
        if throttled_topics(self.view):
            return True
        gap = self.view.min_isr_gap
        return None if gap is not None and gap.topics_unread else False

    @cached_property
    def slowest_ms(self) -> Mapping[int, int]:
        """The longest that each broker took for an answer, in all samples."""
        times = {broker: [read.elapsed_ms for read in reads if read.timed] for broker, reads in self.reads.items()}
        return {broker: max(own) for broker, own in times.items() if own}

    @cached_property
    def usual_ms(self) -> float:
        """The median of what all brokers took for an answer; 0 without any."""
        times = [read.elapsed_ms for reads in self.reads.values() for read in reads if read.timed]
        return median(times) if times else 0

    def certificates(self, listener: str) -> Mapping[int, Certificate]:
        """Return the certificate that each broker presents on a listener."""
        if listener not in self._certificates:
            shown = {broker: self.view.logins.certificate(broker, listener) for broker in self.between.brokers}
            self._certificates[listener] = {broker: row for broker, row in shown.items() if row is not None}
        return self._certificates[listener]

    def are_signed_alike(self, one: Certificate, other: Certificate) -> bool | None:
        """Return whether one key signed two certificates; None if unknown. A CA that gets a new key often keeps its name."""
        if one.issuer_key and other.issuer_key:
            return one.issuer_key == other.issuer_key
        if one.issuer != other.issuer:
            return False
        if one.trusted and other.trusted:  # by the only certificate of that name that the auditor has
            return self._authorities[one.issuer] == 1 or None
        differ = one.trusted != other.trusted and _ANOTHER_KEY in {one.error, other.error}
        return False if differ else None

    @cached_property
    def _authorities(self) -> Counter[str]:
        rows = self.view.of(AuthorityCertificate)
        last = max((row.sample for row in rows), default=0)
        return Counter(row.subject for row in rows if row.sample == last)

    @cached_property
    def accepting(self) -> tuple[int, ...]:
        """The brokers that are known to have let their controller in. None in KRaft."""
        return tuple(broker for broker in self.between.brokers if self.edges.control(broker).state == "works")

    @cached_property
    def reads(self) -> Mapping[int, tuple[SourceRead, ...]]:
        """Every read of each broker and controller, of all samples; at an unlisted address, of the one that answered there."""
        answering = {f"broker@{address}": broker for address, broker in self.view.answering_elsewhere.items()}
        found: dict[int, list[SourceRead]] = {}
        for read in self.view.of(SourceRead):
            kind, _, name = read.observer.partition(":")
            broker = int(name) if kind in {"broker", "controller"} and name.isdigit() else answering.get(read.observer)
            if broker is not None:
                found.setdefault(broker, []).append(read)
        return {broker: tuple(reads) for broker, reads in found.items()}


def facts_of(view: ClusterView) -> Facts:
    """Return the facts of a view, the same ones each time."""
    return view.derived(Facts)

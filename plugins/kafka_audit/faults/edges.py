"""Edges between brokers: who must reach whom, to do what, at which address, and whether what it is for happens."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from kafka_audit.cluster.answers.broker_reads import denied_twice
from kafka_audit.cluster.answers.observers import Observer
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.cluster.disagreements import NEVER_SETTLE, PARTITIONS, Disagreement
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.inter_broker import Listener
from kafka_audit.cluster.quorum import NO_TIMES, seconds
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.connect_strings import servers_of
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.differences.tables import ReplicaGap
from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.tables import BrokerIdentity, LeadershipAnswer
from kafka_audit.model.text import brokers
from kafka_audit.progress.rows import progress_of

CONTROL, REPLICATE, FOLLOW, COORDINATE = "control", "replicate", "follow", "coordinate"
"""What is to be done: the controller sends a broker what it decided (ZooKeeper mode); a follower fetches from its leader; a
broker fetches from its controllers (KRaft), or keeps its session and registration in ZooKeeper."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Whether what an edge is for happens.

    `state` is `works` (a fresh effect was read), `missing` (in two samples, and nothing moved in between), `passing` (in
    only one sample) or `unknown`; `text` says what shows it. Of one view, `difference` is what shows it, and `error` and `needs`
    say why it is not decided.
    """

    state: str
    text: str = ""
    difference: Disagreement | None = None
    error: str | None = None
    needs: str | None = None
    address: str | None = None  # at which a broker answers that is not registered


@dataclass(frozen=True, kw_only=True)
class OwnView:
    """What a broker answered about the cluster, on each listener where it was asked: how many brokers, and which controller."""

    listed: tuple[int, ...]
    controllers: tuple[int | None, ...]


_UNKNOWN = Effect(state="unknown")
_HOLDS = "it holds /controller in ZooKeeper"
_LISTED, _ASKED = "ListPartitionReassignments", "zookeeper /admin/reassign_partitions"
_LAG = "replica.lag.time.max.ms"
_LAG_MS, _SHORTEST_LAG_MS = 30_000, 10_000
"""Its default: now, and before Kafka 2.5."""
"""Those of no more milliseconds than Kafka accepts are fewer; a longer text is none that a broker runs with."""
_OLD = frozenset(
    {"leader", "no_leader", "empty_view", "broker_missing", "topic_missing", "partition_missing", "replicas", "unregistered"}
)
"""Kinds of disagreements that an update of the controller would end."""

_SHOWS = {
    "empty_view": "lists no broker and no controller",
    "broker_missing": "does not list every registered broker",
    "topic_missing": "does not list every topic",
    "partition_missing": "does not list every partition",
    "replicas": "lists other replicas than ZooKeeper",
    "unregistered": "lists a broker that is not registered",
}


@dataclass(frozen=True, kw_only=True)
class Edge:
    """Who must reach a broker to do something there.

    Attributes:
        kind: `CONTROL`, `REPLICATE`, `FOLLOW` or `COORDINATE`.
        target: the id of the broker; of the broker that begins it, where controllers or ZooKeeper are the other end.
        sources: the ids of those who must reach it; of followers only those that show no effect. Sorted.
        listener: on which the target, or its controllers, receive others; None where that is unknown.
        endpoint: the address of that listener, of the first controller where these are the other end; None where it is unknown.
        effect: whether it happens.
    """

    kind: str
    target: int
    sources: tuple[int, ...]
    listener: Listener | None
    endpoint: AdvertisedEndpoint | None
    effect: Effect
    carries: str | None = None  # how it is known that requests pass, though the effect is missing

    def at(self, listener: str) -> bool:
        """Return whether it ends at a listener."""
        return self.listener is not None and self.listener.name == listener

    @property
    def listener_name(self) -> str:
        """The listener where it ends, for a sentence."""
        return {FOLLOW: "the controllers' listener", COORDINATE: "the connection to ZooKeeper"}.get(
            self.kind, "the brokers' listener"
        )

    @property
    def who(self) -> str:
        """The sources, for a sentence."""
        if self.kind == CONTROL:
            return f"controller {self.sources[0]}"
        if self.kind in {FOLLOW, COORDINATE}:
            return f"broker {self.target}"
        return brokers(self.sources) if self.sources else "other brokers"


class Edges:
    """The edges between the brokers of one view."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; nothing is read yet."""
        self._view = view
        self._controller = view.controller
        self._lags: dict[tuple[int, int], Effect] = {}

    def into(self, broker: int) -> tuple[Edge, ...]:
        """Return the edges that end at a broker: of its controller (ZooKeeper mode), and of its followers."""
        found = []
        if self._controller is not None:
            found.append(self._edge(CONTROL, broker, (self._controller,), self.control(broker)))
        absent = self.absent(broker)
        effect = Effect(state="missing", text=_out_of_isr(broker, absent)) if absent else _UNKNOWN
        return (*found, self._edge(REPLICATE, broker, absent, effect))

    def log_in(self, broker: int, listener: Listener) -> Edge:
        """Return the edge of all brokers that use a listener to one of them: no effect is of it alone."""
        edge = self._edge(REPLICATE, broker, (), _UNKNOWN)
        return replace(edge, listener=listener, endpoint=self.endpoint(broker, listener.name))

    def follow(self, broker: int) -> Edge:
        """Return the edge from a KRaft broker to its controllers."""
        protocol = self._view.inter_broker.controller_protocol(broker)
        listener = None if protocol is None else Listener(name="CONTROLLER", protocol=protocol)
        known = [place for text in self._view.inter_broker.controllers(broker) for place in addresses_of(text)]
        ends = [AdvertisedEndpoint(broker_id=-1, listener="CONTROLLER", host=h, port=p, protocol=protocol) for h, p in known]
        return Edge(
            kind=FOLLOW,
            target=broker,
            sources=(broker,),
            listener=listener,
            endpoint=next(iter(ends), None),
            effect=self._followed(broker),
            carries=self._fetches(broker),
        )

    def coordinate(self, broker: int) -> Edge:
        """Return the edge from a broker to ZooKeeper."""
        connects = self._view.inter_broker.zookeeper
        servers = servers_of(connects.get(broker) or next(iter(connects.values()), ""))
        ends = [AdvertisedEndpoint(broker_id=-1, listener="ZOOKEEPER", host=h, port=p, protocol=None) for h, p in servers]
        return Edge(
            kind=COORDINATE,
            target=broker,
            sources=(broker,),
            listener=None,
            endpoint=next(iter(ends), None),
            effect=self._coordinated(broker),
            carries=f"broker {broker} has a session: {_HOLDS}" if broker in self._elected[0] else None,
        )

    def _coordinated(self, broker: int) -> Effect:
        """Return whether ZooKeeper has a broker registered; that one is missing that does not answer is no fault of this edge."""
        if not self._view.zookeeper_read:
            return _UNKNOWN
        if broker in self._view.brokers:
            return Effect(state="works", text=f"ZooKeeper has broker {broker} registered")
        now, before = self._unregistered
        if broker not in now:
            return _UNKNOWN
        lasts = broker in before and broker not in self._view.brokers_before
        runs = f"answers at {now[broker]}" if now[broker] else "holds /controller"
        text = f"broker {broker} {runs} and is not registered in ZooKeeper"
        return Effect(state="missing" if lasts else "passing", text=text, address=now[broker])

    @cached_property
    def _elected(self) -> tuple[frozenset[int], frozenset[int]]:
        """The broker that holds /controller in the newest sample and in the one before: a session that is alive keeps it."""
        states = (None, None) if self._view.migrating else (self._view.state, self._view.state_before)
        now, before = (None if state is None else state.controller_id for state in states)
        return _those(now), _those(before)

    @cached_property
    def _unregistered(self) -> tuple[Mapping[int, str | None], Mapping[int, str | None]]:
        """The brokers that run and are not registered, in the newest sample and the one before.

        Each has the address at which it answers; a controller that answers at none has None.
        """
        own = None if self._view.state is None else self._view.state.kafka_cluster_id
        samples = (self._view.newest(BrokerIdentity), self._view.before(BrokerIdentity))
        now, before = (
            dict.fromkeys(elected)
            | {
                row.answered_by: row.address
                for row in rows
                if row.broker_id < 0 and row.answered_by is not None and row.kafka_cluster_id in {None, own}
            }
            for elected, rows in zip(self._elected, samples, strict=True)
        )
        return now, before

    @property
    def unregistered(self) -> tuple[int, ...]:
        """The brokers that answer, or hold /controller, and are not registered in ZooKeeper."""
        return tuple(
            sorted(broker for broker in self._unregistered[0] if self._coordinated(broker).state in {"missing", "passing"})
        )

    def _fetches(self, broker: int) -> str | None:
        """Return how it is known that a broker's fetches from the metadata log pass: its leader has it caught up, twice."""
        samples = (self._view.quorum.now, self._view.quorum.before)
        if any(
            sample is None or not sample.behind_ms or broker not in sample.replicas or broker in sample.late for sample in samples
        ):
            return None
        return f"the leader of the metadata quorum has broker {broker} caught up with the log"

    def fetched(self, node: int) -> Effect:
        """Return whether a broker or controller is caught up with the metadata log, as the leader of the quorum has it."""
        now = self._view.quorum.now
        if now.newest is None:
            error, needs = self._view.quorum.unread()
            return Effect(state="unknown", error=error, needs=needs)
        if node not in now.replicas:
            needs = "an observer that fetched within five minutes"
            return Effect(state="unknown", error="the leader does not know it", needs=needs)
        if not now.behind_ms:
            error, needs = NO_TIMES
            return Effect(state="unknown", error=error, needs=needs)
        if node not in now.late:
            return Effect(state="works", text=f"leader {now.newest.leader_id} has it caught up with the metadata log")
        state = "missing" if node in self._view.quorum.lagging else "passing"
        caught_up = seconds(now.behind_ms[node])
        return Effect(state=state, text=f"node {node} is behind leader {now.newest.leader_id} (caught up {caught_up})")

    def _followed(self, broker: int) -> Effect:
        signs = self._signs(broker)
        listed = self._view.disagreement(str(broker), "broker")
        signs += [listed] if listed is not None and listed.unlisted and not self.knows_that_it_is_fenced(broker) else []
        if any(sign.settled for sign in signs):
            return Effect(state="missing", text=f"the view of broker {broker} is older than those of others")
        applied = self._view.quorum.unapplied.get(broker)
        if applied is not None:
            return Effect(state="missing", text=f"broker {broker} applies no metadata after offset {applied}")
        fetched = self.fetched(broker)
        if fetched.state != "missing" and signs:
            return Effect(state="passing", text=f"the view of broker {broker} was old in only one sample")
        return fetched if fetched.state in {"missing", "passing"} else _UNKNOWN

    def knows_that_it_is_fenced(self, broker: int) -> bool:
        """Return whether no view lists a broker that answers, its own among them: it has applied what the controllers decided."""
        listed = self._view.disagreement(str(broker), "broker")
        own = self._view.listed_by(broker)
        return listed is not None and listed.unlisted and bool(own) and broker not in own

    def _edge(self, kind: str, broker: int, sources: tuple[int, ...], effect: Effect) -> Edge:
        listener = self._view.inter_broker.listener(broker)
        return Edge(
            kind=kind,
            target=broker,
            sources=sources,
            listener=listener,
            endpoint=None if listener is None else self.endpoint(broker, listener.name),
            effect=effect,
        )

    def endpoint(self, broker: int, listener: str) -> AdvertisedEndpoint | None:
        """Return the address of a broker's listener; None where it is unknown."""
        return self._endpoints.get((broker, listener))

    @cached_property
    def _endpoints(self) -> Mapping[tuple[int, str], AdvertisedEndpoint]:
        # In KRaft only settings name a listener that brokers keep to themselves: no client is given its address.
        every = (*self._view.endpoints.all, *self._view.advertised)
        return {(endpoint.broker_id, endpoint.listener): endpoint for endpoint in every}

    def control(self, broker: int) -> Effect:
        """Return whether a broker received what its controller sends. Nothing shows it in KRaft, or without a controller."""
        if self._controller is None:
            return _UNKNOWN
        signs = self._signs(broker)
        if any(sign.settled for sign in signs):
            kinds = {sign.kind for sign in signs}
            shows = next((text for kind, text in _SHOWS.items() if kind in kinds), "reports leaders that differ from ZooKeeper")
            return Effect(state="missing", text=f"broker {broker} {shows}")
        if signs:
            return Effect(state="passing", text=f"the view of broker {broker} was empty or stale in only one sample")
        if broker in self.denied:
            return _UNKNOWN  # one partition may have a reason of its own, and the view may be older than a fault
        own = self.own_view(broker)
        # In a migration, Metadata names any broker as the controller, and none before the first update.
        named = set() if own is None else {*own.controllers}
        names_it = -1 not in named if self._view.migrating else named == {self._controller}
        filled = own is not None and all(own.listed) and names_it
        if not filled or self._view.disagreement(str(broker), "endpoint") is not None:
            return _UNKNOWN
        text = f"broker {broker} has accepted the updates of controller {self._controller}: its view is not empty"
        return Effect(state="works", text=text)

    @cached_property
    def denied(self) -> Mapping[int, Mapping[tuple[str, int], int]]:
        """What brokers deny that they lead: they did not take what a controller sends beside what views are made of."""
        return denied_twice(self._view.newest(LeadershipAnswer), self._view.before(LeadershipAnswer))

    def own_view(self, broker: int) -> OwnView | None:
        """Return what a broker answered about the cluster in the newest sample; None where no view of it was read."""
        views = self._view.views_of(broker)
        listed, controllers = (view.brokers_listed for view in views), (view.controller_id for view in views)
        return OwnView(listed=tuple(listed), controllers=tuple(controllers)) if views else None

    def shown(self, observer: Observer, matter: str) -> Effect:
        """Return whether an observer's view holds, in one of `MATTERS`, what its controller sends; in KRaft what it fetches."""
        difference = self._view.disagreement(observer.name, matter)
        if difference is not None:
            state = "missing" if difference.settled else "unknown" if difference.kind in NEVER_SETTLE else "passing"
            return Effect(state=state, difference=difference, error=difference.doubt, needs=difference.doubt_needs)
        error, needs = observer.error, observer.needs
        if matter in {"endpoint", "unregistered"}:
            error, needs = observer.brokers_gap
        elif matter in PARTITIONS and (matter != "assignment" or (self._view.kraft and not observer.partitions)):
            # Whether topics are missing can be said of a view without any. In KRaft the auditor's rights may hide them in each.
            error, needs = observer.topics_gap
        return Effect(state="works" if error is None else "unknown", error=error, needs=needs)

    def _signs(self, broker: int) -> list[Disagreement]:
        """Return what of a broker's view is older than what its controller sends.

        What the controller's own view lacks as well, it does not send: its edges are not the reason.
        """
        matters = ["leader", "no_leader", "broker"]
        by_controller = None if self._controller is None else str(self._controller)
        matters += [
            matter
            for matter in ("assignment", "unregistered")
            if by_controller is None or self._view.disagreement(by_controller, matter) is None
        ]
        signs = (self._view.disagreement(str(broker), matter) for matter in matters)
        return [sign for sign in signs if sign is not None and sign.kind in _OLD]

    def absent(self, broker: int) -> tuple[int, ...]:
        """Return the followers that replicate elsewhere, and are in the ISR of nothing that a broker leads, without a reason.

        A follower that has just restarted is catching up; in KRaft, where the time of registration is unknown, the leader must
        have no follower at all. A follower with a wrong view does not know its leader, and one with a failed disk cannot follow.
        Those that may be catching up are named where no other is absent: see `lag`.
        """
        absent = self._absent.get(broker, ())
        standing = tuple(follower for follower in absent if self.lag(broker, follower).state == "missing")
        return standing or tuple(absent)

    @cached_property
    def _absent(self) -> Mapping[int, list[int]]:
        found = {leader: {gap.replica for gap in gaps if self._is_absent(gap)} for leader, gaps in self._gaps.items()}
        return {leader: sorted(followers) for leader, followers in found.items()}

    def lag(self, leader: int, follower: int) -> Effect:
        """Return whether a follower that is out of sync stands still (`missing`), or may be catching up (`passing`), and why.

        A large partition, a throttle or a restart keeps a follower out of the ISR for hours. It stands still if the previous
        audit showed the same, and its log dirs have not changed since. It is cut off if it is in sync with none of several
        leaders, and a leader is if none of several followers is: what is copied ends one partition at a time. Where that may be
        a reassignment that was not read, it is `unknown`.
        """
        pair = (leader, follower)
        if pair not in self._lags:
            self._lags[pair] = self._lag(leader, follower)
        return self._lags[pair]

    def _lag(self, leader: int, follower: int) -> Effect:
        reason, cut = self._copies(leader, follower), self._cut(leader, follower)
        if reason is not None:
            return Effect(state="passing", text=reason)
        if self._reassignments_unread:
            # Where min.insync.replicas is not known either, nothing else reports what clients lose with a broker that is cut off.
            undecided = cut is not None and self._view.min_isr_gap is not None
            return Effect(state="unknown" if undecided else "passing", text="reassignments, which copy replicas, were not read")
        if cut is not None:
            return Effect(state="missing", text=cut)
        if not self._lasting.get((leader, follower)):
            return Effect(state="passing", text=f"no earlier audit has broker {follower} out of these ISRs")
        row = self._catch_ups.get((f"broker/{follower}", f"broker/{leader}"))
        how = "is not known since"
        if row is not None and row.state == "moving":
            how = "has changed since"
        elif row is not None and row.unchanged_minutes is not None:
            ordinary = f"is the same for {row.unchanged_minutes} minutes, which is ordinary"
            how = "is the same since" if row.state == "standing" else ordinary
        text = f"broker {follower} was out of these ISRs in the previous audit; the size of its replicas {how}"
        return Effect(state="missing" if row is not None and row.state == "standing" else "passing", text=text)

    @cached_property
    def _catch_ups(self) -> Mapping[tuple[str, ...], ProgressRow]:
        return {row.parties: row for row in progress_of(self._view).of_kind("catch_up")}

    def _copies(self, leader: int, follower: int) -> str | None:
        """Return why a follower has something to copy; None where nothing shows that."""
        gap = self._gap.get((leader, follower))
        if gap is not None and gap.added:
            return f"a reassignment adds broker {follower}"
        back = [broker for broker in (leader, follower) if self._is_back(broker)]
        return f"{brokers(back)} registered seconds ago, or since the previous audit" if back else None

    def _cut(self, leader: int, follower: int) -> str | None:
        """Return that a follower is in sync with none of several leaders, or a leader has none of several followers."""
        share = self._view.partitions.shares.get(follower)
        if share is not None and share.in_sync == share.led and self._lacking[follower] > 1:
            return f"broker {follower} is in no ISR of any other leader"
        followers = [other for other in self._unexplained.get(leader, ()) if not self._is_back(other)]
        alone = len(followers) > 1 and self._gap[leader, followers[0]].leader_alone
        return f"broker {leader} has no follower in sync, of several" if alone else None

    @cached_property
    def _unexplained(self) -> Mapping[int, list[int]]:
        """The followers that are absent at each leader, without those that a reassignment adds."""
        return {leader: [one for one in absent if not self._gap[leader, one].added] for leader, absent in self._absent.items()}

    @cached_property
    def _lacking(self) -> Counter[int]:
        """At how many leaders each follower is."""
        return Counter(follower for followers in self._unexplained.values() for follower in followers)

    @cached_property
    def _gap(self) -> Mapping[tuple[int, int], ReplicaGap]:
        return {(gap.leader, gap.replica): gap for gap in self._view.differences.of(ReplicaGap)}

    def may_catch_up(self, leader: int, follower: int) -> bool:
        """Return whether a registered follower is out of sync, and no reason is known why it would not catch up."""
        gap = self._gap.get((leader, follower))
        return gap is not None and self._is_able(gap) and self.lag(leader, follower).state == "passing"

    def _is_back(self, broker: int) -> bool:
        """Return whether a broker came back too late to have been dropped for lag since; in KRaft since the previous audit."""
        age = self._view.ages_ms.get(broker)
        if age is None:
            return self._view.previous is not None and broker not in self._view.brokers_earlier
        setting = self._view.settings.running(broker, _LAG)
        lag = integer((setting.value or "").strip(), 64)
        return age < (lag if lag is not None else _LAG_MS if setting.state == "unset" else _SHORTEST_LAG_MS)

    @cached_property
    def _reassignments_unread(self) -> bool:
        outcomes: dict[str, set[str]] = {_LISTED: set()} if self._view.kraft else {}
        for read in self._view.last_reads:
            if read.operation in {_LISTED, _ASKED}:
                outcomes.setdefault(read.operation, set()).add(read.outcome)
        return any("answered" not in found for found in outcomes.values())

    @cached_property
    def _lasting(self) -> Mapping[tuple[int, int], bool]:
        """Whether followers that a leader has out of sync were so in the previous audit too, in each of these partitions."""
        found: dict[tuple[int, int], bool] = {}
        for state in self._view.partitions.of_kind("under_replicated"):
            pairs = ((state.leader, follower) for follower in state.missing if state.leader is not None)
            found |= {pair: found.get(pair, True) and pair[1] in (state.lasting or ()) for pair in pairs}
        return found

    def behind(self, broker: int) -> frozenset[int]:
        """Return the followers that are out of the ISR of any partition that a broker leads, in two samples."""
        return frozenset(gap.replica for gap in self._gaps.get(broker, ()) if self._lasts(gap))

    @cached_property
    def _gaps(self) -> Mapping[int, list[ReplicaGap]]:
        found: dict[int, list[ReplicaGap]] = defaultdict(list)
        for gap in self._view.differences.of(ReplicaGap):
            found[gap.leader].append(gap)
        return found

    def _lasts(self, gap: ReplicaGap) -> bool:
        return gap.repeated and self._view.steady

    def _is_absent(self, gap: ReplicaGap) -> bool:
        follower = self._view.brokers.get(gap.replica)
        created, oldest = None if follower is None else follower.created, gap.oldest_version
        cut_later = gap.leader_alone if created is None or oldest is None else created < oldest
        return self._lasts(gap) and gap.in_sync == 0 and gap.follows_others and self._is_able(gap) and cut_later

    def _is_able(self, gap: ReplicaGap) -> bool:
        return not gap.listed_offline and not (self._controller is not None and self._signs(gap.replica))


def _those(broker: int | None) -> frozenset[int]:
    return frozenset() if broker is None else frozenset({broker})


def _out_of_isr(broker: int, absent: tuple[int, ...]) -> str:
    return f"not in any ISR of partitions that broker {broker} leads: {brokers(absent)}"

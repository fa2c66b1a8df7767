"""The first layer at which each edge fails, and whom each party lists otherwise than registered: what a matrix shows.

It says nothing that no diagnosis or probe says.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from kafka_audit.cluster.disagreements import NEVER_SETTLE
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text, canonical_address, canonical_text
from kafka_audit.compare.broker_lists import ListDifference
from kafka_audit.faults.controller_paths import LOG, ControllerPath, controller_paths
from kafka_audit.faults.edges import Edge, Effect
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.fault import known_faults
from kafka_audit.faults.identities import answering_brokers
from kafka_audit.faults.serve_edges import BROKEN, ServeEdge, ServeEdges
from kafka_audit.faults.solver import Diagnosis, WeighedFault, diagnosed
from kafka_audit.faults.vote_edges import VoteEdges
from kafka_audit.model.finding import Confidence, Status

NO_VIEW, DISPUTED = "gave no view", "broker_disputed"
OTHERWISE: Mapping[str, str] = MappingProxyType(
    {
        "empty_view": ListDifference.NOTHING.value,
        "broker_missing": ListDifference.MISSING.value,
        "endpoint": ListDifference.ELSEWHERE.value,
        "unregistered": ListDifference.UNREGISTERED.value,
        "topics": "topics or leaders of its own view are others",
        DISPUTED: "views differ, and it is unknown which one is newer",
    }
)
"""How a party may list a broker otherwise, for a sentence: the kinds of `Claim` that are about one broker, the worst first.

`topics` is about what leads and lies on brokers, and stands at the broker that shows it.
"""


@dataclass(frozen=True, kw_only=True)
class ListedBrokers:
    """What one party lists, in the newest sample.

    Attributes:
        observer: the id of a broker, or `zookeeper`.
        otherwise: a key of `OTHERWISE` for each broker that it lists otherwise; of several of its views the worst.
        unknown: why nothing says how it lists the others; None where it lists them as they are registered.
    """

    observer: int | str
    otherwise: Mapping[int, str]
    unknown: str | None = None


def listed_brokers(view: ClusterView) -> Iterator[ListedBrokers]:
    """Yield what ZooKeeper and each broker that anything names list of these brokers."""
    if not view.kraft:
        yield _by_zookeeper(view)
    gap = view.gap("brokers")
    unread = gap.error if gap is not None and gap.status is Status.UNKNOWN else None
    unsure = set() if gap is None else {"unregistered"} if not gap.whole else {*OTHERWISE}
    names = {broker: _name(view, broker) for broker in view.named_brokers}
    observers = {observer.name: observer for observer in view.observers}
    unlisted = {broker for broker, name in names.items() if any(claim.kind == "unlisted" for claim in view.claims_of(name))}
    digests: dict[str, set[str]] = {}
    for held in view.held_views if unlisted else ():
        digests.setdefault(held.name, set()).add(held.row.brokers_digest)
    for broker, name in names.items():
        otherwise: dict[int, str] = {}
        for claim in view.claims_of(name):
            if claim.kind in OTHERWISE and claim.kind not in unsure and claim.subject is not None:
                earlier = otherwise.get(claim.subject, claim.kind)
                otherwise[claim.subject] = min(claim.kind, earlier, key=[*OTHERWISE].index)
        # That the newest views do not list a broker is claimed by its own view alone.
        listed = {row.broker_id for digest in digests.get(name, ()) for row in view.listed.get(digest, ())}
        otherwise |= dict.fromkeys(unlisted - listed if listed else (), "broker_missing")
        partitions = (view.disagreement(name, matter) for matter in ("leader", "no_leader", "assignment"))
        if any(found is not None and found.settled and found.kind not in NEVER_SETTLE for found in partitions):
            otherwise.setdefault(broker, "topics")
        observer = observers.get(name)
        unknown = unread
        if observer is None or observer.error is not None:
            another = observer is not None and (observer.foreign or observer.answered_by is not None)
            unknown = (observer.error if observer is not None and another else None) or NO_VIEW
        yield ListedBrokers(observer=broker, otherwise=otherwise, unknown=unknown)


def _by_zookeeper(view: ClusterView) -> ListedBrokers:
    missing = [broker for broker in view.named_brokers if broker not in view.in_zookeeper]
    if not view.in_zookeeper and not view.zookeeper_read:
        gap = view.gap("brokers")
        return ListedBrokers(observer="zookeeper", otherwise={}, unknown=NO_VIEW if gap is None else gap.error)
    kind = "broker_missing" if view.in_zookeeper else "empty_view"
    return ListedBrokers(observer="zookeeper", otherwise=dict.fromkeys(missing, kind))


def _name(view: ClusterView, broker: int) -> str:
    """Return the name of a broker as an observer: its id, or the address at which it answers and is not registered."""
    unregistered = not view.kraft and broker not in view.brokers
    return (unregistered and facts_of(view).edges.coordinate(broker).effect.address) or str(broker)


@dataclass(frozen=True, kw_only=True)
class EdgeState:
    """How far one party gets to a broker, or to a controller.

    `source` is a vantage, or the id of a broker or controller; `target` an id, or the address of a controller whose id is
    unknown; `state` is works, broken or unknown, at `layer`; `text` says why.
    """

    source: str | int
    target: int | str
    state: str
    layer: str = ""
    text: str = ""


def edge_states(view: ClusterView) -> Iterator[EdgeState]:
    """Yield what is known of each edge to a broker that was probed, or is broken: several of one edge, where it has layers."""
    facts = facts_of(view)
    for edge in view.derived(ServeEdges).of_clients:
        yield _served(edge)
    for (target, _), answers in view.derived(answering_brokers).items():
        for answer in answers:
            if answer.is_other:
                text = f"{answer.name} answers"
                yield EdgeState(source=answer.vantage, target=target, state="broken", layer="identity", text=text)
    yield from _among_brokers(facts)


def controller_states(view: ClusterView, nodes: Sequence[int]) -> Iterator[EdgeState]:
    """Yield what is known of edges to controllers: of each probe, and of what these nodes fetch from the leader of the quorum.

    Where no leader is known, what keeps a broker from its controllers is said of each that has an address.
    """
    facts, newest, paths = facts_of(view), view.quorum.now.newest, view.derived(controller_paths)
    elsewhere = set(_not_at_their_nodes(view))
    every = [(controller_at(view, path.address), path) for path in paths]
    every += [(node, path) for node, broken in view.derived(VoteEdges).broken().items() for path in broken if path.role == LOG]
    for controller, path in every:
        yield _tried(path, controller, is_there=path.source not in elsewhere or path.role == LOG)
    leaders: set[int | str] = {controller for controller, _ in every} if newest is None else {newest.leader_id}
    for node in nodes:
        states = [*_not_following(facts, node)] if view.kraft and node in facts.between.brokers else []
        if newest is not None and node not in leaders:
            states.append(_fetched(node, facts.edges.fetched(node)))
        for leader in leaders:
            yield from (replace(state, target=leader) for state in states)


def _not_following(facts: Facts, broker: int) -> Iterator[EdgeState]:
    edge = facts.edges.follow(broker)
    # As between brokers: of one whose fetches pass, settings decide about the next connection.
    if edge.effect.state == "missing" or edge.carries is None:
        yield from _diagnosed(facts, diagnosed(facts, edge))


def _not_at_their_nodes(view: ClusterView) -> Iterator[int]:
    """Yield the nodes whose vantages do not reach the leader from which they fetch."""
    own: dict[int, list[ControllerPath]] = defaultdict(list)
    for path in view.derived(controller_paths):
        if path.source is not None:
            own[path.source].append(path)
    for node, paths in own.items():
        if any(path.failed_at_network for path in paths) and view.derived(VoteEdges).begins_at(node, paths) is False:
            yield node


def controller_at(view: ClusterView, address: str) -> int | str:
    """Return the id of the only voter that is to be reached at an address, else of who answers there; else the address."""
    return view.derived(_controllers_by_address).get(canonical_text(address), address)


def _controllers_by_address(view: ClusterView) -> Mapping[str, int]:
    answered = {path.address: path.node_id for path in view.derived(controller_paths) if path.node_id is not None}
    named = view.voter_addresses
    uses = Counter(canonical_address(*address) for address in named.values())
    voters = {address_text(*address): voter for voter, address in named.items() if uses[canonical_address(*address)] == 1}
    return {canonical_text(address): node for address, node in (*answered.items(), *voters.items())}


def _tried(path: ControllerPath, controller: int | str, *, is_there: bool) -> EdgeState:
    edge = EdgeState(source=path.vantage if path.source is None else path.source, target=controller, state="works")
    if path.state == "open":
        return edge
    if path.state == "unknown":
        return replace(
            edge, state="unknown", layer=path.layer, text=f"{path.error}{f', needs {path.needs}' if path.needs else ''}"
        )
    if not is_there:
        text = f"node {path.source} fetches from the leader of the quorum, which this vantage does not reach"
        return replace(edge, state="unknown", layer=path.layer, text=text)
    text = f"the connection fails, {path.error}" if path.role == LOG else path.error
    return replace(edge, state="broken", layer=path.layer, text=text)


def _fetched(node: int, effect: Effect) -> EdgeState:
    state = {"works": "works", "missing": "broken"}.get(effect.state, "unknown")
    text = f"{effect.text}, in only one sample" if effect.state == "passing" else effect.text or effect.error or ""
    return EdgeState(source=node, target=node, state=state, layer="effect", text=text)


def _among_brokers(facts: Facts) -> Iterator[EdgeState]:
    for probed in facts.view.derived(ServeEdges).every:
        target = probed.endpoint.broker_id
        used = facts.between.listener(target)
        if probed.source is not None and (used is None or used.name == probed.endpoint.listener):
            state = _served(probed)
            counts = probed.source in facts.cut_from(target) or (facts.is_lost(target) and facts.is_where_it_was(probed.source))
            elsewhere = probed.state == BROKEN and probed.closed and not counts
            doubt = f"nothing shows that this vantage is on the host of broker {probed.source}"
            yield replace(state, state="unknown", text=doubt) if elsewhere else state
    for target in facts.between.brokers:
        for edge in facts.edges.into(target):
            # Who let its controller in lets others in as far as nothing is missing: settings decide about the next connection.
            if edge.effect.state == "missing" or facts.accepted(target) is None:
                yield from _diagnosed(facts, diagnosed(facts, edge))


def _served(edge: ServeEdge) -> EdgeState:
    """Return the state of an edge of a vantage; one that failed once is shown as broken, as a cell has no time."""
    stop, source = edge.stop, edge.vantage if edge.source is None else edge.source
    state = EdgeState(source=source, target=edge.endpoint.broker_id, state="works")
    if stop is not None and edge.ends is not None:
        return replace(state, state="broken", layer=stop.layer, text=stop.error or "failed")
    if stop is None or edge.begins:
        return state
    text = f"{stop.error or 'not known'}{f', needs {stop.needs}' if stop.needs else ''}"
    return replace(state, state="unknown", layer=stop.layer, text=text)


def _diagnosed(facts: Facts, diagnosis: Diagnosis) -> Iterator[EdgeState]:
    """Yield the sources that a broken edge is broken for; where its effect does not name them, each for which its cause shows."""
    edge, leading = diagnosis.edge, diagnosis.leading
    if leading is None and edge.effect.state != "missing":
        return
    layer, text, sources = "effect", edge.effect.text, edge.sources
    if leading is not None:
        first = next(candidate for candidate in diagnosis.possible if candidate.fault is leading.fault)
        # What is only suspected says nothing of a layer: what is known is that the edge has no effect.
        layer = layer if leading.confidence is Confidence.SUSPECTED else first.fault.layer
        if leading.confidence is Confidence.MEASURED:
            text = first.shown_by[0].text
        elif leading.confidence is not Confidence.SUSPECTED:
            text = f"{text}; {first.fault.sentence} ({leading.confidence})"
        sources = edge.sources or tuple(_shown_for(facts, edge, first))
    state = "unknown" if leading is not None and leading.fault.in_progress else "broken"
    for source in sources:
        yield EdgeState(source=source, target=edge.target, state=state, layer=layer, text=text)


def _shown_for(facts: Facts, edge: Edge, candidate: WeighedFault) -> Iterator[int]:
    """Yield the sources for which a cause shows; those of a kind that nothing was observed of alone are asked together."""
    listener = "" if edge.listener is None else edge.listener.name
    alone = {line.broker_id for code in {fault.check for fault in known_faults()} for line in facts.lines(edge, code)}
    alone |= {probe.from_broker for probe in facts.view.probes_of(edge.target, listener) if probe.from_broker is not None}
    for kind in facts.between.kinds:
        others = [source for source in kind if source != edge.target]
        together = tuple(source for source in others if source not in alone)
        for sources in (*((source,) for source in others if source in alone), together):
            observed = [
                observation
                for observation in candidate.fault.observed(facts, replace(edge, sources=sources))
                if observation.direct
            ]
            if sources and observed and all(observation.state != "works" for observation in observed):
                yield from sources

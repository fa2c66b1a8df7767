"""An incident as the checks see it: its case, and what a story of it says that no template can.

The keys `incident` and `story` of a check's file name functions beside the check. They take a `Case`: `cases` splits the findings
of the check into faults, `where` says whether a fault explains another finding, and `facts` returns `StoryFacts`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from kafka_audit.checks import ClusterView, Confidence, Severity, Status
from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.cluster.held_up_by import held_up_by
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.processes import Processes, ProcessState
from kafka_audit.faults.edges import OwnView
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.serve_edges import NETWORK, ServeEdge, ServeEdges
from kafka_audit.faults.solver import Diagnosis
from kafka_audit.model.finding import CHANGES, Change, Evidence, Finding, Resource
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import brokers, clean, counted, listing, ranges

_AWAY = ("KA113", "KA116")
"""Checks by which a node is missing: it has no registration, or its process does no work."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One fault: the findings that name it, and what they are about.

    After the symptoms were collected, `explained` has those of HIGH and above with the roots, `besides` the lower ones.
    """

    view: ClusterView
    changes: Sequence[Change]
    findings: Sequence[Finding]  # all of the audit, for what they rule out
    roots: tuple[Finding, ...]
    sources: tuple[int, ...] = ()  # brokers that cannot do something to those at fault
    explained: tuple[Finding, ...] = field(default=(), compare=False)
    besides: tuple[Finding, ...] = field(default=(), compare=False)
    shared: dict[str, frozenset[int]] = field(default_factory=dict, compare=False, repr=False)  # by all cases of an audit

    @cached_property
    def brokers(self) -> tuple[int, ...]:
        """Brokers that the roots are about, in order."""
        return tuple(sorted({root.resource.broker for root in self.roots if root.resource.broker is not None}))

    @cached_property
    def endpoints(self) -> tuple[AdvertisedEndpoint, ...]:
        """Endpoints that the roots are about, in order."""
        found = (self.view.endpoints.by_resource.get(root.resource.name) for root in self.roots)
        return tuple(sorted({e for e in found if e is not None}))

    @property
    def edges(self) -> ServeEdges:
        """How far vantages get to brokers."""
        return self.view.derived(ServeEdges)

    def own_view(self, broker: int) -> OwnView | None:
        """Return what a broker answered about the cluster; None where no view of it was read."""
        return facts_of(self.view).edges.own_view(broker)

    @property
    def empty(self) -> frozenset[int]:
        """Brokers whose own view lists no broker, as KA105 judges it."""
        if "empty" not in self.shared:
            empty = (
                f for f in self.findings if f.code == "KA105" and f.status is Status.FAIL and f.evidence.get("empty") is True
            )
            self.shared["empty"] = frozenset(finding.resource.broker for finding in empty if finding.resource.broker is not None)
        return self.shared["empty"]

    @property
    def down(self) -> frozenset[int]:
        """Nodes that are not there, or do no work, by their own failures; what waits for them waits for no other party."""
        if "down" not in self.shared:
            away = (f for f in self.findings if f.code in _AWAY and f.status is Status.FAIL and f.severity >= Severity.HIGH)
            nodes = {node for f in away if (node := f.resource.broker if f.code == _AWAY[0] else f.number("node")) is not None}
            waiting = (ProcessState.RUNS, ProcessState.STARTING)  # they may wait for others themselves
            known = self.view.derived(Processes).all
            self.shared["down"] = frozenset(node for node in nodes if node not in known or known[node].state not in waiting)
        return self.shared["down"]

    @property
    def by_controller(self) -> bool:
        """Return whether it is the controller that cannot."""
        return self.view.controller is not None and self.sources == (self.view.controller,)

    def confidence(self) -> Confidence:
        """Return the weakest confidence of the roots: a headline about three brokers holds for each of them."""
        weakest = (Confidence.SUSPECTED, Confidence.INFERRED, Confidence.MEASURED)
        return min((root.confidence for root in self.roots), key=weakest.index)


@dataclass(frozen=True, kw_only=True)
class StoryFacts:
    """What the template of a story cannot have by itself; what is not given comes from the findings of the case.

    Attributes:
        facts: numbers, texts, lists of texts, ids of brokers, commands and steps by the name that the template has for them.
        evidence: what speaks for it, instead of the findings.
        also: what else speaks for it.
        against: what speaks against it.
        not_known: texts behind those of the template.
        confidence: how sure it is.
        edges: the diagnoses whose candidates the incident lists.
        cause: the code of the check that names the cause.
        story: the name of the template, if it is not that of the incident.
    """

    facts: Mapping[str, object] = field(default_factory=dict)
    evidence: Sequence[Evidence] | None = None
    also: Sequence[Evidence] = ()
    against: Iterable[Evidence] = ()
    not_known: Sequence[str] = ()
    confidence: Confidence | None = None
    edges: Sequence[Diagnosis] = ()
    cause: str | None = None
    story: str | None = None


def everywhere(_case: Case, _symptom: Finding) -> bool:
    """Explain a symptom wherever it shows."""
    return True


def at_the_broker(case: Case, symptom: Finding) -> bool:
    """Explain what is about the case's brokers, their listeners included."""
    return symptom.resource.broker in case.brokers


def at_the_endpoint(case: Case, symptom: Finding) -> bool:
    """Explain what is about the very same endpoint."""
    return any(symptom.resource.name == root.resource.name for root in case.roots)


def connection_opens(symptom: Finding) -> bool:
    """Return whether an endpoint fails after its connection came about."""
    return symptom.text("layer") not in NETWORK


def in_partitions_of(case: Case, symptom: Finding) -> bool:
    """Explain a partition that one of the case's brokers leads or holds up."""
    key = symptom.resource.topic_partition
    if symptom.code == "KA001":
        return _waits_for_partitions(case, symptom)
    if key is None:
        return at_the_broker(case, symptom)
    state = case.view.partitions.state(*key)
    return state is not None and not {state.leader, *held_up_by(case.view, *key)}.isdisjoint(case.brokers)


_ASKED_OF = MappingProxyType({"DescribeShareGroupOffsets": "__share_group_state", "DescribeTransactions": "__transaction_state"})
"""Reads that a broker answers by what is in a topic of Kafka's own."""


def left_unanswered(case: Case, symptom: Finding) -> frozenset[str]:
    """Return the questions that a broker which gave its view left without an answer; nothing where one failed otherwise."""
    broker = symptom.resource.broker
    if broker is None or not case.view.views_of(broker):
        return frozenset()
    failed = [read for read in case.view.last_reads if read.observer == f"broker:{broker}" and read.outcome == "failed"]
    timed_out = all(read.failure is ReadFailure.TIMEOUT for read in failed)
    return frozenset(read.operation for read in failed) if timed_out else frozenset()


def _waits_for_partitions(case: Case, symptom: Finding) -> bool:
    topics = {_ASKED_OF.get(operation.split(" ")[0]) for operation in left_unanswered(case, symptom)}
    offline = (finding for finding in case.findings if finding.code == "KA601" and finding.resource.topic in topics)
    return bool(topics) and None not in topics and any(in_partitions_of(case, finding) for finding in offline)


_TOLD_ALONE = 3
"""Partitions with the same finding that are listed one by one; above it, their number and the first names are reported."""


def evidence_of(findings: Iterable[Finding], limit: int = 10) -> tuple[Evidence, ...]:
    """Return findings as evidence: many partitions with the same fault in one line, and at most `limit` lines in all."""
    alike: dict[object, list[Finding]] = defaultdict(list)
    for finding in findings:
        single = finding.resource.partition is None
        alike[finding.fingerprint if single else (finding.code, finding.name)].append(finding)
    lines = [line for group in alike.values() for line in _evidence_of_group(group, limit)]
    if len(lines) > limit:
        lines[limit:] = [Evidence(observer="count", text=f"and {len(lines) - limit} more, see findings")]
    return tuple(lines)


def _evidence_of_group(group: Sequence[Finding], limit: int) -> Iterable[Evidence]:
    if len(group) <= _TOLD_ALONE:
        return [Evidence(observer=finding.code, text=finding.message) for finding in group]
    names = (f"{topic}-{number}" for topic, number in filter(None, (finding.resource.topic_partition for finding in group)))
    what = f"{spread(group)}: {group[0].name.replace('_', ' ')}"
    return [Evidence(observer=group[0].code, text=f"{what}: {listing(names, limit)}")]


def spread(group: Iterable[Finding]) -> str:
    """Return over how many partitions of how many topics findings spread: `5000 partitions of 50 topics`."""
    keys = [partition for finding in group if (partition := finding.resource.topic_partition)]
    topics = {topic for topic, _ in keys}
    of = f"topic {clean(next(iter(topics)), 40)}" if len(topics) == 1 else counted(len(topics), "topic")
    return f"{counted(len(keys), 'partition')} of {of}"


def edges_behind(case: Case, cuts: Iterable[Finding]) -> list[ServeEdge]:
    """Return the failed probes that findings of KA302 rest on, to be quoted: those of the brokers that the findings name."""
    found = []
    for cut in cuts:
        endpoint, sources = case.view.endpoints.by_resource.get(cut.resource.name), set(cut.numbers("from"))
        edges = () if endpoint is None else case.edges.to(endpoint, "broker")
        beyond = cut.text("cause") not in {"", "address"}  # what lets a connection open, and breaks it after that
        failed = [edge for edge in edges if edge.closed or (beyond and edge.repeated)]
        found += [edge for edge in failed if edge.source in sources]
    return found


def evidence_of_edges(edges: Iterable[ServeEdge], limit: int = 10) -> tuple[Evidence, ...]:
    """Return edges that failed as evidence; equal failures of one vantage, or of many brokers' hosts, are one line."""
    alike: dict[tuple[str | int, str], list[str]] = defaultdict(list)
    for edge in edges:
        if edge.failed_at is not None:
            side = f"vantage {clean(edge.vantage)}" if edge.source is None else edge.source
            end = f"{clean(edge.endpoint.address)} (broker {edge.endpoint.broker_id}, {clean(edge.endpoint.listener)})"
            alike[side, f"{edge.failed_at} fails, {clean((edge.stop and edge.stop.error) or 'failed')}"].append(end)
    sides: dict[tuple[str, tuple[str, ...]], list[str | int]] = defaultdict(list)
    for (side, how), ends in alike.items():
        sides[how, tuple(ends)].append(side)
    lines = [
        Evidence(observer=observer, text=f"{listing(ends, 3)}: {how}")
        for (how, ends), found in sides.items()
        for observer in _observers(found)
    ]
    if len(lines) > limit:
        more = Evidence(observer="count", text=f"and {len(lines) - limit} more kinds of failed probes")
        return (*lines[:limit], more)
    return tuple(lines)


def _observers(sides: Sequence[str | int]) -> Iterable[str]:
    """Yield vantages one by one, and the brokers from whose hosts the same was probed together."""
    yield from (side for side in sides if isinstance(side, str))
    ids = [side for side in sides if isinstance(side, int)]
    if len(ids) == 1:
        yield f"probe from broker {ids[0]}'s host"
    elif ids:
        yield f"probes from the hosts of {brokers(ids) if len(ids) <= _TOLD_ALONE else f'brokers {ranges(ids)}'}"


_OPERATIONS = 5
"""Operations that a line names."""


def evidence_of_reads(failed: Sequence[SourceRead], limit: int = 10) -> tuple[Evidence, ...]:
    """Return reads that failed as evidence: who was asked what, at which address, and how it ended.

    Reads of one observer that ended alike at one address share a line: a connection that is refused fails all of them.
    """
    alike: dict[tuple[str | None, ...], list[SourceRead]] = {}
    for read in failed:
        alike.setdefault((read.observer, read.target, read.why, read.needs), []).append(read)
    lines = []
    for (observer, target, why, needs), reads in [*alike.items()][:limit]:
        operations = listing(dict.fromkeys(read.operation for read in reads), _OPERATIONS)
        clause = clean(why or "failed", 300)
        needed = f"; needs {clean(needs)}" if needs else ""
        lines.append(Evidence(observer=observer_name(observer or ""), text=f"{operations} at {clean(target)}: {clause}{needed}"))
    rest = sum(map(len, [*alike.values()][limit:]))
    if rest:
        lines.append(Evidence(observer="count", text=f"and {counted(rest, 'more read')} failed"))
    return tuple(lines)


def zookeeper_lists(case: Case) -> Evidence:
    """Return which brokers are registered, as evidence."""
    registered = brokers(case.view.in_zookeeper) if case.view.in_zookeeper else "no broker"
    return Evidence(observer="zookeeper", text=f"{registered} registered")


_ACL = "acl"
_CHANGED = {"endpoint": "address", "config": "setting", "version": "version", "broker_went": "registration"}
"""Kinds of changes of a broker, and the word for what changed."""


def changed_before(case: Case, kinds: Iterable[str], limit: int = 10) -> tuple[Evidence, ...]:
    """Return changes of these kinds since the previous snapshot that are about the case's brokers; ACLs are about all."""
    wanted = frozenset(kinds)
    about = [c for c in case.changes if c.kind in wanted and (c.kind == _ACL or Resource.of(c.resource).broker in case.brokers)]
    lines = [Evidence(observer=CHANGES, text=_change(one)) for one in about[:limit]]
    if len(about) > limit:
        lines.append(Evidence(observer=CHANGES, text=f"and {len(about) - limit} more changes at these brokers"))
    return tuple(lines)


def _change(change: Change) -> str:
    if change.kind == _ACL:
        return f"ACL added: {clean(change.after)}" if change.after else f"ACL removed: {clean(change.before)}"
    before, after = clean(change.before or "none"), clean(change.after or "none")
    return f"{_CHANGED[change.kind]} of {_place(change.resource)}: {before} -> {after}"


def _place(resource: str) -> str:
    """Return `broker 2, listener PLAINTEXT` for `broker/2/listener/PLAINTEXT`."""
    place = Resource.of(resource)
    part = resource.removeprefix(f"{place.root}/") if resource != place.root else ""
    return clean(", ".join(text.replace("/", " ", 1) for text in (place.root, part) if text))

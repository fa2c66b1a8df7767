"""May the other brokers, the controller above all, act at a broker? The decision of KA401, and its evidence and that of KA403."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kafka_audit.checks import ClusterView, Confidence, Severity, Status
from kafka_audit.cluster.answers.broker_reads import LIST_OFFSETS, BrokerReads
from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.listeners.principals import file_of
from kafka_audit.compare.addresses import is_number
from kafka_audit.compare.host_kinds import means_itself
from kafka_audit.faults.authorizers import UNKNOWN_PRINCIPAL, Pair
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.read import BROKEN, reading_of
from kafka_audit.faults.resolved_names import reached_at
from kafka_audit.model.text import brokers
from kafka_audit.says.signs import SIGNS

_CODE = "KA401"


@dataclass(frozen=True, kw_only=True)
class ClusterActionResult:
    """What is known of one broker. `error` and `needs` where it is UNKNOWN; `reason` where it does not apply."""

    broker: int
    status: Status
    confidence: Confidence = Confidence.MEASURED
    pairs: tuple[Pair, ...] = ()  # those that decide: denied for FAIL, open for UNKNOWN
    symptom: str | None = None
    accepted: str | None = None
    why: str = ""
    error: str = ""
    needs: str = ""
    reason: str = ""
    rivals: tuple[str, ...] = ()
    runs: bool = True
    everywhere: bool = False  # every broker that runs refuses the controller
    granted: bool = False  # ACLs allow it at the time of the read, and it was refused since the start

    def refuses(self, broker: int | None) -> bool:
        """Return whether another broker is among those that it is about."""
        return any(broker in pair.sources for pair in self.pairs)

    @property
    def severity(self) -> Severity | None:
        """Return that of a failure, where it is not the check's: a broker that was let in before, or is down, refuses later."""
        return Severity.HIGH if self.accepted or not self.runs else None


def cluster_action_results(view: ClusterView) -> Iterator[ClusterActionResult]:
    """Yield what is known of each broker."""
    facts, controller = facts_of(view), view.inter_broker.controller
    results = [_result(facts, broker) for broker in view.inter_broker.brokers]
    refused = (one.status is Status.FAIL and one.severity is None and one.refuses(controller) for one in results if one.runs)
    everywhere = controller is not None and all(refused)
    yield from (replace(one, everywhere=everywhere) for one in results)


def _result(facts: Facts, broker: int) -> ClusterActionResult:
    between = facts.between
    authorizer = between.authorizer(broker)
    if authorizer.state == "unset":
        return ClusterActionResult(broker=broker, status=Status.NOT_APPLICABLE, reason="it runs no authorizer")
    if not authorizer.value:
        needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker}"
        return ClusterActionResult(broker=broker, status=Status.UNKNOWN, error="its authorizer is unknown", needs=needs)
    pairs, symptom, accepted = facts.rights(broker), facts.symptom(broker), facts.accepted(broker)
    denied = tuple(pair for pair in pairs if pair.allowed is False)
    left = (*denied, *(pair for pair in pairs if pair.allowed is None))
    known = ClusterActionResult(
        broker=broker,
        status=Status.FAIL,
        pairs=denied or left or pairs,
        symptom=symptom,
        accepted=accepted,
        runs=not (facts.view.zookeeper_read and broker not in facts.view.brokers and facts.edges.own_view(broker) is None),
    )
    return _sure(facts, known, left) or _accepted(facts, known, pairs, left) or _weighed(facts, replace(known, pairs=left))


def _sure(facts: Facts, known: ClusterActionResult, left: Sequence[Pair]) -> ClusterActionResult | None:
    """Return a failure that settings or a log measure; None where neither does."""
    denied = [pair for pair in left if pair.allowed is False]
    certain = [pair for pair in denied if pair.principal.certain]
    if denied and known.accepted is None and len(certain) == len(denied):
        return replace(known, why=denied[0].why)
    lines = facts.view.logs.counting("KA401", known.broker)
    denies = [pair for pair in left if _denies_controller(facts, pair)]
    shown = known.symptom is not None or known.broker in facts.edges.denied
    if lines and (shown or denies):
        named = next((line.detail for line in lines if SIGNS[line.signature].names_principal and line.detail), None)
        refused = tuple(
            _from_its_host(facts, replace(pair, name=named) if named and pair.name == UNKNOWN_PRINCIPAL else pair)
            for pair in left or known.pairs
        )
        return replace(known, pairs=refused, accepted=None, why=says(lines[0]), granted=facts.let_in_again(known.broker))
    if (certain or denies) and known.accepted is not None:
        by_host = tuple(_from_its_host(facts, pair) for pair in known.pairs)
        return replace(known, pairs=by_host, confidence=Confidence.INFERRED, why=(certain or denies)[0].why)
    return None


def _denies_controller(facts: Facts, pair: Pair) -> bool | None:
    """Return whether the controller, one of a pair's brokers, is denied now, from its address; None if that is unknown."""
    controller = facts.between.controller
    if controller not in pair.sources or pair.allowed is False:
        return controller in pair.sources and pair.principal.certain
    if pair.acl is None or pair.acl.permission != "DENY":
        return False
    hosts = facts.view.derived(reached_at).get(controller, frozenset())
    is_known = bool(hosts) and all(is_number(host) and not means_itself(host) for host in hosts)
    return pair.acl.host in hosts or (False if is_known else None)


def _from_its_host(facts: Facts, pair: Pair) -> Pair:
    """Return a pair with those of its brokers that the host of the deciding ACL may be; all, where none has that address."""
    if pair.allowed is not None or pair.acl is None:
        return pair
    here = tuple(source for source in pair.sources if any(end.host == pair.acl.host for end in facts.view.endpoints.of(source)))
    return replace(pair, sources=here or pair.sources)


def _accepted(
    facts: Facts, known: ClusterActionResult, pairs: Sequence[Pair], left: Sequence[Pair]
) -> ClusterActionResult | None:
    """Return a pass by settings, or by the view of a broker that accepted its controller; None where neither shows it."""
    if not left and facts.let_in_again(known.broker) and (needs := _unseen(facts, known)):
        return replace(known, status=Status.UNKNOWN, error="it refused its controller before ACLs allowed it", needs=needs)
    if not left:
        return replace(known, status=Status.PASS, pairs=tuple(pairs), accepted=None, why=pairs[0].why if pairs else "")
    was_refused = bool(facts.view.logs.counting("KA401", known.broker))  # and may be again, where an address is not known
    open_again = was_refused and any(_denies_controller(facts, pair) is None for pair in left)
    if known.accepted and not open_again and any(facts.between.controller in pair.sources for pair in pairs):
        return replace(known, status=Status.PASS, pairs=tuple(pairs), why=known.accepted)
    return None


def _unseen(facts: Facts, known: ClusterActionResult) -> str:
    """Return what would show whether a broker lacks what it refused before; "" where a whole and current view shows it."""
    gaps = (facts.view.gap("brokers"), facts.view.gap("topics"))
    gap = next((gap.needs or gap.error for gap in gaps if gap is not None), "")
    offsets = BrokerReads(facts.view.last_reads, LIST_OFFSETS).gap(known.broker)
    by_view = f"an audit that reads the view of broker {known.broker}" if known.accepted is None else ""
    return gap or (offsets["needs"] if offsets else "") or by_view


def _weighed(facts: Facts, undecided: ClusterActionResult) -> ClusterActionResult:
    """Decide by the symptom, and by what rules other causes out, if no setting decides."""
    broker, first = undecided.broker, undecided.pairs[0]
    undecided = replace(undecided, status=Status.UNKNOWN)
    error, needs = first.why, first.needs or file_of(broker)
    edges = facts.edges.into(broker)
    reading = reading_of(facts, _CODE, [edge for edge in edges if edge.effect.state == "missing"])
    if reading.diagnosis is None:
        passing = next((edge.effect.text for edge in edges if edge.effect.state == "passing"), None)
        return replace(undecided, error=f"{error}; {passing}" if passing else error, needs=needs)
    rivals = tuple(fault.named(_CODE) for fault in reading.diagnosis.rivals("rights"))
    if reading.state == BROKEN:
        why = first.why if first.allowed is False else f"{first.why}, and {undecided.symptom}"
        return replace(undecided, status=Status.FAIL, why=why, rivals=rivals, confidence=reading.confidence)
    if reading.diagnosis.measured:
        error = f"{error}; {reading.diagnosis.measured[0].shown_by[0].text}, before any authorization"
    return replace(undecided, error=error, needs=needs, rivals=rivals)


_REFUSES = {
    Confidence.MEASURED: "rejects",
    Confidence.INFERRED: "most likely rejects",
    Confidence.SUSPECTED: "possibly rejects",
}


def result_evidence(between: InterBroker, result: ClusterActionResult) -> dict[str, object]:
    """Return the evidence of an authorization result, with the same keys for each status."""
    sources = sorted({source for pair in result.pairs for source in pair.sources})
    names = sorted({pair.name for pair in result.pairs} - {UNKNOWN_PRINCIPAL})
    controller = between.controller
    listener = between.listener(controller if controller in sources else sources[0]) if sources else None
    whom = brokers(sources)
    if controller is not None and controller in sources:
        whom = "itself, its controller" if controller == result.broker else f"controller {controller}"
    elif between.kraft:
        whom = "the other brokers"
    return {
        "broker": result.broker,
        "whole_cluster": result.everywhere or None,
        "until_restart": result.granted or None,
        "key": between.settings.first_set(result.broker, "super.users", "authorizer.class.name"),
        "who": f"broker {result.broker}",
        "refuses": "rejected" if result.granted else _REFUSES[result.confidence] if result.runs else "will reject",
        "has": "had" if result.granted else "has",
        "whom": whom,
        "principal": tuple(names) or "the inter-broker principal",
        "from": tuple(sources) or None,
        "listener": listener.name if listener else "unknown",
        "protocol": (listener.protocol if listener else None) or "unknown",
        "authorizer": between.authorizer(result.broker).value or "none",
        "why": result.why or result.error or result.reason,
        "symptom": result.symptom,
        "rivals": result.rivals or None,
        "hidden": next((pair.hidden_key for pair in result.pairs if pair.hidden_key), None),
        "error": result.error or None,
        "needs": result.needs or None,
        "reason": result.reason or None,
    }

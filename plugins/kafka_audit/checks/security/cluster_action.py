"""May the other brokers, the controller above all, act at a broker? The decision of KA401, and its evidence and that of KA403."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kafka_audit.checks import ClusterView, Confidence, Status
from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.listeners.principals import file_of
from kafka_audit.faults.authorizers import UNKNOWN_PRINCIPAL, Pair
from kafka_audit.faults.facts import Facts, facts_of
from kafka_audit.faults.read import BROKEN, reading_of
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


def cluster_action_results(view: ClusterView) -> Iterator[ClusterActionResult]:
    """Yield what is known of each broker."""
    facts = facts_of(view)
    for broker in view.inter_broker.brokers:
        yield _result(facts, broker)


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
    known = ClusterActionResult(broker=broker, status=Status.FAIL, pairs=denied or left, symptom=symptom, accepted=accepted)
    return _sure(facts, known, left) or _accepted(facts, known, pairs, left) or _weighed(facts, replace(known, pairs=left))


def _sure(facts: Facts, known: ClusterActionResult, left: Sequence[Pair]) -> ClusterActionResult | None:
    """Return a failure that settings or a log measure; None where neither does."""
    denied = [pair for pair in left if pair.allowed is False]
    certain = [pair for pair in denied if pair.principal.certain]
    if denied and known.accepted is None and len(certain) == len(denied):
        return replace(known, why=denied[0].why)
    lines = facts.view.logs.counting("KA401", known.broker)
    if known.symptom is not None and lines:
        named = next((line.detail for line in lines if SIGNS[line.signature].names_principal and line.detail), None)
        shown = tuple(
            _from_its_host(facts, replace(pair, name=named) if named and pair.name == UNKNOWN_PRINCIPAL else pair)
            for pair in left
        )
        return replace(known, pairs=shown, accepted=None, why=says(lines[0]))
    if certain and known.accepted is not None:
        return replace(known, confidence=Confidence.INFERRED, why=denied[0].why)
    return None


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
    if not left:
        return replace(known, status=Status.PASS, pairs=tuple(pairs), accepted=None, why=pairs[0].why if pairs else "")
    if known.accepted and any(facts.between.controller in pair.sources for pair in pairs):
        return replace(known, status=Status.PASS, pairs=tuple(pairs), why=known.accepted)
    return None


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
        "key": between.settings.first_set(result.broker, "super.users", "authorizer.class.name"),
        "who": f"broker {result.broker}",
        "refuses": _REFUSES[result.confidence],
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

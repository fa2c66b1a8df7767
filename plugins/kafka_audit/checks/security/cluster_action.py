"""May the other brokers, the controller above all, act at a broker? The decision table of KA401, a broker at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kafka_audit.checks.security.login_faults import login_faults
from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.listeners.principals import Principal, file_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import CLUSTER, NO_ACL, NO_ACL_EXISTS, Decision, authorized
from kafka_audit.model.finding import Confidence, Status
from kafka_audit.model.log_signatures import BY_ID
from kafka_audit.model.tables import Acl

UNKNOWN_PRINCIPAL = "User:\N{REPLACEMENT CHARACTER}"
"""A principal that no ACL names: what is decided for it holds for any that is not named."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What one broker's authorizer says of one principal, and of which brokers it is."""

    principal: Principal
    name: str
    sources: tuple[int, ...]
    allowed: bool | None  # None: not decided
    why: str
    needs: str = ""
    acl: Acl | None = None
    hidden: bool = False  # only a hidden setting could still allow it
    hidden_key: str | None = None  # of a setting that is set and not shown


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
    for broker in view.inter_broker.brokers:
        yield _by_log(view, _result(view, broker))


def _result(view: ClusterView, broker: int) -> ClusterActionResult:
    between, symptoms = view.inter_broker, view.symptoms
    authorizer = between.authorizer(broker)
    if authorizer.state == "unset":
        return ClusterActionResult(broker=broker, status=Status.NOT_APPLICABLE, reason="it runs no authorizer")
    if not authorizer.value:
        needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker}"
        return ClusterActionResult(broker=broker, status=Status.UNKNOWN, error="its authorizer is unknown", needs=needs)
    pairs = list(pairs_at(between, broker))
    denied = tuple(pair for pair in pairs if pair.allowed is False)
    left = tuple(pair for pair in pairs if pair.allowed is None)
    symptom, accepted = symptoms.lasting(broker), symptoms.accepted(broker)
    if denied:
        sure = accepted is None and all(pair.principal.certain for pair in denied)
        confidence = Confidence.MEASURED if sure else Confidence.INFERRED
        if sure or symptom or any(pair.principal.certain for pair in denied):
            return ClusterActionResult(
                broker=broker,
                status=Status.FAIL,
                confidence=confidence,
                pairs=denied,
                symptom=symptom,
                accepted=accepted,
                why=denied[0].why,
            )
        left = (*denied, *left)
    if not left:
        why = pairs[0].why if pairs else ""
        return ClusterActionResult(broker=broker, status=Status.PASS, pairs=tuple(pairs), symptom=symptom, why=why)
    if accepted and any(between.controller in pair.sources for pair in pairs):
        return ClusterActionResult(broker=broker, status=Status.PASS, pairs=tuple(pairs), why=accepted, accepted=accepted)
    return _weighed(view, ClusterActionResult(broker=broker, status=Status.UNKNOWN, pairs=left, symptom=symptom))


def _by_log(view: ClusterView, result: ClusterActionResult) -> ClusterActionResult:
    """Return the result of the log if the data decides nothing: the broker refuses, and the principal that its own log names."""
    if result.status is Status.NOT_APPLICABLE or (result.status is Status.FAIL and result.confidence is Confidence.MEASURED):
        return result
    symptom, lines = view.symptoms.lasting(result.broker), view.logs.counting("KA401", result.broker)
    if symptom is None or not lines:
        return result
    named = next((line.detail for line in lines if BY_ID[line.signature].names_principal and line.detail), None)
    pairs = tuple(replace(pair, name=named) if named and pair.name == UNKNOWN_PRINCIPAL else pair for pair in result.pairs)
    return ClusterActionResult(broker=result.broker, status=Status.FAIL, pairs=pairs, symptom=symptom, why=says(lines[0]))


def _weighed(view: ClusterView, undecided: ClusterActionResult) -> ClusterActionResult:
    """Decide by the symptom, and by other causes with the same symptom, if no setting decides."""
    broker, first = undecided.broker, undecided.pairs[0]
    path, found, rivals = _rivals(view, broker)
    error = first.why
    if path == "closed":
        error = f"{error}; the probe fails before authorization"
    elif view.symptoms.passing(broker):
        error = f"{error}; its view was empty or stale in one sample only"
    unknown = replace(undecided, error=error, needs=first.needs or file_of(broker), rivals=rivals)
    if undecided.symptom is None or path == "closed" or found:
        return unknown
    why = f"{first.why}, and {undecided.symptom}"
    failed = replace(undecided, status=Status.FAIL, why=why, rivals=rivals, confidence=Confidence.INFERRED)
    if view.kraft:
        # In KRaft no other check reports this symptom: it is reported here, with the other possible causes.
        return failed if first.hidden and not rivals else replace(failed, confidence=Confidence.SUSPECTED)
    return failed if first.hidden and not rivals else unknown


def _rivals(view: ClusterView, broker: int) -> tuple[str | None, bool, tuple[str, ...]]:
    """Return the result of the probe, whether a login fault was found, and the checks whose faults are not ruled out."""
    between, symptoms = view.inter_broker, view.symptoms
    source = between.controller if between.controller is not None else broker
    listener = between.listener(source) or between.listener(broker)
    if listener is None:
        return None, False, ("KA302", "KA412")
    path = symptoms.probed(broker, listener.name)
    # Where another broker with an authorizer was let in by the same rules, a hidden difference is less likely than a cut.
    others = any(other != broker and between.authorizer(other).value and symptoms.accepted(other) for other in between.brokers)
    rivals = ["KA302"] if path is None and (others or between.kraft) else []
    if listener.protocol != "PLAINTEXT":
        rivals.append("KA412")
    return path, bool(login_faults(view, broker, listener)), tuple(rivals)


def pairs_at(between: InterBroker, broker: int) -> Iterator[Pair]:
    """Yield what a broker's authorizer says of each principal that another broker, or it itself, appears as."""
    groups: dict[tuple[str, ...], tuple[Principal, list[int]]] = {}
    for sources in between.kinds:
        principal = between.principal(sources[0], broker)
        groups.setdefault(principal.names, (principal, []))[1].extend(sources)
    for names, (principal, held) in groups.items():
        judged = [_pair(between, broker, principal, name, tuple(sorted(held))) for name in names or (UNKNOWN_PRINCIPAL,)]
        verdicts = {pair.allowed for pair in judged}
        yield judged[0] if len(verdicts) == 1 else replace(judged[0], allowed=None, why=principal.why, needs=principal.needs)


def _pair(between: InterBroker, broker: int, principal: Principal, name: str, sources: tuple[int, ...]) -> Pair:
    undecided = Pair(principal=principal, name=name, sources=sources, allowed=None, why=principal.why, needs=principal.needs)
    if principal.fails or principal.refused:
        return undecided
    authorizer = between.authorizer(broker).value or ""
    supers, acls = between.super_users(broker), between.cluster_acls(broker)
    if not between.understood(authorizer):
        why, needs = f"{authorizer} uses its own rules", f"the authorizer log of broker {broker}"
        return replace(undecided, why=why, needs=needs)
    if supers is not None and name in supers:
        return replace(undecided, allowed=True, why=f"{name} is in super.users of broker {broker}", needs="")
    if acls is None and not between.asked:
        return _by_files(between, broker, undecided, supers)
    if acls is None:
        return replace(undecided, why="its ACLs were not read", needs="Describe on Cluster, or read on /kafka-acl")
    return _ruled(between, broker, undecided, supers, acls)


def _by_files(between: InterBroker, broker: int, undecided: Pair, supers: frozenset[str] | None) -> Pair:
    """Decide by super.users alone: with allow.everyone.if.no.acl.found, ACLs of the cluster could only take the right away."""
    name, named = undecided.name, bool(undecided.principal.names)
    subject = "the inter-broker principal is unknown" if name == UNKNOWN_PRINCIPAL else f"{name} is not in super.users"
    if between.allows_without_acl(broker) is not False:
        why, needs = f"{subject}, and {NO_ACL} decides if no ACL is about the cluster", f"the ACLs of broker {broker}"
        return replace(undecided, why=why, needs=needs)
    why = f"{subject}, and no ACLs were read"
    return replace(undecided, allowed=False if named and supers is not None else None, why=why, needs=file_of(broker))


def _ruled(between: InterBroker, broker: int, undecided: Pair, supers: frozenset[str] | None, acls: Sequence[Acl]) -> Pair:
    """Decide by ACLs, as far as hidden settings let that be."""
    everybody = between.allows_without_acl(broker)
    decisions = [_decided(acls, undecided.name, host, everybody=bool(everybody)) for host in _hosts(acls)]
    decided, named = decisions[0], bool(undecided.principal.names)
    if len({decision.allowed for decision in decisions}) > 1:
        needs = f"the address from which brokers connect to broker {broker}"
        return replace(undecided, why=f"its ACLs depend on the host: {decisions[-1].why}", needs=needs)
    if decided.allowed:
        return replace(undecided, allowed=True, why=decided.why, acl=decided.acl, needs="")
    if supers is None or (everybody is None and decided.why == NO_ACL_EXISTS):
        key = "super.users" if supers is None else "allow.everyone.if.no.acl.found"
        why = f"{decided.why}, and {key} of broker {broker} is set but hidden"
        return replace(undecided, why=why, needs=file_of(broker), acl=decided.acl, hidden=named, hidden_key=key)
    if named or not supers:
        return replace(undecided, allowed=False, why=decided.why, acl=decided.acl)
    return undecided


def _decided(acls: Sequence[Acl], name: str, host: str, *, everybody: bool) -> Decision:
    return authorized(name, host, "ClusterAction", CLUSTER, acls, allow_everyone_if_no_acl=everybody)


def _hosts(acls: Sequence[Acl]) -> tuple[str, ...]:
    """Return an address that no ACL names, and each that one does: where they differ, it depends on the host."""
    return ("", *sorted({acl.host for acl in acls if acl.resource_type == CLUSTER[0]} - {"*"}))

"""KA305."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import row_check
from kafka_audit.checks.rows import MOVING, inter_broker_listeners, judge, moved, newest, registrations_gap
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredBroker, RegisteredEndpoint, Snapshot


@row_check(
    code="KA305",
    severity=Severity.MEDIUM,
    needs=(RegisteredBroker, RegisteredEndpoint),
    says={
        Status.FAIL: "Clients of listener {listener} find broker {broker} different: {fault}",
        Status.PASS: "Broker {broker} has listener {listener} as the others do ({protocol})",
        Status.UNKNOWN: "Not known: whether {who} has the listeners of the others ({error})",
        Status.NOT_APPLICABLE: "No registered listeners to compare: {reason}",
    },
)
def listener_sets_differ(snapshot: Snapshot) -> Iterator[Judgement]:
    """Brokers differ in their listeners or in the protocol of one.

    ## Why it matters
    Metadata is per listener: on one that a leader does not have, its partitions cannot be used (KA103). Where that is the
    listener between brokers, the others cannot talk to it at all.

    ## Fails when
    A broker lacks a listener that at least half of the brokers have, or has one that most lack (LOW), or another protocol under
    the same name than most. CRITICAL where a broker lacks the listener that another one uses between brokers.

    ## Not known when
    ZooKeeper was not read, or the registration changed between two looks. Which listener is used between brokers takes
    DescribeConfigs on Cluster; without it a lacking listener is MEDIUM.

    ## Passes only when
    The broker has that listener, with the protocol that most have.

    ## What to do
    Compare `listeners`, `advertised.listeners` and `listener.security.protocol.map` of broker {broker} with the others'. In a
    rolling change the order is: add the new listener on all brokers, then switch `inter.broker.listener.name`, then remove the
    old one.

    ## References
    KIP-103 (listeners for different traffic).
    """
    gap = tuple(registrations_gap(snapshot, "KA305"))
    yield from gap
    if gap:
        return
    brokers = sorted(row.broker_id for row in newest(snapshot, RegisteredBroker))
    listeners: dict[str, dict[int, str]] = defaultdict(dict)
    for endpoint in newest(snapshot, RegisteredEndpoint):
        listeners[endpoint.listener][endpoint.broker_id] = endpoint.protocol
    moving, internal = moved(snapshot), inter_broker_listeners(snapshot)
    for listener, protocols in sorted(listeners.items()):
        for broker in brokers:
            judgement = _compared(snapshot, listener, protocols, broker, of=len(brokers), internal=listener in internal)
            if judgement is not None and judgement.status is Status.FAIL and broker in moving:
                judgement = replace(judgement, status=Status.UNKNOWN, evidence={**judgement.evidence, **MOVING}, severity=None)
            if judgement is not None:
                yield judgement


def _compared(  # noqa: PLR0913 -- one cell of a table, with what its column says
    snapshot: Snapshot, listener: str, protocols: dict[int, str], broker: int, *, of: int, internal: bool
) -> Judgement | None:
    resource = f"broker/{broker}/listener/{listener}"
    usual = min(Counter(protocols.values()).items(), key=lambda item: (-item[1], item[0]))[0]
    common = 2 * len(protocols) >= of
    evidence = {"who": f"broker {broker}", "broker": str(broker), "listener": listener, "protocol": protocols.get(broker, "none")}

    def fail(fault: str, severity: Severity) -> Judgement:
        return replace(judge(snapshot, "KA305", resource, Status.FAIL, **evidence, fault=fault), severity=severity)

    if broker not in protocols and (common or internal):
        use = ", and others use it between brokers" if internal else ""
        fault = f"it lacks the listener that {len(protocols)} of {of} brokers have{use}"
        return fail(fault, Severity.CRITICAL if internal else Severity.MEDIUM)
    if broker not in protocols:
        return None
    if not common and not internal:
        return fail(f"only {len(protocols)} of {of} brokers have this listener", Severity.LOW)
    if protocols[broker] != usual:
        return fail(f"its protocol is {protocols[broker]}, most have {usual}", Severity.MEDIUM)
    return judge(snapshot, "KA305", resource, Status.PASS, **evidence)

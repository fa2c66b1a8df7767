"""KA305."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
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
    On a listener that a leader lacks, its partitions cannot be used (KA103). If brokers use it, they cannot talk to that one.

    ## Fails when
    A broker lacks a listener that at least half of the brokers have, or has one that most lack (LOW), or another protocol under
    the same name than most. CRITICAL where a broker lacks the listener that another one uses between brokers.

    ## Not known when
    ZooKeeper was not read, or the registration changed between two looks. Without DescribeConfigs on Cluster a lack is MEDIUM.

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
            has = protocols.get(broker)
            fault = _fault(protocols, has, of=len(brokers), internal=listener in internal)
            told = {"who": f"broker {broker}", "broker": str(broker), "listener": listener, "protocol": has or "none"}
            resource = f"broker/{broker}/listener/{listener}"
            if fault is None and has is not None:
                yield judge(snapshot, "KA305", resource, Status.PASS, **told)
            elif fault is not None and broker in moving:
                yield judge(snapshot, "KA305", resource, Status.UNKNOWN, **told, **MOVING)
            elif fault is not None:
                yield replace(judge(snapshot, "KA305", resource, Status.FAIL, **told, fault=fault[0]), severity=fault[1])


def _fault(protocols: Mapping[int, str], has: str | None, *, of: int, internal: bool) -> tuple[str, Severity] | None:
    """Return what is wrong with a broker's listener that `protocols` have, of `of` brokers; None where nothing is."""
    usual = min(Counter(protocols.values()).items(), key=lambda item: (-item[1], item[0]))[0]
    if 2 * len(protocols) < of and not internal:
        return None if has is None else (f"only {len(protocols)} of {of} brokers have this listener", Severity.LOW)
    if has is None:
        use, severity = (", and others use it between brokers", Severity.CRITICAL) if internal else ("", Severity.MEDIUM)
        return f"it lacks the listener that {len(protocols)} of {of} brokers have{use}", severity
    return None if has == usual else (f"its protocol is {has}, most have {usual}", Severity.MEDIUM)

from collections import Counter
from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.listeners.inter_broker import InterBroker, Listener
from kafka_audit.model.text import brokers

_KEYS = ("inter.broker.listener.name", "security.inter.broker.protocol")


@check(code="KA312", severity=Severity.CRITICAL, by_files=True)
def inter_broker_listeners_differ(view: ClusterView) -> Judgements:
    """Brokers use different inter-broker listeners, or different security on them."""
    between = view.inter_broker
    used = {broker: reported for broker in between.brokers if (reported := between.listener(broker)) is not None}
    known = {broker: kind for broker, listener in used.items() if (kind := _kind(between, broker, listener)) is not None}
    kinds = Counter(known.values())
    usual = min(kinds, key=lambda kind: (-kinds[kind], kind), default=None)
    # A broker does not run with an inter-broker listener that it lacks itself: its file does, for the next start (KA311).
    running = {
        broker: listener.name
        for broker, listener in used.items()
        if (own_listeners := between.offered(broker)) is None or listener.name in own_listeners
    }
    users_of: dict[str, list[int]] = {}
    for broker, name in running.items():
        users_of.setdefault(name, []).append(broker)
    unread = [broker for broker in between.brokers if broker not in known]
    for broker in between.brokers:
        offered, own = between.offered(broker), used.get(broker)
        for name in () if offered is None else users_of.keys() - offered:
            users = [user for user in users_of[name] if user != broker]
            if users:
                fault = f"it does not have listener {name}, which {brokers(users)} would use to reach it"
                evidence: dict[str, object] = {"broker": broker, "fault": fault, "listener": name, "key": "advertised.listeners"}
                evidence["users"] = tuple(users)
                yield view.judge(f"broker/{broker}/listener/{name}", Status.FAIL, evidence)
        if own is None or (broker not in known and (offered is None or own.name in offered)):
            error = "its inter-broker listener is unknown" if own is None else f"{_lacking(own)} on {own.name} is unknown"
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker}"
            evidence = {"who": f"broker {broker}", "error": error, "needs": needs}
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, evidence)
        elif offered is None or own.name in offered:
            kind, resource = known[broker], f"broker/{broker}/listener/{own.name}"
            evidence = {"broker": broker, "listener": own.name, "protocol": own.protocol or "unknown"}
            evidence["key"] = between.settings.first_set(broker, *_KEYS)
            evidence["fault"] = f"it uses {' '.join(kind).strip()}, most brokers use {' '.join(usual or ()).strip()}"
            if kind == usual and len(unread) >= kinds[kind]:
                error = f"the inter-broker listener or mechanism of {brokers(unread)} is unknown"
                evidence |= {"who": f"broker {broker}", "error": error}
                evidence["needs"] = f"DescribeConfigs on Cluster, or server.properties of {brokers(unread)}"
                yield view.judge(resource, Status.UNKNOWN, evidence)
                continue
            found = view.judge(resource, Status.PASS if kind == usual else Status.FAIL, evidence)
            yield found if kind == usual else replace(found, severity=Severity.MEDIUM)
    yield from no_brokers(view)


def _kind(between: InterBroker, broker: int, listener: Listener) -> tuple[str, str, str] | None:
    """Return listener, protocol and mechanism; None where the protocol, or a mechanism that matters, is unknown."""
    if listener.protocol is None:
        return None
    if not listener.logs_in:
        return listener.name, listener.protocol, ""
    mechanism = between.mechanism(broker)
    return (listener.name, listener.protocol, mechanism.value or "") if mechanism.known else None


def _lacking(listener: Listener) -> str:
    """Return what of a listener is unknown."""
    return "its security protocol" if listener.protocol is None else "its SASL mechanism"

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, commonest, each_broker, unknown_judgement
from kafka_audit.model.text import brokers

_NAME, _PROTOCOL = "inter.broker.listener.name", "security.inter.broker.protocol"


@check(code="KA306", severity=Severity.MEDIUM, by_files=True)
def inter_broker_settings_differ(view: ClusterView) -> Judgements:
    """Brokers have different settings for the inter-broker listener."""
    effective = Effective(view)
    if len(effective.brokers) == 1:
        yield view.not_applicable("cluster", "a single broker is known")
        return
    named = {broker: setting for broker in effective.brokers if (setting := _named(effective, broker)) is not None}
    usual = commonest({broker: listener for broker, (listener, _) in named.items()}) if named else ""
    others = [broker for broker, (listener, _) in named.items() if listener == usual]

    def judged(broker: int) -> Judgements:
        if broker not in named or len(named) == 1:
            error = "no settings of another broker were read" if broker in named else f"{_NAME} or {_PROTOCOL} is unknown"
            yield unknown_judgement(effective, broker, error)
            return
        listener, key = named[broker]
        how = f"by {key}" if key else "Kafka's default"
        evidence: dict[str, object] = {"broker": broker, "listener": listener, "key": key or _NAME, "how": how}
        evidence["other_brokers"] = tuple(sorted(others))
        evidence |= {"usual": usual, "others": brokers(others), "say": "has" if len(others) == 1 else "have"}
        yield view.judge(f"broker/{broker}", Status.PASS if listener == usual else Status.FAIL, evidence)

    yield from each_broker(effective, judged)


def _named(effective: Effective, broker: int) -> tuple[str, str] | None:
    """Return the listener and the key that names it, "" for the default; None where that is not known."""
    name, protocol = effective.get(broker, _NAME), effective.get(broker, _PROTOCOL)
    if name.text:
        return name.text, _NAME
    if not name.known or not protocol.known:
        return None
    return protocol.text or "PLAINTEXT", _PROTOCOL if protocol.explicit and protocol.text else ""

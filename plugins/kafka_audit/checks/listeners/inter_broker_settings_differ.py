"""KA306."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, commonest, unknown, unread
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty
from kafka_audit.model.text import brokers

_NAME, _PROTOCOL = "inter.broker.listener.name", "security.inter.broker.protocol"


@check(
    code="KA306",
    severity=Severity.MEDIUM,
    needs=(BrokerConfig, BrokerProperty),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} is told to talk to others on {listener} by {key}, where {others} {say} {usual}",
        Status.PASS: "Broker {broker} is told to talk to others on {listener} ({how}), as most are",
        Status.UNKNOWN: "Cannot determine whether {who} is told to talk to others as they are ({error})",
        Status.NOT_APPLICABLE: "No inter-broker settings to compare: {reason}",
    },
)
def inter_broker_settings_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers differ in the settings that name the listener between them.

    ## Why it matters
    It is a rolling change half done, or a copy of an old file. Whether brokers are cut off from each other now is what KA312
    tells, from the listeners that are offered; this names the line to be changed.

    ## Fails when
    `inter.broker.listener.name`, or without it `security.inter.broker.protocol` (default PLAINTEXT), names another listener
    than on most brokers.

    ## Not known when
    Neither DescribeConfigs nor server.properties of the broker was read.

    ## Passes only when
    The broker names the listener that most name, by either key. It does not apply to a single broker.

    ## What to do
    Go on with the change or go back: set {key} on broker {broker} to what names {usual}, and restart it. See KA312 first: where
    a broker does not offer the listener, add it there before.

    ## References
    KIP-103 (listeners for different traffic); Kafka documentation, "Incorporating Security Features in a Running Cluster".
    """
    effective = Effective(view)
    if len(effective.brokers) == 1:
        yield view.judge("KA306", "cluster", Status.NOT_APPLICABLE, reason="a single broker is known")
        return
    yield from unread(effective, "KA306")
    named = {broker: one for broker in effective.brokers if (one := _named(effective, broker)) is not None}
    usual = commonest({broker: listener for broker, (listener, _) in named.items()}) if named else ""
    others = [broker for broker, (listener, _) in named.items() if listener == usual]
    for broker in filter(effective.told, effective.brokers):
        if broker not in named or len(named) == 1:
            error = "no other broker's settings were read" if broker in named else f"{_NAME} or {_PROTOCOL} was not told"
            yield unknown(effective, "KA306", broker, error)
            continue
        listener, key = named[broker]
        how = f"by {key}" if key else "Kafka's default"
        words = {"broker": broker, "listener": listener, "key": key or _NAME, "how": how}
        words |= {"usual": usual, "others": brokers(others), "say": "says" if len(others) == 1 else "say"}
        status = Status.PASS if listener == usual else Status.FAIL
        yield view.judge("KA306", f"broker/{broker}", status, words)


def _named(effective: Effective, broker: int) -> tuple[str, str] | None:
    """Return the listener and the key that names it, "" for the default; None where that is not known."""
    name, protocol = effective.get(broker, _NAME), effective.get(broker, _PROTOCOL)
    if name.text:
        return name.text, _NAME
    if not name.known or not protocol.known:
        return None
    return protocol.text or "PLAINTEXT", _PROTOCOL if protocol.explicit and protocol.text else ""

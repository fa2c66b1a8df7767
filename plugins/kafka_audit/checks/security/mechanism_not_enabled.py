"""KA406."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_files
from kafka_audit.cluster.listeners.inter_broker import MECHANISM
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status

KAFKA_SAYS = (
    "sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms when SASL is used for "
    "inter-broker communication"
)
"""The words of `kafka.server.KafkaConfig.validateValues`, the same from 1.1 to 4.x."""


@check(
    code="KA406",
    severity=Severity.CRITICAL,
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} does not start with its server.properties: {kafka_says} ({mechanism} is not in {enabled})",
        Status.PASS: "Broker {broker} enables {mechanism}, its inter-broker mechanism, on listener {listener}",
        Status.UNKNOWN: "Cannot determine whether {who} enables its inter-broker mechanism ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} does not log in at other brokers: listener {listener} is {protocol}",
    },
)
def mechanism_not_enabled(view: ClusterView) -> Iterator[Judgement]:
    """The inter-broker SASL mechanism is not enabled on the inter-broker listener.

    ## Why it matters
    Kafka does not start with such a file. If the broker runs, the file was changed after its start: it will not start again
    until the file is fixed.

    ## Fails when
    `sasl.mechanism.inter.broker.protocol` (default GSSAPI) is not among `sasl.enabled.mechanisms` (default GSSAPI) of the
    inter-broker listener. That listener's own key (`listener.name.NAME.sasl.enabled.mechanisms`) takes precedence.

    ## Not known when
    No server.properties of the broker was read, or a mechanism contains a placeholder.

    ## Passes only when
    The mechanism is enabled. The check does not apply if the inter-broker listener does not use SASL.

    ## What to do
    In server.properties of broker {broker}: add {mechanism} to `sasl.enabled.mechanisms`, or set
    `sasl.mechanism.inter.broker.protocol` to one of {enabled} on all brokers. Then start the broker.

    ## References
    `kafka.server.KafkaConfig.validateValues`; KIP-103 (listeners for different traffic).
    """
    yield from no_files(view, "KA406")
    between = view.next_start
    for broker in sorted(between.settings.files):
        listener, mechanism = between.listener(broker), between.mechanism(broker).value
        if listener is None:
            continue
        setting = between.settings.at(broker, listener.name, "sasl.enabled.mechanisms")
        enabled = tuple(part.strip() for part in (setting.value or "GSSAPI").split(","))
        own = f"listener.name.{listener.name.lower()}.sasl.enabled.mechanisms"
        evidence = {"broker": broker, "listener": listener.name, "mechanism": str(mechanism), "enabled": enabled}
        evidence |= {"protocol": listener.protocol or "unknown", "who": f"broker {broker}", "kafka_says": KAFKA_SAYS}
        evidence["key"] = between.settings.first_set(broker, MECHANISM, own, "sasl.enabled.mechanisms")
        if listener.logs_in and (mechanism is None or not setting.known):
            facts = {"error": "a mechanism contains a placeholder", "needs": "the file as the broker reads it"}
            yield view.judge("KA406", f"broker/{broker}", Status.UNKNOWN, evidence | facts)
            continue
        among = mechanism in enabled
        status = (Status.PASS if among else Status.FAIL) if listener.logs_in else Status.NOT_APPLICABLE
        reason = {} if listener.logs_in else {"reason": f"listener {listener.name} is {listener.protocol}"}
        yield view.judge("KA406", f"broker/{broker}", status, evidence | reason)

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_files
from kafka_audit.cluster.listeners.inter_broker import MECHANISM

KAFKA_SAYS = (
    "sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms when SASL is used for "
    "inter-broker communication"
)
"""The words of `kafka.server.KafkaConfig.validateValues`, the same from 1.1 to 4.x."""


@check(code="KA406", severity=Severity.CRITICAL, by_files=True)
def mechanism_not_enabled(view: ClusterView) -> Judgements:
    """The inter-broker SASL mechanism is not enabled on the inter-broker listener."""
    yield from no_files(view)
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
            yield view.unknown(
                f"broker/{broker}", "a mechanism contains a placeholder", "the file as the broker reads it", evidence
            )
            continue
        among = mechanism in enabled
        status = (Status.PASS if among else Status.FAIL) if listener.logs_in else Status.NOT_APPLICABLE
        reason = {} if listener.logs_in else {"reason": f"listener {listener.name} is {listener.protocol}"}
        yield view.judge(f"broker/{broker}", status, evidence | reason)

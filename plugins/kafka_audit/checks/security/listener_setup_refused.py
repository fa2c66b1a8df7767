"""KA414."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_files
from kafka_audit.checks.security.listener_setup import Need, worst
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerProperty, SourceRead


@check(
    code="KA414",
    severity=Severity.CRITICAL,
    needs=(BrokerProperty, SourceRead),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} does not start with its server.properties: {what}: {says}",
        Status.PASS: "Broker {broker} has a valid JAAS configuration for each mechanism of its listeners",
        Status.UNKNOWN: "Cannot determine whether {who} finds the JAAS configurations and keystores of its listeners ({error})",
        Status.NOT_APPLICABLE: "The file of broker {broker} decides no JAAS configuration and no keystore: {reason}",
    },
)
def listener_setup_refused(view: ClusterView) -> Iterator[Judgement]:
    """A listener's JAAS configuration or keystore is missing or invalid, and the broker does not start.

    ## Why it matters
    KafkaConfig does not validate these keys; the listeners load them later during startup. A running broker continues until its
    next start, which fails.

    ## Fails when
    By server.properties, Kafka cannot parse the JAAS configuration of an enabled mechanism. Inferred: it is missing while the
    file contains JAAS configurations of other mechanisms. Or the inter-broker listener uses TLS and has no keystore: Kafka
    tests it against itself. Or a keystore or truststore does not exist on the host of the broker: `kafka-audit lint --on-host`
    checks this there.

    ## Not known when
    The file contains no JAAS configuration: the JVM may have one by `-Djava.security.auth.login.config`. Or the keystores were
    not looked up on the host of the broker, or exist, and their passwords were not tested. Or a value contains a placeholder.

    ## Passes only when
    Every enabled mechanism of every SASL listener has a valid JAAS configuration, and no listener has a keystore. The check
    does not apply without both, or if the running cluster shows what its files do not contain.

    ## What to do
    Correct {what} in server.properties of broker {broker} before the next start. Kafka says: {says}

    The JAAS configuration of one mechanism of one listener is `listener.name.LISTENER.MECHANISM.sasl.jaas.config`, with
    both names in lower case. It has one login module and ends with a semicolon. Values that begin with a digit need quotes.
    Brokers ignore a plain `sasl.jaas.config`.

    ## References
    `org.apache.kafka.common.security.JaasContext.loadServerContext`; `org.apache.kafka.common.security.JaasConfig`;
    `org.apache.kafka.common.security.ssl.DefaultSslEngineFactory`; KIP-103.
    """
    between = view.next_start
    for broker in sorted(between.settings.files):
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        need = worst(view, broker)
        if need is None or (between.asked and need.status is Status.UNKNOWN):
            reason = need.says if need else "no listener uses SASL or names a keystore"
            yield view.judge("KA414", resource, Status.NOT_APPLICABLE, evidence, reason=reason)
            continue
        reported = {
            Status.FAIL: {"key": need.key, "what": _what(need), "says": need.says},
            Status.UNKNOWN: {"key": need.key, "error": need.says, "needs": need.needs},
        }
        judged = view.judge("KA414", resource, need.status, evidence | reported.get(need.status, {}))
        yield replace(judged, confidence=need.confidence)
    yield from no_files(view, "KA414")


def _what(need: Need) -> str:
    return f"{need.key}, which requires {need.lacks}" if need.lacks else need.key

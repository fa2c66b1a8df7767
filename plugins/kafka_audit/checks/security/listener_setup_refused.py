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
        Status.FAIL: "Broker {broker} does not start with its {what}: {says}",
        Status.PASS: "Broker {broker} finds a JAAS text that Kafka takes for each mechanism of its listeners",
        Status.UNKNOWN: "Cannot determine whether {who} finds the JAAS texts and key stores of its listeners ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} needs no JAAS text and no key store that its file decides: {reason}",
    },
)
def listener_setup_refused(view: ClusterView) -> Iterator[Judgement]:
    """A listener's JAAS text or key store is missing or refused, and the broker does not start.

    ## Why it matters
    KafkaConfig takes these keys as they are; the listeners that need them open them after it. A running broker goes on until its
    next start, and that one fails.

    ## Fails when
    By server.properties, a JAAS text of an enabled mechanism is one that Kafka cannot read. Inferred: it is missing, while the
    file holds texts of others. Or the listener between brokers has TLS and no key store: Kafka tries it against itself. Or, on
    the host where the broker's log directory is (`meta.properties` with its id), a key store or trust store is not there;
    `lint` looks.

    ## Not known when
    The file holds no JAAS text at all: the JVM may be given one by `-Djava.security.auth.login.config`. The key stores are on
    another host, or are there: their passwords are not tried. A value is filled in later.

    ## Passes only when
    Every enabled mechanism of every SASL listener has a text that Kafka takes, and no listener has a key store. It does not
    apply where there is neither, or where a running cluster has found what its files leave open.

    ## What to do
    Correct {what} in server.properties of broker {broker} before it is started again. Kafka says: {says}

    A text for one mechanism of one listener: `listener.name.<listener>.<mechanism>.sasl.jaas.config`, both in lower case, one
    login module, closed by a semicolon. Values that begin with a digit need quotes. Brokers pass over a bare
    `sasl.jaas.config`.

    ## References
    `org.apache.kafka.common.security.JaasContext.loadServerContext`; `org.apache.kafka.common.security.JaasConfig`;
    `org.apache.kafka.common.security.ssl.DefaultSslEngineFactory`; KIP-103.
    """
    between = view.inter_broker
    for broker in sorted(between.settings.files):
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        need = worst(view, broker)
        if need is None or (between.asked and need.status is Status.UNKNOWN):
            reason = need.says if need else "no listener has SASL or names a key store"
            yield view.judge("KA414", resource, Status.NOT_APPLICABLE, evidence, reason=reason)
            continue
        told = {
            Status.FAIL: {"key": need.key, "what": _what(need), "says": need.says},
            Status.UNKNOWN: {"key": need.key, "error": need.says, "needs": need.needs},
        }
        judged = view.judge("KA414", resource, need.status, evidence | told.get(need.status, {}))
        yield replace(judged, confidence=need.confidence)
    yield from no_files(view, "KA414")


def _what(need: Need) -> str:
    return f"{need.key}, which asks for {need.lacks}" if need.lacks else need.key

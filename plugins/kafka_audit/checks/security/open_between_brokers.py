"""KA411."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA411",
    severity=Severity.MEDIUM,
    by_files=True,
    says={
        Status.FAIL: "Inter-broker traffic of {who} is not encrypted: {protocol} ({listener}) exposes {what}",
        Status.PASS: "Broker {broker} uses {protocol} for inter-broker traffic ({listener})",
        Status.UNKNOWN: "Cannot determine whether the inter-broker traffic of {who} is encrypted ({error})",
    },
)
def open_between_brokers(view: ClusterView) -> Iterator[Judgement]:
    """Inter-broker traffic is not encrypted.

    ## Why it matters
    Every record is sent over this connection. With SASL/PLAIN the brokers' own password is sent too, and it has all rights.

    ## Fails when
    The inter-broker listener is PLAINTEXT or SASL_PLAINTEXT. MEDIUM: many clusters run this way in a closed network on purpose.

    ## Not known when
    The inter-broker listener or its protocol is unknown: DescribeConfigs and server.properties were not read.

    ## Passes only when
    The listener is SSL or SASL_SSL.

    ## What to do
    Add a listener with SSL or SASL_SSL to all brokers, switch `inter.broker.listener.name` to it (without
    `security.inter.broker.protocol`: Kafka accepts only one of the two), then remove the old listener. This requires three
    rolling restarts. If the network is closed on purpose, mute KA411 with that reason.

    ## References
    KIP-103 (listeners for different traffic); Kafka documentation, "Security".
    """
    yield from one_finding(view, "KA411", _judged(view))
    yield from no_brokers(view, "KA411")


def _judged(view: ClusterView) -> Iterator[Judgement]:
    between = view.inter_broker
    for broker in between.brokers:
        listener = between.listener(broker)
        if listener is None or listener.protocol is None:
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker}"
            facts = {"who": f"broker {broker}", "error": "its inter-broker listener is unknown", "needs": needs}
            yield view.judge("KA411", f"broker/{broker}", Status.UNKNOWN, facts)
            continue
        mechanism = between.mechanism(broker).value if listener.logs_in else None
        what = "every record and the brokers' password" if mechanism == "PLAIN" else "every record"
        evidence = {
            "broker": broker,
            "who": f"broker {broker}",
            "listener": listener.name,
            "protocol": listener.protocol,
            "what": what,
        }
        evidence["key"] = between.settings.first_set(broker, "inter.broker.listener.name", "security.inter.broker.protocol")
        status = Status.PASS if listener.encrypted else Status.FAIL
        yield view.judge("KA411", f"broker/{broker}/listener/{listener.name}", status, evidence)

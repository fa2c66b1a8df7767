"""KA407."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, RegisteredBroker


@check(
    code="KA407",
    severity=Severity.HIGH,
    needs=(BrokerConfig, BrokerProperty, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} runs authorizer {authorizer}, but others run {others}",
        Status.PASS: "Broker {broker} runs {authorizer}, like the other brokers",
        Status.UNKNOWN: "Cannot determine whether {who} runs the same authorizer as the others ({error})",
        Status.NOT_APPLICABLE: "No authorizers to compare: {reason}",
    },
)
def authorizers_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers run different authorizers, or some run none.

    ## Why it matters
    A broker without an authorizer allows every request, regardless of ACLs, and other brokers replicate the result. Two
    authorizer classes may evaluate the same ACLs differently.

    ## Fails when
    `authorizer.class.name` of the broker differs from most brokers with an authorizer, or is not set while another broker has
    one. MEDIUM for the old and the new name of Kafka's own class (SimpleAclAuthorizer, AclAuthorizer), which use the same ACLs.

    ## Not known when
    The broker did not answer DescribeConfigs, and its server.properties was not read.

    ## Passes only when
    The broker runs the same class as most brokers. The check does not apply if no broker runs an authorizer.

    ## What to do
    Set the same `authorizer.class.name` on broker {broker} and restart it. Before the restart, make sure that the inter-broker
    principal is in its `super.users`; otherwise the broker rejects its controller (KA401).

    ## References
    KIP-11, KIP-504 (authorizers).
    """
    between = view.inter_broker
    settings = {broker: between.authorizer(broker) for broker in between.brokers}
    classes = Counter(setting.value for setting in settings.values() if setting.value)
    if settings and all(setting.state == "unset" for setting in settings.values()):
        reason = "no broker runs an authorizer"
        yield view.judge("KA407", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    usual = min(classes, key=lambda name: (-classes[name], str(name)), default=None)
    for broker, setting in settings.items():
        resource, evidence = (
            f"broker/{broker}",
            {"broker": broker, "authorizer": setting.value or "none (every request is allowed)"},
        )
        evidence["key"] = "authorizer.class.name"
        if setting.state not in {"set", "unset"} or usual is None:
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker}"
            details = {"who": f"broker {broker}", "error": "not every broker reported its authorizer", "needs": needs}
            yield view.judge("KA407", resource, Status.UNKNOWN, details)
        elif setting.value == usual:
            yield view.judge("KA407", resource, Status.PASS, evidence)
        else:
            kin = (setting.value or "").endswith("AclAuthorizer") and usual.endswith("AclAuthorizer")
            failed = view.judge("KA407", resource, Status.FAIL, evidence, others=usual)
            yield replace(failed, severity=Severity.MEDIUM if kin else None)
    yield from no_brokers(view, "KA407")

"""KA407."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty


@check(
    code="KA407",
    severity=Severity.HIGH,
    needs=(BrokerConfig, BrokerProperty),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} decides who may do what by {authorizer}, where others run {others}",
        Status.PASS: "Broker {broker} runs {authorizer}, as every other broker that told",
        Status.UNKNOWN: "Cannot determine whether {who} runs the authorizer of the others ({error})",
        Status.NOT_APPLICABLE: "No authorizers to compare: {reason}",
    },
)
def authorizers_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers differ in their authorizer, or some have none.

    ## Why it matters
    At a broker without an authorizer everybody may do everything, ACLs or not, and what it lets through is replicated. Two
    classes may read the same ACLs differently.

    ## Fails when
    `authorizer.class.name` of the broker is not what most of those with an authorizer have; unset where any other has one. MEDIUM
    for the old and the new name of Kafka's own (SimpleAclAuthorizer, AclAuthorizer), which read the same ACLs.

    ## Not known when
    The broker did not answer DescribeConfigs, and no server.properties of it was read.

    ## Passes only when
    The broker has the class that most have. Without any authorizer in the cluster it does not apply.

    ## What to do
    Set the same `authorizer.class.name` on broker {broker} and restart it. Before that, see that the inter-broker user is in its
    `super.users`: else it locks its controller out (KA401).

    ## References
    KIP-11, KIP-504 (authorizers).
    """
    between = view.inter_broker
    told = {broker: between.authorizer(broker) for broker in between.brokers}
    classes = Counter(setting.value for setting in told.values() if setting.value)
    if told and all(setting.state == "unset" for setting in told.values()):
        reason = "no broker runs one"
        yield view.judge("KA407", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    usual = min(classes, key=lambda name: (-classes[name], str(name)), default=None)
    for broker, setting in told.items():
        resource, evidence = f"broker/{broker}", {"broker": broker, "authorizer": setting.value or "nothing, all may do all"}
        evidence["key"] = "authorizer.class.name"
        if setting.state not in {"set", "unset"} or usual is None:
            needs = f"DescribeConfigs on Cluster, or server.properties of broker {broker}"
            words = {"who": f"broker {broker}", "error": "not every broker told its authorizer", "needs": needs}
            yield view.judge("KA407", resource, Status.UNKNOWN, words)
        elif setting.value == usual:
            yield view.judge("KA407", resource, Status.PASS, evidence)
        else:
            kin = (setting.value or "").endswith("AclAuthorizer") and usual.endswith("AclAuthorizer")
            failed = view.judge("KA407", resource, Status.FAIL, evidence, others=usual)
            yield replace(failed, severity=Severity.MEDIUM if kin else None)
    yield from no_brokers(view, "KA407")

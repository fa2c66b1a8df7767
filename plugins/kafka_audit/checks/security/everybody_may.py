"""KA409."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import ANYBODY, told
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Acl, AclHolder, BrokerConfig
from kafka_audit.model.text import listing

_STRONG = frozenset({"All", "Alter", "AlterConfigs", "ClusterAction"})


@check(
    code="KA409",
    severity=Severity.HIGH,
    needs=(Acl, AclHolder, BrokerConfig),
    says={
        Status.FAIL: "Everybody may do what few need: {acls}",
        Status.PASS: "None of {count} ACLs gives everybody Alter, AlterConfigs, ClusterAction or All",
        Status.UNKNOWN: "Cannot determine whether ACLs give everybody too much ({error})",
        Status.NOT_APPLICABLE: "No ACLs to look at: {reason}",
    },
)
def everybody_may(view: ClusterView) -> Iterator[Judgement]:
    """An ACL gives everybody a right that few need.

    ## Why it matters
    With ClusterAction anybody who gets a connection can act as a broker: move leaders, read and feed replicas. With Alter on the
    cluster he can change ACLs.

    ## Fails when
    An ALLOW of All, Alter, AlterConfigs or ClusterAction is for `User:*`: HIGH on the cluster, MEDIUM on topics, groups and the
    like. MEDIUM too for `User:ANONYMOUS` on the cluster, as a PLAINTEXT listener between brokers needs it.

    ## Not known when
    The ACLs were not read, from ZooKeeper or from any broker.

    ## Passes only when
    ACLs were read, and none is like that. `*` as the host of a named user is no fault here: most ACLs have it.

    ## What to do
    Give the right to those who need it, by name, then `kafka-acls.sh --bootstrap-server <broker>:9092 --remove` with the rest as
    `--list` shows it. Before ClusterAction goes, see that brokers do not live by it (KA401): put their user into `super.users`.

    ## References
    Kafka documentation, "Authorization and ACLs": operations and resources.
    """
    between = view.inter_broker
    if between.brokers and all(between.authorizer(broker).state == "unset" for broker in between.brokers):
        yield view.judge("KA409", "cluster", Status.NOT_APPLICABLE, reason="no broker runs an authorizer")
        return
    if not between.holders:
        needs = "Describe on Cluster, or read on /kafka-acl in ZooKeeper"
        yield view.judge("KA409", "cluster", Status.UNKNOWN, error="no ACLs were read", needs=needs)
        return
    held = {holder.acls_digest for holder in between.holders.values()}
    acls = sorted({acl for acl in view.of(Acl) if acl.acls_digest in held}, key=told)
    wide = [acl for acl in acls if _too_wide(acl)]
    evidence = {"count": len(acls), "acls": listing(map(told, wide), 3) or "none"}
    if not wide:
        yield view.judge("KA409", "cluster", Status.PASS, evidence)
        return
    high = any(acl.principal == ANYBODY and acl.resource_type == "Cluster" for acl in wide)
    failed = view.judge("KA409", "cluster", Status.FAIL, evidence)
    yield replace(failed, severity=Severity.HIGH if high else Severity.MEDIUM)


def _too_wide(acl: Acl) -> bool:
    if acl.permission != "ALLOW" or acl.operation not in _STRONG:
        return False
    return acl.principal == ANYBODY or (acl.principal == ANONYMOUS and acl.resource_type == "Cluster")

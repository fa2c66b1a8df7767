"""The ACLs that brokers use, for checks that judge entries by themselves."""

from kafka_audit.checks import ClusterView, Judgement
from kafka_audit.configuration.authorization import acl_phrase
from kafka_audit.model.tables import Acl


def acls_in_use(view: ClusterView) -> tuple[Acl, ...] | Judgement:
    """Return the ACLs, sorted; the judgement of the cluster where there are none that brokers use, or none were read."""
    between = view.inter_broker
    if between.brokers and all(between.authorizer(broker).state == "unset" for broker in between.brokers):
        return view.not_applicable("cluster", "no broker runs an authorizer")
    if not between.holders:
        return view.unknown("cluster", "no ACLs were read", "Describe on Cluster, or read on /kafka-acl in ZooKeeper")
    foreign = [broker for broker in between.brokers if between.decides_otherwise(broker)]
    leftover = bool(foreign) and len(foreign) == sum(between.authorizer(broker).state != "unset" for broker in between.brokers)
    held = {holder.acls_digest for name, holder in between.holders.items() if name != "zookeeper" or not leftover}
    if not held:
        return view.not_applicable("cluster", f"{between.authorizer(foreign[0]).value} does not use the ACLs in ZooKeeper")
    return tuple(sorted({acl for acl in view.of(Acl) if acl.acls_digest in held}, key=acl_phrase))

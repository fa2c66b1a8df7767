from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, NO_ZOOKEEPER
from kafka_audit.configuration.authorization import acl_phrase
from kafka_audit.model.tables import Acl, AclHolder


@check(code="KA410", severity=Severity.HIGH)
def acls_lag(view: ClusterView) -> Judgements:
    """A broker uses ACLs that differ from those in ZooKeeper."""
    between = view.inter_broker
    if between.kraft or all(between.authorizer(broker).state == "unset" for broker in between.brokers if between.brokers):
        reason = NO_ZOOKEEPER if between.kraft else "no broker runs an authorizer"
        yield view.not_applicable("cluster", reason)
        return
    now, before = ({row.observer: row for row in rows} for rows in (view.newest(AclHolder), view.before(AclHolder)))
    sets: dict[str, set[str]] = {row.acls_digest: set() for row in view.of(AclHolder)}
    for acl in view.of(Acl):
        sets.setdefault(acl.acls_digest, set()).add(f"{acl_phrase(acl)} {acl.pattern_type}")
    for broker in between.brokers:
        evidence, resource = {"broker": broker, "who": f"broker {broker}"}, f"broker/{broker}"
        if between.authorizer(broker).state == "unset":
            yield view.not_applicable(resource, f"broker {broker} runs no authorizer")
            continue
        if between.decides_otherwise(broker):
            reason = f"broker {broker} runs {between.authorizer(broker).value}, which may not use them"
            yield view.not_applicable(resource, reason)
            continue
        pairs = [(holders.get("zookeeper"), holders.get(f"broker:{broker}")) for holders in (now, before)]
        theirs, own_holder = pairs[0]
        if theirs is None or own_holder is None:
            right = "Describe on Cluster" if view.reads.answered(broker) else f"an answer from broker {broker}"
            needs = "read on /kafka-acl in ZooKeeper" if theirs is None else right
            details = evidence | {"error": f"{'ZooKeeper' if theirs is None else 'its'} ACLs were not read", "needs": needs}
            yield view.judge(resource, Status.UNKNOWN, details)
        elif theirs.acls_digest == own_holder.acls_digest:
            yield view.judge(resource, Status.PASS, evidence, count=own_holder.acls)
        elif [row and row.acls_digest for row in pairs[1]] != [theirs.acls_digest, own_holder.acls_digest]:
            yield view.judge(resource, Status.UNKNOWN, evidence | MOVING)
        else:
            here, there = sets[own_holder.acls_digest], sets[theirs.acls_digest]
            details = evidence | {"lacks": len(there - here), "more": len(here - there)}
            yield view.judge(resource, Status.FAIL, details)

"""KA410."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, NO_ZOOKEEPER
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import acl_phrase
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Acl, AclHolder


@check(
    code="KA410",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Broker {broker} uses different ACLs than ZooKeeper has: {lacks} missing, {more} extra",
        Status.PASS: "Broker {broker} has the ACLs of ZooKeeper ({count})",
        Status.UNKNOWN: "Cannot determine whether {who} has the ACLs of ZooKeeper ({error})",
        Status.NOT_APPLICABLE: "No ZooKeeper ACLs to compare: {reason}",
    },
)
def acls_lag(view: ClusterView) -> Iterator[Judgement]:
    """A broker uses ACLs that differ from those in ZooKeeper.

    ## Why it matters
    Brokers receive ACL changes through ZooKeeper watches. A broker that missed a change continues to use the old ACLs: it still
    allows what was removed, and denies what was added. Other brokers behave correctly.

    ## Fails when
    DescribeAcls of the broker and `/kafka-acl` (with `/kafka-acl-extended`) differ in two samples, and both are
    unchanged between the samples.

    ## Not known when
    One of the two was not read, or they differ in one sample only.

    ## Passes only when
    Both contain the same ACLs. The check does not apply in KRaft, and not to a broker without an authorizer or with one that is
    not Kafka's own (Ranger, OPA, RBAC).

    ## What to do
    Restart broker {broker}: it reads the ACLs again. `kafka-acls.sh --authorizer-properties zookeeper.connect=ZOOKEEPER:2181
    --list` shows those in ZooKeeper. No option of `kafka-acls.sh` shows those of one broker: from any address it sends the
    request to any broker of the cluster.

    ## References
    `/kafka-acl-changes` in ZooKeeper; KIP-290 (prefixed ACLs).
    """
    between = view.inter_broker
    if between.kraft or all(between.authorizer(broker).state == "unset" for broker in between.brokers if between.brokers):
        reason = NO_ZOOKEEPER if between.kraft else "no broker runs an authorizer"
        yield view.judge("KA410", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    now, before = ({row.observer: row for row in rows} for rows in (view.newest(AclHolder), view.before(AclHolder)))
    sets: dict[str, set[str]] = {row.acls_digest: set() for row in view.of(AclHolder)}
    for acl in view.of(Acl):
        sets.setdefault(acl.acls_digest, set()).add(f"{acl_phrase(acl)} {acl.pattern_type}")
    for broker in between.brokers:
        evidence, resource = {"broker": broker, "who": f"broker {broker}"}, f"broker/{broker}"
        if between.authorizer(broker).state == "unset":
            yield view.judge("KA410", resource, Status.NOT_APPLICABLE, reason=f"broker {broker} runs no authorizer")
            continue
        if between.decides_otherwise(broker):
            reason = f"broker {broker} runs {between.authorizer(broker).value}, which need not decide by them"
            yield view.judge("KA410", resource, Status.NOT_APPLICABLE, reason=reason)
            continue
        pairs = [(held.get("zookeeper"), held.get(f"broker:{broker}")) for held in (now, before)]
        theirs, own_holder = pairs[0]
        if theirs is None or own_holder is None:
            needs = "read on /kafka-acl in ZooKeeper" if theirs is None else "Describe on Cluster"
            details = evidence | {"error": f"{'ZooKeeper' if theirs is None else 'its'} ACLs were not read", "needs": needs}
            yield view.judge("KA410", resource, Status.UNKNOWN, details)
        elif theirs.acls_digest == own_holder.acls_digest:
            yield view.judge("KA410", resource, Status.PASS, evidence, count=own_holder.acls)
        elif [row and row.acls_digest for row in pairs[1]] != [theirs.acls_digest, own_holder.acls_digest]:
            yield view.judge("KA410", resource, Status.UNKNOWN, evidence | MOVING)
        else:
            here, there = sets[own_holder.acls_digest], sets[theirs.acls_digest]
            details = evidence | {"lacks": len(there - here), "more": len(here - there)}
            yield view.judge("KA410", resource, Status.FAIL, details)

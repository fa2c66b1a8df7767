"""KA803."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE_BY_ZOOKEEPER, no_ensemble
from kafka_audit.checks.zookeeper.members import busy, is_late
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ZookeeperMember


@check(
    code="KA803",
    severity=Severity.MEDIUM,
    needs=(ZookeeperMember,),
    says={
        Status.FAIL: "ZooKeeper is slow: {what}",
        Status.PASS: "No server of ZooKeeper is slow or behind ({servers})",
        Status.UNKNOWN: "Cannot determine whether ZooKeeper is slow ({error})",
        Status.NOT_APPLICABLE: "There is no ZooKeeper: {reason}",
    },
)
def zookeeper_lags(view: ClusterView) -> Iterator[Judgement]:
    """A server of ZooKeeper answers late, has requests waiting, or is behind the others.

    ## Why it matters
    Every election and every change of an ISR is a write to ZooKeeper. Where that takes long, failover takes long, and sessions of
    brokers that are alive expire.

    ## Fails when
    A server's average latency is 100 ms or more since its start; or, in both samples where there are two, 100 requests or more
    wait at it, or it is 1,000 transactions or more behind another one of the same epoch.

    ## Not known when
    No server told figures, or requests wait, or one is behind, in one of two samples.

    ## Passes only when
    A server that serves told its figures, and none is above these bounds.

    ## What to do
    Read `echo srvr | nc <server> 2181` (latency, outstanding requests), and the log of the server for `fsync-ing the write ahead
    log`. `mntr` (`zk_fsync_threshold_exceed_count`) and `srst`, which resets the average, answer only if
    `4lw.commands.whitelist` of the server names them. Put the transaction log (`dataLogDir`) on its own disk. Look for garbage
    collection pauses and for clients that write a lot.

    ## References
    ZooKeeper Administrator's Guide, "Things to Avoid" and "Monitoring".
    """
    yield from no_ensemble(view, "KA803", ZookeeperMember)
    members = tuple(one for one in view.newest(ZookeeperMember) if one.state == "serving")
    if not members:
        if view.newest(ZookeeperMember):
            needs = "srvr in 4lw.commands.whitelist of a server that serves"
            yield view.judge("KA803", "cluster", Status.UNKNOWN, error="no server told figures", needs=needs)
        return
    figures, old = busy(members), view.before(ZookeeperMember)
    late = [f"{one.member} answers after {one.latency_avg_ms:g} ms on average" for one in members if is_late(one)]
    lasting = {what: text for what, text in figures.items() if not old or what in busy(old)}
    told = {"servers": tuple(one.member for one in members), "what": "; ".join([*late, *lasting.values()])}
    if told["what"]:
        yield view.judge("KA803", "cluster", Status.FAIL, told)
    elif figures:
        yield view.judge("KA803", "cluster", Status.UNKNOWN, ONCE_BY_ZOOKEEPER)
    else:
        yield view.judge("KA803", "cluster", Status.PASS, told)

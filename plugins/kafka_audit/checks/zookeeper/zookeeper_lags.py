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
    says={
        Status.FAIL: "ZooKeeper is slow: {what}",
        Status.PASS: "No ZooKeeper server is slow or behind ({servers})",
        Status.UNKNOWN: "Cannot determine whether ZooKeeper is slow ({error})",
        Status.NOT_APPLICABLE: "No ZooKeeper: {reason}",
    },
)
def zookeeper_lags(view: ClusterView) -> Iterator[Judgement]:
    """A ZooKeeper server answers slowly, has waiting requests, or is behind the others.

    ## Why it matters
    Every election and every ISR change writes to ZooKeeper. If writes are slow, failovers are slow, and sessions of running
    brokers expire.

    ## Fails when
    A server's average latency since its start is 100 ms or more. Or, in both samples if there are two, 100 or more requests
    wait at it, or it is 1,000 or more transactions behind another server of the same epoch.

    ## Not known when
    No server reported statistics, or requests wait or a server is behind in one of two samples.

    ## Passes only when
    A serving server reported its statistics, and none exceeds these limits.

    ## What to do
    Read `echo srvr | nc SERVER 2181` (latency, outstanding requests), and the log of the server for `fsync-ing the write ahead
    log`. `mntr` (`zk_fsync_threshold_exceed_count`) and `srst`, which resets the average, answer only if
    `4lw.commands.whitelist` of the server names them. Put the transaction log (`dataLogDir`) on its own disk. Look for garbage
    collection pauses and for clients that write a lot. Check the network between the servers: each write waits for a majority.

    ## References
    ZooKeeper Administrator's Guide, "Things to Avoid" and "Monitoring".
    """
    yield from no_ensemble(view, "KA803", ZookeeperMember)
    members = tuple(member for member in view.newest(ZookeeperMember) if member.state == "serving")
    if not members:
        if view.newest(ZookeeperMember):
            needs = "srvr in 4lw.commands.whitelist of a server that serves"
            yield view.judge("KA803", "cluster", Status.UNKNOWN, error="no server reported statistics", needs=needs)
        return
    figures, old = busy(members), view.before(ZookeeperMember)
    late = [f"{member.member} answers after {member.latency_avg_ms:g} ms on average" for member in members if is_late(member)]
    lasting = {what: text for what, text in figures.items() if not old or what in busy(old)}
    evidence = {"servers": tuple(member.member for member in members), "what": "; ".join([*late, *lasting.values()])}
    if evidence["what"]:
        yield view.judge("KA803", "cluster", Status.FAIL, evidence)
    elif figures:
        yield view.judge("KA803", "cluster", Status.UNKNOWN, ONCE_BY_ZOOKEEPER)
    else:
        yield view.judge("KA803", "cluster", Status.PASS, evidence)

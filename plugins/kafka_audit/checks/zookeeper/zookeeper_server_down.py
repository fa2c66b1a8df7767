"""KA802."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE_BY_ZOOKEEPER, no_ensemble
from kafka_audit.checks.zookeeper.members import AWAY, named_servers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Registry, ZookeeperMember
from kafka_audit.model.text import counted


@check(
    code="KA802",
    severity=Severity.CRITICAL,
    says={
        Status.FAIL: "{away} of {count} of ZooKeeper {does} not serve requests: {servers}; {consequence}",
        Status.PASS: "All {count} of ZooKeeper serve requests ({servers})",
        Status.UNKNOWN: "Cannot determine whether every ZooKeeper server serves requests ({error})",
        Status.NOT_APPLICABLE: "No ZooKeeper: {reason}",
    },
)
def zookeeper_server_down(view: ClusterView) -> Iterator[Judgement]:
    """A ZooKeeper server is down, or runs and does not serve requests.

    ## Why it matters
    Brokers continue with the remaining servers, so the fault is easily missed. The next failure may lose the majority, and with
    it the controller, elections and every restart of a broker. Without a majority this is already the case.

    ## Fails when
    A server of the connection string refuses the connection, does not answer `srvr`, or reports that it is not serving, in two
    samples. CRITICAL if there is no majority and ZooKeeper cannot be read; otherwise HIGH.

    ## Not known when
    One sample only shows it, or a server's `4lw.commands.whitelist` does not allow `srvr`.

    ## Passes only when
    Every server of the connection string answered `srvr` with its mode.

    ## What to do
    Run `echo srvr | nc SERVER 2181`, then read the log of that server. Start it, or open the connection to it from this
    worker; the brokers need the same connection. A server that reports that it is not serving has lost its leader: check the
    ports between servers (2888, 3888), the clocks and full disks.

    Do not restart a serving server before the other one is back.

    ## References
    ZooKeeper Administrator's Guide, "The Four Letter Words".
    """
    yield from no_ensemble(view, "KA802", ZookeeperMember)
    members = view.newest(ZookeeperMember)
    if not members:
        return
    were = {member.member for member in view.before(ZookeeperMember) if member.state in AWAY}
    away = tuple(member for member in members if member.state in AWAY)
    closed = tuple(member for member in members if member.state == "closed")
    lasting = tuple(member for member in away if member.member in were)
    evidence = {
        "count": counted(len(members), "server"),
        "away": len(lasting),
        "does": "does" if len(lasting) == 1 else "do",
        "servers": named_servers(lasting or members),
        "members": tuple({"server": member.member, "error": member.error or ""} for member in lasting or members),
    }
    if lasting:
        lost = not view.newest(Registry)
        evidence["consequence"] = "the majority is lost" if lost else "the others still have a majority"
        judgement = view.judge("KA802", "cluster", Status.FAIL, evidence)
        yield judgement if lost else replace(judgement, severity=Severity.HIGH)
    elif away:
        yield view.judge("KA802", "cluster", Status.UNKNOWN, evidence | ONCE_BY_ZOOKEEPER)
    elif closed:
        needs = f"srvr in 4lw.commands.whitelist of {', '.join(member.member for member in closed)}"
        yield view.judge("KA802", "cluster", Status.UNKNOWN, evidence, error=named_servers(closed), needs=needs)
    else:
        yield view.judge("KA802", "cluster", Status.PASS, evidence)

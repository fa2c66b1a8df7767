from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE_BY_ZOOKEEPER, no_ensemble
from kafka_audit.checks.zookeeper.members import AWAY, address_of, named_servers
from kafka_audit.model.tables import Registry, ZookeeperMember
from kafka_audit.model.text import counted


@check(code="KA802", severity=Severity.CRITICAL)
def zookeeper_server_down(view: ClusterView) -> Judgements:
    """A ZooKeeper server is down, or runs and does not serve requests."""
    yield from no_ensemble(view, ZookeeperMember)
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
        **address_of((lasting or members)[0].member),
        "members": tuple({"server": member.member, "error": member.error or ""} for member in lasting or members),
    }
    if lasting:
        lost = not view.newest(Registry)
        evidence["consequence"] = "the majority is lost" if lost else "the others still have a majority"
        judgement = view.judge("cluster", Status.FAIL, evidence)
        yield judgement if lost else replace(judgement, severity=Severity.HIGH)
    elif away:
        yield view.judge("cluster", Status.UNKNOWN, evidence | ONCE_BY_ZOOKEEPER)
    elif closed:
        needs = f"srvr in 4lw.commands.whitelist of {', '.join(member.member for member in closed)}"
        yield view.unknown("cluster", named_servers(closed), needs, evidence)
    else:
        yield view.judge("cluster", Status.PASS, evidence)

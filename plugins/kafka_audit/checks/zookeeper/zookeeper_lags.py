from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE_BY_ZOOKEEPER, no_ensemble
from kafka_audit.checks.zookeeper.members import address_of, busy, is_late
from kafka_audit.model.tables import ZookeeperMember


@check(code="KA803", severity=Severity.MEDIUM)
def zookeeper_lags(view: ClusterView) -> Judgements:
    """A ZooKeeper server answers slowly, has waiting requests, or is behind the others."""
    yield from no_ensemble(view, ZookeeperMember)
    members = tuple(member for member in view.newest(ZookeeperMember) if member.state == "serving")
    if not members:
        if view.newest(ZookeeperMember):
            needs = "srvr in 4lw.commands.whitelist of a server that serves"
            yield view.unknown("cluster", "no server reported statistics", needs)
        return
    figures, old = busy(members), view.before(ZookeeperMember)
    late = [f"{member.member} answers after {member.latency_avg_ms:g} ms on average" for member in members if is_late(member)]
    lasting = {figure: text for figure, text in figures.items() if not old or figure in busy(old)}
    slow = next((member for member in members if is_late(member)), members[0])
    evidence = {
        **address_of(slow.member),
        "servers": tuple(member.member for member in members),
        "what": "; ".join([*late, *lasting.values()]),
    }
    if evidence["what"]:
        yield view.judge("cluster", Status.FAIL, evidence)
    elif figures:
        yield view.judge("cluster", Status.UNKNOWN, ONCE_BY_ZOOKEEPER)
    else:
        yield view.judge("cluster", Status.PASS, evidence)

from collections.abc import Sequence

from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_ensemble
from kafka_audit.checks.zookeeper.members import named_servers
from kafka_audit.model.tables import EnsembleServer, ZookeeperMember
from kafka_audit.model.text import counted

_FEWEST, _READ = 3, "zookeeper access and size of znodes"


@check(code="KA801", severity=Severity.MEDIUM)
def ensemble_size_weak(view: ClusterView) -> Judgements:
    """ZooKeeper has too few servers to lose one, or an even number."""
    yield from no_ensemble(view, ZookeeperMember)
    members = view.newest(ZookeeperMember)
    if not members:
        return
    ensemble = [row for row in view.newest(EnsembleServer) if row.votes]
    if ensemble:
        yield _of_ensemble(view, [row.host for row in ensemble])
        return
    voters = tuple(member for member in members if member.mode != "observer")
    count, modes = len(voters), {member.mode for member in voters} or {None}
    if modes == {None} or (count == 1 and modes != {"standalone"}):
        error = f"no answer from {named_servers(members)}" if modes == {None} else f"{voters[0].member} belongs to an ensemble"
        needs = "every server of the ensemble under `zookeeper` in the cluster file"
        yield view.unknown("cluster", error, needs)
        return
    evidence = _evidence(count, [member.member for member in voters])
    spare, why = (count - 1) // 2, evidence["why"]
    unread = [read for read in view.last_reads if read.operation == _READ and read.outcome == "failed"]
    if spare and count % 2 and unread:
        error, needs = f"/zookeeper/config was not read: {unread[0].error}", unread[0].needs or "a ZooKeeper that answers"
        yield view.unknown("cluster", error, needs)
    elif spare and count % 2:
        yield view.judge("cluster", Status.PASS, evidence)
    elif modes == {"standalone"}:
        yield view.judge("cluster", Status.FAIL, evidence)
    else:
        evidence["why"] = f"{why}, unless the connection string names only a part of the ensemble"
        yield view.judge("cluster", Status.FAIL, evidence, severity=Severity.LOW, confidence=Confidence.SUSPECTED)


def _evidence(count: int, servers: Sequence[str]) -> dict[str, object]:
    spare = (count - 1) // 2
    even = f"{count - 1} servers tolerate the same number of failures ({spare})"
    why = even if spare else f"it is unavailable if {'it' if count == 1 else 'one of them'} fails"
    return {"size": counted(count, "server"), "spare": spare, "why": why, "servers": tuple(servers)}


def _of_ensemble(view: ClusterView, hosts: Sequence[str]) -> Judgement:
    """Judge what the ensemble itself reports."""
    count = len(hosts)
    weak = count < _FEWEST or count % 2 == 0
    return view.judge("cluster", Status.FAIL if weak else Status.PASS, _evidence(count, hosts))

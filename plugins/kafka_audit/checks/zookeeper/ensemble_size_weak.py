"""KA801."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_ensemble
from kafka_audit.checks.zookeeper.members import named
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import ZookeeperMember


@check(
    code="KA801",
    severity=Severity.MEDIUM,
    needs=(ZookeeperMember,),
    says={
        Status.FAIL: "ZooKeeper has {size}: {why}",
        Status.PASS: "ZooKeeper has {size}, of which {spare} may fail",
        Status.UNKNOWN: "Cannot determine how many servers ZooKeeper has ({error})",
        Status.NOT_APPLICABLE: "There is no ZooKeeper: {reason}",
    },
)
def ensemble_size_weak(view: ClusterView) -> Iterator[Judgement]:
    """ZooKeeper has too few servers to lose one, or an even number.

    ## Why it matters
    Without a majority of its servers ZooKeeper answers nobody: no controller is elected, no leader moves, no broker comes back
    after a restart. One server, or two, survive no failure; an even number survives no more than one server less would.

    ## Fails when
    A server says itself that it is standalone. Suspected, and LOW, where the connection string names fewer than three voters or
    an even number of them: it may name a part of the ensemble only. Observers do not vote and are not counted.

    ## Not known when
    No server that is named answered, or a single one is named and belongs to an ensemble.

    ## Passes only when
    Three voters or more are named, an odd number.

    ## What to do
    Three servers on hosts that fail independently, five where one is to be away for maintenance while another fails. Add one at a
    time (`server.N` in zoo.cfg of each, leader last), and then to `zookeeper.connect` of every broker and to the cluster file.

    A migration to KRaft ends this question; do not begin it with an ensemble that is about to fall.

    ## References
    ZooKeeper Administrator's Guide, "Clustered (Multi-Server) Setup".
    """
    yield from no_ensemble(view, "KA801", ZookeeperMember)
    members = view.newest(ZookeeperMember)
    if not members:
        return
    voters = tuple(one for one in members if one.mode != "observer")
    count, modes = len(voters), {one.mode for one in voters} or {None}
    size = f"{count} server{'s' if count > 1 else ''}"
    if modes == {None} or (count == 1 and modes != {"standalone"}):
        error = f"none of {named(members)} tells" if modes == {None} else f"{voters[0].member} is one of an ensemble"
        needs = "every server of the ensemble under `zookeeper` in the cluster file"
        yield view.judge("KA801", "cluster", Status.UNKNOWN, error=error, needs=needs)
        return
    spare = (count - 1) // 2
    why = "it stands still when one of them fails" if not spare else f"{count - 1} would survive as many failures, {spare}"
    words = {"size": size, "spare": spare, "why": why, "servers": named(voters)}
    if spare and count % 2:
        yield view.judge("KA801", "cluster", Status.PASS, words)
    elif modes == {"standalone"}:
        yield view.judge("KA801", "cluster", Status.FAIL, words)
    else:
        words["why"] = f"{why}, unless the connection string names only a part of the ensemble"
        yield view.judge("KA801", "cluster", Status.FAIL, words, severity=Severity.LOW, confidence=Confidence.SUSPECTED)

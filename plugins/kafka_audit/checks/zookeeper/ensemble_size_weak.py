"""KA801."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_ensemble
from kafka_audit.checks.zookeeper.members import named_servers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import ZookeeperMember


@check(
    code="KA801",
    severity=Severity.MEDIUM,
    needs=(ZookeeperMember,),
    says={
        Status.FAIL: "ZooKeeper has {size}: {why}",
        Status.PASS: "ZooKeeper has {size}, of which {spare} can fail",
        Status.UNKNOWN: "Cannot determine how many servers ZooKeeper has ({error})",
        Status.NOT_APPLICABLE: "No ZooKeeper: {reason}",
    },
)
def ensemble_size_weak(view: ClusterView) -> Iterator[Judgement]:
    """ZooKeeper has too few servers to lose one, or an even number.

    ## Why it matters
    Without a majority of its servers, ZooKeeper answers no requests: no controller is elected, no leader moves, and no broker
    can restart. One or two servers tolerate no failure. An even number tolerates no more failures than one server less.

    ## Fails when
    A server reports that it is standalone. Suspected, and LOW, if the connection string names fewer than three voters or an
    even number of them: it may name only a part of the ensemble. Observers do not vote and do not count.

    ## Not known when
    No named server answered, or a single server is named and belongs to an ensemble.

    ## Passes only when
    The connection string names three voters or more, and an odd number.

    ## What to do
    Run three servers on hosts that fail independently, or five if one can be down for maintenance while another fails. Add one
    server at a time (`server.N` in zoo.cfg of each, leader last), then add it to `zookeeper.connect` of every broker and to the
    cluster file. A migration to KRaft also solves this; do not start it with a weak ensemble.

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
        error = f"no answer from {named_servers(members)}" if modes == {None} else f"{voters[0].member} belongs to an ensemble"
        needs = "every server of the ensemble under `zookeeper` in the cluster file"
        yield view.judge("KA801", "cluster", Status.UNKNOWN, error=error, needs=needs)
        return
    spare = (count - 1) // 2
    even = f"{count - 1} servers tolerate the same number of failures ({spare})"
    why = even if spare else "it is unavailable if one of them fails"
    evidence = {"size": size, "spare": spare, "why": why, "servers": tuple(one.member for one in voters)}
    if spare and count % 2:
        yield view.judge("KA801", "cluster", Status.PASS, evidence)
    elif modes == {"standalone"}:
        yield view.judge("KA801", "cluster", Status.FAIL, evidence)
    else:
        evidence["why"] = f"{why}, unless the connection string names only a part of the ensemble"
        yield view.judge("KA801", "cluster", Status.FAIL, evidence, severity=Severity.LOW, confidence=Confidence.SUSPECTED)

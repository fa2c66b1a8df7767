"""KA209."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.quorum import seconds
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import QuorumReplica, QuorumView
from kafka_audit.model.text import counted, listing


@check(
    code="KA209",
    severity=Severity.HIGH,
    needs=(QuorumView, QuorumReplica),
    says={
        Status.FAIL: "{down} of {total} controllers in the quorum {follow} its leader {leader} no more ({which}): {spare}",
        Status.PASS: "All {total} voters of the metadata quorum follow its leader {leader}",
        Status.UNKNOWN: "Not known: whether all voters of the metadata quorum follow ({error})",
        Status.NOT_APPLICABLE: "No metadata quorum: {reason}",
    },
)
def voters_down(view: ClusterView) -> Iterator[Judgement]:
    """Controllers of the metadata quorum are down or lag.

    ## Why it matters
    The quorum works as long as a majority of its voters follows. Below that no leader of any partition can be elected, no topic
    created, and no broker can start. A voter that is down without anybody's notice is how a cluster comes to that edge.

    ## Fails when
    In two looks the leader has not seen a voter caught up with the metadata log for 10 s; one that works is caught up twice a
    second. MEDIUM while a further voter may go without loss of the majority.

    ## Not known when
    DescribeQuorum was refused or not answered, its version tells no times (before Kafka 3.3), or this was seen in one look.

    ## Passes only when
    The leader answered, and every voter is caught up.

    ## What to do
    Start {which}, or open the way from there to the other controllers' port (9093 by custom). The end of server.log there says
    which of the two: `grep -iE 'controller|fetch|UnknownHost|Connection' server.log | tail`. See it:
    `kafka-metadata-quorum.sh --bootstrap-server <broker>:9092 describe --replication`. Do not remove a voter that is to come
    back, and do not format its disk.

    ## References
    KIP-595, KIP-836 (lag of voters and observers); `controller.quorum.fetch.timeout.ms`.
    """
    quorum = view.quorum
    yield from no_quorum(view, "KA209", "a voter")
    now = quorum.now
    if now.newest is None:
        return
    voters = {one for one, row in now.replicas.items() if row.voter}
    words: dict[str, object] = {"total": len(voters), "leader": now.newest.leader_id}
    if not now.behind_ms:
        words |= {"error": "this version tells no times", "needs": "DescribeQuorum version 1 (Kafka 3.3)"}
        yield view.judge("KA209", "cluster", Status.UNKNOWN, words)
        return
    down = sorted(voters & now.late)
    if not down:
        yield view.judge("KA209", "cluster", Status.PASS, words)
    elif quorum.before is None or not quorum.before.late.issuperset(down):
        yield view.judge("KA209", "cluster", Status.UNKNOWN, words | ONCE)
    else:
        spare = len(voters) - len(down) - (len(voters) // 2 + 1)
        words |= {"down": len(down), "follow": "follows" if len(down) == 1 else "follow"}
        words["which"] = listing(f"controller {one}, caught up {seconds(now.behind_ms[one])}" for one in down)
        words["spare"] = _spare(spare)
        told = view.judge("KA209", "cluster", Status.FAIL, words)
        yield replace(told, severity=Severity.MEDIUM) if spare > 0 else told


def _spare(spare: int) -> str:
    if spare > 0:
        return f"{counted(spare, 'further one', 'further ones')} may fail before the majority is lost"
    return "one more, and no leader can be elected"

"""KA906."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.checks.reads import last_reads
from kafka_audit.checks.rows import judge, looks
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Reassignment, RegisteredTopic, Registry, Snapshot
from kafka_audit.model.text import counted

_DELETES = "zookeeper /admin/delete_topics"


@gate_check(
    code="KA906",
    severity=Severity.MEDIUM,
    needs=(RegisteredTopic, Reassignment),
    says={
        Status.FAIL: "{what} is under way: {count}, first {first}",
        Status.PASS: "No {what} is under way",
        Status.UNKNOWN: "Not known: whether a {what} is under way ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def change_under_way(snapshot: Snapshot) -> Iterator[Judgement]:
    """A reassignment or a deletion of topics is under way.

    ## Why it matters
    The migration takes over what is half done, and then two kinds of controllers have had a hand in it. A deletion that hangs
    for a dead broker, and a reassignment to one, hang on in KRaft without the znodes that people know how to remove.

    ## Fails when
    A partition has replicas to add or to remove (`change/reassignment`), or a topic stands under `/admin/delete_topics`
    (`change/deletion`).

    ## Not known when
    ZooKeeper's topics, reassignments or deletions could not be read.

    ## Passes only when
    They were read, and there are none. It does not apply in KRaft mode.

    ## What to do
    Wait until it ends, or end it: `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --list`, then `--cancel`. A
    deletion goes on once every broker with a replica is back ({first}).

    ## References
    KIP-866 (migration), KIP-455 (reassignments).
    """
    if none := tuple(already_migrated(snapshot, "KA906")):
        yield from none
        return
    now, _ = looks(snapshot)
    moving = [row for row in snapshot.of(Reassignment) if row.sample == now]
    deleting = [row.topic for row in snapshot.of(RegisteredTopic) if row.sample == now and row.deleting]
    places = {
        "reassignment": sorted({f"topic/{row.topic}/partition/{row.partition}" for row in moving}),
        "deletion": [f"topic/{topic}" for topic in deleting],
    }
    gap = _gap(snapshot)
    for what, found in places.items():
        words = {"what": what, "count": counted(len(found), "resource"), "first": found[0] if found else "none"}
        if found:
            yield judge(snapshot, "KA906", f"change/{what}", Status.FAIL, **words)
        elif gap:
            yield judge(snapshot, "KA906", f"change/{what}", Status.UNKNOWN, **words, **gap)
        else:
            yield judge(snapshot, "KA906", f"change/{what}", Status.PASS, **words)


def _gap(snapshot: Snapshot) -> dict[str, str]:
    if not snapshot.of(Registry):
        return {"error": "ZooKeeper was not read", "needs": "a ZooKeeper that answers"}
    wanted = ("zookeeper /brokers/topics", _DELETES, "zookeeper /admin/reassign_partitions")
    for read in last_reads(snapshot):
        if read.outcome == "failed" and read.operation.startswith(wanted):
            return {"error": f"{read.operation}: {read.error}", "needs": read.needs or "read on that znode"}
    return {}

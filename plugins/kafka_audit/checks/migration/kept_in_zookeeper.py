"""KA911."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.checks.reads import last_reads
from kafka_audit.checks.rows import judge, looks
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import AclHolder, DynamicConfig, Registry, ScramUser, Snapshot, TopicConfig
from kafka_audit.model.text import counted

_READS = ("zookeeper /kafka-acl", "zookeeper /config/users", "zookeeper /config/brokers", "zookeeper /config/topics")


@gate_check(
    code="KA911",
    severity=Severity.INFO,
    needs=(ScramUser, DynamicConfig, AclHolder),
    says={
        Status.FAIL: "ZooKeeper holds {what}: count them again after the migration",
        Status.PASS: "ZooKeeper holds no ACL, SCRAM credential or setting that would have to be there after the migration",
        Status.UNKNOWN: "Not known: what of ACLs, SCRAM credentials and settings ZooKeeper holds ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def kept_in_zookeeper(snapshot: Snapshot) -> Iterator[Judgement]:
    """What ZooKeeper holds besides topics: ACLs, SCRAM credentials, dynamic settings of brokers, settings of topics.

    ## Why it matters
    The migration copies all of it. An inventory taken before is what the count after can be held against; delegation tokens and
    quotas are copied too, and this audit does not read them.

    ## Fails when
    There is any of them; told as information, never alerted.

    ## Not known when
    One of the znodes `/kafka-acl`, `/config/users`, `/config/brokers` and `/config/topics` could not be read.

    ## Passes only when
    All were read, and are empty. It does not apply in KRaft mode.

    ## What to do
    Keep this inventory ({what}), and compare: `kafka-acls.sh --list`, `kafka-configs.sh --describe --all --entity-type users`.

    ## References
    KIP-866, "Metadata to be migrated".
    """
    if none := tuple(already_migrated(snapshot, "KA911")):
        yield from none
        return
    now, _ = looks(snapshot)
    failed = next((read for read in last_reads(snapshot) if read.operation in _READS and read.outcome == "failed"), None)
    if failed is not None or not [row for row in snapshot.of(Registry) if row.sample == now]:
        error = f"{failed.operation}: {failed.error}" if failed else "ZooKeeper was not read"
        needs = (failed.needs if failed else None) or "a ZooKeeper that answers"
        yield judge(snapshot, "KA911", "cluster", Status.UNKNOWN, error=error, needs=needs)
        return
    acls = max((row.acls for row in snapshot.of(AclHolder) if row.observer == "zookeeper"), default=0)
    numbers = {
        "ACL": acls,
        "SCRAM credential": len(snapshot.of(ScramUser)),
        "dynamic setting of brokers": len(snapshot.of(DynamicConfig)),
        "setting of topics": len({(row.topic, row.key) for row in snapshot.of(TopicConfig)}),
    }
    more = {"dynamic setting of brokers": "dynamic settings of brokers", "setting of topics": "settings of topics"}
    what = ", ".join(counted(number, name, more.get(name)) for name, number in numbers.items() if number)
    yield judge(snapshot, "KA911", "cluster", Status.FAIL if what else Status.PASS, what=what)

"""What checks before a migration share: they speak of clusters with ZooKeeper only."""

from collections.abc import Iterator

from kafka_audit.checks.rows import judge, kraft
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import Snapshot


def already_migrated(snapshot: Snapshot, code: str) -> Iterator[Judgement]:
    """Yield that a check does not apply where there is no ZooKeeper to leave."""
    if kraft(snapshot):
        reason = "the cluster runs in KRaft mode, without ZooKeeper"
        yield judge(snapshot, code, "cluster", Status.NOT_APPLICABLE, reason=reason)

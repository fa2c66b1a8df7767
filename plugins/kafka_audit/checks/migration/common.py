"""What checks before a migration share: they speak of clusters with ZooKeeper only."""

from collections.abc import Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Status


def already_migrated(view: ClusterView, code: str) -> Iterator[Judgement]:
    """Yield that a check does not apply where there is no ZooKeeper to leave."""
    if view.kraft:
        reason = "the cluster runs in KRaft mode, without ZooKeeper"
        yield view.judge(code, "cluster", Status.NOT_APPLICABLE, reason=reason)

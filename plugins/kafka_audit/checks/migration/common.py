"""Shared code of checks before a migration: they apply only to clusters with ZooKeeper."""

from collections.abc import Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Status


def already_migrated(view: ClusterView, code: str) -> Iterator[Judgement]:
    """Yield that a check does not apply where there is no ZooKeeper to leave."""
    if view.kraft:
        reason = "the cluster runs in KRaft mode, without ZooKeeper"
        yield view.judge(code, "cluster", Status.NOT_APPLICABLE, reason=reason)

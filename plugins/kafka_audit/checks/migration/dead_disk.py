"""KA903."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.checks.storage.log_dir_offline import log_dir_offline
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity


@gate_check(code="KA903", severity=Severity.HIGH)
def dead_disk(view: ClusterView) -> Iterator[Judgement]:
    """A log dir is offline (KA501) before a migration."""
    if none := tuple(already_migrated(view)):
        yield from none
        return
    yield from log_dir_offline(view)

from kafka_audit.checks import ClusterView, Judgements, Severity, gate_check
from kafka_audit.checks.storage.log_dir_offline import log_dir_offline


@gate_check(code="KA903", severity=Severity.HIGH, mode="zookeeper")
def dead_disk(view: ClusterView) -> Judgements:
    """A log dir is offline (KA501) before a migration."""
    yield from log_dir_offline(view)

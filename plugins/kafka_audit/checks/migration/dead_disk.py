"""KA903."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.checks.storage.log_dir_offline import log_dir_offline
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@gate_check(
    code="KA903",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Log dir {path} of broker {broker} is offline; a broker with a failed disk does not start as a KRaft broker",
        Status.PASS: "Log dir {path} of broker {broker} is online",
        Status.UNKNOWN: "Cannot determine whether the log dirs of {who} are online ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def dead_disk(view: ClusterView) -> Iterator[Judgement]:
    """A log dir is offline (KA501) before a migration.

    ## Why it matters
    The migration restarts each broker twice. Replicas on a failed disk are unavailable, so the next restart of another broker
    takes partitions offline. The broker would also report incomplete directories to the controllers.

    ## Fails when
    DescribeLogDirs answers error 56 KAFKA_STORAGE_ERROR for the directory.

    ## Not known when
    A broker reported no directories.

    ## Passes only when
    The broker listed the directory without an error. The check does not apply in KRaft mode.

    ## What to do
    Repair it first: `kafka-audit explain KA501`. Then wait until no partition is under-replicated ({path} of broker {broker}).

    ## References
    KIP-866 (migration), KIP-858 (JBOD in KRaft).
    """
    if none := tuple(already_migrated(view, "KA903")):
        yield from none
        return
    for judgement in log_dir_offline(view):
        yield replace(judgement, code="KA903")

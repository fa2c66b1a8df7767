"""KA902."""

import re
from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.configuration.effective import Effective, unread_judgements
from kafka_audit.checks.configuration.versions import KEY
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status

_LEAST = (3, 7, 2)
_VERSION = re.compile(r"(\d+)\.(\d+)(?:-IV(\d+))?")


@gate_check(
    code="KA902",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Broker {broker} has {dirs} log dirs and uses protocol {version}; KRaft supports several log dirs since "
        "3.7-IV2",
        Status.PASS: "Broker {broker} has {dirs} log dirs and uses protocol {version}",
        Status.UNKNOWN: "Cannot determine whether {who} has more log dirs than its protocol allows in KRaft ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def disks_before_protocol(view: ClusterView) -> Iterator[Judgement]:
    """A broker has several log dirs (JBOD), and the inter-broker protocol is older than 3.7-IV2.

    ## Why it matters
    Before 3.7-IV2, KRaft does not record on which disk a replica is: a failed disk would not move its leaders. Kafka refuses to
    migrate such a broker.

    ## Fails when
    DescribeLogDirs or `log.dirs` names more than one directory, and the protocol in effect is below 3.7-IV2.

    ## Not known when
    The broker did not report its directories or its protocol version.

    ## Passes only when
    It has one directory, or uses 3.7-IV2 or later. The check does not apply in KRaft mode.

    ## What to do
    Upgrade all brokers to 3.9 and set `inter.broker.protocol.version=3.9` on all before the migration: broker {broker} uses
    {version}.

    ## References
    KIP-858; Kafka 3.9 documentation, "ZooKeeper to KRaft Migration", "Limitations".
    """
    if none := tuple(already_migrated(view, "KA902")):
        yield from none
        return
    effective = Effective(view)
    for broker in effective.brokers:
        if not effective.was_read(broker):
            continue
        value = effective.get(broker, KEY)
        dirs, known = _dirs(view, effective, broker), bool(value.known and value.text)
        evidence = {"broker": broker, "who": f"broker {broker}", "version": value.text or "unknown", "dirs": dirs}
        if dirs == 0 or (dirs > 1 and not known):
            error = f"{KEY if dirs else 'log.dirs'} is unknown"
            gap = {"error": error, "needs": f"Describe and DescribeConfigs on Cluster, answered by broker {broker}"}
            yield view.judge("KA902", f"broker/{broker}", Status.UNKNOWN, evidence | gap)
        else:
            old = dirs > 1 and _is_old(value.text or "")
            yield view.judge("KA902", f"broker/{broker}", Status.FAIL if old else Status.PASS, evidence)
    yield from unread_judgements(effective, "KA902")


def _dirs(view: ClusterView, effective: Effective, broker: int) -> int:
    named = effective.settings.get(broker, "log.dirs").value or ""
    return max(len(view.log_dirs(broker)), len({part.strip() for part in named.split(",")} - {""}))


def _is_old(version: str) -> bool:
    reported = _VERSION.match(version)
    # A version without a step means the last one of its release.
    return reported is None or (int(reported[1]), int(reported[2]), int(reported[3]) if reported[3] else 99) < _LEAST

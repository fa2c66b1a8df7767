"""KA502."""

import posixpath
from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, LogDir

_KEYS = ("log.dirs", "log.dir")


@check(
    code="KA502",
    severity=Severity.HIGH,
    needs=(LogDir, BrokerConfig),
    says={
        Status.FAIL: "Broker {broker} does not list configured log dirs: {missing}; it lists {listed}",
        Status.PASS: "Broker {broker} lists every configured log dir ({listed})",
        Status.UNKNOWN: "Cannot determine whether {who} lists every configured log dir ({error})",
    },
)
def log_dir_missing(view: ClusterView) -> Iterator[Judgement]:
    """A broker does not list a log dir from its configuration.

    ## Why it matters
    Replicas in that log dir are unavailable, and no API reports it as offline: the broker does not know the log dir.

    ## Fails when
    A directory of `log.dirs` (`log.dir` if that is not set), as reported by DescribeConfigs, is not among those of
    DescribeLogDirs. A relative path is compared with the end of the absolute paths.

    ## Not known when
    One of the two was not answered: both DescribeConfigs and Describe on Cluster are required.

    ## Passes only when
    Both were answered, and every configured dir is listed, offline or not (KA501).

    ## What to do
    On the host of broker {broker} check each of {missing}: `ls -ld`, `findmnt -T`, and the owner of the process. Correct the
    mount or the permissions, then restart broker {broker}.

    ## References
    `log.dirs`; KIP-113 (DescribeLogDirs).
    """
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, "KA502", reads)
    told = {(row.broker_id, row.key): row.value for row in view.of(BrokerConfig) if row.key in _KEYS}
    configs = BrokerReads(view.last_reads, "DescribeConfigs BROKER")
    for broker in reads.brokers:
        listed = {row.path for row in view.of(LogDir) if row.broker_id == broker}
        value = next((found for key in _KEYS if (found := told.get((broker, key)))), None)
        resource, who = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        if not listed or value is None:
            usual = {"error": "it reported no log dirs", "needs": "DescribeConfigs and Describe on Cluster"}
            gap = (reads if not listed else configs).gap(broker) or usual
            yield view.judge("KA502", resource, Status.UNKNOWN, {**who, **gap})
            continue
        wanted = [part.strip() for part in value.split(",") if part.strip()]
        missing = [one for one in wanted if not _is_among(one, listed)]
        words = who | {"missing": tuple(missing), "listed": tuple(sorted(listed))}
        yield view.judge("KA502", resource, Status.FAIL if missing else Status.PASS, words)


def _is_among(configured: str, listed: set[str]) -> bool:
    path = posixpath.normpath(configured)
    known = {posixpath.normpath(one) for one in listed}
    return path in known or (not posixpath.isabs(path) and any(one.endswith(f"/{path}") for one in known))

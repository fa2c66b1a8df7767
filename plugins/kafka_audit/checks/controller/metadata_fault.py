"""KA221."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import NO_QUORUM
from kafka_audit.cluster.answers.log_lines import when
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import clean

_FATAL = "fatal_fault"


@check(
    code="KA221",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "{subject} {did} ({when}): {fault}",
        Status.PASS: "The log of {subject} reports no fault of the metadata since its start",
        Status.UNKNOWN: "Cannot determine whether {who} applies the metadata ({error})",
        Status.NOT_APPLICABLE: "Faults of the metadata are not compared: {reason}",
    },
)
def metadata_fault(view: ClusterView) -> Iterator[Judgement]:
    """A controller or broker ended itself, or did not load or apply a part of the metadata.

    ## Why it matters
    A controller that cannot apply a record (a duplicate one, or one about a topic that it does not know) ends itself, and ends
    again at the same record after every start. A broker goes on with what it has: it reads the metadata log to its end and looks
    current, and its topics, ACLs or settings are old.

    ## Fails when
    The log of a node reports since its last start a fatal fault, or a fault of metadata loading or publishing.

    ## Not known when
    The log of the node was not read, though `logs` in the cluster file names it.

    ## Passes only when
    The log was read and has no such line since the last start. The check does not apply if the cluster file names no `logs`, and
    not with ZooKeeper. KA220 is about nodes that end because a controller rejects their requests.

    ## What to do
    Read the exception below the line: `grep -hE -A3 'Encountered .*fault' server.log | tail -8`. It tells a lack of memory or
    disk, which you repair first, from a record that cannot be applied, which is a fault of Kafka: search its issues for the
    exception, and install the newest patch release on that node.

    A node that still runs applies the metadata again after a restart. Restart one node at a time, a controller only if the other
    voters are a majority that follows (KA209). Do not format the disk of a controller, and keep its log until the cause is known.

    ## References
    `org.apache.kafka.server.fault.ProcessTerminatingFaultHandler` and `LoggingFaultHandler`; `kafka.server.SharedServer`;
    KAFKA-14114 (metrics `metadata-load-error-count` and `metadata-apply-error-count`).
    """
    if not view.kraft:
        yield view.judge("KA221", "cluster", Status.NOT_APPLICABLE, reason=NO_QUORUM)
        return
    reads = {node: found[-1] for node, found in view.reads.of_logs.items()}
    lines: dict[int, LogLine] = {}
    for line in view.logs.of_nodes("KA221"):
        if line.broker_id not in lines or _order(line) > _order(lines[line.broker_id]):
            lines[line.broker_id] = line
    if not reads and not lines:
        yield view.judge("KA221", "cluster", Status.NOT_APPLICABLE, reason="the cluster file names no `logs`")
    for node in sorted({*reads, *lines}):
        party = view.party(node)
        resource, read, row = party.replace(" ", "/"), reads.get(node), lines.get(node)
        evidence: dict[str, object] = {"node": node, "who": party, "subject": party}
        if row is not None:
            did = "ended itself" if row.signature == _FATAL else "did not apply a part of the metadata"
            evidence |= {"subject": party.capitalize(), "did": did, "when": when(row), "fault": clean(row.detail or row.text)}
            evidence["exception"] = row.exception
            yield view.judge("KA221", resource, Status.FAIL, evidence)
        elif read is not None and read.outcome == "failed":
            needs = read.needs or f"the log of {party}"
            yield view.judge("KA221", resource, Status.UNKNOWN, evidence, error=read.error or "not read", needs=needs)
        else:
            yield view.judge("KA221", resource, Status.PASS, evidence)


def _order(row: LogLine) -> tuple[bool, int]:
    return row.signature == _FATAL, row.last_ms or 0

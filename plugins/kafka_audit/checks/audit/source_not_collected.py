"""KA001."""

from collections.abc import Iterator, Sequence

from kafka_audit.checks import row_check
from kafka_audit.checks.reads import failed_before, is_refusal, port_refuses, reads_by_resource
from kafka_audit.checks.rows import judge, looks, silent_brokers
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Snapshot, SourceRead


@row_check(
    code="KA001",
    severity=Severity.HIGH,
    needs=(SourceRead,),
    says={
        Status.FAIL: "The audit is blind here: {source} {gave} ({failed} of {asked} reads failed: {reads}); the first says "
        "{error}",
        Status.PASS: "{source} answered all {asked} reads, those refused for lack of rights left out",
        Status.UNKNOWN: "Not known: whether {source} can be collected ({error})",
    },
)
def source_not_collected(snapshot: Snapshot) -> Iterator[Judgement]:
    """A source was asked and gave nothing.

    ## Why it matters
    Every check that reads it is not known instead of passed. An audit without a finding means something only if it could see.

    ## Fails when
    ZooKeeper could not be read, a registered broker gave no view on any listener, or any other read failed for a reason that is
    no lack of rights (that is KA002). A broker that refuses connections counts once two looks agree, so that a restart is no
    alarm.

    ## Not known when
    A broker refused the connection in one look only, or nothing was asked at all.

    ## Passes only when
    Every read that was asked of the source was answered.

    ## What to do
    The evidence names what is needed: {needs}. Repeat it by hand from this machine: `nc -vz <host> <port>`, for a broker
    `kafka-broker-api-versions --bootstrap-server <host>:<port>` with the auditor's client settings, for ZooKeeper
    `echo srvr | nc <host> 2181`.

    A listener that the auditor has no business with is left out by `listeners: {NAME: skip}` in the cluster file.

    ## References
    Reads and rights: the page "What the auditor may ask".
    """
    reads = reads_by_resource(snapshot)
    if not reads:
        yield judge(
            snapshot, "KA001", "cluster", Status.UNKNOWN, source="the cluster", error="nothing was asked", needs="a source to ask"
        )
    silent = silent_brokers(snapshot)
    for resource, asked in reads.items():
        failed = [read for read in asked if read.outcome == "failed" and not is_refusal(read.error)]
        yield _judged(snapshot, resource, asked, failed, silent=resource in silent)


def _judged(
    snapshot: Snapshot, resource: str, asked: Sequence[SourceRead], failed: Sequence[SourceRead], *, silent: bool
) -> Judgement:
    source = "ZooKeeper" if all(read.observer == "zookeeper" for read in asked) else resource.replace("/", " ", 1)
    source = "Some source" if source == "cluster" else source[0].upper() + source[1:]
    evidence = {"source": source, "asked": str(len(asked)), "failed": str(len(failed))}
    if not failed:
        return judge(snapshot, "KA001", resource, Status.PASS, **evidence)
    first = failed[0]
    evidence["reads"] = ", ".join(sorted({read.operation for read in failed}))
    evidence["error"] = f"{first.error}: {first.message}" if first.message else str(first.error)
    evidence["needs"] = next((read.needs for read in failed if read.needs), f"an answer of {first.target} to {first.operation}")
    evidence["gave"] = "gave nothing" if len(failed) == len(asked) else "gave no view" if silent else "gave only a part"
    settled = looks(snapshot)[1] is not None and failed_before(snapshot, failed)
    restarting = resource != "cluster" and all(port_refuses(read) for read in failed)
    status = Status.UNKNOWN if restarting and not settled else Status.FAIL
    if status is Status.UNKNOWN:
        evidence["error"] = f"in motion: {evidence['error']}, in one look"
    return judge(snapshot, "KA001", resource, status, **evidence)

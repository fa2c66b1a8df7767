"""KA114."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.answers.log_lines import says, when
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA114",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Two processes use the id of broker {broker}: {why}",
        Status.PASS: "The log of broker {broker} reports no other process with its id",
        Status.UNKNOWN: "Cannot determine whether two processes use the id of {who} ({error})",
        Status.NOT_APPLICABLE: "Ids are not compared: {reason}",
    },
)
def broker_id_taken(view: ClusterView) -> Iterator[Judgement]:
    """Two processes have the same broker id.

    ## Why it matters
    Only one of them can be registered. The other one waits or ends; if the registered one loses its session or restarts, the
    other takes its place with another disk: its replicas are empty or old, and clients are sent to another host. This happens
    to cloned hosts, to copied files, and to an old container that was not stopped.

    ## Fails when
    The log of a broker reports, still repeated, that its registration is refused because its id is registered by another process
    (KRaft: DUPLICATE_BROKER_REGISTRATION). A restarted broker writes the same for some seconds, until its old registration ends,
    and does not count.

    ## Not known when
    The log of the broker was not read, though the cluster file names `logs`.

    ## Passes only when
    The log was read and has no such line. The check does not apply if the cluster file names no `logs`, and not with ZooKeeper,
    where the second process ends at its start (NodeExists).

    ## What to do
    Find both processes: the registered one is at the address that `kafka-broker-api-versions.sh --bootstrap-server
    BROKER:9092` prints for id {broker}, the other one wrote this log. Make sure which of the two has the data (`du -sh
    LOG_DIR`), because the partitions of a broker that starts with an empty disk are lost or copied again. Stop the other one,
    and give it another id: `node.id` in server.properties, with an empty log dir or a `meta.properties` of that id.

    ## References
    `org.apache.kafka.common.errors.DuplicateBrokerRegistrationException`; KIP-631 (registration of brokers).
    """
    if not view.kraft:
        reason = "with ZooKeeper the second process ends at its start"
        yield view.judge("KA114", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    reads = {read.observer.removeprefix("logs:"): read for read in view.last_reads if read.observer.startswith("logs:")}
    if not reads:
        yield view.judge("KA114", "cluster", Status.NOT_APPLICABLE, reason="the cluster file names no `logs`")
        return
    for name, read in sorted(reads.items()):
        broker = int(name) if name.isdecimal() else None
        if broker is None or broker in view.controller_nodes:
            continue
        evidence = {"broker": broker, "who": f"broker {broker}"}
        lines = view.logs.counting("KA114", broker)
        if lines:
            why = f"{says(lines[0])}, last {when(lines[0])}"
            yield view.judge("KA114", f"broker/{broker}", Status.FAIL, evidence, why=why)
        elif read.outcome == "failed":
            needs = read.needs or f"the log of broker {broker}"
            yield view.judge("KA114", f"broker/{broker}", Status.UNKNOWN, evidence, error=read.error or "not read", needs=needs)
        else:
            yield view.judge("KA114", f"broker/{broker}", Status.PASS, evidence)

"""KA001."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.reads import (
    failed_texts,
    is_refusal,
    port_refuses,
    source_name,
    without_login,
)
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import SourceRead


@check(
    code="KA001",
    severity=Severity.HIGH,
    needs=(SourceRead,),
    says={
        Status.FAIL: "{source} {gave}: {failed} of {asked} reads failed ({reads}); the first says {error}",
        Status.PASS: "{source} answered all {asked} reads, those refused for lack of rights left out",
        Status.UNKNOWN: "Not known: whether {source} can be collected whole ({error})",
    },
)
def source_not_collected(view: ClusterView) -> Iterator[Judgement]:
    """A source was asked and gave nothing.

    ## Why it matters
    Every check that reads it is not known instead of passed. An audit without a finding means something only if it could see.

    ## Fails when
    ZooKeeper could not be read, a broker that is registered (without ZooKeeper: listed) gave no view on any listener, or another
    read failed, not for lack of rights (that is KA002). A broker that refuses connections counts once two looks agree, so that a
    restart is no alarm.

    ## Not known when
    A broker refused the connection in one look only; nothing says how to log in at one of its listeners, or the cluster file does
    not trust its address (`not trusted`), and another listener gave its view; or nothing was asked.

    ## Passes only when
    Every read that was asked of the source was answered.

    ## What to do
    Needed: {needs}. Repeat it by hand from this machine: `nc -vz -w 3 <host> <port>`, then for a broker
    `kafka-broker-api-versions.sh --bootstrap-server <host>:<port> --command-config <client settings of the auditor>`, for
    ZooKeeper `echo srvr | nc <host> 2181`. `listeners: {NAME: skip}` in the cluster file leaves a listener out for good.

    `not trusted`: no login was tried, because only the cluster lists this address, and anyone who may write a znode can list one.
    `trusted_hosts` in the cluster file names the hosts that may get the password. `weak SCRAM` and `SCRAM not verified`: what
    answers there is not to be trusted with it; find out whose process that is before you change a password.

    `contradicts ZooKeeper`: the broker offers what only brokers in KRaft mode do, while ZooKeeper has it registered or names no
    migration. One broker does not take ZooKeeper out of an audit. Find out which process answers there; a broker that has just
    changed to KRaft mode is in order as soon as its session in ZooKeeper has ended.

    ## References
    Kafka documentation, "Authorization and ACLs": which right each request needs.
    """
    reads, silent = view.reads.by_resource, view.reads.silent_brokers
    if not reads:
        nothing = {"source": "the cluster", "error": "nothing was asked", "needs": "a source to ask"}
        yield view.judge("KA001", "cluster", Status.UNKNOWN, nothing)
    for resource, asked in reads.items():
        failed = [read for read in asked if read.outcome == "failed" and not is_refusal(read.error)]
        name = source_name(resource, failed or asked)
        source = "ZooKeeper" if name == "zookeeper" else f"{name[0].upper()}{name[1:]}"
        evidence = {"source": source, "asked": len(asked), "failed": len(failed)}
        if not failed:
            yield view.judge("KA001", resource, Status.PASS, evidence)
            continue
        if resource not in silent and all(without_login(read.error) for read in failed):
            yield view.judge("KA001", resource, Status.UNKNOWN, {**evidence, **failed_texts(failed)})
            continue
        part = "gave no view" if resource in silent else "gave only a part"
        evidence |= {"gave": "gave nothing" if len(failed) == len(asked) else part, **failed_texts(failed)}
        settled = view.samples[1] is not None and view.reads.failed_before(failed)
        if resource != "cluster" and not settled and all(port_refuses(read) for read in failed):
            evidence["error"] = f"in motion: {evidence['error']}, in one look"
            yield view.judge("KA001", resource, Status.UNKNOWN, evidence)
        else:
            yield view.judge("KA001", resource, Status.FAIL, evidence)

"""KA002."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.answers.reads import source_name
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.read_failure import NOT_ASKED, ReadFailure


@check(
    code="KA002",
    severity=Severity.MEDIUM,
    says={
        Status.FAIL: "The auditor lacks rights at {source}: {reads} failed with {error}. Required: {needs} (commands: "
        "kafka-audit explain KA002)",
        Status.PASS: "No read at {source} was denied ({answered} answered)",
        Status.UNKNOWN: "Cannot determine whether the auditor has the required rights at {source} ({error})",
    },
)
def auditor_lacks_rights(view: ClusterView) -> Iterator[Judgement]:
    r"""The auditor lacks a right, and a read was denied.

    ## Why it matters
    The audit cannot judge what it may not read. Some denied reads look like a complete result: Metadata omits topics silently,
    and DescribeLogDirs of an old broker returns an empty list.

    ## Fails when
    A read was denied with TOPIC_, GROUP_ or CLUSTER_AUTHORIZATION_FAILED (29, 30, 31), or with NoAuth in ZooKeeper.

    ## Not known when
    No read at that source was answered or denied (KA001).

    ## Passes only when
    Reads were answered, and no read was denied.

    ## What to do
    Required: {needs}. Run these commands as an administrator at any one broker. admin.properties holds the administrator's
    login. The commands grant the auditor all rights of a full audit. With these rights the auditor can only read:

        kafka-acls.sh --bootstrap-server BROKER:9092 --command-config admin.properties --add \
          --allow-principal User:AUDITOR --operation Describe --operation DescribeConfigs --cluster
        kafka-acls.sh --bootstrap-server BROKER:9092 --command-config admin.properties --add \
          --allow-principal User:AUDITOR --operation Describe --operation DescribeConfigs --topic '*'
        kafka-acls.sh --bootstrap-server BROKER:9092 --command-config admin.properties --add \
          --allow-principal User:AUDITOR --operation Describe --group '*'

    AUDITOR is the `username` under `security` in the cluster file. Without a login it is ANONYMOUS. With a client certificate
    it is the name that `ssl.principal.mapping.rules` derives from the subject.

    With `zookeeper.set.acl=true` only brokers can read some znodes. Keep these ACLs: the znodes hold credentials.

    ## References
    Kafka documentation, "Authorization and ACLs": operations on protocols.
    """
    for resource, asked in view.reads.by_resource.items():
        refused = [read for read in asked if read.outcome == "failed" and read.failure is ReadFailure.NOT_AUTHORIZED]
        answered = sum(read.outcome == "answered" for read in asked)
        source = source_name(resource, refused or asked)
        evidence = {"source": source, "answered": answered}
        if refused:
            yield view.judge(
                "KA002",
                resource,
                Status.FAIL,
                evidence,
                reads=tuple(sorted({read.operation for read in refused})),
                error=tuple(sorted({str(read.error) for read in refused})),
                needs=tuple(sorted({read.needs or f"the right to {read.operation}" for read in refused})),
            )
        elif answered:
            yield view.judge("KA002", resource, Status.PASS, evidence)
        else:
            lines = (read.needs for read in asked if read.failure in NOT_ASKED and read.needs)  # to add to the cluster file
            needs = next(lines, f"an answer from {asked[0].target}")
            yield view.judge("KA002", resource, Status.UNKNOWN, evidence, error="no read was answered", needs=needs)

"""KA002."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.reads import is_refusal, source_name, without_login
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import SourceRead


@check(
    code="KA002",
    severity=Severity.MEDIUM,
    needs=(SourceRead,),
    says={
        Status.FAIL: "The auditor may not read everything at {source}: {reads} was refused with {error}; it needs {needs} "
        "(commands: kafka-audit explain KA002)",
        Status.PASS: "No read at {source} was refused for lack of rights ({answered} answered)",
        Status.UNKNOWN: "Not known: whether the auditor has the rights that it needs at {source} ({error})",
    },
)
def auditor_lacks_rights(view: ClusterView) -> Iterator[Judgement]:
    r"""The auditor lacks a right, so a read was refused.

    ## Why it matters
    What it may not read is not known, and some of it would look like health: Metadata leaves out topics silently, DescribeLogDirs
    of an old broker answers with an empty list.

    ## Fails when
    A read was refused: TOPIC_, GROUP_ or CLUSTER_AUTHORIZATION_FAILED (29, 30, 31), or NoAuth in ZooKeeper.

    ## Not known when
    No read at that source got so far as to be answered or refused (KA001).

    ## Passes only when
    Reads were answered, and none refused.

    ## What to do
    Needed: {needs}. Let an administrator, whose login stands in <admin.properties>, give the auditor all rights of a full audit,
    at any one broker; with all of them it still only reads:

        kafka-acls.sh --bootstrap-server <broker>:<port> --command-config <admin.properties> --add \
          --allow-principal User:<auditor> --operation Describe --operation DescribeConfigs --cluster
        kafka-acls.sh --bootstrap-server <broker>:<port> --command-config <admin.properties> --add \
          --allow-principal User:<auditor> --operation Describe --operation DescribeConfigs --topic '*'
        kafka-acls.sh --bootstrap-server <broker>:<port> --command-config <admin.properties> --add \
          --allow-principal User:<auditor> --operation Describe --group '*'

    <auditor> is the `username` under `security` in the cluster file; without a login it is ANONYMOUS, with a certificate the name
    that `ssl.principal.mapping.rules` makes of its subject.

    With `zookeeper.set.acl=true` a few znodes stay closed to all but brokers: leave them so, they hold credentials.

    ## References
    Kafka documentation, "Authorization and ACLs": operations on protocols.
    """
    for resource, asked in view.reads.by_resource.items():
        refused = [read for read in asked if read.outcome == "failed" and is_refusal(read.error)]
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
                error=", ".join(sorted({str(read.error) for read in refused})),
                needs=", ".join(sorted({read.needs or f"the right to {read.operation}" for read in refused})),
            )
        elif answered:
            yield view.judge("KA002", resource, Status.PASS, evidence)
        else:
            lines = (read.needs for read in asked if without_login(read.error) and read.needs)  # to add to the cluster file
            needs = next(lines, f"an answer of {asked[0].target}")
            yield view.judge("KA002", resource, Status.UNKNOWN, evidence, error="no read was answered", needs=needs)

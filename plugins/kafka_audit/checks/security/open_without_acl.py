"""KA408."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import start_upper


@check(
    code="KA408",
    severity=Severity.HIGH,
    by_files=True,
    says={
        Status.FAIL: "Resources without ACLs {are} open to every client at {who}; allow.everyone.if.no.acl.found is true",
        Status.PASS: "{subject} denies access to resources without ACLs ({source})",
        Status.UNKNOWN: "Cannot determine whether resources without ACLs are open to every client at {who} ({error})",
        Status.NOT_APPLICABLE: "{subject} does not use ACLs: {reason}",
    },
)
def open_without_acl(view: ClusterView) -> Iterator[Judgement]:
    """A broker or controller opens resources without ACLs to every client.

    ## Why it matters
    A new topic is open to every client until its first ACL, and from then on closed to all other clients. Both are unexpected.
    While the cluster resource has no ACL, any client can act as a broker. In KRaft the controller authorizes changes of topics,
    ACLs and settings, by its own file.

    ## Fails when
    The broker, or a controller whose file was read, has an authorizer, and its server.properties sets
    `allow.everyone.if.no.acl.found` to true. If the running broker does not report the key, it started with another file, and the
    key takes effect at its next start.

    ## Not known when
    The key is set but hidden, because DescribeConfigs always hides it. Or no settings of that broker were read.

    ## Passes only when
    server.properties sets it to false, or DescribeConfigs does not return it, so the default (false) applies.

    ## What to do
    Before you set it to false, find out which principals use which resources. `kafka-authorizer.log` at INFO records denials
    only; allowed requests are logged at DEBUG, with the principal, the operation and the resource. Set
    `kafka.authorizer.logger` to DEBUG on every broker until the least frequent job has run once: in its log4j file, or until
    its restart (Kafka 2.4 and later) with `kafka-configs.sh --bootstrap-server BROKER:9092 --alter --entity-type
    broker-loggers --entity-name {node} --add-config kafka.authorizer.logger=DEBUG`. The log grows with every request.

    Add the ACLs that the log shows, and make sure that the inter-broker principal is in `super.users` or has ClusterAction
    (KA401). Then set the key to false on {who} and restart it. From then on, a client without an ACL is denied.

    ## References
    Kafka documentation, "Authorization and ACLs".
    """
    between = view.inter_broker
    for broker in (*between.brokers, *sorted(between.settings.controllers)):
        party = between.settings.party(broker)
        resource, authorizer = party.replace(" ", "/"), between.authorizer(broker)
        allows = between.allows_without_acl(broker)
        later = allows is False and view.next_start.allows_without_acl(broker) is True
        evidence = {"node": broker, "who": party, "subject": start_upper(party), "key": "allow.everyone.if.no.acl.found"}
        evidence["are"] = "will be" if later else "are"
        if authorizer.state == "unset":
            yield view.judge("KA408", resource, Status.NOT_APPLICABLE, evidence, reason="it runs no authorizer")
        elif not authorizer.value or allows is None:
            error = "the key is set but hidden" if authorizer.value else "its settings were not read"
            needs = f"server.properties of {party} (`properties` in the cluster file)"
            yield view.judge("KA408", resource, Status.UNKNOWN, evidence, error=error, needs=needs)
        else:
            source = between.settings.get(broker, "allow.everyone.if.no.acl.found").source
            yield view.judge("KA408", resource, Status.FAIL if allows or later else Status.PASS, evidence, source=source)
    yield from no_brokers(view, "KA408")

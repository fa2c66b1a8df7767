from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.model.text import start_upper


@check(code="KA408", severity=Severity.HIGH, by_files=True)
def open_without_acl(view: ClusterView) -> Judgements:
    """A broker or controller opens resources without ACLs to every client."""
    between = view.inter_broker
    for broker in (*between.brokers, *sorted(between.settings.controllers)):
        party = between.settings.party(broker)
        resource, authorizer = party.replace(" ", "/"), between.authorizer(broker)
        allows = between.allows_without_acl(broker)
        later = allows is False and view.next_start.allows_without_acl(broker) is True
        evidence = {"node": broker, "who": party, "subject": start_upper(party), "key": "allow.everyone.if.no.acl.found"}
        evidence["are"] = "will be" if later else "are"
        if authorizer.state == "unset":
            yield view.not_applicable(resource, "it runs no authorizer", evidence)
        elif not authorizer.value or allows is None:
            error = "the key is set but hidden" if authorizer.value else "its settings were not read"
            yield view.unknown(resource, error, f"server.properties of {party} (`properties` in the cluster file)", evidence)
        else:
            source = between.settings.get(broker, "allow.everyone.if.no.acl.found").source
            yield view.judge(resource, Status.FAIL if allows or later else Status.PASS, evidence, source=source)
    yield from no_brokers(view)

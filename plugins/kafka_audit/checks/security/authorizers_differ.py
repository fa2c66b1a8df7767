from collections import Counter
from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers, tied
from kafka_audit.model.text import start_upper


@check(code="KA407", severity=Severity.HIGH, by_files=True)
def authorizers_differ(view: ClusterView) -> Judgements:
    """Brokers and controllers run different authorizers, or some run none."""
    between = view.inter_broker
    nodes = (*between.brokers, *sorted(between.settings.controllers))
    settings = {node: between.authorizer(node) for node in nodes}
    classes = Counter(setting.value for setting in settings.values() if setting.value)
    if settings and all(setting.state == "unset" for setting in settings.values()):
        yield view.not_applicable("cluster", "no broker runs an authorizer")
        return
    usual = min(classes, key=lambda name: (-classes[name], str(name)), default=None)
    read = {node: setting.value for node, setting in settings.items() if setting.state in {"set", "unset"}}
    undecided = tied(read, len(nodes))
    for node, setting in settings.items():
        party = between.settings.party(node)
        resource, evidence = party.replace(" ", "/"), {"node": node, "who": party, "subject": start_upper(party)}
        evidence |= {"authorizer": setting.value or "none (every request is allowed)", "key": "authorizer.class.name"}
        if setting.state not in {"set", "unset"} or usual is None or (setting.value == usual and undecided):
            needs = f"DescribeConfigs on Cluster, or server.properties of {party}"
            yield view.unknown(resource, "not every broker reported its authorizer", needs, who=party)
        elif setting.value == usual:
            yield view.judge(resource, Status.PASS, evidence)
        else:
            kin = (setting.value or "").endswith("AclAuthorizer") and usual.endswith("AclAuthorizer")
            failed = view.judge(resource, Status.FAIL, evidence, others=usual)
            yield replace(failed, severity=Severity.MEDIUM if kin else None)
    yield from no_brokers(view)

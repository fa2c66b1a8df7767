from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.settings import AUTHORIZER
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.configuration.authorization import STANDARD
from kafka_audit.model.text import start_upper

_KEY = "early.start.listeners"


@check(code="KA222", severity=Severity.HIGH, by_files=True)
def early_listener_missing(view: ClusterView) -> Judgements:
    """A controller opens its listener for other controllers only after it has read the ACLs, which it reads from them."""
    settings = view.settings
    nodes = sorted(settings.with_controller_role)
    judged = [node for node in nodes if settings.get(node, AUTHORIZER).value == STANDARD]
    voters = view.quorum.now.voters
    if len(voters) == 1 or (not voters and len(nodes) == 1):
        yield view.not_applicable("cluster", "the quorum has a single controller")
        return
    if not nodes and any(settings.get(broker, AUTHORIZER).value == STANDARD for broker in settings.brokers):
        needs = "server.properties of the controllers (`properties` in the cluster file)"
        yield view.unknown("cluster", "their settings were not read", needs, who="any controller")
        return
    if not judged:
        yield view.not_applicable("cluster", "no controller runs StandardAuthorizer")
    for node in judged:
        party, resource, early = settings.party(node), settings.resource(node), settings.get(node, _KEY)
        listener = settings.controllers_listener(node)
        named = {canonical_listener(name) for name in (early.value or "").split(",")}
        evidence = {"node": node, "who": party, "subject": start_upper(party), "key": _KEY, "listener": listener}
        if not early.known:
            yield view.unknown(resource, f"{_KEY} is hidden", f"server.properties of {party}, as it reads the file", evidence)
            continue
        is_set = early.state == "set" or settings.is_emptied(node, _KEY)
        closed = is_set and bool(listener) and listener not in named
        yield view.judge(resource, Status.FAIL if closed else Status.PASS, evidence)

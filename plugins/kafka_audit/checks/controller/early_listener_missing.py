"""KA222."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.settings import AUTHORIZER
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.configuration.authorization import STANDARD
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import start_upper

_KEY = "early.start.listeners"


@check(
    code="KA222",
    severity=Severity.HIGH,
    by_files=True,
    says={
        Status.FAIL: "{subject} waits for ACLs before it answers others: {key} lacks {listener}",
        Status.PASS: "{subject} answers other controllers before it has read the ACLs",
        Status.UNKNOWN: "Cannot determine whether {who} answers other controllers before it has read the ACLs ({error})",
        Status.NOT_APPLICABLE: "The start of controllers' listeners is not judged: {reason}",
    },
)
def early_listener_missing(view: ClusterView) -> Iterator[Judgement]:
    """A controller opens its listener for other controllers only after it has read the ACLs, which it reads from them.

    ## Why it matters
    ACLs are in the metadata log, and StandardAuthorizer keeps every listener closed that is not in `early.start.listeners` until
    its node has read them. A controller that starts while the quorum has a leader reads them from the leader. If all controllers
    stop, each waits for the others, and the cluster has no leader until the setting is corrected.

    ## Fails when
    By its file or by DescribeConfigs, a node with the controller role runs StandardAuthorizer, and `early.start.listeners` is
    set, if only to nothing, and lacks the first listener of `controller.listener.names`.

    ## Not known when
    A value is hidden by a placeholder. Or brokers run StandardAuthorizer, and the settings of no controller were read.

    ## Passes only when
    `early.start.listeners` is not set, which means all listeners in `controller.listener.names`, or contains that listener. The
    check does not apply to nodes without the controller role or without StandardAuthorizer, and not to a single voter.

    ## What to do
    Remove `early.start.listeners` from server.properties of {who}, or add {listener} to it, and restart controllers one by one
    while a majority follows (KA209). Do not stop all controllers before.

    ## References
    KIP-801 (StandardAuthorizer, `early.start.listeners`); `kafka.server.ControllerServer.startup`.
    """
    settings = view.settings
    nodes = sorted(settings.with_controller_role)
    judged = [node for node in nodes if settings.get(node, AUTHORIZER).value == STANDARD]
    voters = view.quorum.now.voters
    if len(voters) == 1 or (not voters and len(nodes) == 1):
        yield view.judge("KA222", "cluster", Status.NOT_APPLICABLE, reason="the quorum has a single controller")
        return
    if not nodes and any(settings.get(broker, AUTHORIZER).value == STANDARD for broker in settings.brokers):
        needs = "server.properties of the controllers (`properties` in the cluster file)"
        yield view.judge(
            "KA222", "cluster", Status.UNKNOWN, who="any controller", error="their settings were not read", needs=needs
        )
        return
    if not judged:
        reason = "no controller runs StandardAuthorizer"
        yield view.judge("KA222", "cluster", Status.NOT_APPLICABLE, reason=reason)
    for node in judged:
        party, resource, early = settings.party(node), settings.resource(node), settings.get(node, _KEY)
        listener = settings.controllers_listener(node)
        named = {canonical_listener(name) for name in (early.value or "").split(",")}
        evidence = {"node": node, "who": party, "subject": start_upper(party), "key": _KEY, "listener": listener}
        if not early.known:
            facts = {"error": f"{_KEY} is hidden", "needs": f"server.properties of {party}, as it reads the file"}
            yield view.judge("KA222", resource, Status.UNKNOWN, evidence | facts)
            continue
        is_set = early.state == "set" or settings.is_emptied(node, _KEY)
        closed = is_set and bool(listener) and listener not in named
        yield view.judge("KA222", resource, Status.FAIL if closed else Status.PASS, evidence)

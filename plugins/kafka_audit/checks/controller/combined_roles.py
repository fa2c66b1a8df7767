"""KA215."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.configuration.effective import Effective, unknown_judgement, unread_judgements
from kafka_audit.checks.gaps import NO_QUORUM
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status

_KEY = "process.roles"


@check(
    code="KA215",
    severity=Severity.LOW,
    by_files=True,
    says={
        Status.FAIL: "Broker and controller run in one process (combined mode) on {who}",
        Status.PASS: "Broker {broker} has only the broker role",
        Status.UNKNOWN: "Cannot determine the roles of {who} ({error})",
        Status.NOT_APPLICABLE: "No roles to compare: {reason}",
    },
)
def combined_roles(view: ClusterView) -> Iterator[Judgement]:
    """A node is a broker and a controller in one process.

    ## Why it matters
    Clients, replication and the metadata quorum share one heap, one disk and one restart. Load on the broker delays the
    controller, and a restart of the broker for any reason takes a vote away. Roles cannot be rolled or scaled separately. Kafka's
    documentation advises against it in critical deployments.

    ## Fails when
    `process.roles` of a node contains `broker` and `controller`. LOW: small and test clusters run this way on purpose.

    ## Not known when
    The settings of the broker were not read (DescribeConfigs or server.properties).

    ## Passes only when
    The settings of the broker were read, and it has only the broker role. The check does not apply with ZooKeeper or to a
    cluster of one node.

    ## What to do
    For a cluster that matters, run three controllers in separate processes. A static quorum must start this way; in a dynamic
    quorum (kraft.version 1, Kafka 3.9 and later) add new controllers one by one with `kafka-metadata-quorum.sh`, remove the
    old voters, then restart {who} with `process.roles=broker` and without the listeners of `controller.listener.names` in
    `listeners`: a broker with them does not start. Otherwise mute KA215.

    ## References
    Kafka documentation, "KRaft", "Process Roles"; KIP-853.
    """
    effective = Effective(view)
    roles = {broker: effective.settings.get(broker, _KEY) for broker in view.inter_broker.brokers}
    if roles and not any(role.value for role in roles.values()) and not view.kraft:
        yield view.judge("KA215", "cluster", Status.NOT_APPLICABLE, reason=NO_QUORUM)
        return
    if len({*roles, *view.settings.controllers}) == 1 and view.inter_broker.asked:
        yield view.judge("KA215", "cluster", Status.NOT_APPLICABLE, reason="the cluster has one node")
        return
    yield from unread_judgements(effective, "KA215")
    yield from one_finding(view, "KA215", _judged(effective))


def _judged(effective: Effective) -> Iterator[Judgement]:
    for broker in filter(effective.was_read, effective.brokers):
        roles = (effective.settings.get(broker, _KEY).value or "").split(",")
        if roles == [""]:
            yield unknown_judgement(effective, "KA215", broker, f"{_KEY} is unknown")
            continue
        both = {"broker", "controller"} <= {role.strip() for role in roles}
        evidence = {"broker": broker, "who": f"broker {broker}", "key": _KEY}
        yield effective.view.judge("KA215", f"broker/{broker}", Status.FAIL if both else Status.PASS, evidence)

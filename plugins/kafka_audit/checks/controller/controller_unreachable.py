"""KA211."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.controller_paths import controller_paths
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import clean


@check(
    code="KA211",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "The controller at {address} does not answer: {layer} fails from this worker ({error})",
        Status.PASS: "The controller at {address} answers{node}",
        Status.UNKNOWN: "Cannot determine whether the controller at {address} answers ({error})",
        Status.NOT_APPLICABLE: "No controller to probe: {reason}",
    },
)
def controller_unreachable(view: ClusterView) -> Iterator[Judgement]:
    """The address of a KRaft controller does not answer.

    ## Why it matters
    Brokers and controllers find each other only by these addresses. A controller with a closed port does not vote and receives
    no requests from brokers. The next restart of another controller can lose the majority.

    ## Fails when
    The probe from this worker to an address under `controllers` in the cluster file fails at the same layer (dns, tcp, tls,
    sasl, api) in two samples.

    ## Not known when
    The probe failed in one sample only, or at different layers. Or the cluster file does not define the security of the
    controllers' listener.

    ## Passes only when
    The address answered ApiVersions. The check does not apply if the cluster file names no controllers.

    ## What to do
    Repeat the probe from this worker: `nc -vz HOST PORT` with {address}. If the connection is refused, start the
    controller. If there is no answer, open the firewall, or remove the address from `controllers` if this worker is not meant
    to reach it. KA209 reports whether the voters follow. If the controllers' listener uses other security than `security`, set
    `listeners: {CONTROLLER: …}` in the cluster file.

    ## References
    `controller.quorum.voters`, `controller.quorum.bootstrap.servers`, `controller.listener.names`.
    """
    paths = [path for path in view.derived(controller_paths) if path.is_listed]
    if not paths:
        reason = "the cluster file names no controllers"
        yield view.judge("KA211", "cluster", Status.NOT_APPLICABLE, reason=reason)
    for path in paths:
        evidence = {"address": clean(path.address), "layer": path.layer, "error": clean(path.error)}
        if path.state == "open":
            node = "" if path.node_id is None else f" as node {path.node_id}"
            yield view.judge("KA211", f"controller/{path.address}", Status.PASS, evidence, node=node)
        elif path.state == "closed":
            yield view.judge("KA211", f"controller/{path.address}", Status.FAIL, evidence)
        else:
            unknown = {"needs": path.needs or "another audit"} if path.state == "unknown" else ONCE
            yield view.judge("KA211", f"controller/{path.address}", Status.UNKNOWN, {**evidence, **unknown})

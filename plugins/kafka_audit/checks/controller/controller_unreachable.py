"""KA211."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ControllerProbe
from kafka_audit.model.text import clean


@check(
    code="KA211",
    severity=Severity.HIGH,
    needs=(ControllerProbe,),
    says={
        Status.FAIL: "The controller at {address} does not answer: {layer} fails from this worker ({error})",
        Status.PASS: "The controller at {address} answers{node}",
        Status.UNKNOWN: "Not known: whether the controller at {address} answers ({error})",
        Status.NOT_APPLICABLE: "No controller to reach: {reason}",
    },
)
def controller_unreachable(view: ClusterView) -> Iterator[Judgement]:
    """An address of a KRaft controller does not answer.

    ## Why it matters
    Brokers and controllers find each other by such addresses alone: a controller whose port is closed votes for nobody and
    hears no broker, and the first restart beside it may cost the majority.

    ## Fails when
    The way from this worker to an address under `controllers` in the cluster file ends at the same layer (dns, tcp, tls, sasl,
    api) in two looks.

    ## Not known when
    It ended in one look only, or at another layer; or nothing says how to speak to the controllers' listener.

    ## Passes only when
    Something at the address answered ApiVersions. It does not apply where the cluster file names no controllers.

    ## What to do
    See it from this worker: `nc -vz <host> <port>` with {address}. Refused: start the controller. No answer: open the way, or
    take the address out of `controllers` if this worker is not meant to have one; whether the voters follow is KA209. Their
    security is told by `listeners: {{CONTROLLER: …}}` in the cluster file where it is not that of `security`.

    ## References
    `controller.quorum.voters`, `controller.quorum.bootstrap.servers`, `controller.listener.names`.
    """
    rows = sorted(view.newest(ControllerProbe), key=lambda row: row.address)
    earlier = {row.address: row for row in view.before(ControllerProbe)}
    if not rows:
        reason = "the cluster file names no controllers"
        yield view.judge("KA211", "cluster", Status.NOT_APPLICABLE, reason=reason)
    for row in rows:
        words = {"address": clean(row.address), "layer": row.layer, "error": clean(row.error or row.outcome)}
        resource, past = f"controller/{row.address}", earlier.get(row.address)
        if row.outcome == "ok":
            node = "" if row.node_id is None else f" as node {row.node_id}"
            yield view.judge("KA211", resource, Status.PASS, words, node=node)
        elif row.outcome == "failed" and past is not None and (past.outcome, past.layer) == ("failed", row.layer):
            yield view.judge("KA211", resource, Status.FAIL, words)
        else:
            unknown = {"needs": row.needs or "another audit"} if row.outcome == "unknown" else ONCE
            yield view.judge("KA211", resource, Status.UNKNOWN, {**words, **unknown})

from collections.abc import Sequence

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.controller.quorum_incidents import may_be_rejected
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.quorum import NO_TIMES, seconds
from kafka_audit.model.quorum import majority
from kafka_audit.model.text import listing


@check(code="KA209", severity=Severity.CRITICAL)
def voters_down(view: ClusterView) -> Judgements:
    """Controllers of the metadata quorum are down or lagging."""
    quorum = view.quorum
    yield from no_quorum(view, "a voter")
    now = quorum.now
    if now.newest is None:
        return
    voters = now.voters
    evidence: dict[str, object] = {"total": len(voters), "leader": now.newest.leader_id}
    if not now.behind_ms:
        error, needs = NO_TIMES
        yield view.unknown("cluster", error, needs, evidence)
        return
    down = [voter for voter in voters if voter in now.late]
    if not down:
        yield view.judge("cluster", Status.PASS, evidence)
    elif not quorum.lagging.issuperset(down):
        yield view.judge("cluster", Status.UNKNOWN, evidence | ONCE)
    else:
        spare = len(voters) - len(down) - majority(len(voters))
        evidence |= {
            "down": len(down),
            "controllers": tuple(down),
            "follow": "does not follow" if len(down) == 1 else "do not follow",
        }
        evidence["which"] = listing(
            f"controller {voter}, "
            + (
                "which has not followed this leader yet"
                if now.behind_ms[voter] is None
                else f"caught up {seconds(now.behind_ms[voter])}"
            )
            for voter in down
        )
        evidence["spare"] = _spare(spare)
        evidence["step"] = _step(view, down, str(evidence["which"]))
        severity = Severity.MEDIUM if spare > 0 else Severity.HIGH if spare == 0 else Severity.CRITICAL
        yield view.judge("cluster", Status.FAIL, evidence, severity=severity)


def _spare(spare: int) -> str:
    if spare > 0:
        return f"{spare} more can fail before the quorum loses its majority"
    return "losing another loses the quorum" if spare == 0 else "it commits nothing without a majority"


def _step(view: ClusterView, down: Sequence[int], which: str) -> str:
    if any(view.logs.of_nodes("KA220")):
        return "Do not start controllers before KA220 is resolved: one whose requests are rejected exits again."
    if any(row.broker_id in view.quorum.now.late for row in view.logs.of_nodes("KA221")):
        return "Read KA221, which names the fault in its log, before you start the controller that exited."
    connect = "the connection from there to the other controllers' port (9093 by convention)"
    if may_be_rejected(view, down):
        return (
            f"Read the last ERROR in server.log of {which}, before you start it: one that the others reject "
            "(ClusterAuthorizationException, AuthorizerNotReadyException) exits again until its principal is in their "
            f"super.users. If it was not rejected, start it, or open {connect}."
        )
    return f"Start {which}, or open {connect}."

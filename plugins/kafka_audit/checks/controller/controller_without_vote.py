"""KA214."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE, no_quorum
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status


@check(
    code="KA214",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Controller {node} has no vote in the metadata quorum: {why}",
        Status.PASS: "Every controller that follows the metadata log is one of the {voters} voters",
        Status.UNKNOWN: "Cannot determine whether controllers follow without a vote ({error})",
        Status.NOT_APPLICABLE: "No controller can follow without a vote: {reason}",
    },
)
def controller_without_vote(view: ClusterView) -> Iterator[Judgement]:
    """A controller runs but is not a voter, or its disk is not the one that is registered as the voter's.

    ## Why it matters
    The controller runs, follows the metadata log and looks like a member, but it does not vote and cannot become the leader. If
    its disk was replaced, the voter with the old disk counts as down: the quorum has one spare voter less than it seems to have.

    ## Fails when
    The leader of a dynamic quorum (kraft.version 1) lists a node as a voter and, with another directory id, as an observer: HIGH.
    Or an observer is a controller by its settings, or no broker that is known: MEDIUM, because a new controller follows as an
    observer until it is added. Both in two samples.

    ## Not known when
    DescribeQuorum was denied or not answered, or one sample only shows it. The check does not apply to a static quorum, in which
    a controller that is not a voter does not start.

    ## Passes only when
    The leader answered, and every observer is a broker.

    ## What to do
    {step} See both ids with `kafka-metadata-quorum.sh --bootstrap-server BROKER:9092 describe --replication`.

    With `controller.quorum.auto.join.enable` (Kafka 4.2) a controller that runs without a vote joins by itself, and joins again
    after it was removed: stop one that is to stay out first. Otherwise a voter is removed with `kafka-metadata-quorum.sh
    --bootstrap-controller CONTROLLER:9093 remove-controller --controller-id {node} --controller-directory-id {old}`. A controller
    is added, on its host, with `kafka-metadata-quorum.sh --command-config
    controller.properties --bootstrap-controller CONTROLLER:9093 add-controller`.

    ## References
    KIP-853 (dynamic quorum, directory ids); `kafka-metadata-quorum.sh add-controller` and `remove-controller`.
    """
    yield from no_quorum(view, "KA214", "a controller")
    now, before = view.quorum.now, view.quorum.before
    if now.newest is None:
        return
    if not now.is_dynamic:
        reason = "the voters are set in controller.quorum.voters, and none of the voters reports a directory"
        yield view.judge("KA214", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    voters = {row.replica_id: row.directory_id for row in now.listed if row.voter}
    lasting = {(row.replica_id, row.directory_id) for row in before.listed if not row.voter} if before else set()
    judged = False
    for row in now.listed:
        node = row.replica_id
        replaced = node in voters and not row.voter and row.directory_id != voters[node]
        if row.voter or not (replaced or _is_controller(view, node)):
            continue
        judged = True
        evidence: dict[str, object] = {"node": node, "directory": row.directory_id}
        if (node, row.directory_id) not in lasting:
            yield view.judge("KA214", f"controller/{node}", Status.UNKNOWN, evidence | ONCE)
        elif replaced:
            evidence["why"] = f"it follows with directory {row.directory_id}, but the voter {node} is directory {voters[node]}"
            evidence["old"] = voters[node]
            evidence["step"] = (
                f"Remove the old directory of controller {node} from the voters and add the new one. Do so only if the other "
                "voters are a majority that follows (KA209)."
            )
            yield view.judge("KA214", f"controller/{node}", Status.FAIL, evidence)
        else:
            evidence["why"] = "it follows the metadata log as an observer and was not added to the voters"
            evidence["old"] = "OLD_DIRECTORY"
            evidence["step"] = "If it is meant to vote, add it once it has caught up; no voter has to be removed."
            confidence = Confidence.MEASURED if _has_role(view, node) else Confidence.INFERRED
            severity = Severity.MEDIUM
            yield view.judge("KA214", f"controller/{node}", Status.FAIL, evidence, severity=severity, confidence=confidence)
    if not judged:
        yield view.judge("KA214", "cluster", Status.PASS, voters=len(voters))


def _has_role(view: ClusterView, node: int) -> bool:
    """Return whether a node is a controller by its settings."""
    return node in view.settings.with_controller_role


def _is_controller(view: ClusterView, node: int) -> bool:
    """Return whether an observer is a controller: by its settings, or because no broker has that id."""
    now = view.quorum.now
    known = set(now.answering) | set(now.fenced) | set(view.named_brokers) | set(view.settings.answers)
    return _has_role(view, node) or node not in known

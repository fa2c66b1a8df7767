from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE, no_quorum


@check(code="KA214", severity=Severity.HIGH)
def controller_without_vote(view: ClusterView) -> Judgements:
    """A controller runs but is not a voter, or its disk is not the one that is registered as the voter's."""
    yield from no_quorum(view, "a controller")
    now, before = view.quorum.now, view.quorum.before
    if now.newest is None:
        return
    if not now.is_dynamic:
        reason = "the voters are set in controller.quorum.voters, and none of the voters reports a directory"
        yield view.not_applicable("cluster", reason)
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
            yield view.judge(f"controller/{node}", Status.UNKNOWN, evidence | ONCE)
        elif replaced:
            evidence["why"] = f"it follows with directory {row.directory_id}, but the voter {node} is directory {voters[node]}"
            evidence["old"] = voters[node]
            evidence["step"] = (
                f"Remove the old directory of controller {node} from the voters and add the new one. Do so only if the other "
                "voters are a majority that follows (KA209)."
            )
            yield view.judge(f"controller/{node}", Status.FAIL, evidence)
        else:
            sure = _has_role(view, node)
            unless = "" if sure else ", unless it is a broker that no other broker lists (it is new, or see KA305)"
            evidence["why"] = f"it follows the metadata log as an observer and was not added to the voters{unless}"
            evidence["old"] = "OLD_DIRECTORY"
            evidence["step"] = "If it is meant to vote, add it once it has caught up; no voter has to be removed."
            confidence = Confidence.MEASURED if sure else Confidence.SUSPECTED
            yield view.judge(f"controller/{node}", Status.FAIL, evidence, severity=Severity.MEDIUM, confidence=confidence)
    if not judged:
        yield view.judge("cluster", Status.PASS, voters=len(voters))


def _has_role(view: ClusterView, node: int) -> bool:
    """Return whether a node is a controller by its settings."""
    return node in view.settings.with_controller_role


def _is_controller(view: ClusterView, node: int) -> bool:
    """Return whether an observer is a controller: by its settings, or because no broker has that id."""
    now = view.quorum.now
    known = set(now.answering) | set(now.fenced) | set(view.named_brokers) | set(view.settings.answers) | view.partitions.assigned
    return _has_role(view, node) or node not in known

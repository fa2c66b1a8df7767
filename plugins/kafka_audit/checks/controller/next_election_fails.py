from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_quorum
from kafka_audit.cluster.quorum import NO_TIMES
from kafka_audit.faults.vote_edges import VoteEdges, described_paths, election_without
from kafka_audit.model.text import listing, named_nodes

_FEWEST = 3
_VOTERS = "the other voters"


@check(code="KA218", severity=Severity.HIGH)
def next_election_fails(view: ClusterView) -> Judgements:
    """If the leader of the metadata quorum stops, the other voters elect no leader, because they do not reach each other."""
    yield from no_quorum(view, _VOTERS)
    if view.quorum.now.newest is None:
        return
    edges = view.derived(VoteEdges)
    voters, leader = edges.voters, edges.leader
    evidence: dict[str, object] = {"who": _VOTERS, "leader": leader, "voters": tuple(sorted(voters.all))}
    if len(voters.all) < _FEWEST:
        reason = "fewer than three voters have no majority without one of them (KA217)"
        yield view.not_applicable("cluster", reason, evidence)
        return
    elections = {lost: election_without({lost}, voters, edges.passes) for lost in sorted(voters.all)}
    if elections.get(leader) == "short":  # a leader that was removed leads until that is committed
        reason = "so many voters lag that there is no majority without the leader (KA209)"
        yield view.not_applicable("cluster", reason, evidence)
        return
    failing = tuple(lost for lost, state in elections.items() if state == "fails")
    cut = edges.cut()
    if failing or cut:
        effect = (
            f"If leader {leader} stops, the election fails"
            if leader in failing
            else f"If controller {listing(map(str, failing), 3)} leads and stops, the election fails"
            if failing
            else "The quorum has one voter fewer for elections than it seems to have"
        )
        evidence |= {"effect": effect, "fails_without": failing} | _unreached(edges)
        worst = leader if leader in failing else next(iter(failing), None)
        measured = edges.are_measured(cut) if worst is None else election_without({worst}, voters, edges.measured) == "fails"
        confidence = Confidence.MEASURED if measured else Confidence.SUSPECTED
        severity = Severity.HIGH if leader in failing else Severity.MEDIUM
        yield view.judge("cluster", Status.FAIL, evidence, severity=severity, confidence=confidence)
    elif "unknown" in elections.values():
        yield view.judge("cluster", Status.UNKNOWN, evidence | _unknown(edges))
    else:
        yield view.judge("cluster", Status.PASS, evidence)


def _unreached(edges: VoteEdges) -> dict[str, object]:
    """Return which voters are not reached, where, and from where."""
    broken = edges.broken()
    return {
        "unreached": tuple(broken),
        "addresses": tuple(edges.addresses[target] for target in broken),
        "targets": listing((f"controller {target} at {edges.addresses[target]}" for target in broken), 3),
        "count": len(broken),
        "sources": tuple(sorted({path.source for paths in broken.values() for path in paths if path.source is not None})),
        "how": described_paths((path for paths in broken.values() for path in paths), edges.voters.all),
    }


def _unknown(edges: VoteEdges) -> dict[str, object]:
    """Return why the election is not known, and what would measure it."""
    if len(edges.addresses) < len(edges.voters.all):
        needs = "DescribeQuorum version 2 (Kafka 3.9), or the settings of brokers (DescribeConfigs on Cluster)"
        return {"error": "the addresses of the voters are unknown", "needs": needs}
    if refused := edges.refused_by_settings:
        target = next(iter(refused))
        error = f"by its file, controller {target} does not let {named_nodes('controller', refused[target])} in"
        return {"error": error, "needs": "an audit after the remedy of KA713 or KA714"}
    if edges.voters.uncertain:
        moving = f"in motion: not caught up now: {listing(map(str, sorted(edges.voters.uncertain)), 3)}"
        error, needs = (moving, "another audit") if edges.knows_lag else NO_TIMES
        return {"error": error, "needs": needs}
    nodes = listing(map(str, edges.unmeasured()), 5)
    reached = edges.reached_by_worker()
    seen = f"; this worker reaches {len(reached)} of {len(edges.voters.all)}" if reached else ""
    needs = f"a vantage with role controller, which runs on the hosts of controllers {nodes}"
    return {"error": f"not measured: whether the voters reach each other{seen}", "needs": needs}

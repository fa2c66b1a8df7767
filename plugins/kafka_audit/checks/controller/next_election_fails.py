"""KA218."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_quorum
from kafka_audit.cluster.quorum import NO_TIMES
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.elections import election_without
from kafka_audit.diagnosis.vote_edges import VoteEdges, described_paths
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.text import listing, named_nodes

_FEWEST = 3
_VOTERS = "the other voters"


@check(
    code="KA218",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "{effect}: {targets} {count:is|are} not reached ({how})",
        Status.PASS: "If controller {leader} (the leader) goes, the other voters reach each other and elect a leader",
        Status.UNKNOWN: "Cannot determine whether {who} elect a leader if the leader goes ({error})",
        Status.NOT_APPLICABLE: "The next election is not judged: {reason}",
    },
)
def next_election_fails(view: ClusterView) -> Iterator[Judgement]:
    """If the leader of the metadata quorum goes, the other voters elect none, because they do not reach each other.

    ## Why it matters
    A voter connects to the leader only. Whether others reach it at its own address shows in an election: a candidate asks all
    voters for their votes, and a majority must then fetch from it. A voter with a wrong address is caught up and looks like all
    others, until the leader stops. Of three voters two are left, neither becomes a leader that works, and the cluster has no
    controller: no partition leader is elected, no topic is created, and no broker starts. A connection from before a change of
    the address may carry one more election: it stays open for `connections.max.idle.ms` (10 minutes) after its last use.

    ## Fails when
    Without the leader, no voter that follows reaches a majority and is reached by one. HIGH if the host of a voter does not
    connect to another voter's address in two samples, or its log says so, also of a TLS handshake or a login (measured). Or if
    nobody connects to it, while hosts of other nodes connect to other voters, or this worker to most of them (suspected). Also
    suspected, if another voter's log says so, or this worker does not accept the certificate of a voter and accepts that of the
    leader. MEDIUM if the next election succeeds, but not the one after the loss of another voter, or if the quorum has a voter
    less for elections than it seems to have.

    ## Not known when
    DescribeQuorum was denied or not answered, the addresses of voters are unknown (before Kafka 3.9 without settings), or nothing
    measures whether voters connect to each other: a vantage with `role: controller` does, or `role: broker` on combined nodes.
    A worker that reaches no controller says nothing: often it is not meant to. Or a voter is not caught up now: it may restart.
    Or a voter does not let another one in by its file, which KA713 or KA714 reports.
    The check does not apply to fewer than three voters (KA217), nor where so many lag that there is no majority
    without the leader (KA209).

    ## Passes only when
    Probes from the hosts of voters connect to each other's addresses, so that a leader is elected whichever voter goes. Logins
    and rights between voters are not tried: each voter fetches from the leader (KA209); of the others files (KA713, KA714) and
    logs say them.

    ## What to do
    Repeat the probe on the host of another controller: `nc -vz CONTROLLER 9093`, with the address named. If the address is wrong,
    correct the controllers' listener in `advertised.listeners` (else `listeners`) of that voter; in a static quorum, correct
    `controller.quorum.voters` on every node. Restart that voter alone: do not restart the leader before. If TLS fails there, give
    that voter a certificate that the others accept, with its host among the names. If the login fails, see KA713. If the
    connection fails at the right address, allow connections between all controllers. Verify with another audit, and
    `kafka-metadata-quorum.sh --bootstrap-server BROKER:9092 describe --status`.

    ## References
    KIP-595 (Vote, BeginQuorumEpoch and Fetch), KIP-853 (voters and their endpoints), `controller.quorum.fetch.timeout.ms`.
    """
    yield from no_quorum(view, "KA218", _VOTERS)
    if view.quorum.now.newest is None:
        return
    edges = view.derived(VoteEdges)
    voters, leader = edges.voters, edges.leader
    evidence: dict[str, object] = {"who": _VOTERS, "leader": leader, "voters": tuple(sorted(voters.all))}
    if len(voters.all) < _FEWEST:
        reason = "fewer than three voters have no majority without one of them (KA217)"
        yield view.judge("KA218", "cluster", Status.NOT_APPLICABLE, evidence, reason=reason)
        return
    elections = {lost: election_without({lost}, voters, edges.passes) for lost in sorted(voters.all)}
    if elections.get(leader) == "short":  # a leader that was removed leads until that is committed
        reason = "so many voters lag that there is no majority without the leader (KA209)"
        yield view.judge("KA218", "cluster", Status.NOT_APPLICABLE, evidence, reason=reason)
        return
    failing = tuple(lost for lost, state in elections.items() if state == "fails")
    cut = edges.cut()
    if failing or cut:
        effect = (
            f"If leader {leader} goes, the election fails"
            if leader in failing
            else f"If controller {listing(map(str, failing), 3)} leads and goes, the election fails"
            if failing
            else "The quorum has a voter less for elections than it seems to have"
        )
        evidence |= {"effect": effect, "fails_without": failing} | _unreached(edges)
        worst = leader if leader in failing else next(iter(failing), None)
        measured = edges.are_measured(cut) if worst is None else election_without({worst}, voters, edges.measured) == "fails"
        confidence = Confidence.MEASURED if measured else Confidence.SUSPECTED
        severity = Severity.HIGH if leader in failing else Severity.MEDIUM
        yield view.judge("KA218", "cluster", Status.FAIL, evidence, severity=severity, confidence=confidence)
    elif "unknown" in elections.values():
        yield view.judge("KA218", "cluster", Status.UNKNOWN, evidence | _unknown(edges))
    else:
        yield view.judge("KA218", "cluster", Status.PASS, evidence)


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

from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.checks.incident import Case, StoryFacts, zookeeper_lists
from kafka_audit.cluster.processes import Processes, ProcessState
from kafka_audit.faults.controller_paths import controller_paths, is_closed
from kafka_audit.faults.kraft_claim import KraftClaim
from kafka_audit.model.quorum import majority
from kafka_audit.model.tables import ControllerProbe, QuorumReplica, QuorumView
from kafka_audit.model.text import counted

_AT_NO_WORK = frozenset({ProcessState.KILLED, ProcessState.STOPPED, ProcessState.ENDED, ProcessState.REFUSED, ProcessState.HUNG})
_NO_LEADER = "no controller leads the metadata quorum"


@check(code="KA201", severity=Severity.CRITICAL)
def controller_absent(view: ClusterView) -> Judgements:
    """No broker is the controller; in KRaft mode no controller leads the metadata quorum."""
    yield _by_quorum(view) if view.kraft else _by_registry(view)


def _fail(
    view: ClusterView,
    fault: str,
    epoch: str | int | None,
    confidence: Confidence = Confidence.MEASURED,
    still_named: tuple[int, ...] | None = None,
    **claim: object,
) -> Judgement:
    """Return that there is no controller, or that there may be none."""
    has = "may have" if confidence is Confidence.SUSPECTED else "has"
    advice = "kraft" if view.kraft else "claimed" if claim else "zookeeper"
    found = {"fault": fault, "epoch": epoch, "still_named": still_named, "has": has, "advice": advice, **claim}
    return view.judge("cluster", Status.FAIL, found, confidence=confidence)


def _by_registry(view: ClusterView) -> Judgement:
    """Judge by /controller: absent twice, with the list of brokers unchanged in between, is a fault."""
    now, before = view.state, view.state_before
    failed = [read for read in view.last_reads if read.operation == "zookeeper /controller" and read.outcome == "failed"]
    if now is None or failed:
        error, needs = (failed[0].error, failed[0].needs) if failed else ("no answer", None)
        evidence = {"error": f"ZooKeeper was not read: {error}", "needs": needs or "a ZooKeeper that answers"}
        return view.judge("cluster", Status.UNKNOWN, evidence)
    epoch = "unknown" if now.controller_epoch is None else str(now.controller_epoch)
    if view.migrating is not None:
        return _by_claim(view, view.derived(KraftClaim), epoch)
    if now.controller_id is not None:
        return view.judge("cluster", Status.PASS, controller=f"Broker {now.controller_id}", epoch=epoch)
    absent = before is not None and before.controller_id is None and before.brokers_version == now.brokers_version
    if absent:
        fault = f"/controller is absent (controller epoch {epoch})"
        return _fail(view, fault, epoch)
    evidence = {"error": "in motion: absent in one sample", "needs": "another audit"}
    return view.judge("cluster", Status.UNKNOWN, evidence)


def _by_claim(view: ClusterView, claim: KraftClaim, epoch: str) -> Judgement:
    """Judge by what a KRaft controller does that holds /controller: the znode stays when its process has ended."""
    if claim.answers:
        subject = f"Controller {claim.node}, a KRaft controller in a migration,"
        return view.judge("cluster", Status.PASS, controller=subject, epoch=epoch)
    named = f"/controller names KRaft controller {claim.node}"
    if claim.gap is not None:
        error, needs = claim.gap
        return view.unknown("cluster", f"{named}, and none was asked: {error}", needs)
    fault = f"{named}, which does not act: {claim.shown_by}"
    if claim.confidence is Confidence.SUSPECTED:
        fault += "; not ruled out: KRaft controllers that run and reach no broker"
    return _fail(view, fault, epoch, claim.confidence, claimed_by=claim.node, refusing=claim.refusing or None)


def _by_quorum(view: ClusterView) -> Judgement:
    """Judge by a leader's own answer: followers go on naming one that is dead."""
    quorum = view.quorum
    leader, before, named = quorum.now.newest, quorum.before, quorum.now.views
    if leader is not None:
        return _led(view, leader)
    if quorum.now.leaderless:
        if before is not None and before.leaderless:
            fault = f"{_NO_LEADER}, as reported by {counted(len(named), 'controller')}"
            return _fail(view, fault, "none")
        return view.judge("cluster", Status.UNKNOWN, ONCE)
    silent = quorum.unanswered
    if silent:
        if before is None or before.newest is not None:
            return view.judge("cluster", Status.UNKNOWN, ONCE)
        still = f"; a follower still names controller {named[0].leader_id}" if named else ""
        fault = f"{_NO_LEADER} that answers through any of {counted(len(silent), 'broker')} ({silent[0].error}){still}"
        still_named = tuple(sorted({leader.leader_id for leader in named})) or None
        confidence = Confidence.SUSPECTED if _one_may_lead(view) else Confidence.INFERRED
        return _fail(view, fault, "none", confidence, still_named)
    return _unread(view)


def _one_may_lead(view: ClusterView) -> bool:
    """Return whether a controller may lead that brokers do not reach, or may not log in to.

    A voter that answered does not, or it would have said so, and a broker that votes asks itself. None leads without a majority
    of voters that run: one that does not run refuses connections.
    """
    addresses, asked = view.voter_addresses, {row.node_id for row in view.quorum.now.views} | view.quorum.now.answering
    answered = {read.target for read in view.quorum.reads if read.outcome == "answered"}
    asked |= {row.node_id for row in view.newest(ControllerProbe) if row.address in answered}
    paths, processes = view.derived(controller_paths), view.derived(Processes).all
    # Those of a dynamic quorum are known while it has a leader.
    earlier = {row.replica_id for row in view.earlier(QuorumReplica) if row.voter}
    voters = {*addresses} or earlier or view.settings.with_controller_role
    closed = {voter for voter, address in addresses.items() if is_closed(paths, address, voter)}
    closed |= {voter for voter in voters & processes.keys() if processes[voter].state in _AT_NO_WORK}
    short = len(voters) - len(closed) < majority(len(voters))
    return not voters or not (short or voters <= closed | asked)


def _unread(view: ClusterView) -> Judgement:
    """Judge by views alone: brokers that the controllers have fenced list no broker."""
    blind = view.quorum.list_no_broker
    if len(blind) == 1:
        fault = f"the only broker that answered, at {blind[0]}, lists no broker and no controller"
        return _fail(view, fault, "none", Confidence.SUSPECTED, alone=blind[0])
    if blind:
        fault = f"{counted(len(blind), 'broker')} that answered in two samples list no broker, as if all of them were fenced"
        return _fail(view, fault, "none", Confidence.INFERRED)
    error, needs = view.quorum.unread()
    return view.unknown("cluster", error, needs)


def _led(view: ClusterView, leader: QuorumView) -> Judgement:
    """Judge a leader that answered: one of many in a row leads nothing."""
    before = None if view.quorum.before is None else view.quorum.before.newest
    if before is not None and view.quorum.commits_nothing:
        epochs = f"epoch {before.leader_epoch}, then {leader.leader_epoch}"
        fault = f"the metadata quorum elects again and again ({epochs}) and commits nothing"
        return _fail(view, fault, leader.leader_epoch)
    subject = f"Controller {leader.leader_id}"
    return view.judge("cluster", Status.PASS, controller=subject, epoch=leader.leader_epoch)


def registered_brokers(case: Case) -> StoryFacts:
    """Return which brokers are registered in ZooKeeper while none is the controller."""
    return StoryFacts(also=(zookeeper_lists(case),))

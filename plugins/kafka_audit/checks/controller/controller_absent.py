"""KA201."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import QuorumView
from kafka_audit.model.text import counted

_CODE = "KA201"
_NO_LEADER = "no controller leads the metadata quorum"


@check(
    code="KA201",
    severity=Severity.CRITICAL,
    says={
        Status.FAIL: "The cluster has no controller: {fault}. No partition leader can be elected",
        Status.PASS: "{controller} is the controller (epoch {epoch})",
        Status.UNKNOWN: "Cannot determine whether the cluster has a controller ({error})",
    },
)
def controller_absent(view: ClusterView) -> Iterator[Judgement]:
    """No broker is the controller; in KRaft mode no controller leads the metadata quorum.

    ## Why it matters
    No leader is elected, and brokers receive no metadata updates. If a broker stops, its partitions stay offline. Topics are
    created in ZooKeeper only or not at all. Brokers that start have empty metadata.

    ## Fails when
    `/controller` is absent in two samples, and the list of brokers did not change in between. A failover takes less time. In
    KRaft: no controller that answered names a leader in two samples, or (inferred) every broker returns its view and none can
    forward DescribeQuorum to a leader. Or its epoch is higher in the second sample, and nothing was committed in between: each
    leader writes a record first, and a quorum that elects again and again commits none. Or (inferred) nobody answered for the
    quorum, and all brokers that answered list no broker in two samples: the controllers have fenced all of them.

    ## Not known when
    ZooKeeper or `/controller` could not be read, DescribeQuorum is denied or not offered, or one sample only shows it.

    ## Passes only when
    `/controller` names a broker, or a KRaft controller in a migration. In KRaft, a leader answered.

    ## What to do
    Every live broker tries to become the controller immediately. If `/controller` stays absent, no broker can write it: run
    `grep -E 'Session expired|NoAuth' server.log controller.log` on each broker, then check ZooKeeper's disk and quorum: `echo
    srvr | nc ZOOKEEPER 2181`.

    In KRaft a leader needs a majority of voters that accept each other. Read the log of each controller first: `grep -iE
    'candidate|election|Authoriz|authentication|fault' server.log | tail`. If they reject each other's requests or logins, correct
    that on all of them (KA220); a controller that was rejected ends itself again after every start. Otherwise start the
    controllers that are down, and open port 9093 between them.

    ## References
    Election of the controller: `kafka.controller.KafkaController.elect`. KIP-595 (the quorum), DescribeQuorum (API 55).
    """
    yield _by_quorum(view) if view.kraft else _by_registry(view)


def _by_registry(view: ClusterView) -> Judgement:
    """Judge by /controller: absent twice, with the list of brokers unchanged in between, is a fault."""
    now, before = view.state, view.state_before
    failed = [read for read in view.last_reads if read.operation == "zookeeper /controller" and read.outcome == "failed"]
    if now is None or failed:
        error, needs = (failed[0].error, failed[0].needs) if failed else ("no answer", None)
        evidence = {"error": f"ZooKeeper was not read: {error}", "needs": needs or "a ZooKeeper that answers"}
        return view.judge(_CODE, "cluster", Status.UNKNOWN, evidence)
    epoch = "unknown" if now.controller_epoch is None else str(now.controller_epoch)
    moving = view.migrating
    if moving is not None:
        subject = f"Controller {moving.kraft_controller_id}, a KRaft controller in a migration,"
        return view.judge(_CODE, "cluster", Status.PASS, controller=subject, epoch=epoch)
    if now.controller_id is not None:
        return view.judge(_CODE, "cluster", Status.PASS, controller=f"Broker {now.controller_id}", epoch=epoch)
    absent = before is not None and before.controller_id is None and before.brokers_version == now.brokers_version
    if absent:
        fault = f"/controller is absent (controller epoch {epoch})"
        return view.judge(_CODE, "cluster", Status.FAIL, fault=fault, epoch=epoch)
    evidence = {"error": "in motion: absent in one sample", "needs": "another audit"}
    return view.judge(_CODE, "cluster", Status.UNKNOWN, evidence)


def _by_quorum(view: ClusterView) -> Judgement:
    """Judge by a leader's own answer: followers go on naming one that is dead."""
    quorum = view.quorum
    leader, before, named = quorum.now.newest, quorum.before, quorum.now.views
    if leader is not None:
        return _led(view, leader)
    if quorum.now.leaderless:
        if before is not None and before.leaderless:
            fault = f"{_NO_LEADER}, as reported by {counted(len(named), 'controller')}"
            return view.judge(_CODE, "cluster", Status.FAIL, fault=fault, epoch="none")
        return view.judge(_CODE, "cluster", Status.UNKNOWN, ONCE)
    silent = quorum.unanswered
    if silent:
        if before is None or before.newest is not None:
            return view.judge(_CODE, "cluster", Status.UNKNOWN, ONCE)
        still = f"; a follower still names controller {named[0].leader_id}" if named else ""
        fault = f"{_NO_LEADER} that answers through any of {counted(len(silent), 'broker')} ({silent[0].error}){still}"
        still_named = tuple(sorted({leader.leader_id for leader in named})) or None
        finding = view.judge(_CODE, "cluster", Status.FAIL, fault=fault, epoch="none", still_named=still_named)
        return replace(finding, confidence=Confidence.INFERRED)
    return _unread(view)


def _unread(view: ClusterView) -> Judgement:
    """Judge by views alone: brokers that the controllers have fenced list no broker."""
    nobody = view.quorum.list_nobody
    if nobody:
        fault = f"{counted(nobody, 'broker')} that answered in two samples list no broker, as if all of them were fenced"
        finding = view.judge(_CODE, "cluster", Status.FAIL, fault=fault, epoch="none")
        return replace(finding, confidence=Confidence.INFERRED)
    error, needs = view.quorum.unread()
    return view.judge(_CODE, "cluster", Status.UNKNOWN, error=error, needs=needs)


def _led(view: ClusterView, leader: QuorumView) -> Judgement:
    """Judge a leader that answered: one of many in a row leads nothing."""
    before = None if view.quorum.before is None else view.quorum.before.newest
    if before is not None and view.quorum.commits_nothing:
        epochs = f"epoch {before.leader_epoch}, then {leader.leader_epoch}"
        fault = f"the metadata quorum elects again and again ({epochs}) and commits nothing"
        return view.judge(_CODE, "cluster", Status.FAIL, fault=fault, epoch=leader.leader_epoch)
    subject = f"Controller {leader.leader_id}"
    return view.judge(_CODE, "cluster", Status.PASS, controller=subject, epoch=leader.leader_epoch)

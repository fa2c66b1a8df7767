"""Brokers that are unregistered, disks that are formatted, and znodes that are deleted."""

import re
from collections.abc import Iterator, Mapping

from kafka_audit.cluster.held_up_by import all_waiting_known, waiting_for
from kafka_audit.cluster.processes import Process, Processes, ProcessState
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import DeletedTopic
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.vote_edges import VoteEdges
from kafka_audit.model.quorum import REQUESTS
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerApi, Reassignment
from kafka_audit.model.text import brokers, clean, counted
from kafka_audit.says.log_faults import with_values
from kafka_audit.what_if import topics
from kafka_audit.what_if.answer import Answer
from kafka_audit.what_if.losses import PartyLoss
from kafka_audit.what_if.moves import controller_move
from kafka_audit.what_if.quorums import quorum_gap
from kafka_audit.what_if.steps.objections import Objection, costs, never, not_now, unknown_whether, unread
from kafka_audit.what_if.ways import FEWER_AT_ONCE, MORE_REPLICAS, REACH, REJOIN, START, WAIT, Way, still_runs, ways

_REGISTERED = re.compile(r"/brokers/ids/([0-9]{1,10})")
_DUAL = frozenset({"dual write", "brokers change", "brokers changed", "not finalised"})
_WITH_DISK = frozenset({ProcessState.RUNS, ProcessState.HUNG, ProcessState.STARTING, ProcessState.RECOVERING})
_LEAST_VOTERS = 3
"""Of a quorum that can lose one."""
_FINISHED, _NO_CONTROLLER, _PREPARED, ROLLED_BACK = "finished", "no controller", "prepared", "rolled back"


def _records(view: ClusterView, broker: int, *, kept: bool = False) -> Iterator[Objection]:
    """Yield the partitions without leader of which a broker may have the only records; `kept` where its disk stays."""
    waiting = waiting_for(view, broker)
    if waiting:
        topic, number = min(waiting)
        what = f"{counted(len(waiting), 'partition')} without leader, such as {clean(topic)}-{number}"
        why = f"broker {broker} may have the only records of {what}"
        yield (
            not_now(why, f"broker {broker} to lead them, and their copies elsewhere")
            if kept
            else never(why, f"all records of {what}")
        )
    elif not all_waiting_known(view):
        what = f"whether broker {broker} has the only records of a partition"
        listed = unknown_whether(f"{what}: not all partitions without leader are listed", "another audit")
        yield from [*unread(view, "topics", what)] or [listed]


def unregistration(view: ClusterView, broker: int) -> Iterator[Objection]:
    """Yield what stands against `kafka-cluster.sh unregister`."""
    if not view.kraft:
        yield not_now("with ZooKeeper a registration ends with the session of its broker", "nothing: there is no such command")
        return
    if (gap := quorum_gap(view)) is not None:
        yield unknown_whether(gap.what, gap.needs)
    if broker in view.quorum.now.voters:
        yield not_now(
            f"node {broker} is a voter of the metadata quorum", f"`kafka-audit may {view.snapshot.cluster} remove-voter {broker}`"
        )
    if still_runs(view, broker):
        yield not_now(f"broker {broker} runs: its partitions would lose it, and it would register again only after a restart",
                      f"the end of broker {broker}")  # fmt: skip
    yield from _records(view, broker, kept=True)
    held = view.partitions.held_by(broker)
    if held:
        yield not_now(f"{counted(held, 'partition')} have a replica on broker {broker}", "their reassignment to other brokers")
    if broker in view.quorum.now.fenced or still_runs(view, broker):
        return
    asked = any(read.operation == "DescribeCluster" and read.outcome == "answered" for read in view.last_reads)
    if gaps := [*unread(view, "brokers", f"whether broker {broker} is registered")]:
        yield from gaps
    elif not asked:
        yield unknown_whether(f"whether broker {broker} is registered", "an answer to DescribeCluster from a broker")
    elif _lists_fenced(view):
        yield not_now(f"broker {broker} is not registered: Kafka refuses", "nothing: nothing is left of it")
    else:
        why = "this release of Kafka does not list brokers that are down, and refuses if this one is not registered"
        yield costs(why, "nothing, as far as is known")


def _lists_fenced(view: ClusterView) -> bool:
    """Return whether DescribeCluster lists fenced brokers (version 2, Kafka 4.0)."""
    return any(row.api_key == 60 and row.max_version >= 2 for row in view.of(BrokerApi))  # noqa: PLR2004 -- see above


def is_down(view: ClusterView, node: int) -> bool:
    """Return whether a node serves nothing.

    A broker is then not registered, does not answer, and does not fetch the metadata log; a controller is behind in that log.
    """
    if node in view.controller_nodes:
        return node in view.quorum.now.late or view.derived(Processes).is_gone(node)
    return not still_runs(view, node) and view.gap("brokers") is None


def serves_nothing(view: ClusterView, broker: int) -> bool:
    """Return whether a broker runs that never got what its controller sends: it lists no broker, and denies all that it leads."""
    edges = facts_of(view).edges
    own, denied = edges.own_view(broker), len(edges.denied.get(broker, ()))
    empty = own is not None and not any(own.listed) and edges.control(broker).state == "missing"
    return empty and view.gap("brokers") is None and 0 < denied == view.partitions.led_by((broker,))


def hangs(view: ClusterView, node: int) -> bool:
    """Return whether such a node came up once, and still holds its port."""
    return is_down(view, node) and _process(view, node).state is ProcessState.HUNG


def _process(view: ClusterView, node: int) -> Process:
    found = view.derived(Processes).all.get(node)
    return Process(node=node, state=ProcessState.UNKNOWN) if found is None else found


def downtime(view: ClusterView, node: int, *, starts: bool) -> Iterator[Objection]:
    """Yield what the end or the start of a node means that serves nothing now."""
    process, who = _process(view, node), view.party(node)
    if process.state is ProcessState.NEVER_STARTED and not starts:
        why = f"nothing shows that there is a {who}: it is not registered, and has no log where the others have theirs"
        yield not_now(why, "nothing: there is nothing to stop")
    elif process.state is ProcessState.HUNG:
        yield costs(f"{process.sentence(who)}. It does not end by a soft stop, and serves nothing now", "")
    elif process.state in {ProcessState.STARTING, ProcessState.RECOVERING}:
        yield not_now(f"{process.sentence(who)}: a restart begins anew", f"the end of its start ({who})")
    elif process.accepts:
        what = f"whether {who} hangs or is still starting: it takes connections and answers nothing"
        yield unknown_whether(what, process.needs or f"server.log of {who}")
    elif node in view.controller_nodes and not view.derived(Processes).is_gone(node):
        what = f"whether {who} hangs or is cut off: it does not follow, and its process is not seen to have ended"
        yield unknown_whether(what, "`ps -o pid,stat,etime PID` on its host; one that hangs ends by `kill -9` alone")
    elif not starts:
        yield costs(f"{who} is down already; nothing more is lost", "")


def refused_start(view: ClusterView, node: int) -> Iterator[Objection]:
    """Yield why a start of a node fails as its last one did, by the log of that; and that this log was not read."""
    process, who = _process(view, node), view.party(node)
    if process.state in {ProcessState.REFUSED, ProcessState.LOOPS}:
        waits = f"{_repair(process)}. Only a start shows whether that suffices: start it by hand then"
        yield not_now(process.sentence(who), waits)
    elif not still_runs(view, node):
        yield from _log_unread(view, node, "whether its last start was refused")


def _repair(process: Process) -> str:
    """Return the first step that repairs what ended a process."""
    steps = process.fault.steps if process.fault else ()
    first = next((step[kind] for step in steps for kind in ("quick", "lasting") if kind in step), "its repair (KA116).")
    return with_values(first, {key: clean(value) for key, value in process.values.items()}).rstrip(".")


def _log_unread(view: ClusterView, node: int, what: str) -> Iterator[Objection]:
    reads = view.reads.of_logs.get(node, ())
    failed = [read for read in reads if read.outcome == "failed"]
    if failed and not any(read.outcome == "answered" for read in reads):
        yield unknown_whether(f"{what}: {failed[0].error}", failed[0].needs or f"server.log of {view.party(node)}")


def zookeeper_is_needed(view: ClusterView) -> Iterator[Objection]:
    """Yield that no ZooKeeper answers: a broker that stops or starts then stays out of the cluster."""
    reads = (read for read in view.last_reads if read.observer == "zookeeper" and read.outcome == "failed")
    failed = [read for read in reads if read.failure is ReadFailure.TIMEOUT or read.failure.layer == "tcp"]
    if failed and not view.kraft and not view.zookeeper_read:
        why = f"ZooKeeper does not answer ({failed[0].error}): without it no broker starts, and no leader moves"
        yield not_now(why, f"an answer of ZooKeeper{f' at {clean(failed[0].target)}' if failed[0].target else ''}")


def controller_is_needed(view: ClusterView, node: int) -> Iterator[Objection]:
    """Yield that a broker does not follow the controllers, without which neither its start nor its stop ends (KRaft)."""
    if not view.kraft or node not in view.known_brokers:
        return
    gap = quorum_gap(view)
    if gap is not None:
        yield unknown_whether(f"whether broker {node} reaches the controllers: {gap.what}", gap.needs)
    elif node in view.quorum.now.late and view.views_of(node):
        # A start ends after initial.broker.registration.timeout.ms; a stop asks the controller for its leave, without a limit.
        why = f"broker {node} runs and does not follow the metadata log: without a controller no stop ends, and no start"
        waits = (
            f"a connection from broker {node} to the controllers. Without it `kill -9` alone ends it, and it recovers its logs"
        )
        yield not_now(why, waits)


def stopping(view: ClusterView, loss: Answer) -> Iterator[Objection]:
    """Yield what a stop takes from partitions that go on: copies in sync. `loss`: what becomes of the cluster without it."""
    last, alone = (loss.effects.get(kind, topics.NONE) for kind in (topics.LAST_COPY, topics.AT_RISK))
    if last.partitions:
        why = f"{last.text} would have one copy in sync: a replica of each is out of sync or cut off already"
        yield not_now(why, "; ".join(map(waits_for, ways(view, loss.loss, [last]))) or "these replicas to be in sync")
    elif alone.partitions:
        lost = "what a second failure takes until it is in sync again"
        yield costs(f"{counted(alone.partitions, 'partition has', 'partitions have')} one copy in sync without it", lost)


def waits_of_loss(loss: Answer) -> Mapping[str, str]:
    """Return what a step waits for that a loss stands against, by what each of its reasons is about."""
    short = loss.quorum.voters < _LEAST_VOTERS
    more = f"{counted(_LEAST_VOTERS - loss.quorum.voters, 'more voter')} in the quorum" if short else ""
    return {
        topics.PARTITIONS: "; ".join(map(waits_for, loss.ways)),
        "brokers": "another broker that runs",
        "quorum": more or "the others of the quorum to run and to reach each other",
        "entries": "another broker that they reach",
        "controller": "the repair of these paths",
    }


def waits_for(way: Way) -> str:
    """Return what one way to more copies waits for."""
    those = brokers(way.brokers)
    return {
        START: f"{those} to run",
        REJOIN: f"the registration of {those}",
        WAIT: f"{those} to be in sync",
        REACH: f"{those} to be reached by clients and brokers",
        MORE_REPLICAS: f"one more replica of {way.number}, such as of {clean(way.topic)}",
        FEWER_AT_ONCE: f"the others of {way.number}, one after the other",
    }[way.kind]


def formatting(view: ClusterView, broker: int, loss: Answer) -> Iterator[Objection]:
    """Yield what stands against an empty disk of a node: it is the loss of what only this node has.

    `loss`: what becomes of the cluster without it.
    """
    for kind in (topics.OFFLINE, topics.UNCLEAN):
        if kind in loss.effects:
            text = loss.effects[kind].text
            yield never(f"node {broker} has the only in-sync replica of {text}", f"records of {text}")
    yield from _records(view, broker)
    for question in loss.not_known:
        if question.decides:
            yield unknown_whether(question.what, question.needs)
    yield from _whose_disk(view, broker)
    if broker in view.quorum.now.voters:
        yield from _voter(view, broker)
    risk = loss.effects.get(topics.AT_RISK, topics.NONE).partitions
    if risk:
        yield costs(
            f"{counted(risk, 'partition')} have one copy until broker {broker} has copied them", "all of them, if that copy fails"
        )


def _whose_disk(view: ClusterView, node: int) -> Iterator[Objection]:
    """Yield that a node runs or hangs, with its disk; and what ended it, where an empty disk does not repair that."""
    process, who, runs = _process(view, node), view.party(node), still_runs(view, node)
    all_read = not view.gap("topics") and not view.gap("brokers")
    ended, fault = process.state in {ProcessState.REFUSED, ProcessState.LOOPS, ProcessState.ENDED}, process.fault
    if runs or process.accepts or process.state in _WITH_DISK:
        why = f"node {node} runs" if runs else process.sentence(who)
        yield not_now(f"{why}, and its disk is in use", f"its end: `kafka-audit may {view.snapshot.cluster} stop {node}`")
    elif ended and fault is None:
        what = f"whether an empty disk repairs it: {process.sentence(who)}, and no fault that is known is in its log"
        yield unknown_whether(what, f"the end of the log of {who}")
    elif ended and fault is not None and not fault.empties:
        forbidden = (with_values(step["do_not"], process.values) for step in fault.steps if "do_not" in step)
        yield not_now(f"{process.sentence(who)}. {next(forbidden, 'An empty disk does not repair it')}", _repair(process))
    elif node in view.controller_nodes and not view.derived(Processes).is_gone(node):
        yield unknown_whether(f"whether {who} still runs: {process.error}", process.needs or f"a look at {who}")
    elif not view.kraft and (process.state is ProcessState.NEVER_STARTED or (all_read and node not in view.known_brokers)):
        waits = "nothing: with ZooKeeper a new broker makes its log dirs itself"
        yield not_now(f"nothing shows that there is a {who}", waits)
    else:
        yield from _log_unread(view, node, f"why {who} is down, and whose disk it has")


def _voter(view: ClusterView, node: int) -> Iterator[Objection]:
    voters = view.derived(VoteEdges).voters
    others = frozenset(voters.all) - {node}
    if view.quorum.now.is_dynamic:
        why = f"controller {node} with an empty disk is another voter to the others (KA214)"
        yield not_now(why, f"`kafka-audit may {view.snapshot.cluster} remove-voter {node}`")
    elif not others <= voters.following:
        why = f"controller {node} votes, and not all others have the whole metadata log"
        yield never(f"{why}: with its vote a leader may lack records", "metadata of the cluster")
    elif not others:
        yield never(f"controller {node} is the only voter", "all metadata of the cluster")


def znode_deletion(  # noqa: C901, PLR0912 -- a branch for each kind of znode
    view: ClusterView, path: str, phase: str | None
) -> Iterator[Objection]:
    """Yield what stands against the deletion of a znode; `phase` is that of a migration to KRaft (KA909), None without one."""
    failed = [read for read in view.last_reads if read.observer == "zookeeper" and read.outcome == "failed"]
    if view.info is not None and view.kraft and phase is None:
        yield unknown_whether("what is in ZooKeeper: the audit read none", "`zookeeper` in the cluster file")
    elif failed:
        yield unknown_whether(
            f"what is in ZooKeeper: {failed[0].operation}: {failed[0].error}", failed[0].needs or "a ZooKeeper that answers"
        )
    elif phase == _FINISHED and path.split("/")[1] in _OF_KAFKA:
        yield costs("the migration has ended, and no broker reads ZooKeeper", "nothing that Kafka uses")
    elif path == "/migration":
        yield from _migration(phase)
    elif path == "/controller":
        yield from _controller(view, phase)
    elif registered := _REGISTERED.fullmatch(path):
        if int(registered[1]) in view.brokers:
            yield never(
                f"broker {registered[1]} runs and stays out of the cluster until its restart",
                "its leaders and replicas until then",
            )
        elif int(registered[1]) not in view.unlisted:
            yield _no_znode(path)
    elif phase in _DUAL and (path in REQUESTS or path.startswith("/admin/delete_topics/")):
        yield costs(
            "a KRaft controller leads, and does not read it", "what it asks for, which a broker would do after a rollback"
        )
    elif path == "/admin/reassign_partitions":
        if view.newest(Reassignment):
            yield not_now("partitions are being reassigned", "its end, or `kafka-reassign-partitions.sh --cancel`")
        else:
            yield _no_znode(path)
    elif path.startswith("/admin/delete_topics/"):
        topic = path.removeprefix("/admin/delete_topics/")
        if any(row.topic == topic for row in view.differences.of(DeletedTopic)):
            yield not_now(
                f"topic {clean(topic)} is half deleted, and would be again there without records",
                "the end of its deletion (KA610)",
            )
        else:
            yield _no_znode(path)
    elif path in _REBUILT or path.startswith(_REBUILT_BELOW):
        yield costs("Kafka writes it when it needs it", "nothing")
    else:
        yield never(
            "brokers and controller use it, or it is not one of Kafka's that can be made again", f"what is in {clean(path)}"
        )


def _no_znode(path: str) -> Objection:
    return not_now(f"ZooKeeper has no znode {clean(path)}", "nothing: there is nothing to delete")


_OF_KAFKA = frozenset({
    "admin", "brokers", "cluster", "config", "consumers", "controller", "controller_epoch", "feature", "isr_change_notification",
    "kafka-acl", "kafka-acl-changes", "kafka-acl-extended", "kafka-acl-extended-changes", "latest_producer_id_block",
    "log_dir_event_notification", "migration",
})  # fmt: skip
"""The first names of Kafka's znodes; others may be of a service that shares ZooKeeper."""
_REBUILT = ("/admin/preferred_replica_election",)
_REBUILT_BELOW = ("/config/changes/", "/isr_change_notification/", "/log_dir_event_notification/")


def _migration(phase: str | None) -> Iterator[Objection]:
    if phase in _DUAL:
        yield never("a KRaft controller writes to ZooKeeper, and no longer does without it", "the way back to ZooKeeper")
    elif phase == _PREPARED:
        yield not_now(
            "KRaft controllers run beside ZooKeeper, and would begin the migration anew", "the end of the KRaft controllers"
        )
    elif phase in {_NO_CONTROLLER, ROLLED_BACK}:
        yield costs("the migration was rolled back; after this it can begin anew", "where the migration was")


def _controller(view: ClusterView, phase: str | None) -> Iterator[Objection]:
    if phase in _DUAL:
        yield never("a KRaft controller leads the cluster: a broker would be elected beside it", "one controller for the cluster")
        return
    if phase == _NO_CONTROLLER:
        return  # as the rollback of a migration asks for it
    if view.controller is None:
        yield _no_znode("/controller")
    else:
        loss = PartyLoss(names=(f"broker:{view.controller}",), brokers=frozenset({view.controller}))
        move = controller_move(view, loss)
        for candidate in move.cut:
            yield not_now(
                f"broker {candidate.node} as the next controller does not reach all brokers (KA302)", "the repair of these paths"
            )
        for question in move.not_known:
            yield unknown_whether(question.what, question.needs)
        again = f"a broker is elected, which takes seconds; it may be broker {view.controller} again"
        yield costs(again, "changes of leaders until then")

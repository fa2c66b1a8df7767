"""A change of the quorum by its kind, what stands against it now, and its steps; controllers that get other addresses."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text, same_address
from kafka_audit.migration.addresses import endpoint_resource, endpoint_text
from kafka_audit.migration.items import HeadedItem
from kafka_audit.migration.plan import Kind, Plan
from kafka_audit.migration.quorum.controller_certificates import controller_certificate_items, controller_certificate_steps
from kafka_audit.migration.quorum.facts import QuorumFacts, files_are_read, gate_item, quorum_is_read, voters_follow
from kafka_audit.migration.quorum.planned_steps import PlannedStep, StepCommands, leader_last, one_by_one, while_one_restarts
from kafka_audit.migration.quorum.voter_changes import (
    dynamic_quorum_items,
    dynamic_quorum_steps,
    voter_change_items,
    voter_change_steps,
)
from kafka_audit.model.addresses.advertised_listeners import INSTEAD, KEY
from kafka_audit.model.addresses.voters import SERVERS, VOTERS
from kafka_audit.model.commands import Line, command, remark, setting
from kafka_audit.model.finding import Judgement
from kafka_audit.model.tables import RegisteredEndpoint
from kafka_audit.model.text import listing


def controller_host_items(facts: QuorumFacts, proposed: Sequence[RegisteredEndpoint]) -> Iterator[HeadedItem]:
    """Yield what stands against new addresses of controllers now; their probes are judged with those of brokers."""
    yield from voters_follow(facts)
    yield from files_are_read(
        facts, facts.nodes if not facts.is_dynamic else facts.voters, "the addresses of controllers in the file"
    )
    for endpoint in proposed:
        node, resource = endpoint.broker_id, endpoint_resource(endpoint)
        known = facts.listeners(node)
        taken = [
            other
            for other, address in facts.addresses.items()
            if other != node and same_address(address, (endpoint.host, endpoint.port)) and other not in _moved(proposed)
        ]
        if node not in facts.voters:
            message = f"Node {node} is no voter of the metadata quorum, so {endpoint_text(endpoint)} cannot become its address"
            yield gate_item("blockers", "KA310", resource, message, f"The voters are {listing(facts.voters)}.")
        elif known and endpoint.listener not in known:
            message = f"Controller {node} has no listener {endpoint.listener}; its listener for controllers is {listing(known)}"
            yield gate_item("blockers", "KA310", resource, message, "Name that listener in the line.")
        elif taken:
            message = f"{endpoint_text(endpoint)} is the address of controller {taken[0]} already"
            yield gate_item("blockers", "KA304", resource, message, "Give each controller an address of its own.")


def _moved(proposed: Sequence[RegisteredEndpoint]) -> dict[int, RegisteredEndpoint]:
    return {endpoint.broker_id: endpoint for endpoint in proposed}


def controller_host_steps(facts: QuorumFacts, proposed: Sequence[RegisteredEndpoint]) -> Iterator[PlannedStep]:
    """Yield the steps for the voters among the proposed addresses."""
    run, moved = StepCommands(facts), {node: new for node, new in _moved(proposed).items() if node in facts.voters}
    if not moved:
        return
    after = {
        node: address_text(moved[node].host, moved[node].port) if node in moved else facts.address(node) for node in facts.voters
    }
    tls = "" if facts.tls is False else " Where the listener has TLS, its certificate must name both."
    yield PlannedStep(
        text=f"Make the new names resolve and route from every broker and controller, beside the old names.{tls}",
        halfway="Nothing has changed. From here to the last step, old and new addresses lead to the same controllers.",
        lines=tuple(command("nc -vz -w 3 {host} {port}", host=new.host, port=new.port) for new in moved.values()),
    )
    yield from (_dynamic if facts.is_dynamic else _static)(facts, run, moved, after)
    yield PlannedStep(
        text=(
            "Change the old addresses in `controllers` of the cluster file of this audit, in monitoring, and in commands and "
            "clients with `--bootstrap-controller` (Kafka 3.7)."
        ),
        halfway="Clients with an old address work until the old names are removed.",
        lines=(run("kafka-metadata-quorum.sh --bootstrap-controller {new} describe --status", new=after[next(iter(moved))]),),
    )
    old = listing((facts.address(node) for node in moved if node in facts.addresses), 10) or "the old names"
    condition = "and `describe --status` lists the new endpoints" if facts.is_dynamic else f"and no file names them in `{VOTERS}`"
    yield PlannedStep(
        text=f"Remove {old} only now, when every broker and controller has been restarted {condition}.",
        halfway=(
            "If the old names are removed earlier, the voters do not reach each other: at the next election no leader is "
            "elected, and without a leader no new endpoint is accepted."
            if facts.is_dynamic
            else "If they are removed earlier, nodes with an old file do not reach the controllers: brokers are fenced, and "
            "voters do not elect."
        ),
        lines=(run.replication(),),
    )
    yield run.comparison("the new addresses in the settings of every node that names them, and all voters follow")


def _static(
    facts: QuorumFacts, run: StepCommands, moved: dict[int, RegisteredEndpoint], after: dict[int, str]
) -> Iterator[PlannedStep]:
    line = setting(VOTERS, ",".join(f"{node}@{address}" for node, address in after.items()))
    for kind, nodes in (("controller", leader_last(facts, facts.voters)), ("broker", facts.brokers)):
        if nodes:
            yield PlannedStep(
                text=(
                    f"{one_by_one(nodes, kind)}: set the line below in the file, and restart. Continue when the {kind} follows "
                    "without a lag."
                ),
                halfway=(
                    "Nodes with an old file use the old names. The ids stay the same, so all nodes have the same voters. "
                    f"{while_one_restarts(facts) if kind == 'controller' else 'A broker with an old file needs the old names.'}"
                ),
                lines=(*(_own(facts, moved) if kind == "controller" else ()), line, run.replication()),
            )


def _dynamic(
    facts: QuorumFacts, run: StepCommands, moved: dict[int, RegisteredEndpoint], after: dict[int, str]
) -> Iterator[PlannedStep]:
    servers = setting(SERVERS, ",".join(after.values()))
    yield PlannedStep(
        text="Set the line below in the file of every broker and controller. It takes effect at the next restart of each.",
        halfway="Voters find each other by the endpoints in the metadata log, not by this line. Brokers use either name.",
        lines=(servers,),
    )
    yield PlannedStep(
        text=(
            f"{one_by_one(leader_last(facts, moved), 'controller')}: set its own line below, and restart. Continue only when "
            "`describe --status` lists its new endpoint: it sends it to the leader after its start."
        ),
        halfway=(
            "The others connect to its old endpoint until its new one is in the log, so that the old name must still work. "
            f"{while_one_restarts(facts)}"
        ),
        lines=(*_own(facts, moved), run.status()),
    )
    if facts.brokers:
        yield PlannedStep(
            text=f"{one_by_one(facts.brokers, 'broker')}: restart, so that its next start does not need the old names.",
            halfway="A running broker has the new endpoints from the log. One that starts with an old line needs the old names.",
            lines=(run.replication(),),
        )


def _own(facts: QuorumFacts, moved: dict[int, RegisteredEndpoint]) -> Iterator[Line]:
    """Yield the lines of each moved controller in which its own host is: where it listens, and what it advertises.

    Kafka before 3.9 does not start a controller with `advertised.listeners`, so that a static quorum gets none that it lacks.
    """
    for node, endpoint in moved.items():
        named = [key for key in (KEY, INSTEAD) if facts.advertised(node, key)]
        for key in named or ([KEY] if facts.is_dynamic else []):
            yield remark("controller {node}, beside its other listeners:", node=node)
            yield setting(key, f"{endpoint.listener}://{address_text(endpoint.host, endpoint.port)}")


_Proposed = Sequence[RegisteredEndpoint]
_ITEMS: Mapping[Kind, Callable[[QuorumFacts, Plan, _Proposed], Iterator[HeadedItem]]] = {
    Kind.DYNAMIC_QUORUM: lambda facts, _plan, _proposed: dynamic_quorum_items(facts),
    Kind.QUORUM_VOTERS: lambda facts, plan, _proposed: voter_change_items(facts, plan.node_ids),
    Kind.CONTROLLER_HOSTS: lambda facts, _plan, proposed: controller_host_items(facts, proposed),
    Kind.CONTROLLER_CERTIFICATES: lambda facts, _plan, _proposed: controller_certificate_items(facts),
}
_STEPS: Mapping[Kind, Callable[[QuorumFacts, Plan, _Proposed], Iterator[PlannedStep]]] = {
    Kind.DYNAMIC_QUORUM: lambda facts, _plan, _proposed: dynamic_quorum_steps(facts),
    Kind.QUORUM_VOTERS: lambda facts, plan, _proposed: voter_change_steps(facts, plan.node_ids),
    Kind.CONTROLLER_HOSTS: lambda facts, _plan, proposed: controller_host_steps(facts, proposed),
    Kind.CONTROLLER_CERTIFICATES: lambda facts, _plan, _proposed: controller_certificate_steps(facts),
}
_AGREED = frozenset({Kind.DYNAMIC_QUORUM, Kind.CONTROLLER_HOSTS})
"""Changes for which every file must name the same voters first."""


def quorum_items(view: ClusterView, plan: Plan, proposed: _Proposed) -> Iterator[HeadedItem]:
    """Yield what stands against a change of the quorum, nothing for other changes."""
    if plan.kind not in _ITEMS:
        return
    facts, unread = QuorumFacts(view), False
    for headed in quorum_is_read(facts):
        unread = True
        yield headed
    if not unread:
        yield from _ITEMS[plan.kind](facts, plan, proposed)


def voters_agreed(view: ClusterView, plan: Plan) -> tuple[Judgement, ...]:
    """Return what KA213 says of each file, where the change requires that all name the same voters."""
    return judge(view, {"KA213": catalogue()["KA213"]}) if plan.kind in _AGREED and view.quorum.now.newest is not None else ()


def quorum_steps(view: ClusterView, plan: Plan, proposed: _Proposed) -> tuple[PlannedStep, ...]:
    """Return the ordered steps of a change of the quorum; none for other changes, and where the quorum was not read."""
    facts = QuorumFacts(view)
    known = plan.kind in _STEPS and facts.leader is not None and bool(facts.voters)
    return tuple(_STEPS[plan.kind](facts, plan, proposed)) if known else ()

"""A change of the quorum by its kind: what stands against it now, and its steps."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.migration.items import HeadedItem
from kafka_audit.migration.plan import Kind, Plan
from kafka_audit.migration.quorum.controller_certificates import controller_certificate_items, controller_certificate_steps
from kafka_audit.migration.quorum.controller_hosts import controller_host_items, controller_host_steps
from kafka_audit.migration.quorum.dynamic_quorum import dynamic_quorum_items, dynamic_quorum_steps
from kafka_audit.migration.quorum.facts import QuorumFacts
from kafka_audit.migration.quorum.planned_steps import PlannedStep
from kafka_audit.migration.quorum.preconditions import quorum_is_read
from kafka_audit.migration.quorum.voter_changes import voter_change_items, voter_change_steps
from kafka_audit.model.finding import Judgement
from kafka_audit.model.tables import RegisteredEndpoint

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

"""Try what a plan would let brokers advertise, before any of them does."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_audit.checks import catalogue
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect.probes import proposed_endpoints
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.lint import files, reading
from kafka_audit.lint.members import Member
from kafka_audit.lint.rolled import advertised_by_member
from kafka_audit.migration import addresses
from kafka_audit.migration.plan import Kind, Plan
from kafka_audit.model.cluster import WORKER, Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import Probe, RegisteredEndpoint
from kafka_audit.model.text import counted, did_you_mean

_BETWEEN = ("inter.broker.listener.name", "control.plane.listener.name")


@dataclass(frozen=True, kw_only=True)
class ProposedListeners:
    """Addresses that a plan gives to brokers.

    Attributes:
        by_lines: those of its lines; of controllers, if these are moved.
        proposed: those, and those of its files.
        new: those that no broker advertises yet, each listener of a broker once.
        probes: of the new addresses.
        between: brokers and their listeners on which other brokers and the controller are to come to them.
    """

    by_lines: tuple[RegisteredEndpoint, ...] = ()
    proposed: tuple[RegisteredEndpoint, ...] = ()
    new: tuple[RegisteredEndpoint, ...] = ()
    probes: tuple[Probe, ...] = ()
    between: frozenset[tuple[int, str]] = frozenset()


def check_plan(plan: Plan, cluster: Cluster) -> None:
    """Raise `UsageError` for what would be found out only after an audit: an unknown vantage, a file that is not there."""
    known = [WORKER, *(vantage.name for vantage in cluster.vantages)]
    for name in plan.vantages:
        if name not in known:
            msg = (
                f"{cluster.name}: vantage {name!r} does not exist; the vantages are {', '.join(known)}{did_you_mean(name, known)}"
            )
            raise UsageError(msg)
    reading.lint_targets(plan.proposed)


def probe_proposed_listeners(
    plan: Plan, view: ClusterView, cluster: Cluster, secrets: Mapping[str, str], say: Callable[[str], None]
) -> ProposedListeners:
    """Probe every new address, from this worker and from the vantages of the plan.

    Raises:
        UsageError: a proposed file is not there.
    """
    between, members = view.inter_broker, files.serving(plan.proposed, catalogue())
    by_lines = planned_endpoints(plan, view)
    proposed = (*(endpoint for member in members for endpoint in advertised_by_member(member, 0) if endpoint.host), *by_lines)
    new = addresses.new_endpoints({(endpoint.broker_id, endpoint.listener): endpoint for endpoint in proposed}.values(), view)
    probed: tuple[Probe, ...] = ()
    if new:
        say(f"probing {counted(len(new), 'proposed address', 'proposed addresses')} …")
        probed = proposed_endpoints.probe_proposed_endpoints(cluster, new, plan.vantages, between.brokers, secrets)
    among = set(_between(between, members))
    if plan.kind is Kind.CONTROLLER_HOSTS:
        among |= {(endpoint.broker_id, endpoint.listener) for endpoint in by_lines}
    return ProposedListeners(by_lines=by_lines, proposed=proposed, new=new, probes=probed, between=frozenset(among))


def planned_endpoints(plan: Plan, view: ClusterView) -> tuple[RegisteredEndpoint, ...]:
    """Return the addresses in the lines of a plan: of brokers, or of the voters of the metadata quorum."""
    between, wordings = view.inter_broker, addresses.parse_addresses(plan.advertised)
    if plan.kind is not Kind.CONTROLLER_HOSTS:
        return addresses.proposed_registrations(wordings, between.brokers, view)
    # Brokers know the protocol of a controller whose file was not read.
    known = next(filter(None, map(between.controller_protocol, between.brokers)), "")
    found = addresses.proposed_registrations(wordings, view.quorum.now.voters, view)
    return tuple(replace(endpoint, protocol=endpoint.protocol or known) for endpoint in found)


def _between(between: InterBroker, members: Sequence[Member]) -> Iterator[tuple[int, str]]:
    """Yield the listeners between brokers, as they are and as files say that they will be."""
    for broker in between.brokers:
        used, control = between.listener(broker), between.settings.get(broker, _BETWEEN[1]).value
        yield from ((broker, name) for name in (used.name if used else "", canonical_listener(control or "")) if name)
    for member in members:
        yield from ((member.broker_id, canonical_listener(name)) for key in _BETWEEN if (name := member.broker.value(key)))

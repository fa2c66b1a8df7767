"""A rolling upgrade: the cluster with its plan, as the checks of the gate read it, and the steps in order.

Kafka's upgrade notes ask for one node after the other and name no order of controllers and brokers. Controllers come first here:
a feature is finalized only when they support it, and as long as it is not, both releases read what the other one writes.

Sources: Kafka documentation, "Upgrading"; KIP-778 (metadata.version), KIP-584; KIP-1013 (Java 17); KIP-653 (Log4j 2).
"""

import secrets
from collections.abc import Iterable, Iterator

from kafka_audit.checks import catalogue
from kafka_audit.checks.migration.common import pinned_protocol, protocol_in_use
from kafka_audit.cluster.features import KRAFT_VERSION, METADATA_VERSION
from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.behaviour import behaviour, highest_level, lowered_level, metadata_levels, metadata_release
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.configuration.starts.protocol_versions import INTER_BROKER_VERSION
from kafka_audit.lint import files, members
from kafka_audit.migration.plan import Plan
from kafka_audit.migration.quorum.facts import QuorumFacts
from kafka_audit.migration.quorum.planned_steps import PlannedStep, StepCommands, leader_last, one_by_one, while_one_restarts
from kafka_audit.model.commands import Line, setting
from kafka_audit.model.tables import BrokerProperty, PlannedUpgrade, Row
from kafka_audit.model.text import listing

REFUSED = "KA912"
"""The check that says that the new release does not run the cluster at all: then there are no steps."""

_UNDER_REPLICATED = "kafka-topics.sh --bootstrap-server {broker} --describe --under-replicated-partitions"
FINALIZE = "kafka-features.sh --bootstrap-server {broker} upgrade --feature metadata.version={level}"


def upgraded_view(view: ClusterView, plan: Plan) -> ClusterView:
    """Return the cluster with its planned upgrade, and with proposed files in place of present ones.

    Raises:
        UsageError: a proposed file is not there.
    """
    proposed = files.members_of(plan.proposed, catalogue()) if plan.proposed else ()
    ids, key = {member.broker_id for member in proposed}, secrets.token_bytes(32)
    kept = (row for row in view.snapshot.rows if not (isinstance(row, BrokerProperty) and row.broker_id in ids))
    added: list[Row] = [row for member in proposed for row in members.configuration_rows(member, key)]
    planned = PlannedUpgrade(version=plan.version, oldest_client=plan.oldest_client)
    return view.with_rows((*kept, *added, planned))


def upgrade_steps(view: ClusterView, plan: Plan) -> Iterator[PlannedStep]:
    """Yield the steps of an upgrade, none if the plan does not name the release."""
    if plan.version is None:
        return
    facts, minor = QuorumFacts(view), version_numbers(plan.version)[:2]
    run, planned = StepCommands(facts), upgraded_view(view, plan)
    if not view.kraft:
        yield from _pin(planned)
    yield from _before_restarts(view, minor)
    controllers = leader_last(facts, (node for node in facts.voters if node not in view.inter_broker.brokers))
    if controllers:
        yield _restart(
            controllers,
            "controller",
            plan.version,
            f"{while_one_restarts(facts)} Controllers of both releases form one quorum.",
            (run.replication(),),
        )
    brokers = _controller_last(view)
    if brokers:
        yield _restart(brokers, "broker", plan.version, _while_a_broker_restarts(view), (run(_UNDER_REPLICATED),))
    yield from _finalize_level(view, minor, facts) if view.kraft else _raise_protocol(view, minor, run)
    yield run.comparison(f"every node runs Kafka {plan.version}, and nothing else has changed")


def _restart(nodes: Iterable[int], kind: str, version: str, halfway: str, lines: tuple[Line, ...]) -> PlannedStep:
    ready = "it follows without a lag" if kind == "controller" else "no partition is under-replicated"
    text = f"{one_by_one(nodes, kind)}: stop it, install Kafka {version}, and start it. Continue when {ready}."
    return PlannedStep(text=text, halfway=halfway, lines=lines)


def _while_a_broker_restarts(view: ClusterView) -> str:
    """Return what holds between two restarts of brokers."""
    both = "Brokers of both releases serve clients"
    old = protocol_in_use(view) if not view.kraft else None
    return (
        f"{both}; the next leader of each partition of the stopped broker is one of its in-sync replicas (KA602, KA601: repair "
        "these first). " + (f"All use protocol {old}." if old else "The old software still starts: no feature was finalized.")
    )


def _controller_last(view: ClusterView) -> tuple[int, ...]:
    """Return brokers in the order of their restarts: the controller, or the leader of the quorum, moves once."""
    last = view.quorum.now.newest.leader_id if view.kraft and view.quorum.now.newest else view.inter_broker.controller
    return tuple(sorted(view.inter_broker.brokers, key=lambda broker: (broker == last, broker)))


def _pin(planned: ClusterView) -> Iterator[PlannedStep]:
    """Yield the line that keeps the protocol, for brokers whose next file does not have it."""
    current = protocol_in_use(planned)
    loose = [broker for broker in planned.inter_broker.brokers if pinned_protocol(planned, broker) == ""]
    if current and loose:
        yield PlannedStep(
            text=f"{one_by_one(loose, 'broker')}: add the line below to server.properties. No restart is needed yet.",
            halfway="Nothing has changed: the line takes effect at the next start.",
            lines=(setting(INTER_BROKER_VERSION, current),),
        )


def _before_restarts(view: ClusterView, minor: tuple[int, ...]) -> Iterator[PlannedStep]:
    known = [found for broker in view.inter_broker.brokers if (found := minor_releases(view, broker)) is not None]
    java = behaviour("java_17_needed")
    if java.holds(minor) and not (known and all(java.holds(oldest) for oldest, _ in known)):
        yield PlannedStep(
            text=(
                "On every host: install Java 17 or later, which Kafka 4 needs for brokers, controllers and tools. Replace a "
                "log4j.properties of your own by a file for Log4j 2, and `KAFKA_LOG4J_OPTS` that names it."
            ),
            halfway="Nothing has changed: the running nodes keep their Java until their restart.",
        )


def _raise_protocol(view: ClusterView, minor: tuple[int, ...], run: StepCommands) -> Iterator[PlannedStep]:
    """Yield how the upgrade is made final with ZooKeeper, where there is something to raise."""
    if (current := protocol_in_use(view)) and version_numbers(current) < minor:
        yield PlannedStep(
            text=(
                "When the cluster runs as before, some days later: set the line below on one broker after the other, with a "
                "restart each."
            ),
            halfway="From the first of these restarts on there is no way back to the old release.",
            lines=(setting(INTER_BROKER_VERSION, ".".join(map(str, minor))), run(_UNDER_REPLICATED)),
        )


def _finalize_level(view: ClusterView, minor: tuple[int, ...], facts: QuorumFacts) -> Iterator[PlannedStep]:
    """Yield how the upgrade is made final in KRaft, by the tools of the new release: older ones may change what they validate."""
    levels, feature = metadata_levels(minor), view.features.get(METADATA_VERSION)
    level = feature.finalized if feature is not None else None
    if levels is not None and (level or 0) < levels[1]:
        run, new = StepCommands(facts, release=(minor[0], minor[1])), ".".join(map(str, minor))
        validates = behaviour("tool_dry_run").holds(minor)
        validation = f" With the tools of Kafka {new}, the first command validates it and changes nothing." if validates else ""
        yield PlannedStep(
            text=(
                f"When the cluster runs as before, some days later: finalize metadata.version {metadata_release(levels[1])}."
                f"{validation}"
            ),
            halfway=way_back(view, minor, level, levels[1]),
            lines=(run(f"{FINALIZE} --dry-run", level=levels[1]), run(FINALIZE, level=levels[1])),
        )


def way_back(view: ClusterView, minor: tuple[int, ...], level: int | None, raised: int) -> str:
    """Return whether the old software can run again after metadata.version was raised to a level."""
    known = [found[0] for broker in view.inter_broker.brokers if (found := minor_releases(view, broker)) is not None]
    old = min(known, default=minor)
    if old >= minor:  # the new software runs already: the old one is that which brought the level of today
        old = version_numbers(metadata_release(level or 0))[:2]
    lowered = lowered_level(raised, old) if old and old < minor else None
    finalized = {name: feature.finalized or 0 for name, feature in view.features.items() if name != METADATA_VERSION}
    above = sorted(name for name, now in finalized.items() if now > (highest_level(name, old) or 0))
    if lowered is None or KRAFT_VERSION in above:
        return "There is no way back to the old release from here on."
    release = ".".join(map(str, old))
    first = f", after {listing(above)} was lowered" if above else ""
    return (
        f"Kafka {release} starts again only after `kafka-features.sh downgrade --feature {METADATA_VERSION}={lowered}`{first}. A "
        "feature that is enabled later, such as share groups, must be lowered first, too; kraft.version cannot be lowered."
    )

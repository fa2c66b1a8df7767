"""The end of an upgrade: metadata.version of KRaft, or the protocol between brokers with ZooKeeper, is raised."""

from collections.abc import Iterator

from kafka_audit.checks.migration.common import protocol_in_use
from kafka_audit.cluster.features import METADATA_VERSION
from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.behaviour import behaviour, metadata_release
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.configuration.starts.protocol_versions import INTER_BROKER_VERSION
from kafka_audit.migration.items import HeadedItem
from kafka_audit.migration.quorum.facts import QuorumFacts, gate_item, quorum_is_read, voters_follow
from kafka_audit.migration.quorum.planned_steps import StepCommands
from kafka_audit.migration.rolling_upgrade import FINALIZE, way_back
from kafka_audit.model.commands import Line, setting
from kafka_audit.model.tables import Migration
from kafka_audit.model.text import brokers, clean


def finalizing_items(view: ClusterView) -> Iterator[HeadedItem]:
    """Yield what stands against it now, and what it costs."""
    yield from _level(view) if view.kraft else _protocol(view)


def _level(view: ClusterView) -> Iterator[HeadedItem]:
    facts, feature = QuorumFacts(view), view.features.get(METADATA_VERSION)
    if feature is None or feature.finalized is None or (feature.supported is None and not feature.differs):
        needs = "Needed: an answer to ApiVersions from a broker of Kafka 3.3 or later"
        yield gate_item("not_known", "KA712", "cluster", "Cannot determine which metadata.version is finalized", needs)
        return
    if feature.differs or feature.supported is None:
        message = "Brokers support different levels of metadata.version: the upgrade of the software is in progress"
        yield gate_item("blockers", "KA703", "cluster", message, "Upgrade every broker and controller first.")
        return
    if unread := [*quorum_is_read(facts)]:
        yield from unread
        return
    if feature.finalized >= feature.supported:
        name = metadata_release(feature.finalized)
        yield gate_item("information", "KA712", "cluster", f"metadata.version is {name} already: nothing is left to finalize")
        return
    yield from voters_follow(facts)
    for node in sorted(view.quorum.now.left):
        message = f"Controller {node} left the quorum and is still registered: Kafka refuses if its release was older"
        yield gate_item(
            "blockers", "KA225", f"controller/{node}", message, "Let it register once more with the new release (KA225)."
        )
    fenced = sorted(view.quorum.now.fenced)
    if fenced:
        message = f"{brokers(fenced)} {'is' if len(fenced) == 1 else 'are'} registered and out of service, with a release unknown"
        remedy = f"Start {brokers(fenced)} with the new release, or unregister what is gone."
        yield gate_item("blockers", "KA208", "cluster", message, remedy)
    minor = version_numbers(metadata_release(feature.supported))[:2]
    back = way_back(view, minor, feature.finalized, feature.supported)
    yield gate_item("information", "KA712", "cluster", "Kafka refuses if a controller still runs an older release", back)


def _protocol(view: ClusterView) -> Iterator[HeadedItem]:
    known = {broker: minor_releases(view, broker) for broker in view.inter_broker.brokers}
    unknown = [broker for broker, found in known.items() if found is None or found[0] != found[1]]
    ranges = [found for found in known.values() if found is not None]
    current, oldest = protocol_in_use(view), min((low for low, _ in ranges), default=())
    if view.newest(Migration):
        message = "A migration to KRaft is not finished"
        yield gate_item("blockers", "KA909", "cluster", message, "Finish or roll back the migration first.")
    if ranges and max(low for low, _ in ranges) > min(high for _, high in ranges):
        message = "Brokers run different releases: the upgrade of the software is in progress"
        yield gate_item("blockers", "KA703", "cluster", message, "Upgrade every broker first.")
    elif unknown or not known or not current:
        who = brokers(unknown) if unknown else "any broker"
        message = f"Cannot determine which release {who} runs, or the protocol in use"
        yield gate_item("not_known", "KA703", "cluster", message, "Needed: DescribeConfigs on Cluster, at every broker")
    elif version_numbers(clean(current)) >= oldest:
        message = f"The protocol is {clean(current)} already: nothing is left to finalize"
        yield gate_item("information", "KA703", "cluster", message)
    else:
        message = "Each broker restarts once more, one after the other"
        yield gate_item("information", "KA703", "cluster", message, "The way back to the old release.")


def finalizing_lines(view: ClusterView) -> Iterator[Line]:
    """Yield the commands, or the line of each file; none where nothing is left to do."""
    if not view.kraft:
        known = [found[0] for broker in view.inter_broker.brokers if (found := minor_releases(view, broker)) is not None]
        current = protocol_in_use(view)
        if known and current and version_numbers(current) < min(known):
            yield setting(INTER_BROKER_VERSION, ".".join(map(str, min(known))))
        return
    feature = view.features.get(METADATA_VERSION)
    if feature is None or feature.supported is None or (feature.finalized or 0) >= feature.supported:
        return
    run = StepCommands(QuorumFacts(view))
    if behaviour("tool_dry_run").holds(version_numbers(metadata_release(feature.supported))):
        yield run(f"{FINALIZE} --dry-run", level=feature.supported)
    yield run(FINALIZE, level=feature.supported)

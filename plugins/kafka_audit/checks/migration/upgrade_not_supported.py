from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.checks.migration.common import no_upgrade, planned_upgrade, target_minor
from kafka_audit.cluster.features import METADATA_VERSION, Feature
from kafka_audit.configuration.behaviour import behaviour, highest_level, level_name, metadata_levels, metadata_release
from kafka_audit.configuration.starts.protocol_versions import INTER_BROKER_VERSION, version
from kafka_audit.model.tables import BrokerApi, Migration

_NOTES = "Kafka 4.0 upgrade notes"
_READS = frozenset({"zookeeper /controller", "zookeeper /migration"})
"""Reads that show whether a migration to KRaft is in progress."""

_MIGRATES = "zookeeper.metadata.migration.enable"
_NEEDS_FEATURES = "an answer to ApiVersions from every broker"


@gate_check(code="KA912", severity=Severity.HIGH)
def upgrade_not_supported(view: ClusterView) -> Judgements:
    """The new release does not run a cluster of this mode, metadata.version or protocol."""
    minor, planned = target_minor(planned_upgrade(view)), planned_upgrade(view)
    if planned is None or minor is None:
        yield from no_upgrade(view)
        return
    facts: dict[str, object] = {"target": planned.version}
    found = list(_with_features(view, minor, facts) if view.kraft else _with_zookeeper(view, minor, facts))
    yield from found
    if not found:
        yield view.judge("cluster", Status.PASS, facts)


def _with_zookeeper(view: ClusterView, minor: tuple[int, ...], facts: dict[str, object]) -> Judgements:
    """Yield what stands against the upgrade of a cluster with ZooKeeper; else `facts` says why nothing does."""
    migrating = bool(view.newest(Migration))
    if migrating or behaviour("kraft_only").holds(minor):
        fault, source = "it uses ZooKeeper", f"KIP-833; {_NOTES}"
        first, page = "upgrade the brokers to 3.9 and migrate to KRaft", "KA901"
        if migrating:
            fault, source = "its migration to KRaft is not finished", "KIP-866; Kafka 3.9 documentation"
            first, page = "finish the migration to KRaft", "KA909"
        severity = Severity.HIGH if behaviour("kraft_only").holds(minor) else Severity.MEDIUM
        yield view.judge("cluster", Status.FAIL, facts, severity=severity, fault=fault, source=source, first=first, page=page)
        return
    newer, unknown = [], []
    for broker in view.inter_broker.brokers:
        value = view.inter_broker.settings.running(broker, INTER_BROKER_VERSION).value
        if not value:
            unknown.append(broker)
        elif version(value)[0] > minor:
            newer.append((broker, value))
    if newer:
        broker, value = newer[0]
        fault = f"broker {broker} uses {INTER_BROKER_VERSION} {value}, which is newer"
        source = "Kafka upgrade notes: no downgrade once the protocol was raised"
        first = "stay on the release that the brokers run, or build a new cluster and copy the records to it"
        more = {"fault": fault, "source": source, "first": first, "page": "KA703", "brokers": tuple(other for other, _ in newer)}
        yield view.judge("cluster", Status.FAIL, facts | more)
        return
    failed = [read for read in view.last_reads if read.operation in _READS and read.outcome == "failed"]
    if failed:
        error, needs = f"{failed[0].operation} was not read ({failed[0].error})", failed[0].needs or "a ZooKeeper that answers"
        yield view.unknown("cluster", error, needs, facts)
    elif unknown or not view.inter_broker.brokers:
        who = f"broker {unknown[0]}" if unknown else "any broker"
        needs = f"DescribeConfigs on Cluster, answered by {who}"
        yield view.unknown("cluster", f"the protocol of {who} is unknown", needs, facts)
    facts["why"] = "ZooKeeper mode, and no broker uses a newer protocol"


def _with_features(view: ClusterView, minor: tuple[int, ...], facts: dict[str, object]) -> Judgements:
    """Yield the same of a cluster without ZooKeeper, by its finalized features."""
    answered = {row.broker_id for row in view.of(BrokerApi) if row.broker_id >= 0}
    missing = sorted(set(view.inter_broker.brokers) - answered)
    if missing or not answered:
        who = f"broker {missing[0]}" if missing else "a broker"
        error = f"{who} did not answer ApiVersions"
        yield view.unknown("cluster", error, _NEEDS_FEATURES, facts)
        return
    nodes = sorted({*view.inter_broker.brokers, *view.settings.controllers})
    migrating = tuple(node for node in nodes if (view.settings.get(node, _MIGRATES).value or "").lower() == "true")
    if migrating and behaviour("kraft_only").holds(minor):
        fault = f"its migration to KRaft is not finished ({_MIGRATES} of {view.settings.party(migrating[0])})"
        more = {
            "fault": fault,
            "source": "KIP-866; Kafka 3.9 documentation",
            "first": "finish the migration to KRaft",
            "page": "KA909",
        }
        yield view.judge("cluster", Status.FAIL, facts | more, nodes=migrating)
    unread = [read for read in view.last_reads if read.observer.startswith("controller@") and read.outcome == "failed"]
    if unread and not migrating and behaviour("kraft_only").holds(minor):
        error = f"whether {unread[0].observer} still writes to ZooKeeper: {unread[0].error}"
        yield view.unknown("cluster", error, unread[0].needs or "an answer to DescribeConfigs from each controller", facts)
    features, levels = view.features, metadata_levels(minor)
    metadata = features.get(METADATA_VERSION)
    yield from _metadata_faults(view, metadata, minor, levels, facts)
    for name, feature in sorted(features.items()):
        highest = highest_level(name, minor)
        if highest is None or not feature.finalized or feature.finalized <= highest:
            continue
        limit = f"level {highest}" if highest else "no level of it"
        fault = f"{name} is finalized at level {feature.finalized}, and Kafka {facts['target']} supports {limit}"
        first = f"lower {name} with kafka-features.sh where Kafka allows it (never kraft.version)"
        head = {"fault": fault, "source": "KIP-584", "first": first, "page": "KA712"}
        yield view.judge(f"feature/{name}", Status.FAIL, facts | head)
    level = "not finalized" if metadata is None or metadata.finalized is None else metadata_release(metadata.finalized)
    facts["why"] = f"KRaft mode, metadata.version {level}"


def _metadata_faults(
    view: ClusterView,
    metadata: Feature | None,
    minor: tuple[int, ...],
    levels: tuple[int, int] | None,
    facts: dict[str, object],
) -> Judgements:
    level = None if metadata is None else metadata.finalized
    resource, fault, source, first = f"feature/{METADATA_VERSION}", "", "KIP-778", ""
    if level is None and behaviour("kraft_only").holds(minor):
        fault, source = "no metadata.version is finalized, as before Kafka 3.3", f"KIP-778; {_NOTES}"
        first = "upgrade every node to 3.9, then finalize metadata.version 3.9"
    elif level is not None and levels is None:
        fault = f"metadata.version is finalized ({metadata_release(level)}), and Kafka {facts['target']} has no such feature"
        first = "stay on a release from 3.3 on: Kafka has no downgrade to early access of KRaft"
    elif level is not None and levels is not None and level < levels[0]:
        fault, source = (
            f"metadata.version is {metadata_release(level)} (level {level}), below {level_name(levels[0])} (level {levels[0]})",
            f"KIP-778; {_NOTES}",
        )
        supported = metadata.supported if metadata else None
        first = (
            f"finalize metadata.version {metadata_release(supported)} (level {supported}), which every broker supports"
            if supported is not None and supported >= levels[0]
            else "upgrade every node to 3.9, then finalize metadata.version 3.9"
        )
    elif level is not None and levels is not None and level > levels[1]:
        highest = f"{metadata_release(levels[1])} (level {levels[1]})"
        fault = f"metadata.version is {metadata_release(level)} (level {level}), above {highest}"
        first = "stay on the release: a downgrade of metadata.version is refused where a level in between changed the metadata"
    if fault:
        yield view.judge(resource, Status.FAIL, facts, fault=fault, source=source, first=first, page="KA712")

from collections.abc import Mapping
from types import MappingProxyType

from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, gate_check
from kafka_audit.checks.configuration.set_lines import set_lines, start_values
from kafka_audit.checks.migration.common import no_upgrade, planned_upgrade, target_minor
from kafka_audit.cluster.settings import AUTHORIZER
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.configuration.definitions import definitions, is_missing, kafka_classes
from kafka_audit.configuration.near_keys import defined_keys
from kafka_audit.configuration.starts import nearest_release, start_refusal
from kafka_audit.model.text import listing

_REPLACED: Mapping[str, str] = MappingProxyType(
    {
        "delegation.token.master.key": "delegation.token.secret.key",
        "log.message.timestamp.difference.max.ms": "log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms",
    }
)
"""Keys that a release no longer reads and that decide something until then, by the keys that have replaced them."""


@gate_check(code="KA914", severity=Severity.HIGH)
def settings_refused_by_target(view: ClusterView) -> Judgements:
    """The new release rejects the settings with which a node runs, or no longer reads some of them."""
    planned, minor = planned_upgrade(view), target_minor(planned_upgrade(view))
    if planned is None or minor is None:
        yield from no_upgrade(view)
        return
    if not view.kraft and behaviour("kraft_only").holds(minor):
        yield view.not_applicable("cluster", "the migration to KRaft comes first (KA912)")
        return
    voters = view.quorum.now.voters if view.kraft else ()
    nodes = sorted({*view.inter_broker.brokers, *view.settings.controllers, *voters})
    for node in nodes:
        yield _of_node(view, node, str(planned.version))
    if not nodes:
        needs = "an answer to DescribeConfigs, or `properties` in the cluster file"
        yield view.unknown("cluster", "no node is known", needs, target=planned.version, who="any node")


def _of_node(view: ClusterView, node: int, target: str) -> Judgement:
    settings, brokers = view.settings, view.inter_broker.brokers
    who = f"broker {node}" if node in brokers else f"controller {node}"
    resource = who.replace(" ", "/")
    facts: dict[str, object] = {"who": who, "target": target}
    lines = set_lines(settings, node)
    if lines is None:
        needs = f"server.properties of {who} (`properties` in the cluster file), or `--proposed`"
        return view.unknown(resource, "its settings were not read", needs, facts)
    if any(key.startswith("config.providers") for key in lines):
        needs = f"`kafka-audit lint` on the host of {who}, with the provided values in place"
        return view.unknown(resource, "config.providers provide some values", needs, facts)
    confidence = Confidence.MEASURED if node in settings.every_file else Confidence.INFERRED
    fault = _fault(lines, target)
    if fault is None:
        return view.judge(resource, Status.PASS, facts)
    severity, text, keys = fault
    return view.judge(resource, Status.FAIL, facts, severity=severity, confidence=confidence, fault=text, keys=keys)


def _fault(lines: Mapping[str, str | None], target: str) -> tuple[Severity, str, str] | None:
    """Return what is wrong with settings for a release: how bad it is, a sentence, and the keys to correct."""
    version = nearest_release(target)
    refusal = start_refusal(start_values(lines, version), version)
    if refusal is not None:
        return Severity.HIGH, f"the node does not start ({refusal.message})", refusal.key or "what Kafka names"
    authorizer = lines.get(AUTHORIZER) or ""
    if authorizer and is_missing(authorizer, kafka_classes(version)):
        return Severity.HIGH, f"the node does not start (Kafka has no class {authorizer})", AUTHORIZER
    known = definitions(version)
    # What no release defines belongs to a plugin, or is misspelt (KA719).
    gone = sorted(key for key in lines if key not in known and key in defined_keys())
    replaced = [key for key in gone if key in _REPLACED and _REPLACED[key].partition(" ")[0] not in lines]
    if replaced:
        return Severity.MEDIUM, f"Kafka no longer reads {replaced[0]}, but {_REPLACED[replaced[0]]}", listing(replaced)
    return (Severity.LOW, f"Kafka no longer knows {listing(gone, 4)}", f"or remove {listing(gone, 12)}") if gone else None

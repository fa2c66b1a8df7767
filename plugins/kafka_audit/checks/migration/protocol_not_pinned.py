from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, gate_check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.migration.common import no_upgrade, pinned_protocol, planned_upgrade, protocol_in_use, target_minor
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.configuration.inter_broker_requests import sent_requests
from kafka_audit.configuration.starts.protocol_versions import INTER_BROKER_VERSION, version
from kafka_audit.model.tables import BrokerApi


@gate_check(code="KA913", severity=Severity.HIGH)
def protocol_not_pinned(view: ClusterView) -> Judgements:
    """`inter.broker.protocol.version` is not set to the current protocol, so that upgraded brokers use the new one at once."""
    planned, minor = planned_upgrade(view), target_minor(planned_upgrade(view))
    if planned is None or minor is None:
        yield from no_upgrade(view)
        return
    if view.kraft or behaviour("kraft_only").holds(minor):
        reason = "in KRaft mode the feature metadata.version decides" if view.kraft else "Kafka 4 has no ZooKeeper (KA912)"
        yield view.not_applicable("cluster", reason)
        return
    offers: dict[int, dict[int, int]] = {}
    for row in view.of(BrokerApi):
        offers.setdefault(row.broker_id, {})[row.api_key] = row.max_version
    for broker in view.inter_broker.brokers:
        yield _of_broker(view, broker, ".".join(map(str, minor)), offers)
    yield from no_brokers(view)


def _of_broker(view: ClusterView, broker: int, target: str, offers: Mapping[int, Mapping[int, int]]) -> Judgement:
    resource, who = f"broker/{broker}", f"broker {broker}"
    pinned, current = pinned_protocol(view, broker), protocol_in_use(view)
    if pinned is None:
        needs = f"DescribeConfigs on Cluster, or server.properties of {who} (`properties` in the cluster file)"
        error = f"{INTER_BROKER_VERSION} of {who} is unknown"
        return view.unknown(resource, error, needs, who=who)
    protocol = pinned or target
    facts = {"broker": broker, "who": who, "protocol": protocol, "current": current or "CURRENT_VERSION"}
    others = [other for other in view.inter_broker.brokers if other != broker]
    unread = next((other for other in others if other not in offers), None)
    for other in filter(offers.__contains__, others):
        for request in sent_requests(version(protocol)):
            offered = offers[other].get(request.api_key)
            if offered is None or offered < request.version:
                newest = "no version of it" if offered is None else f"versions up to {offered}"
                fault = f"it sends {request.name} in version {request.version}, and broker {other} offers {newest}"
                return view.judge(resource, Status.FAIL, facts, fault=fault, other=other)
    if unread is not None:
        error, needs = f"broker {unread} did not answer ApiVersions", f"an answer from broker {unread}"
        return view.unknown(resource, error, needs, facts)
    if current is None:
        error, needs = f"{INTER_BROKER_VERSION} in effect is unknown", "DescribeConfigs on Cluster, answered by a broker"
        return view.unknown(resource, error, needs, facts)
    if version(protocol)[0] > version(current)[0]:
        fault = f"they understand it, but a downgrade to {current} is no longer supported"
        return view.judge(resource, Status.FAIL, facts, severity=Severity.MEDIUM, fault=fault)
    return view.judge(resource, Status.PASS, facts)

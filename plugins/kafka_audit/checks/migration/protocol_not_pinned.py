"""KA913."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import gate_check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.migration.common import (
    KRAFT_ONLY,
    no_upgrade,
    pinned_protocol,
    planned_upgrade,
    protocol_in_use,
    target_minor,
)
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.inter_broker_requests import sent_requests
from kafka_audit.configuration.starts.protocol_versions import INTER_BROKER_VERSION, version
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerApi


@gate_check(
    code="KA913",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Broker {broker} starts with protocol {protocol} after the upgrade, while others still run the old release: "
        "{fault}",
        Status.PASS: "Broker {broker} starts with protocol {protocol} after the upgrade, which every other broker understands",
        Status.UNKNOWN: "Cannot determine whether brokers understand {who} after its upgrade ({error})",
        Status.NOT_APPLICABLE: "No protocol to keep: {reason}",
    },
)
def protocol_not_pinned(view: ClusterView) -> Iterator[Judgement]:
    """`inter.broker.protocol.version` is not set to the current protocol, so that upgraded brokers use the new one at once.

    ## Why it matters
    Without the setting, a broker uses the protocol of its own release. It then fetches with a request that brokers of the old
    release do not know, which close the connection: its followers' replicas leave the ISR. If it becomes the controller, the
    others get no leaders. The cluster works again only when the last broker is upgraded. There is also no way back: once the
    protocol was raised, Kafka supports no downgrade.

    ## Fails when
    The file with which a broker starts after the upgrade leads to a protocol whose requests another broker of the running release
    does not offer (Fetch, LeaderAndIsr, UpdateMetadata, StopReplica, OffsetForLeaderEpoch, AlterPartition, AllocateProducerIds).
    MEDIUM if they all offer them, but the protocol is a new one: only the way back is lost. The file is the proposed one, else
    the present one, else what the broker reports of it.

    ## Not known when
    The plan names no known release, neither the file of the broker nor its settings were read, or another broker did not answer
    ApiVersions.

    ## Passes only when
    The protocol after the upgrade is known, and all other brokers offer its requests. In KRaft mode, and for Kafka 4.0 and
    later, which have no such protocol, the check does not apply.

    ## What to do
    Set `inter.broker.protocol.version={current}` in server.properties of broker {broker} before the upgrade. When every broker
    runs the new release without errors, raise it on one broker after the other, with a restart each.

    ## References
    Kafka 3.7 documentation, "Upgrading ZooKeeper-based clusters". `kafka.controller.ControllerChannelManager`,
    `MetadataVersion.fetchRequestVersion`.
    """
    planned, minor = planned_upgrade(view), target_minor(planned_upgrade(view))
    if planned is None or minor is None:
        yield from no_upgrade(view, "KA913")
        return
    if view.kraft or minor >= KRAFT_ONLY:
        reason = "in KRaft mode the feature metadata.version decides" if view.kraft else "Kafka 4 has no ZooKeeper (KA912)"
        yield view.judge("KA913", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    offers: dict[int, dict[int, int]] = {}
    for row in view.of(BrokerApi):
        offers.setdefault(row.broker_id, {})[row.api_key] = row.max_version
    for broker in view.inter_broker.brokers:
        yield _judged(view, broker, ".".join(map(str, minor)), offers)
    yield from no_brokers(view, "KA913")


def _judged(view: ClusterView, broker: int, target: str, offers: Mapping[int, Mapping[int, int]]) -> Judgement:
    resource, who = f"broker/{broker}", f"broker {broker}"
    pinned, current = pinned_protocol(view, broker), protocol_in_use(view)
    if pinned is None:
        needs = f"DescribeConfigs on Cluster, or server.properties of {who} (`properties` in the cluster file)"
        error = f"{INTER_BROKER_VERSION} of {who} is unknown"
        return view.judge("KA913", resource, Status.UNKNOWN, who=who, error=error, needs=needs)
    protocol = pinned or target
    facts = {"broker": broker, "who": who, "protocol": protocol, "current": current or "CURRENT_VERSION"}
    unread = None
    for other in (other for other in view.inter_broker.brokers if other != broker):
        if other not in offers:
            unread = unread or other
            continue
        for request in sent_requests(version(protocol)):
            offered = offers[other].get(request.api_key)
            if offered is None or offered < request.version:
                newest = "no version of it" if offered is None else f"versions up to {offered}"
                fault = f"it sends {request.name} in version {request.version}, and broker {other} offers {newest}"
                return view.judge("KA913", resource, Status.FAIL, facts, fault=fault, other=other)
    if unread is not None:
        error, needs = f"broker {unread} did not answer ApiVersions", f"an answer from broker {unread}"
        return view.judge("KA913", resource, Status.UNKNOWN, facts, error=error, needs=needs)
    if current is None:
        error, needs = f"{INTER_BROKER_VERSION} in effect is unknown", "DescribeConfigs on Cluster, answered by a broker"
        return view.judge("KA913", resource, Status.UNKNOWN, facts, error=error, needs=needs)
    if version(protocol)[0] > version(current)[0]:
        fault = f"they understand it, but a downgrade to {current} is no longer supported"
        return view.judge("KA913", resource, Status.FAIL, facts, severity=Severity.MEDIUM, fault=fault)
    return view.judge("KA913", resource, Status.PASS, facts)

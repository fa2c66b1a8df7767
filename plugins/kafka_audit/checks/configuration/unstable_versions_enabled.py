"""KA721."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import listing

_KEYS = ("unstable.feature.versions.enable", "unstable.metadata.versions.enable", "unstable.api.versions.enable")


@check(
    code="KA721",
    severity=Severity.MEDIUM,
    by_files=True,
    says={
        Status.FAIL: "Versions that are not released are enabled on {who} ({keys}); such a cluster cannot be upgraded",
        Status.PASS: "Released versions only are enabled on {who}",
        Status.UNKNOWN: "Cannot determine whether {who} enables versions that are not released ({error})",
    },
)
def unstable_versions_enabled(view: ClusterView) -> Iterator[Judgement]:
    """A node enables versions of features or requests that are still in development.

    ## Why it matters
    What such a version writes into the metadata log, or sends between brokers, may change before it is released, and no later
    release promises to read it. A cluster that was formatted or upgraded to it may not start with the next release of Kafka.

    ## Fails when
    `unstable.feature.versions.enable` (Kafka 3.8 and later), `unstable.metadata.versions.enable` (3.7) or
    `unstable.api.versions.enable` (3.5 and later) is true. Kafka's own tests need them.

    ## Not known when
    The settings of the node were not read, or contain a placeholder.

    ## Passes only when
    None of these keys is true. The check does not show whether such a version is in use: KA712 reads features.

    ## What to do
    Remove {keys} from server.properties of {who}, if the cluster uses released versions only: `kafka-features.sh
    --bootstrap-server BROKER:9092 describe` shows them, and `kafka-storage.sh version-mapping` those of the release. If it uses
    others, create a new cluster and copy the data.

    ## References
    KIP-1022 (features of a release); `org.apache.kafka.server.config.ServerConfigs`.
    """
    yield from one_finding(view, "KA721", _judged(view))
    if not view.settings.controllers:
        yield from no_brokers(view, "KA721")


def _judged(view: ClusterView) -> Iterator[Judgement]:
    settings = view.settings
    for node in sorted({*view.inter_broker.brokers, *settings.controllers}):
        who, resource = settings.party(node), settings.resource(node)
        found = {key: settings.get(node, key) for key in _KEYS}
        hidden = next((key for key, setting in found.items() if not setting.known), None)
        enabled = tuple(key for key, setting in found.items() if (setting.value or "").strip().lower() == "true")
        if enabled:
            facts = {"broker": node, "who": who, "keys": listing(enabled), "key": enabled[0]}
            yield view.judge("KA721", resource, Status.FAIL, facts)
        elif hidden:
            needs = f"DescribeConfigs on Cluster, or server.properties of {who} as it gets it"
            facts = {"who": who, "error": f"{hidden} is unknown", "needs": needs}
            yield view.judge("KA721", resource, Status.UNKNOWN, facts)
        else:
            yield view.judge("KA721", resource, Status.PASS, who=who)

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.model.text import listing

_KEYS = ("unstable.feature.versions.enable", "unstable.metadata.versions.enable", "unstable.api.versions.enable")


@check(code="KA721", severity=Severity.MEDIUM, by_files=True)
def unstable_versions_enabled(view: ClusterView) -> Judgements:
    """A node enables versions of features or requests that are still in development."""
    yield from one_finding(view, _of_nodes(view))
    if not view.settings.controllers:
        yield from no_brokers(view)


def _of_nodes(view: ClusterView) -> Judgements:
    settings = view.settings
    for node in sorted({*view.inter_broker.brokers, *settings.controllers}):
        who, resource = settings.party(node), settings.resource(node)
        found = {key: settings.get(node, key) for key in _KEYS}
        hidden = next((key for key, setting in found.items() if not setting.known), None)
        enabled = tuple(key for key, setting in found.items() if (setting.value or "").strip().lower() == "true")
        if enabled:
            facts = {"broker": node, "who": who, "keys": listing(enabled), "key": enabled[0]}
            yield view.judge(resource, Status.FAIL, facts)
        elif hidden:
            needs = f"DescribeConfigs on Cluster, or server.properties of {who} as it gets it"
            facts = {"who": who, "error": f"{hidden} is unknown", "needs": needs}
            yield view.judge(resource, Status.UNKNOWN, facts)
        else:
            yield view.judge(resource, Status.PASS, who=who)

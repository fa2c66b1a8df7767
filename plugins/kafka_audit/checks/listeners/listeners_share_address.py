from collections import defaultdict

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, no_endpoints, worst_each
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.compare.addresses import canonical_address


@check(code="KA322", severity=Severity.HIGH)
def listeners_share_address(view: ClusterView) -> Judgements:
    """Two listeners of a broker with different security advertise the same address."""
    endpoints = view.endpoints.all
    yield from no_endpoints(view, endpoints)
    at: dict[tuple[int, str, int], list[AdvertisedEndpoint]] = defaultdict(list)
    for endpoint in endpoints:
        at[endpoint.broker_id, *canonical_address(endpoint.host, endpoint.port)].append(endpoint)
    yield from worst_each(_of_endpoint(view, endpoint, sharing) for sharing in at.values() for endpoint in sharing)


def _of_endpoint(view: ClusterView, endpoint: AdvertisedEndpoint, sharing: list[AdvertisedEndpoint]) -> Judgement:
    protocols = {endpoint.protocol for endpoint in sharing}
    needs = "DescribeConfigs on Cluster, or server.properties"
    status, why = Status.PASS, {}
    if len(protocols - {None}) > 1:
        status = Status.FAIL
    elif len(sharing) > 1 and None in protocols:
        status = Status.UNKNOWN
        why = {"error": "the protocol of a listener is unknown", "needs": needs}
    elif view.kraft and endpoint.broker_id not in view.settings.answers.keys() | view.settings.files.keys():
        status = Status.UNKNOWN
        why = {"error": "its other listeners are unknown", "needs": needs}
    if status is Status.FAIL and endpoint.broker_id in view.endpoints.moved:
        status, why = Status.UNKNOWN, dict(MOVING)
    return view.judge(
        endpoint.resource,
        status,
        why,
        who=f"listener {endpoint.listener} of broker {endpoint.broker_id}",
        broker=endpoint.broker_id,
        listeners=tuple(sorted(endpoint.listener for endpoint in sharing)),
        host=min(endpoint.host for endpoint in sharing),  # all say the same, however the name is written
        port=endpoint.port,
    )

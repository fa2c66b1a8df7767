from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.faults.identities import answers_in_order
from kafka_audit.model.text import counted

_TWICE = 2


@check(code="KA320", severity=Severity.CRITICAL)
def brokers_answer_in_turn(view: ClusterView) -> Judgements:
    """Several brokers answer in turn at the endpoint that one broker advertises: a load balancer leads there."""
    found: dict[tuple[int, str, str], dict[str, Sequence[int]]] = defaultdict(dict)
    for (broker, listener, address, vantage), ids in answers_in_order(view).items():
        found[broker, listener, address][vantage] = ids
    for endpoint in view.advertised:
        yield _of_endpoint(view, endpoint, found[endpoint.broker_id, endpoint.listener, canonical_text(endpoint.address)])


def _of_endpoint(view: ClusterView, endpoint: AdvertisedEndpoint, answers: Mapping[str, Sequence[int]]) -> Judgement:
    evidence: dict[str, object] = {"broker": endpoint.broker_id, "host": endpoint.host, "port": endpoint.port}
    evidence["listener"] = endpoint.listener
    turning = {vantage: ids for vantage, ids in answers.items() if _in_turn(endpoint.broker_id, ids)}
    if turning:
        evidence["answering_brokers"] = tuple(sorted({broker for ids in turning.values() for broker in ids}))
        evidence["vantage"] = tuple(sorted(turning))
        return view.judge(endpoint.resource, Status.FAIL, evidence)
    if not answers:
        evidence["error"] = "no broker reported its id there"
        evidence["needs"] = "an open connection to it, and DescribeConfigs on Cluster"
        return view.judge(endpoint.resource, Status.UNKNOWN, evidence)
    if any(len(ids) > 1 and ids[-1] != ids[-2] for ids in answers.values()):
        return view.unknown(endpoint.resource, "a different broker answered than the time before", "another audit", evidence)
    times = counted(max(map(len, answers.values())), "sample")
    return view.judge(endpoint.resource, Status.PASS, evidence, times=times)


def _in_turn(broker: int, ids: Sequence[int]) -> bool:
    """Return whether the answer changes from connection to connection, and not once, as where a forward was changed."""
    others = [answered for answered in ids if answered != broker]
    turns = sum(one != other for one, other in pairwise(ids))
    return len(others) >= _TWICE and (turns >= _TWICE or (len({*others}) > 1 and ids[-1] != ids[-2]))

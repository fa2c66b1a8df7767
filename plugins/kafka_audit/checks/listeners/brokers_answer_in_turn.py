"""KA320."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from kafka_audit.checks import check
from kafka_audit.cluster.view import AdvertisedEndpoint, ClusterView
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.diagnosis.identities import answers_in_order
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import counted

_TWICE = 2


@check(
    code="KA320",
    severity=Severity.CRITICAL,
    says={
        Status.FAIL: "Clients that connect to broker {broker} at {host}:{port} ({listener}) reach brokers {answering_brokers} in "
        "turn, seen from {vantage}",
        Status.PASS: "The same broker answered at {host}:{port} ({listener} of broker {broker}) in {times}",
        Status.UNKNOWN: "Cannot determine whether one broker answers at {host}:{port} ({listener} of broker {broker}): {error}",
    },
)
def brokers_answer_in_turn(view: ClusterView) -> Iterator[Judgement]:
    """Several brokers answer in turn at the endpoint that one broker advertises: a load balancer leads there.

    ## Why it matters
    A client must reach the leader of a partition, not any broker. Behind one address of a load balancer, or a name that leads to
    all brokers, bootstrap works, and about two of three requests fail with NOT_LEADER_OR_FOLLOWER. A new attempt may succeed, so
    that the fault looks like an unstable cluster.

    ## Fails when
    From one vantage, the brokers that answered at the same advertised address differ between samples: another one than the
    broker that advertises it answered twice, and the answer changed to a third broker, or more than once. The last sample of the
    previous snapshot counts.

    ## Not known when
    No broker reported its id there (KA111 says why), or the answer changed once: a forward may have been changed.

    ## Passes only when
    The same broker answered in each sample. KA111 reports whether it is the right one, KA319 each address of a name that has
    several.

    ## What to do
    Run `kafka-configs.sh --bootstrap-server {host}:{port} --describe --entity-type brokers --entity-name {broker}` several times:
    it fails with `Unexpected broker id, expected …` while another broker answers. In `advertised.listeners` of broker {broker}
    set an address that leads to this broker alone: its own name, or a port of the load balancer with this broker as its only
    target. Use the address of the load balancer for `bootstrap.servers` only.

    ## References
    Error 42 INVALID_REQUEST of `kafka.server.ConfigHelper`; KIP-302 (all addresses of a name).
    """
    found: dict[tuple[int, str, str], dict[str, Sequence[int]]] = defaultdict(dict)
    for (broker, listener, address, vantage), ids in answers_in_order(view).items():
        found[broker, listener, address][vantage] = ids
    for endpoint in view.advertised:
        yield _judged(view, endpoint, found[endpoint.broker_id, endpoint.listener, canonical_text(endpoint.address)])


def _judged(view: ClusterView, endpoint: AdvertisedEndpoint, answers: Mapping[str, Sequence[int]]) -> Judgement:
    evidence: dict[str, object] = {"broker": endpoint.broker_id, "host": endpoint.host, "port": endpoint.port}
    evidence["listener"] = endpoint.listener
    turning = {vantage: ids for vantage, ids in answers.items() if _in_turn(endpoint.broker_id, ids)}
    if turning:
        evidence["answering_brokers"] = tuple(sorted({broker for ids in turning.values() for broker in ids}))
        evidence["vantage"] = tuple(sorted(turning))
        return view.judge("KA320", endpoint.resource, Status.FAIL, evidence)
    if not answers:
        evidence["error"] = "no broker reported its id there"
        evidence["needs"] = "an open connection to it, and DescribeConfigs on Cluster"
        return view.judge("KA320", endpoint.resource, Status.UNKNOWN, evidence)
    if any(len(ids) > 1 and ids[-1] != ids[-2] for ids in answers.values()):
        evidence |= {"error": "another broker answered the last time than the time before", "needs": "another audit"}
        return view.judge("KA320", endpoint.resource, Status.UNKNOWN, evidence)
    times = counted(max(map(len, answers.values())), "sample")
    return view.judge("KA320", endpoint.resource, Status.PASS, evidence, times=times)


def _in_turn(broker: int, ids: Sequence[int]) -> bool:
    """Return whether the answer changes from connection to connection, and not once, as where a forward was changed."""
    others = [answered for answered in ids if answered != broker]
    turns = sum(one != other for one, other in pairwise(ids))
    return len(others) >= _TWICE and (turns >= _TWICE or (len({*others}) > 1 and ids[-1] != ids[-2]))

"""KA110."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.checks.metadata.view_differences import judgement, view_effects
from kafka_audit.cluster.view import ClusterView, HeldView
from kafka_audit.diagnosis.edges import Effect
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status


@check(
    code="KA110",
    severity=Severity.CRITICAL,
    parts=("cluster id",),
    says={
        Status.FAIL: "Broker {broker} belongs to another cluster; it reports cluster id {said}, the audited cluster is "
        "{zookeeper}",
        Status.PASS: "Broker {broker} reports the audited cluster's id ({zookeeper})",
        Status.UNKNOWN: "Cannot determine whether {who} belongs to this cluster ({error})",
        Status.NOT_APPLICABLE: "No cluster id to compare with: {reason}",
    },
)
def foreign_cluster_id(view: ClusterView) -> Iterator[Judgement]:
    """A broker belongs to a cluster other than the audited one.

    ## Why it matters
    Clients write records to the wrong cluster and read from it. The address was given to another host, a port forward leads
    elsewhere, or the broker was started with another `zookeeper.connect` or a wrong chroot.

    ## Fails when
    The cluster id in the broker's Metadata response differs from `/cluster/id`, or from `expect.cluster_id` in the cluster
    file, in two samples. The rest of that broker's view is not compared with this cluster.

    In KRaft mode the id is compared with `expect.cluster_id`. If the cluster file does not set it, it is compared with the id
    that most brokers report: inferred, and suspected if as many report another one.

    ## Not known when
    The broker returned no view or no cluster id, ZooKeeper was not read, or the difference was seen once. The check does not
    apply in KRaft mode if all brokers that answered report one id and the cluster file expects none: set `expect.cluster_id`,
    because an address that leads to another cluster looks the same.

    ## Passes only when
    The broker answered with the id of `/cluster/id` (KRaft: of most brokers), and with `expect.cluster_id` if the cluster file
    sets it.

    ## What to do
    Read the cluster id at that address: `kafka-cluster.sh cluster-id --bootstrap-server ADDRESS` (Kafka 2.8 and later),
    or `grep cluster.id LOG_DIR/meta.properties` on the host (2.4 and later), or `grep 'Cluster ID =' server.log` (with
    ZooKeeper). Correct the port forward, the host name or `zookeeper.connect`. If all brokers differ from `expect.cluster_id`,
    the expectation or the ZooKeeper address is wrong.

    ## References
    KIP-78 (cluster id); `InconsistentClusterIdException` when a broker starts with a `meta.properties` of another cluster
    (Kafka 2.4 and later).
    """
    if view.kraft:
        yield from _in_kraft(view)
        return
    held = None if view.state is None else view.state.kafka_cluster_id
    expected = None if view.info is None else view.info.expect_cluster_id
    right = expected if held is None else held
    unknown = Effect(state="unknown", error="there is no /cluster/id", needs="expect.cluster_id in the cluster file")
    for observer, effect in view_effects(view, "cluster"):
        difference = effect.difference
        yield judgement(
            view,
            "KA110",
            observer,
            unknown if right is None and effect.state == "works" else effect,
            zookeeper=right if difference is None else difference.reference,
            said=(difference and difference.view) or observer.kafka_cluster_id,
        )


def _in_kraft(view: ClusterView) -> Iterator[Judgement]:
    """Judge brokers by the id that is expected, else by that of most of them."""
    now, before = _cluster_ids(view.held_views), _cluster_ids(view.held_views_before)
    if not now:
        gap = {"error": "no broker reports a cluster id", "needs": "an answer to Metadata"}
        yield view.judge("KA110", "cluster", Status.UNKNOWN, gap, who="any broker")
        return
    holders = Counter(cluster_id for reported in now.values() for cluster_id in set(reported.values()))
    expected = None if view.info is None else view.info.expect_cluster_id
    if expected is None and len(holders) < 2:  # noqa: PLR2004 -- one id has nothing beside it
        reason = "all brokers that answered report one id, and the cluster file has no `expect.cluster_id`"
        yield view.judge("KA110", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    right = expected or max(holders, key=lambda holder: (holders[holder], holder))
    confidence = Confidence.MEASURED if expected else Confidence.INFERRED
    if not expected and list(holders.values()).count(holders[right]) > 1:
        confidence = Confidence.SUSPECTED
    for observer in view.observers:
        cluster_ids = now.get(observer.name, {})
        evidence: dict[str, object] = {"broker": observer.name, "who": f"broker {observer.name}", "zookeeper": right}
        others = {address: cluster_id for address, cluster_id in cluster_ids.items() if cluster_id != right}
        if others:
            lasting = any(before.get(observer.name, {}).get(address) == cluster_id for address, cluster_id in others.items())
            evidence |= {"said": tuple(sorted(set(others.values()))), "addresses": tuple(sorted(others))}
            if lasting:
                yield view.judge("KA110", observer.resource, Status.FAIL, evidence, confidence=confidence)
            else:
                yield view.judge("KA110", observer.resource, Status.UNKNOWN, evidence | ONCE)
        elif cluster_ids:
            yield view.judge("KA110", observer.resource, Status.PASS, evidence)
        else:
            gap = {"error": observer.error or "it reports no cluster id", "needs": observer.needs or "an answer to Metadata"}
            yield view.judge("KA110", observer.resource, Status.UNKNOWN, evidence | gap)


def _cluster_ids(views: Iterable[HeldView]) -> Mapping[str, Mapping[str, str]]:
    """Return the cluster id that each broker reports at each address, by the broker's name."""
    found: dict[str, dict[str, str]] = {}
    for held in views:
        if held.row.kafka_cluster_id is not None:
            found.setdefault(held.name, {})[held.row.address] = held.row.kafka_cluster_id
    return found

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.checks.incident import Case, StoryFacts
from kafka_audit.checks.metadata.view_differences import shown_by_each
from kafka_audit.cluster.views import HeldView
from kafka_audit.faults.edges import Effect


@check(code="KA110", severity=Severity.CRITICAL, parts=("cluster id",))
def foreign_cluster_id(view: ClusterView) -> Judgements:
    """A broker belongs to a cluster other than the audited one."""
    if view.kraft:
        yield from _in_kraft(view)
        return
    held = None if view.state is None else view.state.kafka_cluster_id
    expected = None if view.info is None else view.info.expect_cluster_id
    right = expected if held is None else held
    unknown = Effect(state="unknown", error="there is no /cluster/id", needs="expect.cluster_id in the cluster file")
    for shown in shown_by_each(view, "cluster"):
        difference = shown.difference
        judged = replace(shown, effect=unknown) if right is None and shown.effect.state == "works" else shown
        yield judged.judgement(
            zookeeper=right if difference is None else difference.reference,
            said=(difference and difference.view) or shown.observer.kafka_cluster_id,
        )


def _in_kraft(view: ClusterView) -> Judgements:
    """Judge brokers by the id that is expected, else by that of most of them."""
    now, before = _cluster_ids(view.held_views), _cluster_ids(view.held_views_before)
    if not now:
        gap = {"error": "no broker reports a cluster id", "needs": "an answer to Metadata"}
        yield view.judge("cluster", Status.UNKNOWN, gap, who="any broker")
        return
    holders = Counter(cluster_id for reported in now.values() for cluster_id in set(reported.values()))
    expected = None if view.info is None else view.info.expect_cluster_id
    if expected is None and len(holders) < 2:  # noqa: PLR2004 -- one id has nothing beside it
        reason = "all brokers that answered report one id, and the cluster file has no `expect.cluster_id`"
        yield view.not_applicable("cluster", reason)
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
                yield view.judge(observer.resource, Status.FAIL, evidence, confidence=confidence)
            else:
                yield view.judge(observer.resource, Status.UNKNOWN, evidence | ONCE)
        elif cluster_ids:
            yield view.judge(observer.resource, Status.PASS, evidence)
        else:
            gap = {"error": observer.error or "it reports no cluster id", "needs": observer.needs or "an answer to Metadata"}
            yield view.judge(observer.resource, Status.UNKNOWN, evidence | gap)


def _cluster_ids(views: Iterable[HeldView]) -> Mapping[str, Mapping[str, str]]:
    """Return the cluster id that each broker reports at each address, by the broker's name."""
    found: dict[str, dict[str, str]] = {}
    for view_held in views:
        if view_held.row.kafka_cluster_id is not None:
            found.setdefault(view_held.name, {})[view_held.row.address] = view_held.row.kafka_cluster_id
    return found


def addresses_to_ask(case: Case) -> StoryFacts:
    """Return an endpoint of each broker, to ask for its cluster id."""
    return StoryFacts(facts={"ask": tuple(end for broker in case.brokers[:3] for end in case.view.endpoints.of(broker)[:1])})

from collections.abc import Collection, Mapping
from functools import partial

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.incident import Case, StoryFacts
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.given import capped
from kafka_audit.differences.tables import ReplicaState
from kafka_audit.model.tables import BrokerApi

_NAMED = 5


@check(code="KA605", severity=Severity.HIGH, parts=("topics",))
def too_few_replicas(view: ClusterView) -> Judgements:
    """A partition requires all of its replicas to be in sync."""
    more = partial(_repair, view.brokers.keys(), capped(view.of(BrokerApi)))
    yield from judge_partitions(view, "too_few_replicas", momentary=False, min_isr=True, more=more)


def _repair(brokers: Collection[int], limited: Collection[int], state: ReplicaState) -> Mapping[str, object]:
    others = tuple(sorted({*brokers} - {*state.replicas}))
    more = " or more" if state.leader in limited and state.min_isr == len(state.replicas) else ""
    adding = len(state.replicas) - state.factor
    evidence = {"adding": adding, "topic": state.topic, "fewer": state.factor - 1, "others": others[:_NAMED] or None}
    return evidence | {"setting": f"{state.min_isr}{more}", "advice": "wait" if adding > 0 else "add" if others else "lower"}


def topics_to_lower(case: Case) -> StoryFacts:
    """Return each topic with what it may require instead."""
    fewer = {root.text("topic"): root.number("fewer") for root in case.roots}
    factors = {root.number("factor") for root in case.roots}
    topics = {root.resource.topic for root in case.roots}
    refused = [f for f in case.findings if f.code == "KA602" and f.status is Status.FAIL and f.resource.topic in topics]
    facts = {
        "refused": len(refused),
        "out": tuple(sorted({broker for finding in refused for broker in finding.numbers("missing")})),
        "lowered": [{"topic": topic, "fewer": least} for topic, least in fewer.items()],
        "others": case.roots[0].numbers("others"),
        "single": len(fewer) == 1,
        "topics": len(fewer),
        "whole": "both" if factors == {2} else f"all {factors.pop()}" if len(factors) == 1 else "all of its",
    }
    return StoryFacts(facts=facts)

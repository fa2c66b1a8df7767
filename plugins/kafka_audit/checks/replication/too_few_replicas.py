from collections.abc import Collection, Mapping
from functools import partial

from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.incident import Case, StoryFacts
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.differences.tables import ReplicaState

_NAMED = 5


@check(code="KA605", severity=Severity.HIGH, parts=("topics",))
def too_few_replicas(view: ClusterView) -> Judgements:
    """A partition requires all of its replicas to be in sync."""
    more = partial(_repair, view.brokers.keys())
    yield from judge_partitions(view, "too_few_replicas", momentary=False, min_isr=True, more=more)


def _repair(brokers: Collection[int], state: ReplicaState) -> Mapping[str, object]:
    others = tuple(sorted({*brokers} - {*state.replicas}))
    adding = len(state.replicas) - state.factor
    evidence = {"adding": adding, "topic": state.topic, "fewer": state.factor - 1, "others": others[:_NAMED] or None}
    return evidence | {"advice": "wait" if adding > 0 else "add" if others else "lower"}


def topics_to_lower(case: Case) -> StoryFacts:
    """Return each topic with what it may require instead."""
    fewer = {root.text("topic"): root.number("fewer") for root in case.roots}
    factors = {root.number("factor") for root in case.roots}
    facts = {
        "lowered": [{"topic": topic, "fewer": least} for topic, least in fewer.items()],
        "others": case.roots[0].numbers("others"),
        "single": len(fewer) == 1,
        "topics": len(fewer),
        "whole": "both" if factors == {2} else f"all {factors.pop()}" if len(factors) == 1 else "all of its",
    }
    return StoryFacts(facts=facts)

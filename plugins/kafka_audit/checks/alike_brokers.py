"""Brokers with the same result of a check: one finding of the cluster that names them, instead of one for each."""

from collections import defaultdict
from collections.abc import Iterable

from kafka_audit.checks import ClusterView, Judgement, Judgements, Status
from kafka_audit.model.finding import Resource
from kafka_audit.model.text import brokers

_OWN = frozenset({"broker", "who"})
"""Evidence that names the broker itself."""


def one_finding(view: ClusterView, judgements: Iterable[Judgement]) -> Judgements:
    """Yield judgements of brokers; failures with the same evidence, the most of them, are one of the cluster.

    Its evidence names the brokers: `brokers` as ids, `who` for a sentence. Files alone are judged one by one, because a finding
    belongs to a line of its file.
    """
    given = tuple(judgements)
    groups: dict[object, list[Judgement]] = defaultdict(list)
    for judgement in given if view.inter_broker.asked else ():
        if judgement.status is Status.FAIL and Resource.of(judgement.resource).broker is not None:
            evidence = sorted((key, value) for key, value in judgement.evidence.items() if key not in _OWN)
            groups[judgement.severity, judgement.confidence, repr(evidence)].append(judgement)
    same = max(groups.values(), key=len, default=[])
    if len(same) == 1:
        same = []
    in_same = {id(judgement) for judgement in same}  # not by comparing each with all of them
    yield from (judgement for judgement in given if id(judgement) not in in_same)
    if same:
        first, ids = same[0], [broker for judgement in same if (broker := Resource.of(judgement.resource).broker) is not None]
        reported: dict[str, object] = {key: value for key, value in first.evidence.items() if key not in _OWN}
        reported |= {"brokers": tuple(ids), "who": brokers(ids)}
        yield view.judge("cluster", Status.FAIL, reported, severity=first.severity, confidence=first.confidence)

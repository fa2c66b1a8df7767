"""Findings without a cause: findings of one code are one incident, with their number and the first ten."""

from types import MappingProxyType

from kafka_audit.incidents.causes.repair import prove
from kafka_audit.incidents.causes.rule import Case, Story, changed_before, evidence_of
from kafka_audit.model.finding import Step
from kafka_audit.model.text import brokers, counted, fitting, start_upper

_CHANGES = ("endpoint", "config", "version", "broker_went")
_KINDS = MappingProxyType({"logdir": "log dir", "config": "setting"})


def story(case: Case) -> Story:
    """Return the story of findings of one code as one incident."""
    first = case.roots[0]
    return Story(
        headline=_headline(case),
        impact="" if len(case.roots) == 1 else f"{counted(len(case.roots), 'finding')} of {first.code}.",
        confidence=case.confidence(),
        why=f"{first.code} compares this directly; no further cause was examined.",
        speaks_for=(*evidence_of(case.roots), *changed_before(case, _CHANGES)),
        steps=(*((Step(kind="quick", text=first.remedy),) if first.remedy else ()), prove(case)),
    )


def _headline(case: Case) -> str:
    """Return what the first finding says, in as many words as fit, and where else it holds."""
    first, elsewhere = case.roots[0], _elsewhere(case)
    texts = (*(first.headlines or (first.message,)), start_upper(first.name.replace("_", " ")))
    return fitting([f"{text}{elsewhere}" for text in texts])


def _elsewhere(case: Case) -> str:
    first, *others = case.roots
    if not {root.message for root in others} - {first.message}:
        return ""  # alone, or all say the same of the same brokers
    if len(case.brokers) == len(case.roots):
        return f" (same for {brokers(broker for broker in case.brokers if broker != first.resource.broker)})"
    kinds = {_KINDS.get(root.resource.type, root.resource.type) for root in case.roots}
    kind = kinds.pop() if len(kinds) == 1 else "resource"
    return f" (same for {counted(len(others), f'more {kind}')})"

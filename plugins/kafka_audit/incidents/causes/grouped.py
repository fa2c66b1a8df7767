"""Findings without a cause: findings of one code are one incident, with their number and the first ten."""

from kafka_audit.incidents.causes.repair import prove
from kafka_audit.incidents.causes.rule import Case, Story, changed_before, evidence_of, spread
from kafka_audit.model.finding import Step
from kafka_audit.model.text import brokers, counted, fitting, start_upper


def story(case: Case) -> Story:
    """Return the story of findings of one code as one incident."""
    first = case.roots[0]
    kinds = {"endpoint": "address", "config": "setting", "version": "version", "broker_went": "registration"}
    return Story(
        headline=_headline(case),
        impact="" if len(case.roots) == 1 else f"{counted(len(case.roots), 'finding')} of {first.code}.",
        confidence=case.confidence(),
        why=f"{first.code} compares this directly; no further cause was examined.",
        speaks_for=(*evidence_of(case.roots), *changed_before(case, kinds)),
        steps=(*((Step(kind="quick", text=first.remediation),) if first.remediation else ()), prove(case)),
    )


def _headline(case: Case) -> str:
    first, what = case.roots[0], case.roots[0].name.replace("_", " ")
    if len(case.roots) == 1:
        return fitting([start_upper(first.summary or first.message), f"{start_upper(_whom(case))}: {what}"])
    return fitting([f"{start_upper(_whom(case))}: {what}", f"{counted(len(case.roots), 'resource')}: {what}"])


def _whom(case: Case) -> str:
    names = [root.resource.name for root in case.roots]
    if all(root.resource.broker is not None for root in case.roots):
        per_broker = "" if len(names) == len(case.brokers) else f", {len(names)} places"
        return brokers(case.brokers) + per_broker
    if all(root.resource.partition is not None for root in case.roots):
        return spread(case.roots)
    return counted(len(names), "resource")

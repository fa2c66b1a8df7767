"""Certificates of KRaft controllers that those who connect to them reject."""

from kafka_audit.checks.incident import Case, StoryFacts, evidence_of
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.model.finding import Finding


def at_the_certificate(case: Case, symptom: Finding) -> bool:
    """Explain what is about the addresses at which these certificates are shown, and about no other one."""
    theirs = {canonical_text(root.resource.controller or "") for root in case.roots}
    at = symptom.texts("addresses") if symptom.resource.controller is None else (symptom.resource.controller,)
    return bool(at) and {canonical_text(address) for address in at} <= theirs


def rejected_certificates(case: Case) -> StoryFacts:
    """Return whose certificates are rejected, and whether the next election fails because of it."""
    elections = tuple(finding for finding in case.explained if finding.code == "KA218")
    whose = tuple(sorted(root.resource.controller or "" for root in case.roots))
    facts = {"several": len(case.roots) > 1, "whose": whose, "election": bool(elections)}
    return StoryFacts(facts=facts, also=evidence_of(elections))

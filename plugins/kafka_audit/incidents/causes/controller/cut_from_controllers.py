"""KRaft: from a broker's host, controllers are unreachable that others reach."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.controller.behind_controllers import CODES, OF_BROKERS_BEHIND, symptom_of
from kafka_audit.incidents.causes.repair import connect_commands_to, prove
from kafka_audit.incidents.causes.rule import Case, Cause, Story, changed_before, evidence_of
from kafka_audit.model.finding import Severity, Step
from kafka_audit.model.text import brokers, fitting, listing, start_upper

CODE = "KA216"


def cases(case: Case) -> Iterable[Case]:
    """Take the brokers that reach no controller as one fault, and those that reach some of them as another."""
    all_missed = tuple(root for root in case.roots if root.severity is Severity.CRITICAL)
    some_missed = tuple(root for root in case.roots if root.severity is not Severity.CRITICAL)
    return tuple(replace(case, roots=roots) for roots in (all_missed, some_missed) if roots)


def story(case: Case) -> Story:
    """Return the story: who does not reach which controllers, and what follows."""
    subject, single = brokers(case.brokers), len(case.brokers) == 1
    addresses = _addresses(case)
    return Story(
        headline=_headline(case),
        impact=f"The controllers fence {subject} when heartbeats stop. "
        f"Clients that ask {'it' if single else 'them'} receive stale metadata.",
        confidence=case.confidence(),
        why=f"The probe from the host of {subject} failed in two samples, and another host reaches the same addresses.",
        speaks_for=(
            *evidence_of(case.roots),
            *evidence_of(finding for finding in case.explained if finding not in case.roots),
            *log_quotes.to_controllers(case),
            *changed_before(case, {"endpoint": "address", "config": "setting", "version": "version"}),
        ),
        steps=(
            Step(
                kind="see",
                text=f"See it yourself on the host of {subject} (reads only).",
                commands=connect_commands_to(addresses),
            ),
            Step(
                kind="quick",
                text=f"Allow connections from {subject} to {listing(addresses, 3)}: firewall, security group or NetworkPolicy. "
                "If a name is not resolved there, repair DNS or /etc/hosts. The view then catches up without a restart.",
            ),
            prove(case),
        ),
    )


def _addresses(case: Case) -> list[str]:
    return sorted({address for root in case.roots for address in root.texts("addresses")})


def _headline(case: Case) -> str:
    subject, single = start_upper(brokers(case.brokers)), len(case.brokers) == 1
    symptoms = sorted((f for f in case.explained if f.code in CODES), key=lambda finding: CODES.index(finding.code))
    shows = f" and {symptom_of(symptoms, single=single)}" if symptoms else ""
    all_missed = case.roots[0].severity is Severity.CRITICAL
    missed = f"{'its' if single else 'their'} controllers" if all_missed else f"controllers {listing(_addresses(case), 2)}"
    errors = listing(sorted({root.text("error") for root in case.roots}))
    return fitting(
        [
            f"{subject} cannot reach {missed}{shows}: {errors}",
            f"{subject} cannot reach {missed}{shows}",
            f"{subject} cannot reach {missed}",
            f"{subject} cannot reach {'its' if single else 'their'} controllers",
        ]
    )


CUT_FROM_CONTROLLERS = Cause(
    codes=(CODE,),
    meaning="a broker's host does not reach KRaft controllers that others reach",
    cases=cases,
    story=story,
    explains=OF_BROKERS_BEHIND,
)

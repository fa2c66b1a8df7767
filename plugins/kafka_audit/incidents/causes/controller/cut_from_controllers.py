"""KRaft: from a broker's host, controllers are unreachable that others reach."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.controller.behind_controllers import CODES, OF_BROKERS_BEHIND, symptom_of
from kafka_audit.incidents.causes.repair import connect_commands_to
from kafka_audit.incidents.causes.rule import Case, Cause, Story, evidence_of
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.finding import Finding

CODE = "KA216"


def cases(case: Case) -> Iterable[Case]:
    """Take the brokers that reach no controller as one fault, and those that reach some of them as another."""
    all_missed = tuple(root for root in case.roots if _misses_all(root))
    some_missed = tuple(root for root in case.roots if not _misses_all(root))
    return tuple(replace(case, roots=roots) for roots in (all_missed, some_missed) if roots)


def _misses_all(root: Finding) -> bool:
    return root.number("count") == root.number("total")


def story(case: Case) -> Story:
    """Return the story: who does not reach which controllers, and what follows."""
    symptoms = [finding for finding in case.explained if finding.code in CODES]
    addresses = sorted({address for root in case.roots for address in root.texts("addresses")})
    return told(
        case,
        "controller/cut_from_controllers cut",
        evidence=(
            *evidence_of(case.roots),
            *evidence_of(finding for finding in case.explained if finding not in case.roots),
            *log_quotes.to_controllers(case),
        ),
        addresses=tuple(addresses),
        shows=symptom_of(symptoms, single=len(case.brokers) == 1) if symptoms else "",
        all_missed=_misses_all(case.roots[0]),
        errors=tuple(sorted({root.text("error") for root in case.roots})),
        connect=connect_commands_to(addresses),
    )


CUT_FROM_CONTROLLERS = Cause(
    codes=(CODE,),
    meaning="a broker's host does not reach KRaft controllers that others reach",
    cases=cases,
    story=story,
    explains=OF_BROKERS_BEHIND,
)

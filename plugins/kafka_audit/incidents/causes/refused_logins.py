"""KA001: brokers that refuse the auditor's login, or whose SCRAM is not to be trusted; and who accepted the same login."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.incidents.causes.rule import Case, Cause, Explains, Story, at_the_broker, evidence_of
from kafka_audit.incidents.causes.told import told
from kafka_audit.incidents.causes.unread_sources import (
    brokers_of,
    evidence_of_failed_reads,
    failed_reads,
    roots_of_brokers,
)
from kafka_audit.model.finding import Evidence, Finding
from kafka_audit.model.read_failure import LOGIN_REFUSALS, ReadFailure
from kafka_audit.model.text import brokers, listing

_SHOWN = 3
_DOUBTFUL = (ReadFailure.SCRAM_WEAK, ReadFailure.SCRAM_NOT_VERIFIED)


def doubtful(case: Case) -> Iterable[Case]:
    """Take the brokers where the auditor ended its login as one fault for each reason."""
    for failure in _DOUBTFUL:
        roots = tuple(
            root for root in roots_of_brokers(case) if any(read.failure is failure for read in failed_reads(case, root))
        )
        if roots:
            yield replace(case, roots=roots)


def logins(case: Case) -> Iterable[Case]:
    """Take the brokers that refuse the auditor's login, and those where it was not tried therefore, as one fault: one account."""
    roots = tuple(root for root in roots_of_brokers(case) if _refuses(case, root) or _is_paused(case, root))
    return (replace(case, roots=roots),) if roots else ()


def _refuses(case: Case, root: Finding) -> bool:
    return any(read.failure in LOGIN_REFUSALS for read in failed_reads(case, root))


def _is_paused(case: Case, root: Finding) -> bool:
    return any(read.failure is ReadFailure.LOGIN_PAUSED for read in failed_reads(case, root))


def accepting(case: Case) -> tuple[int, ...]:
    """Return the brokers that let the auditor in with the same user and password."""
    return tuple(sorted({broker for root in case.roots for broker in root.numbers("accepted_by")} - {*case.brokers}))


def _evidence(case: Case) -> tuple[Evidence, ...]:
    """Return who accepted the same login, and where, and the reads that failed."""
    others = accepting(case)
    where = listing(sorted({listener for root in case.roots for listener in root.texts("accepted_at")}), _SHOWN)
    accepted = Evidence(observer=brokers(others), text=f"accepted the same user and password at listener {where}")
    failed = evidence_of_failed_reads(case) or evidence_of(case.roots)
    return (accepted, *failed) if others else failed


def login_story(case: Case) -> Story:
    """Return the story that the auditor is not let in, by all brokers or by some."""
    refusing = replace(case, roots=tuple(root for root in case.roots if _refuses(case, root)) or case.roots)
    paused = tuple(root for root in case.roots if root not in refusing.roots)
    return _story_of_some(refusing) if accepting(case) and not paused else _story_of_all(case, refusing, paused)


def _story_of_all(case: Case, refusing: Case, paused: tuple[Finding, ...]) -> Story:
    return told(
        case,
        "refused_logins by_all",
        evidence=evidence_of_failed_reads(case) or evidence_of(case.roots),
        who=brokers_of(case),
        refusing=brokers_of(refusing),
        refusals=len(refusing.roots),
        untried=brokers_of(replace(case, roots=paused)) if paused else "",
        targets=_targets(refusing),
    )


def _story_of_some(case: Case) -> Story:
    """Return the story that brokers refuse a login that others accept: the fault is theirs."""
    return told(
        case,
        "refused_logins by_some",
        evidence=_evidence(case),
        who=brokers_of(case),
        others=accepting(case),
        targets=_targets(case),
        ports=_ports(case),
    )


def doubtful_story(case: Case) -> Story:
    """Return the story that what answers as a broker is not to be trusted with the password."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    failure = next(failure for read in reads if (failure := read.failure) in _DOUBTFUL)
    return told(
        case,
        "refused_logins doubtful",
        evidence=_evidence(case),
        weak=failure is ReadFailure.SCRAM_WEAK,
        who=brokers_of(case),
        others=accepting(case),
        ports=_ports(case),
    )


def _ports(case: Case) -> tuple[str, ...]:
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    return tuple(dict.fromkeys(str(port) for read in reads for _, port in addresses_of(read.target)))[:_SHOWN]


def _targets(case: Case) -> tuple[str, ...]:
    return tuple(dict.fromkeys(read.target for root in case.roots for read in failed_reads(case, root)))[:_SHOWN]


DOUBTFUL_LOGIN = Cause(
    codes=("KA001",),
    tier="rights",
    meaning="the party at the address of a broker requests a weak SCRAM proof, or does not prove that it has the credential",
    cases=doubtful,
    story=doubtful_story,
    explains=(Explains(codes=("KA301", "KA002"), where=at_the_broker),),
)

LOGIN_REFUSED = Cause(
    codes=("KA001",),
    tier="rights",
    meaning="brokers do not accept the auditor's login",
    cases=logins,
    story=login_story,
    explains=(Explains(codes=("KA301", "KA002"), where=at_the_broker),),
)

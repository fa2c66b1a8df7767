"""Incidents of logins: brokers that refuse that of the auditor, or whose SCRAM is not to be trusted; and who accepted it."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks.audit.unread_sources import brokers_of, evidence_of_failed_reads, failed_reads, roots_of_brokers
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.model.finding import Evidence, Finding
from kafka_audit.model.read_failure import LOGIN_REFUSALS, ReadFailure
from kafka_audit.model.text import brokers, clean, listing

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


def refused_by_some(case: Case) -> Iterable[Case]:
    """Take the same where other brokers accept the login, and each of these was tried: the fault is theirs."""
    return (one for one in logins(case) if accepting(one) and not _paused(one))


def refused_by_all(case: Case) -> Iterable[Case]:
    """Take the same where no broker accepts the login, or it was not tried everywhere."""
    return (one for one in logins(case) if not accepting(one) or _paused(one))


def _paused(case: Case) -> tuple[Finding, ...]:
    return tuple(root for root in case.roots if not _refuses(case, root)) if any(_refuses(case, r) for r in case.roots) else ()


def of_all(case: Case) -> StoryFacts:
    """Return which brokers refuse the auditor, and where the login was not tried therefore."""
    paused = _paused(case)
    refusing = replace(case, roots=tuple(root for root in case.roots if root not in paused))
    reads = [read for root in refusing.roots for read in failed_reads(case, root)]
    failures = {read.failure for read in reads}
    facts = {
        "who": brokers_of(case),
        "refusing": brokers_of(refusing),
        "refusals": len(refusing.roots),
        "untried": brokers_of(replace(case, roots=paused)) if paused else "",
        "targets": _targets(refusing),
        "wanted": ReadFailure.LOGIN_WANTED in failures,
        "not_taken": ReadFailure.LOGIN_NOT_TAKEN in failures,
        "needed": tuple(dict.fromkeys(clean(read.needs, 300) for read in reads if read.needs))[:_SHOWN],
    }
    return StoryFacts(facts=facts, evidence=evidence_of_failed_reads(case) or evidence_of(case.roots))


def of_some(case: Case) -> StoryFacts:
    """Return which brokers refuse a login, and which accept it."""
    facts = {"who": brokers_of(case), "others": accepting(case), "targets": _targets(case), "ports": _ports(case)}
    return StoryFacts(facts=facts, evidence=_evidence(case))


def doubtful_logins(case: Case) -> StoryFacts:
    """Return that what answers as a broker is not to be trusted with the password, and why."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    failure = next(failure for read in reads if (failure := read.failure) in _DOUBTFUL)
    facts = {
        "weak": failure is ReadFailure.SCRAM_WEAK,
        "who": brokers_of(case),
        "others": accepting(case),
        "ports": _ports(case),
    }
    return StoryFacts(facts=facts, evidence=_evidence(case))


def _ports(case: Case) -> tuple[str, ...]:
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    return tuple(dict.fromkeys(str(port) for read in reads for _, port in addresses_of(read.target)))[:_SHOWN]


def _targets(case: Case) -> tuple[str, ...]:
    return tuple(dict.fromkeys(read.target for root in case.roots for read in failed_reads(case, root)))[:_SHOWN]

"""KA001: failed reads of brokers and of other sources than ZooKeeper."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks.repair import reconnect_commands
from kafka_audit.cluster.answers.reads import (
    observer_name,
)
from kafka_audit.incidents.causes.rule import (
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    evidence_of,
    evidence_of_reads,
)
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.addresses.trusted_hosts import trusted_hosts_setting
from kafka_audit.model.finding import Evidence, Finding
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerView, SourceRead
from kafka_audit.model.text import brokers, clean, listing

_NAMED = 2
_HOSTS = 100  # of a line for the cluster file


def failed_reads(case: Case, root: Finding) -> tuple[SourceRead, ...]:
    """Return the reads of a root's source that were not answered; `cluster` means every source that is no broker."""
    of = case.view.reads.resources
    failed = (read for read in case.view.last_reads if read.outcome == "failed")
    return tuple(read for read in failed if of.get(read.observer, "cluster") == root.resource.name)


def roots_of_brokers(case: Case) -> tuple[Finding, ...]:
    """Return the roots that are about brokers."""
    return tuple(root for root in case.roots if root.resource.is_of_broker)


def _without_view(case: Case, root: Finding) -> bool:
    observers = {f"broker:{root.resource.broker}", f"broker@{root.resource.address}"}
    return not any(held.observer in observers for held in case.view.newest(BrokerView))


def untrusted(case: Case) -> Iterable[Case]:
    """Take the brokers where no login was tried, because the cluster file does not trust their addresses, as one fault."""
    roots = tuple(
        root
        for root in roots_of_brokers(case)
        if (failed := failed_reads(case, root)) and all(read.failure is ReadFailure.NOT_TRUSTED for read in failed)
    )
    return (replace(case, roots=roots),) if roots else ()


_NO_TOKEN = frozenset({ReadFailure.NO_TOKEN, ReadFailure.TOKEN_REFUSED})


def tokens(case: Case) -> Iterable[Case]:
    """Take the brokers where no login was tried for lack of an access token as one fault: all take the same one."""
    roots = tuple(root for root in roots_of_brokers(case) if any(read.failure in _NO_TOKEN for read in failed_reads(case, root)))
    return (replace(case, roots=roots),) if roots else ()


def tickets(case: Case) -> Iterable[Case]:
    """Take the brokers where no login was tried for lack of a Kerberos ticket as one fault for each thing that is missing."""
    found: dict[str, list[Finding]] = {}
    for root in roots_of_brokers(case):
        needed = next((read.needs or "" for read in failed_reads(case, root) if read.failure is ReadFailure.NO_TICKET), None)
        if needed is not None:
            found.setdefault(needed, []).append(root)
    return tuple(replace(case, roots=tuple(roots)) for roots in found.values())


def silent(case: Case) -> Iterable[Case]:
    """Take brokers without a view as one fault, those that answered in part as another, other sources as a third."""
    of_brokers = roots_of_brokers(case)
    for without in (True, False):
        roots = tuple(root for root in of_brokers if _without_view(case, root) is without)
        if roots:
            yield replace(case, roots=roots)
    others = tuple(root for root in case.roots if root.resource.name == "cluster")
    if others:
        yield replace(case, roots=others)


def brokers_of(case: Case) -> str:
    """Return the brokers of a case for a sentence."""
    addresses = sorted(root.resource.address for root in case.roots if root.resource.address is not None)
    if not addresses:
        return brokers(case.brokers)
    if len(addresses) > _NAMED and not case.brokers:
        return f"{len(addresses)} addresses of the cluster file"  # a headline can hold one or two
    return listing([*(f"broker {broker}" for broker in case.brokers), *(f"the broker at {text}" for text in addresses)], 3)


def untrusted_story(case: Case) -> Story:
    """Return the story: which line of the cluster file lets the auditor log in; others may have listed these addresses."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    hosts = [*dict.fromkeys(filter(None, (read.untrusted_host for read in reads)))]
    once = evidence_of_reads([replace(read, needs=None) for read in {read.target: read for read in reads}.values()])
    return told(
        case,
        "unread_sources untrusted",
        # One line for each address; the line to add is below, once.
        evidence=once or evidence_of(case.roots),
        who=brokers_of(case),
        hosts=tuple(hosts),
        more=max(len(hosts) - _HOSTS, 0),
        trust=(trusted_hosts_setting(hosts[:_HOSTS]),) if hosts else (),
        needed=tuple(dict.fromkeys(read.needs for read in reads if read.needs and not read.untrusted_host)),
    )


def token_story(case: Case) -> Story:
    """Return the story that nothing gives the auditor an access token, so that no broker was asked for a login."""
    read = next(read for root in case.roots for read in failed_reads(case, root) if read.failure in _NO_TOKEN)
    return told(
        case,
        "unread_sources no_token",
        evidence=evidence_of_reads([read]) or evidence_of(case.roots),
        who=brokers_of(case),
        reason=clean(read.message or str(read.error), 300),
        needs=clean(read.needs or "an access token", 300),
        refused=read.failure is ReadFailure.TOKEN_REFUSED,
    )


def ticket_story(case: Case) -> Story:
    """Return the story that the auditor has no Kerberos ticket, in the words of the Kerberos library."""
    read = next(read for root in case.roots for read in failed_reads(case, root) if read.failure is ReadFailure.NO_TICKET)
    return told(
        case,
        "unread_sources no_ticket",
        evidence=evidence_of_reads([read]) or evidence_of(case.roots),
        who=brokers_of(case),
        reason=clean(read.message or ReadFailure.NO_TICKET.words, 300),
        needs=clean(read.needs or "a Kerberos ticket", 300),
    )


def silent_story(case: Case) -> Story:
    """Return the story: which source gave nothing, or not everything."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    first, of_brokers = (reads[0] if reads else None), case.roots[0].resource.name != "cluster"
    return told(
        case,
        "unread_sources silent",
        evidence=evidence_of_reads(reads) or evidence_of(case.roots),
        who=brokers_of(case),
        of_brokers=of_brokers,
        in_part=of_brokers and not _without_view(case, case.roots[0]),
        error=f" ({clean(first.error or 'failed', 30)})" if first else "",
        observer=observer_name(first.observer) if first else "",
        operation=clean(first.operation, 30) if first else "",
        at=clean(first.target, 40) if first and len(case.roots) == 1 else "",
        reconnect=reconnect_commands(reads),
    )


def evidence_of_failed_reads(case: Case) -> tuple[Evidence, ...]:
    """Return the failed reads of all roots as evidence."""
    return evidence_of_reads([read for root in case.roots for read in failed_reads(case, root)])


UNTRUSTED = Cause(
    codes=("KA001",),
    tier="rights",
    meaning="the cluster file does not trust the addresses of brokers, so that no login was tried",
    cases=untrusted,
    story=untrusted_story,
)

WITHOUT_TOKEN = Cause(
    codes=("KA001",),
    tier="rights",
    meaning="the auditor received no access token (OAUTHBEARER), so that no login was tried",
    cases=tokens,
    story=token_story,
    explains=(Explains(codes=("KA002",), where=at_the_broker),),
)

WITHOUT_TICKET = Cause(
    codes=("KA001",),
    tier="rights",
    meaning="the auditor has no valid Kerberos ticket (GSSAPI), so that no login was tried",
    cases=tickets,
    story=ticket_story,
    explains=(Explains(codes=("KA002",), where=at_the_broker),),
)

SILENT = Cause(
    codes=("KA001",),
    meaning="brokers give no view, and no other reason is known",
    cases=silent,
    story=silent_story,
)

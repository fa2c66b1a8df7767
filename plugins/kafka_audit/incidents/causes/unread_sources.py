"""KA001: failed reads of brokers and of other sources than ZooKeeper."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.cluster.answers.reads import (
    observer_name,
)
from kafka_audit.incidents.causes.repair import do_not, prove, reconnect_commands
from kafka_audit.incidents.causes.rule import (
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    evidence_of,
    evidence_of_reads,
)
from kafka_audit.model.commands import command
from kafka_audit.model.finding import Evidence, Finding, Step
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerView, SourceRead
from kafka_audit.model.text import brokers, clean, counted, fitting, listing, start_upper
from kafka_audit.model.trusted_hosts import trusted_hosts_setting

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


def headline_with_names(case: Case, headline: str) -> str:
    """Return a headline with the brokers' names, or with their number where the names are too long."""
    return fitting([headline.format(who) for who in (brokers_of(case), counted(len(case.roots), "broker"))])


def untrusted_story(case: Case) -> Story:
    """Return the story: which line of the cluster file lets the auditor log in; others may have listed these addresses."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    hosts = [*dict.fromkeys(filter(None, (read.untrusted_host for read in reads)))]
    needed = [*dict.fromkeys(read.needs for read in reads if read.needs and not read.untrusted_host)]
    more = f" ({len(hosts) - _HOSTS} more hosts are in findings.json)" if len(hosts) > _HOSTS else ""
    single = len(case.roots) == 1
    them, addresses = ("it", "its address") if single else ("them", "their addresses")
    return Story(
        headline=headline_with_names(case, "The cluster file does not trust {}: the auditor did not log in there"),
        impact=f"The {'view' if single else 'views'} of {brokers_of(case)} {'is' if single else 'are'} unknown, and checks that "
        f"need {'it' if single else 'them'} are inconclusive.",
        confidence=case.confidence(),
        why="No login was tried: a password goes only to addresses that the cluster file names or trusts, and only the cluster "
        f"lists {them}.",
        # One line for each address; the line to add is below, once.
        speaks_for=evidence_of_reads([replace(read, needs=None) for read in {read.target: read for read in reads}.values()])
        or evidence_of(case.roots),
        not_known=(f"Not known: whether {addresses} {'is' if single else 'are'} yours. To know: your inventory of hosts.",),
        steps=(
            *(
                [
                    Step(
                        kind="quick",
                        text=f"If {'this host is' if len(hosts) == 1 else 'these hosts are'} yours, add this to the cluster in "
                        f"the cluster file, or to the list that it has there{more}.",
                        commands=(trusted_hosts_setting(hosts[:_HOSTS]),),
                    )
                ]
                if hosts
                else []
            ),
            *([Step(kind="quick", text=f"Needed: {listing(needed, 5)}.")] if needed else []),
            do_not(f"trust unknown hosts: any client that can write a znode or answer Metadata can list {them}."),
            prove(case),
        ),
    )


def token_story(case: Case) -> Story:
    """Return the story that nothing gives the auditor an access token, so that no broker was asked for a login."""
    read = next(read for root in case.roots for read in failed_reads(case, root) if read.failure in _NO_TOKEN)
    why = clean(read.message or str(read.error), 300)
    needed = f"Needed: {clean(read.needs, 300)}." if read.needs else "Needed: an access token."
    return Story(
        headline=fitting([f"The auditor has no access token: {why}", "The auditor has no access token, and did not log in"]),
        impact=f"Checks that need the view of {brokers_of(case)} are inconclusive. No login was tried there.",
        confidence=case.confidence(),
        why="The issuer of the tokens answered so." if read.failure is ReadFailure.TOKEN_REFUSED else "No token was received.",
        speaks_for=evidence_of_reads([read]) or evidence_of(case.roots),
        not_known=("Not known: whether other clients receive tokens. To know: ask for one with a client of another team.",),
        steps=(
            Step(kind="quick", text=needed),
            Step(
                kind="quick",
                text="Correct `security` in the cluster file (`oidc`, `username`, `msk_region`, `azure_scope`), the variable in "
                "`password_env`, the credentials of the cloud on this worker, or the Airflow connection.",
            ),
            prove(case),
        ),
    )


def ticket_story(case: Case) -> Story:
    """Return the story that the auditor has no Kerberos ticket, in the words of the Kerberos library."""
    read = next(read for root in case.roots for read in failed_reads(case, root) if read.failure is ReadFailure.NO_TICKET)
    why, who = clean(read.message or ReadFailure.NO_TICKET.words, 300), brokers_of(case)
    return Story(
        headline=fitting(
            [
                f"The auditor has no Kerberos ticket for {who}: {why}",
                f"The auditor has no Kerberos ticket: {why}",
                f"The auditor has no Kerberos ticket for {who}",
                "The auditor has no Kerberos ticket, and did not log in",
            ]
        ),
        impact=f"Checks that need the view of {who} are inconclusive. No login was tried there.",
        confidence=case.confidence(),
        why="The Kerberos library of this worker reports so.",
        speaks_for=evidence_of_reads([read]) or evidence_of(case.roots),
        not_known=("Not known: whether other clients get tickets. To know: the commands below, as the user of another client.",),
        steps=(
            Step(
                kind="see",
                text="See the tickets of the auditor's user on this worker (reads only).",
                commands=(command("klist"),),
            ),
            Step(kind="quick", text=f"Needed: {clean(read.needs or 'a Kerberos ticket', 300)}."),
            prove(case),
        ),
    )


def silent_story(case: Case) -> Story:
    """Return the story: which source gave nothing, or not everything."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    subject, single = brokers_of(case), len(case.roots) == 1
    of_broker = case.roots[0].resource.name != "cluster"
    serve = "serves" if single else "serve"
    impact = "What it reports is unknown, and checks that need it are inconclusive."
    return Story(
        headline=fitting(_headlines(case, subject, reads)),
        impact=impact if single else impact.replace("it reports", "they report").replace("need it", "need them"),
        confidence=case.confidence(),
        why="The read itself failed.",
        speaks_for=evidence_of_failed_reads(case) or evidence_of(case.roots),
        not_known=(f"Not known: whether {subject} {serve} others. To know: the command below on a client's host.",)
        if of_broker
        else (),
        steps=(
            *(
                Step(kind="see", text="See it yourself from this worker (reads only).", commands=c)
                for c in (reconnect_commands(reads),)
                if c
            ),
            Step(
                kind="quick",
                text="Allow connections to it from this worker, or start it. If the error names a right, grant it; if it names a "
                "znode or file, repair it.",
            ),
            prove(case),
        ),
    )


def _headlines(case: Case, who: str, reads: list[SourceRead]) -> list[str]:
    single, many = len(case.roots) == 1, counted(len(case.roots), "broker")
    first = reads[0] if reads else None
    error = f" ({clean(first.error or 'failed', 30)})" if first else ""
    if case.roots[0].resource.name == "cluster":
        source = (
            f"{observer_name(first.observer)} does not answer {clean(first.operation, 30)}"
            if first
            else "a source does not answer"
        )
        return [f"The audit is incomplete: {source}{error}", "The audit is incomplete: a source does not answer"]
    if not _without_view(case, case.roots[0]):
        subject = f"{start_upper(who)} {'is' if single else 'are'} read in part only"
        what = f"no answer to {clean(first.operation, 30)}" if first else "a read failed"
        full = f"the auditor gets {what}" if first else what
        return [f"{subject}: {full}{error}", f"{subject}: {what}{error}", subject, f"{many} are read in part only"]
    subject = f"{start_upper(who)} {'gives' if single else 'give'} no view"
    where = f" at {clean(first.target, 40)}" if first and single else ""
    full = f"{subject}: the auditor gets no answer"
    return [f"{full}{where}{error}", f"{subject}: no answer{where}{error}", full, subject, f"{many} give no view"]


def evidence_of_failed_reads(case: Case) -> tuple[Evidence, ...]:
    """Return the failed reads of all roots as evidence."""
    return evidence_of_reads([read for root in case.roots for read in failed_reads(case, root)])


UNTRUSTED = Cause(
    codes=("KA001",),
    meaning="the cluster file does not trust the addresses of brokers, so that no login was tried",
    cases=untrusted,
    story=untrusted_story,
)

WITHOUT_TOKEN = Cause(
    codes=("KA001",),
    meaning="the auditor received no access token (OAUTHBEARER), so that no login was tried",
    cases=tokens,
    story=token_story,
    explains=(Explains(codes=("KA002",), where=at_the_broker),),
)

WITHOUT_TICKET = Cause(
    codes=("KA001",),
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

"""Incidents of sources that were not read: ZooKeeper, brokers, and others."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks.incident import Case, StoryFacts, evidence_of, evidence_of_reads, left_unanswered
from kafka_audit.checks.repair import reconnect_commands, srvr_commands
from kafka_audit.checks.zookeeper.members import AWAY
from kafka_audit.cluster.answers.reads import addresses_of, observer_name
from kafka_audit.compare.addresses import address_text
from kafka_audit.model.addresses.trusted_hosts import trusted_hosts_setting
from kafka_audit.model.finding import Evidence, Finding
from kafka_audit.model.read_failure import LOGIN_REFUSALS, ReadFailure
from kafka_audit.model.tables import BrokerView, SourceRead, ZookeeperMember
from kafka_audit.model.text import brokers, clean, listing

_BY_ZOOKEEPER = frozenset({"ListPartitionReassignments", "DescribeUserScramCredentials", "DescribeClientQuotas"})
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


def without_token(case: Case) -> Iterable[Case]:
    """Take the brokers where no login was tried for lack of an access token as one fault: all take the same one."""
    roots = tuple(root for root in roots_of_brokers(case) if any(read.failure in _NO_TOKEN for read in failed_reads(case, root)))
    return (replace(case, roots=roots),) if roots else ()


def without_ticket(case: Case) -> Iterable[Case]:
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


def untrusted_hosts(case: Case) -> StoryFacts:
    """Return which line of the cluster file lets the auditor log in; others may have listed these addresses."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    hosts = [*dict.fromkeys(filter(None, (read.untrusted_host for read in reads)))]
    once = evidence_of_reads([replace(read, needs=None) for read in {read.target: read for read in reads}.values()])
    facts = {
        "who": brokers_of(case),
        "hosts": tuple(hosts),
        "more": max(len(hosts) - _HOSTS, 0),
        "trust": (trusted_hosts_setting(hosts[:_HOSTS]),) if hosts else (),
        "needed": tuple(dict.fromkeys(read.needs for read in reads if read.needs and not read.untrusted_host)),
    }
    # One line for each address; the line to add is below, once.
    return StoryFacts(facts=facts, evidence=once or evidence_of(case.roots))


def missing_token(case: Case) -> StoryFacts:
    """Return why nothing gives the auditor an access token."""
    read = next(read for root in case.roots for read in failed_reads(case, root) if read.failure in _NO_TOKEN)
    facts = {
        "who": brokers_of(case),
        "reason": clean(read.message or str(read.error), 300),
        "needs": clean(read.needs or "an access token", 300),
        "refused": read.failure is ReadFailure.TOKEN_REFUSED,
    }
    return StoryFacts(facts=facts, evidence=evidence_of_reads([read]) or evidence_of(case.roots))


def missing_ticket(case: Case) -> StoryFacts:
    """Return why the auditor has no Kerberos ticket, in the words of the Kerberos library."""
    read = next(read for root in case.roots for read in failed_reads(case, root) if read.failure is ReadFailure.NO_TICKET)
    facts = {
        "who": brokers_of(case),
        "reason": clean(read.message or ReadFailure.NO_TICKET.words, 300),
        "needs": clean(read.needs or "a Kerberos ticket", 300),
    }
    return StoryFacts(facts=facts, evidence=evidence_of_reads([read]) or evidence_of(case.roots))


def silent_sources(case: Case) -> StoryFacts:
    """Return which source gave nothing, or not everything."""
    reads = [read for root in case.roots for read in failed_reads(case, root)]
    first, of_brokers = (reads[0] if reads else None), case.roots[0].resource.name != "cluster"
    in_part = of_brokers and not _without_view(case, case.roots[0])
    facts = {
        "who": brokers_of(case),
        "of_brokers": of_brokers,
        "strangers": () if in_part else _strangers(case),
        "in_part": in_part,
        "error": f" ({clean(first.error or 'failed', 30)})" if first else "",
        "observer": observer_name(first.observer) if first else "",
        "operation": clean(first.operation, 30) if first else "",
        "at": clean(first.target, 40) if first and len(case.roots) == 1 else "",
        "reconnect": reconnect_commands(reads),
    }
    return StoryFacts(facts=facts, evidence=evidence_of_reads(reads) or evidence_of(case.roots))


def _strangers(case: Case) -> tuple[str, ...]:
    """Return the addresses of the roots, if no broker has had them: every known broker gave a view, and none is missing."""
    view, addresses = case.view, tuple(root.resource.address or "" for root in case.roots)
    earlier = {address_text(row.host, row.port) for row in view.addresses_earlier}
    known, expected = view.named_brokers, (view.info and view.info.expect_brokers) or 1
    complete = len(known) >= expected and all(map(view.views_of, known)) and not (view.unlisted or case.down)
    return addresses if complete and all(addresses) and earlier.isdisjoint(addresses) else ()


def evidence_of_failed_reads(case: Case) -> tuple[Evidence, ...]:
    """Return the failed reads of all roots as evidence."""
    return evidence_of_reads([read for root in case.roots for read in failed_reads(case, root)])


def zookeeper_unread(case: Case) -> Iterable[Case]:
    """Take KA001 of the cluster where it is ZooKeeper that gave nothing; a read of it that failed alone is no outage."""
    down = not case.view.zookeeper_read and _failed_zookeeper_reads(case)
    roots = tuple(root for root in case.roots if root.resource.name == "cluster") if down else ()
    return (replace(case, roots=roots),) if roots else ()


def _failed_zookeeper_reads(case: Case) -> list[SourceRead]:
    return [r for r in case.view.last_reads if r.observer == "zookeeper" and r.outcome == "failed"]


def waits_for_zookeeper(case: Case, symptom: Finding) -> bool:
    """Explain a broker that left only that without an answer which its controller waits for ZooKeeper with."""
    found = left_unanswered(case, symptom)
    return bool(found) and found <= _BY_ZOOKEEPER


def reads_of_zookeeper(case: Case) -> StoryFacts:
    """Return which reads of ZooKeeper failed, and what each server of it said; what rests on them could not be judged."""
    view, failed = case.view, _failed_zookeeper_reads(case)
    first = failed[0] if failed else None
    members = sorted(view.newest(ZookeeperMember), key=lambda row: row.member)
    before = {(row.member, row.state) for row in view.before(ZookeeperMember)}
    lasting = [row for row in members if row.state in AWAY and (row.member, row.state) in before]
    away = [row for row in lasting if row.state != "idle"]
    target = clean(first.target, 60) if first else "its address"
    shown = away or [row for row in members if row.state in AWAY]
    at = (target, *(clean(f"{host}:{port}") for read in failed[:1] for host, port in addresses_of(read.target)[:1]))
    refusing = tuple(row.member for row in away if _reason(row) is ReadFailure.REFUSED)
    silent = tuple(row.member for row in away if row.member not in refusing)
    facts = {
        "addresses": tuple(clean(row.member, 60) for row in shown[:1]) or at,
        "refused": first is not None and first.failure in LOGIN_REFUSALS,
        "error": clean((shown[0].error if shown else first and first.error) or "failed", 30),
        "needs": clean((first and first.needs) or "a login", 300),
        "reconnect": srvr_commands([row.member for row in members]) or reconnect_commands(failed),
        "waiting": tuple(row.member for row in lasting if row.state == "idle"),
        "total": len(members),
        "lost": len(lasting) == len(members) > 0,
        "away": len(away),
        "refusing": refusing,
        "silent": silent,
        "states": (*(f"{clean(one)} is down" for one in refusing), *(f"{clean(one)} does not answer" for one in silent)),
        "down_at": [{"host": host} for one in refusing for host, _ in addresses_of(one)],
        "silent_at": [{"host": host} for one in silent for host, _ in addresses_of(one)],
        "stuck": tuple(sorted(case.down)),
        "sure": any(row.state == "idle" for row in lasting) or any(map(view.logs.to_zookeeper, view.named_brokers)),
        "unlogged": not any(read.outcome == "answered" for reads in view.reads.of_logs.values() for read in reads),
    }
    said = tuple(Evidence(observer=f"ZooKeeper at {clean(row.member)}", text=clean(row.error or row.state)) for row in members)
    return StoryFacts(facts=facts, evidence=(*said, *(evidence_of_reads(failed) or evidence_of(case.roots))))


def _reason(member: ZookeeperMember) -> ReadFailure:
    return ReadFailure.of(member.reason, member.error)

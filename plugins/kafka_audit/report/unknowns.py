"""Unknown results, grouped by the data that they need: a failed read and the checks that depend on it need the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_audit.checks import catalogue
from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.compare.addresses import is_host
from kafka_audit.model.addresses.trusted_hosts import trusted_hosts_line
from kafka_audit.model.finding import Resource, Status, as_text
from kafka_audit.model.report import Report, ReportedFinding, UnansweredRead
from kafka_audit.report.text import brokers, clean, clean_prose, counted, listing, our_line

_BEGINNING = "Cannot determine "
"""Of the messages of checks that do not know."""

_ALIKE = 3
"""The number of checks that are listed one by one for one missing item, and of results of one check."""

_FIRST = 10
"""The number of failed reads that are listed for one missing item."""

_HOSTS = 100
"""Hosts of one line for the cluster file."""


@dataclass(frozen=True, kw_only=True)
class OpenQuestion:
    """Lines that need the same to be known, and all of them in one.

    `to_know` is a sentence's end without a full stop, "" where nothing would do.
    """

    to_know: str
    lines: tuple[str, ...]
    brief: str


@dataclass(kw_only=True)
class _MissingReads:
    reads: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # (observer, error): operations
    checks: dict[str, list[tuple[Resource, str]]] = field(default_factory=dict)  # code: (resource, question)
    brokers: set[int | None] = field(default_factory=set)  # that it is about, None for what is no broker's
    kinds: set[tuple[object, ...]] = field(default_factory=set)  # of reads and checks, the broker left aside

    def lines(self) -> Iterator[str]:
        reported = [f"{observer}, {listing(operations)}: {error}" for (observer, error), operations in self.reads.items()]
        yield from reported[:_FIRST]
        if len(reported) > _FIRST:
            yield f"and {counted(len(reported) - _FIRST, 'more read')}, in findings.json"
        yield from self.one_by_one() if len(self.checks) <= _ALIKE else self.folded()

    def brief(self) -> str:
        if len(self.reads) + sum(map(len, self.checks.values())) == 1:
            for (observer, error), operations in self.reads.items():
                if len(operations) > _ALIKE:
                    return f"{observer}, {len(operations)} reads: {error}"
            return next(self.lines())
        reported = [f"{observer}: {error}" for observer, error in self.reads]
        parts = [f"{listing(reported[:1])}{f' and {len(reported) - 1} more' if len(reported) > 1 else ''}"] if reported else []
        parts += [f"{counted(len(self.checks), 'check')}: {listing(sorted(self.checks), _ALIKE)}"] if self.checks else []
        return "; ".join(parts)

    def one_by_one(self) -> Iterator[str]:
        for code, places in self.checks.items():
            names = [clean(place.name) for place, _ in places]
            questions = [question for _, question in places]
            texts = [
                f"{code}{'' if name == 'cluster' else f' {name}'}: {question}"
                for name, question in zip(names, questions, strict=True)
            ]
            yield from texts[: 1 if len(texts) > _ALIKE else _ALIKE]
            if len(texts) > _ALIKE:
                yield f"{code}: and {len(texts) - 1} more like it, in findings.json"

    def folded(self) -> Iterator[str]:
        by_place: dict[tuple[Resource, ...], list[str]] = {}
        for code, places in self.checks.items():
            by_place.setdefault(tuple(dict.fromkeys(Resource.of(place.root) for place, _ in places)), []).append(code)
        for roots, codes in by_place.items():
            yield f"{counted(len(codes), 'check')} of {_named(roots)}: {', '.join(sorted(codes))}"


def questions(document: Report) -> list[OpenQuestion]:
    """Return what is not known in a report, in its order.

    Many checks that need the same are named by their codes; the same of several brokers is listed for the first, the others
    follow its number. Each check's own words are in findings.json.
    """
    needs: dict[str, _MissingReads] = {}
    trust = " ".join(trusted_hosts_advice(document))
    one_line = {clean_prose(read.needs or "") for read in document.coverage.unknown if untrusted_host(read)}
    for read in document.coverage.unknown:
        need = needs.setdefault(trust if untrusted_host(read) else clean(read.needs or "").rstrip("."), _MissingReads())
        is_known = read.broker is not None and read.observer.startswith("broker@")  # by who had the address before
        name = f"broker {read.broker}" if is_known else observer_name(read.observer)
        operations = need.reads.setdefault((name, clean(read.error, 300)), [])
        operations.append(clean(read.operation))
        need.brokers.add(read.broker)
        need.kinds.add((read.operation, read.kind))
    for finding in document.findings:
        if finding.status != "UNKNOWN":
            continue
        resource, evidence = Resource.of(finding.resource.name), finding.evidence
        wanted = clean_prose(as_text(evidence.get("needs", ""))).rstrip(".")
        also = "" if wanted else clean_prose(finding.remediation)
        need = needs.setdefault(trust if wanted in one_line else wanted, _MissingReads())
        need.checks.setdefault(finding.code, []).append((resource, f"{_question(finding)} {also}".strip()))
        need.brokers.add(resource.broker)
        need.kinds.add((finding.code, resource.type, resource.part, as_text(evidence.get("kind", evidence.get("error", "")))))
    return _alike(needs, apart=trust)


def untrusted_host(read: UnansweredRead) -> str | None:
    """Return the host at which a read of `coverage.unknown` tried no login, None for any other read."""
    host = read.untrusted_host
    return host if host is not None and is_host(host) else None


def trusted_hosts_advice(document: Report) -> tuple[str, ...]:
    """Return the one line of the cluster file for all hosts to which no login was sent, and the text after it.

    Empty where there is none. A domain is never proposed instead of hosts: an attacker that makes the cluster list hosts also
    chooses their domain.
    """
    hosts = [*dict.fromkeys(filter(None, (untrusted_host(read) for read in document.coverage.unknown)))]
    if not hosts:
        return ()
    more = f"and {counted(len(hosts) - _HOSTS, 'more host')} of findings.json " if len(hosts) > _HOSTS else ""
    return trusted_hosts_line(
        hosts[:_HOSTS]
    ), f"{more}in the cluster file, if {'this host is' if len(hosts) == 1 else 'these hosts are'} yours"


def _alike(needs: Mapping[str, _MissingReads], *, apart: str) -> list[OpenQuestion]:
    """Return the questions; those that differ in the broker alone are the first of them, with the ids of the others."""
    groups: dict[object, list[tuple[str, _MissingReads, int]]] = {}
    for to_know, need in needs.items():
        (*_, broker) = need.brokers
        single = to_know not in {"", apart} and len(need.brokers) == 1 and broker is not None
        groups.setdefault(frozenset(need.kinds) if single else to_know, []).append((to_know, need, broker or 0))
    findings = []
    for (to_know, need, _), *others in groups.values():
        likewise = f"; likewise for {brokers(broker for _, _, broker in others)}" if others else ""
        findings.append(OpenQuestion(to_know=f"{to_know}{likewise}", lines=tuple(need.lines()), brief=need.brief()))
    return findings


def _question(finding: ReportedFinding) -> str:
    """Return what is not known, without the words that every check begins with."""
    check = catalogue().get(finding.code)
    template = check.says.get(Status.UNKNOWN, "") if check and not finding.last_known else ""
    return our_line(finding.message[len(_BEGINNING) if template.startswith(_BEGINNING) else 0 :], 1000)


def _named(roots: Sequence[Resource]) -> str:
    ids = [root.broker for root in roots if root.broker is not None]
    if len(ids) == len(roots):
        return brokers(ids)
    names = ["the cluster" if root.name == "cluster" else root.name.replace("/", " ", 1) for root in roots[:_ALIKE]]
    return listing([*map(clean, names), *(["others"] if roots[_ALIKE:] else [])])

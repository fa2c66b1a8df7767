"""What is not known, by what would tell it: a read that failed, and the checks that hang on it, need the same."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_audit.cluster.reads import observer_name
from kafka_audit.model.trusted_hosts import host_of, line
from kafka_audit.report.text import brokers, clean, counted, listing, prose

_ALIKE = 3
"""Checks that are told one by one where one thing is missing, and results of one check."""

_FIRST = 10
"""Failed reads that are told of one missing thing."""

_HOSTS = 100
"""Hosts of one line for the cluster file."""

_BROKER = re.compile(r"\bbroker[/ ](\d+)")
_NUMBER = re.compile(r"(\bKA\d+)|\d+")  # that of a check says which check


@dataclass(frozen=True, kw_only=True)
class OpenQuestion:
    """Lines that need the same to be known; `to_know` is a sentence's end without a full stop, "" where nothing would do."""

    to_know: str
    lines: tuple[str, ...]


@dataclass(kw_only=True)
class _MissingReads:
    reads: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # (observer, error): operations
    checks: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # code: (resource, question)

    def lines(self) -> Iterator[str]:
        told = [f"{observer}, {listing(operations)}: {error}" for (observer, error), operations in self.reads.items()]
        yield from told[:_FIRST]
        if len(told) > _FIRST:
            yield f"and {counted(len(told) - _FIRST, 'more read')}, in findings.json"
        yield from self.one_by_one() if len(self.checks) <= _ALIKE else self.folded()

    def one_by_one(self) -> Iterator[str]:
        for code, places in self.checks.items():
            texts = [f"{code}{'' if place == 'cluster' else f' {place}'}: {question}" for place, question in places]
            yield from texts[: 1 if len(texts) > _ALIKE else _ALIKE]
            if len(texts) > _ALIKE:
                yield f"{code}: and {len(texts) - 1} more like it, in findings.json"

    def folded(self) -> Iterator[str]:
        by_place: dict[tuple[str, ...], list[str]] = {}
        for code, places in self.checks.items():
            by_place.setdefault(tuple(dict.fromkeys(_root(place) for place, _ in places)), []).append(code)
        for names, codes in by_place.items():
            ids = [int(match[1]) for name in names if (match := _BROKER.fullmatch(name))]
            who = brokers(ids) if len(ids) == len(names) else listing([*names[:_ALIKE], *(["others"] if names[_ALIKE:] else [])])
            yield f"{counted(len(codes), 'check')} of {who}: {', '.join(sorted(codes))}"


def questions(document: Mapping[str, Any]) -> list[OpenQuestion]:
    """Return what is not known in a report, in its order.

    Many checks that need the same are named by their codes; the same of several brokers is told of the first, the others follow
    its number. Each check's own words are in findings.json.
    """
    needs: dict[str, _MissingReads] = {}
    trust = " ".join(trusting(document))
    for read in document["coverage"]["unknown"]:
        need = needs.setdefault(trust if host_of(read["needs"]) else clean(read["needs"] or "").rstrip("."), _MissingReads())
        operations = need.reads.setdefault((observer_name(read["observer"]), clean(read["error"], 300)), [])
        operations.append(clean(read["operation"]))
    for finding in document["findings"]:
        if finding["status"] != "UNKNOWN":
            continue
        question = clean(finding["message"], 1000).removeprefix("Cannot determine ")
        to_know = prose(finding["remediation"])
        if not to_know.startswith("To know: "):
            question, to_know = f"{question} {to_know}".strip(), ""
        wanted = to_know.removeprefix("To know: ").rstrip(".")
        need = needs.setdefault(trust or wanted if host_of(wanted) else wanted, _MissingReads())
        need.checks.setdefault(finding["code"], []).append((clean(finding["resource"]["name"]), question))
    return _alike([OpenQuestion(to_know=to_know, lines=tuple(need.lines())) for to_know, need in needs.items()])


def trusting(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the one line of the cluster file for all hosts where no login was tried for want of it, and words behind it.

    Empty where there is none. A domain is never proposed in place of hosts: whoever made the cluster list them chose it, too.
    """
    hosts = [*dict.fromkeys(filter(None, (host_of(read["needs"]) for read in document["coverage"]["unknown"])))]
    if not hosts:
        return ()
    more = f"and {counted(len(hosts) - _HOSTS, 'more host')} of findings.json " if len(hosts) > _HOSTS else ""
    return line(hosts[:_HOSTS]), f"{more}in the cluster file, if {'this host is' if len(hosts) == 1 else 'these hosts are'} yours"


def _alike(found: Sequence[OpenQuestion]) -> list[OpenQuestion]:
    """Return the questions, those that differ in the broker alone as one."""
    kinds: dict[object, list[tuple[int, OpenQuestion]]] = {}
    for number, one in enumerate(found):
        ids = {int(identifier) for line in one.lines for identifier in _BROKER.findall(line)}
        same = _NUMBER.sub(lambda match: match[1] or "#", "\n".join((one.to_know, *one.lines)))
        about = ids.pop() if len(ids) == 1 and one.to_know else -1
        kinds.setdefault(same if about >= 0 else number, []).append((about, one))
    return [_with_others(kind[0][1], [about for about, _ in kind[1:]]) for kind in kinds.values()]


def _with_others(one: OpenQuestion, others: Sequence[int]) -> OpenQuestion:
    return OpenQuestion(to_know=f"{one.to_know}; likewise for {brokers(others)}", lines=one.lines) if others else one


def _root(place: str) -> str:
    """Return the broker that a resource belongs to, as people call it, or the resource."""
    match = _BROKER.match(place)
    return f"broker {match[1]}" if match else "the cluster" if place == "cluster" else place

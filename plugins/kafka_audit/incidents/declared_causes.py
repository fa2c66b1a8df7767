"""Causes as checks declare them: the keys `incident` and `story` of a check's file.

`incident` has the causes of a check by name. Each has these keys; only `tier` and `meaning` must be there:

| key | what it is |
|---|---|
| `tier` | when it may claim symptoms: one of `TIERS`, from the first to the last |
| `meaning` | for the reader |
| `codes` | of the findings that it starts from, the one that names the incident first |
|  | else that of the check; `views` and `replicas` stand for several, in each key |
| `when` | a condition on the evidence of such a finding, which may name `kraft` and `controller` (its address) as well |
| `apart` | `each`, `broker` or a key of the evidence: findings that differ in it are faults of their own; else all are one |
| `cases` | a function that splits them instead: from a case of all of them to one for each fault |
| `before` | codes of the same tier that it comes before. What explains the first findings of another cause does anyway |
| `explains` | findings by `codes`, and where: one of `PLACES`, or a function |
| `facts` | a function that returns what the template of its story cannot have: `StoryFacts` |

`story` has a template for each of these names (`stories.py`); a cause without one has the grouped story. A function is one of the
check's module, `module.function` of the same folder, or `folder.module.function` of another one.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from itertools import groupby
from types import MappingProxyType
from typing import Any

from kafka_audit import checks
from kafka_audit.checks import Check, catalogue
from kafka_audit.checks.incident import Case, StoryFacts, at_the_broker, at_the_endpoint, everywhere, in_partitions_of
from kafka_audit.incidents.stories import Story, declared_story, grouped_story
from kafka_audit.model.finding import Finding
from kafka_audit.words.sentences import holds

VIEW = ("KA101", "KA102", "KA103", "KA104", "KA105", "KA106", "KA107", "KA108", "KA202")
"""What shows in a broker's own view, and is about the broker that was asked."""

REPLICATION = ("KA503", "KA601", "KA602", "KA603", "KA604", "KA618")
"""What partitions suffer when a broker of theirs is away."""

_OF_PARTITIONS = "of_partitions"
"""Of these partitions, and of brokers that cannot answer what is in them."""

Where = Callable[[Case, Finding], bool]


@dataclass(frozen=True, kw_only=True)
class Explains:
    """Symptoms by code, and the place that they must be at."""

    codes: tuple[str, ...]
    where: Where


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What an incident starts from, and what it explains; earlier causes take their symptoms first."""

    codes: tuple[str, ...]  # of the findings that it starts from; each is the cause, unless the story names another
    meaning: str  # for the reader
    cases: Callable[[Case], Iterable[Case]]  # from a case whose roots are all unclaimed findings of `codes`
    story: Callable[[Case], Story]
    explains: tuple[Explains, ...] = ()
    tier: str = "no cause"
    before: tuple[str, ...] = ()  # codes that causes of its tier start from which come after it


def together(case: Case) -> Iterable[Case]:
    """Take all findings of a code as one fault."""
    return (case,) if case.roots else ()


def apart(case: Case) -> Iterable[Case]:
    """Take each finding as a fault of its own."""
    return (replace(case, roots=(root,)) for root in case.roots)


TIERS = ("registry", "controllers", "brokers", "reachability", "rights", "clients", "no cause")
"""Who claims first. `brokers` are faults of one broker: its disk, its process, an address that leads elsewhere. `reachability`
and `rights` are between brokers and for the auditor, `clients` what only clients meet."""

PLACES = MappingProxyType[str, Where](
    {"everywhere": everywhere, "at_broker": at_the_broker, "at_endpoint": at_the_endpoint, _OF_PARTITIONS: in_partitions_of}
)
"""Where a fault explains a finding: anywhere, at its brokers, at its endpoint, in partitions that its brokers lead or hold up."""

_GROUPS = MappingProxyType({"views": VIEW, "replicas": REPLICATION})


@dataclass(frozen=True, kw_only=True)
class IncidentKeys:
    """The keys of one cause, as a file has them."""

    tier: str
    meaning: str
    codes: Sequence[str] = ()
    when: str = ""
    apart: str = ""
    cases: str = ""
    before: Sequence[str] = ()
    explains: Sequence[Mapping[str, Any]] = ()
    facts: str = ""


@cache
def declared_causes() -> tuple[Cause, ...]:
    """Return the causes of all checks, by code, and in the order of each file."""
    return tuple(
        _cause(check, name, IncidentKeys(**keys)) for check in catalogue().values() for name, keys in check.incident.items()
    )


def _cause(check: Check, name: str, keys: IncidentKeys) -> Cause:
    facts: Callable[[Case], StoryFacts] = function_of(check, keys.facts) if keys.facts else _no_facts
    return Cause(
        codes=_expanded(keys.codes) or (check.code,),
        meaning=keys.meaning,
        cases=partial(_cases, keys, function_of(check, keys.cases) if keys.cases else None),
        story=partial(_story, check, name, facts),
        explains=tuple(
            Explains(
                codes=_expanded(part["codes"]) + (("KA001",) if part["where"] == _OF_PARTITIONS else ()),
                where=PLACES.get(part["where"]) or function_of(check, part["where"]),
            )
            for part in keys.explains
        ),
        tier=keys.tier,
        before=_expanded(keys.before),
    )


def _expanded(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(code for named in codes for code in _GROUPS.get(named, (named,)))


def function_of(check: Check, name: str) -> Any:  # noqa: ANN401 -- of the signature that its key has
    """Return the function that a key names."""
    module, _, function = name.rpartition(".")
    own = check.function.__module__
    folder = checks.__name__ if "." in module else own.rpartition(".")[0]
    return getattr(import_module(f"{folder}.{module}") if module else sys.modules[own], function)


def _no_facts(_case: Case) -> StoryFacts:
    return StoryFacts()


def _story(check: Check, name: str, facts: Callable[[Case], StoryFacts], case: Case) -> Story:
    said = facts(case)
    template = check.story(said.story or name)
    return grouped_story(case) if template is None else declared_story(case, template, said)


def _cases(keys: IncidentKeys, split: Callable[[Case], Iterable[Case]] | None, case: Case) -> Iterable[Case]:
    """Yield the faults among the findings that meet the condition, those of the first code first."""
    roots = tuple(root for root in case.roots if not keys.when or _meets(case, root, keys.when))
    if len(_expanded(keys.codes)) > 1:
        codes = _expanded(keys.codes)
        roots = tuple(sorted(roots, key=lambda root: (codes.index(root.code), root.resource.name)))
    case = replace(case, roots=roots)
    if split is not None:
        return split(case) if roots else ()
    if keys.apart:
        return apart(case) if keys.apart == "each" else _by(keys.apart, case)
    return together(case)


def _meets(case: Case, root: Finding, condition: str) -> bool:
    return holds(condition, {**root.evidence, "kraft": case.view.kraft, "controller": root.resource.controller})


def _by(key: str, case: Case) -> Iterator[Case]:
    def part(root: Finding) -> Any:  # noqa: ANN401 -- a broker, or a value of the evidence
        return root.resource.broker if key == "broker" else root.evidence.get(key)

    values = case.brokers if key == "broker" else dict.fromkeys(map(part, case.roots))  # none for what names no broker
    for value in values:
        yield replace(case, roots=tuple(root for root in case.roots if part(root) == value))


def causes_in_order(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Return causes in the order in which they may claim findings.

    Tier after tier; in a tier what explains the first findings of another cause comes before it, unless a key `before` says
    otherwise, then by code.

    Raises:
        ValueError: of a tier that there is not, or two causes that come before each other.
    """
    found: list[Cause] = []
    ranked = sorted(causes, key=lambda cause: (TIERS.index(cause.tier), cause.codes[0]))
    for _, tier in groupby(ranked, key=lambda cause: cause.tier):
        own = [*tier]
        for cause in own:
            _add(cause, own, found, ())
    return tuple(found)


def _add(cause: Cause, tier: Sequence[Cause], found: list[Cause], after: tuple[Cause, ...]) -> None:
    if cause in after:
        msg = f"each of these comes before the next one: {', '.join(one.meaning for one in after)}; say `before`"
        raise ValueError(msg)
    if cause not in found:
        for other in tier:
            if other is not cause and _comes_before(other, cause):
                _add(other, tier, found, (*after, cause))
        found.append(cause)


def _comes_before(one: Cause, other: Cause) -> bool:
    codes, own = {*other.codes}, {*one.codes}
    if codes & {*one.before} or own & {*other.before}:
        return bool(codes & {*one.before})
    return not codes & own and any(codes & {*part.codes} for part in one.explains)

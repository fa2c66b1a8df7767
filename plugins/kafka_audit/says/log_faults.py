"""Faults that a log names by itself: YAML files alone, in `start` (why a process does not start), `running` and `risks`.

What is in `risks` breaks nothing yet, so it is listed, and is no cause.

| key | what it is |
|---|---|
| `headline` | with {node}, {peer} (the node `other`), what patterns read; `headline_without` where they read less, or too much |
| `says` | patterns, of which one is found in a line and the exceptions below it; of a list, all |
| `why` | what it means |
| `steps` | `see`, `quick`, `lasting`, `do_not`, with the command in `run` |
| `check` | the check that reports the fault where the cluster can be asked |
| `severity` | HIGH without this key |
| `general` | a number: what a fault with a lower one explains at the same node, or without one |
| `lasts`, `quiet_s` | it counts if it goes on at the end of the log, and for longer than these seconds |
| `effect` | what stands below another fault that explains it, instead of its headline |
| `absent` | it is about the node `other`, which is not there: nothing is shown where that was stopped, or started again |
| `least` | it counts from so many lines on, at most a minute apart on average |
| `undecided` | lines say that something fails, and not at which end: the headline has "possibly" |
| `empties` | an empty disk may be its repair, once the other replicas are in sync; of no other fault it is |
| `over` | a pattern of a later line by which it is over, for the values that it reads |
| `cases` | logs, and the headline that they have (none: the nearest log that shows no fault) |
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kafka_audit.model.package_yaml import package_yaml
from kafka_audit.model.text import LONGEST_HEADLINE

FAMILIES = ("start", "running", "risks")
_HOLE = re.compile(r"\{(\w+)\}")
_PLAIN = re.compile(r"[\w./:@,+=$\[\]-]{1,300}")
_ADDRESS = re.compile(r"(?P<host>[^\s/:]{1,255})(?:/[^\s:]{0,64})?:(?P<port>\d{1,5})")


@dataclass(frozen=True, kw_only=True, eq=False)
class LogFault:
    """A fault, by the keys of its file."""

    name: str
    of_start: bool
    is_risk: bool
    headline: str
    says: tuple[tuple[re.Pattern[str], ...], ...]
    why: str
    steps: tuple[Mapping[str, str], ...]
    headline_without: str = ""
    check: str = ""
    severity: str = "HIGH"
    general: int = 0
    lasts: bool = False
    quiet_s: int = 0
    least: int = 1
    effect: str = ""
    absent: bool = False
    undecided: bool = False
    empties: bool = False
    over: re.Pattern[str] | None = None

    def values_in(self, text: str) -> Mapping[str, str] | None:
        """Return what its patterns read in a line with the exceptions below it; None if the line does not show the fault."""
        for patterns in self.says:
            found = [pattern.search(text) for pattern in patterns]
            if all(found):
                values = {key: value for match in found if match for key, value in match.groupdict().items() if value}
                address = _ADDRESS.fullmatch(values.get("address", ""))
                other = {"other": values["node_id"]} if "node_id" in values else {}
                return {**(address.groupdict() if address else {}), **values, **other}
        return None

    def headline_of(self, values: Mapping[str, str]) -> str:
        """Return the headline, or the shorter one where not all is known that it names, or that is too long."""
        template, short = self.headline, self.headline_without
        full, known = with_values(template, values), set(_HOLE.findall(template)) <= set(values)
        return full if known and (len(full) <= LONGEST_HEADLINE or not short) else with_values(short, values)


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values; a value that is not known stands there as its name in capitals."""
    return _HOLE.sub(lambda hole: values.get(hole[1]) or hole[1].upper(), text)


def step_command(text: str, values: Mapping[str, str]) -> str:
    """Return a command; a value that a shell could take for more than a word, or read otherwise, is not in it."""
    return with_values(text, {key: value for key, value in values.items() if _PLAIN.fullmatch(value) and value[0] != "-"})


@cache
def log_faults() -> tuple[LogFault, ...]:
    """Return all faults that logs name, in the order of their files."""
    return tuple(_faults())


def first_shown(text: str) -> LogFault | None:
    """Return the most special fault that a line with the exceptions below it shows by itself; one that may pass is none."""
    faults = (fault for fault in log_faults() if not (fault.lasts or fault.quiet_s or fault.is_risk or fault.least > 1))
    return min((fault for fault in faults if fault.values_in(text) is not None), key=lambda fault: fault.general, default=None)


def _faults() -> Iterator[LogFault]:
    for family in FAMILIES:
        for path in sorted(files(__package__).joinpath(family).iterdir(), key=lambda one: one.name):
            if path.name.endswith(".yaml"):
                raw: dict[str, Any] = package_yaml(__package__, family, path.name, until=("cases",))
                says = tuple(tuple(map(re.compile, one if isinstance(one, list) else [one])) for one in raw.pop("says"))
                name = path.name.removesuffix(".yaml")
                over = re.compile(raw.pop("over")) if "over" in raw else None
                raw |= {"of_start": family == "start", "is_risk": family == "risks", "steps": tuple(raw["steps"])}
                yield LogFault(name=name, says=says, over=over, **raw)

"""The catalogue: one module, one check, with a YAML file beside it.

The file has the only English of a check: `says`, a message template for each status over the judgement's evidence, for example
`FAIL: "Broker {broker} does not list {missing}"`; `page`, what operators read after the first paragraph of the function's
docstring; `remedies`, by the form of a file, its steps where they differ from the page (`lint/remedies.py`); and `stops`, the
functions of Kafka that a failure keeps from working (`report/impacts.py`). `incident` says what its failures explain, and `story`
has the texts of that (`incidents/declared_causes.py`). Then come the cases, which tests run and `explain` shows.

A check is a pure function of a `ClusterView`: it yields judgements, each of one resource. `@gate_check` functions are checks that
no audit runs: the gate before a change does, over a view that also holds the plan (`PlannedNode`) and what the audit said
(`Verdict`). Which tables a check rests on is seen in its cases: `make accept` takes each table away and writes the key `needs`.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model import tables
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.package_yaml import package_yaml
from kafka_audit.model.tables import Row

__all__ = ["ClusterView", "Confidence", "Judgement", "Judgements", "Severity", "Status", "check", "gate_check"]
"""What a module of a check imports from here; the other names are for those who read the catalogue."""

Judgements = Iterator[Judgement]
"""What a check's function yields."""

Judge = Callable[[ClusterView], Iterable[Judgement]]
"""A check's function."""

RETIRED = frozenset({"KA112", "KA309", "KA502", "KA709", "KA710"})
"""Codes of checks that are gone. Baselines, mutes and dashboards may still contain them, so no other check takes them."""

_REGISTRY: dict[str, "Check"] = {}


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check's metadata and its texts."""

    code: str
    name: str  # the fault in snake_case: function, file and finding share it
    family: str  # the folder
    severity: Severity
    needs: tuple[type[Row], ...]  # the tables without which it says something else, as its cases show
    says: Mapping[Status, str]
    function: Judge
    kind: str  # "audit" or "gate"
    parts: tuple[str, ...] = ()  # of the registry, without which it cannot judge
    by_files: bool = False  # it judges a cluster of which nothing but server.properties was read, so `lint` runs it
    mode: str | None = None  # "kraft" or "zookeeper" where it applies in that one alone
    since: str = "0.1.0"
    doc: str = field(default="", repr=False)  # the page: Markdown
    typed: tuple[str, ...] = ()  # what people call the fault: `explain` and the site's search find the page by it
    remedies: Mapping[str, str] = field(default_factory=dict, repr=False)  # by the form of a linted file
    left_behind: Mapping[str, str] = field(default_factory=dict, repr=False)  # what it breaks later and how it is removed
    stops: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what a failure keeps from working: `report.impacts`
    incident: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)  # `incidents/declared_causes.py`

    @property
    def summary(self) -> str:
        """The first paragraph of the page on one line: the fault."""
        return " ".join(self.doc.partition("\n\n")[0].split())

    def story(self, name: str) -> Mapping[str, Any] | None:
        """Return the template of the story of one of its incidents; None if its file has none."""
        return _stories(self.family, self.name).get(name)


def check(  # noqa: PLR0913 -- what a check is registered with
    *,
    code: str,
    severity: Severity,
    parts: tuple[str, ...] = (),
    by_files: bool = False,
    mode: str | None = None,
    kind: str = "audit",
) -> Callable[[Judge], Judge]:
    """Register a check, with the texts of the file beside its module.

    Args:
        code: KA and three digits.
        severity: of its failures, where a judgement names no other.
        parts: parts of the registry (brokers, controller, topics) without which it cannot judge: where one was not read, the
            check is not run, and one judgement of the cluster says so; where single znodes of it were not read, nothing passes.
        by_files: it judges a cluster of which nothing but server.properties was read, so `lint` runs it.
        mode: "kraft" or "zookeeper" where it applies in that one alone; in the other it is not run, and one judgement says so.
        kind: `gate` for a check that reads rows in Python before a change, and never in an audit: `gate_check`.
    """

    def wrap(function: Judge) -> Judge:
        if code in _REGISTRY:
            msg = f"{code} is registered twice: {_REGISTRY[code].name} and {function.__name__}"
            raise ValueError(msg)
        family, name = function.__module__.split(".")[-2:]
        texts = package_yaml(__package__, family, f"{name}.yaml", until=("story", "cases"))  # nine tenths of a file are cases
        _REGISTRY[code] = Check(
            code=code,
            name=function.__name__,
            family=family,
            severity=severity,
            needs=tuple(getattr(tables, table) for table in texts["needs"]),
            says=MappingProxyType({Status(status): text for status, text in texts["says"].items()}),
            function=function,
            kind=kind,
            parts=parts,
            by_files=by_files,
            mode=mode,
            doc=f"{inspect.cleandoc(function.__doc__ or '')}\n\n{texts['page']}".rstrip(),
            typed=tuple(texts.get("typed", ())),
            left_behind=MappingProxyType(texts.get("left_behind", {})),
            remedies=MappingProxyType(texts.get("remedies", {})),
            stops=MappingProxyType({scope: tuple(functions) for scope, functions in texts.get("stops", {}).items()}),
            incident=MappingProxyType(texts.get("incident", {})),
        )
        return function

    return wrap


@cache
def _stories(family: str, name: str) -> Mapping[str, Mapping[str, Any]]:
    found = package_yaml(__package__, family, f"{name}.yaml", since="story", until=("cases",))
    return MappingProxyType(found or {})


gate_check = partial(check, kind="gate")


def catalogue() -> Mapping[str, Check]:
    """Return all checks by code, importing every module below this package once (works inside a zip too)."""
    _import_all()
    return MappingProxyType(dict(sorted(_REGISTRY.items())))


@cache
def _import_all() -> None:
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)

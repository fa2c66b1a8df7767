"""The catalogue: one module, one check, one YAML case file under `tests/checks/`.

A check is a pure function. `@sql_check` functions return the text of one SELECT over the views of `engine.views`: Spark decides
whatever reads partition rows, probes or a previous snapshot. `@row_check` functions take a `Snapshot` and yield `Judgement`s:
plain Python decides whatever reads one cluster's broker, ACL and configuration rows. `@gate_check` functions are row checks that
no audit runs: the gate before a change does, over the snapshot, the plan (`PlannedNode`) and what the audit said (`Verdict`).
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Row, Snapshot

SqlCheck = Callable[[], str]
RowCheck = Callable[[Snapshot], Iterable[Judgement]]

_REGISTRY: dict[str, "Check"] = {}


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check's metadata; the docstring of `function` is its page.

    `says` maps each status that the check can yield to a message template over the judgement's evidence, for example
    `{Status.FAIL: "Broker {broker} does not list {missing}"}`.
    """

    code: str
    name: str  # the fault in snake_case: function, file and finding share it
    family: str  # the folder
    severity: Severity
    needs: tuple[type[Row], ...]
    says: Mapping[Status, str]
    function: Callable[..., Any]
    kind: str  # "sql", "row" or "gate"
    since: str = "0.1.0"
    doc: str = field(default="", repr=False)


def _register(
    kind: str, code: str, severity: Severity, needs: tuple[type[Row], ...], says: Mapping[Status, str]
) -> Callable[[Any], Any]:
    def wrap(function: Any) -> Any:  # noqa: ANN401 -- both kinds of check
        if code in _REGISTRY:
            msg = f"{code} is registered twice: {_REGISTRY[code].name} and {function.__name__}"
            raise ValueError(msg)
        _REGISTRY[code] = Check(
            code=code,
            name=function.__name__,
            family=function.__module__.split(".")[-2],
            severity=severity,
            needs=needs,
            says=MappingProxyType(dict(says)),
            function=function,
            kind=kind,
            doc=function.__doc__ or "",
        )
        return function

    return wrap


def sql_check(
    *, code: str, severity: Severity, needs: tuple[type[Row], ...], says: Mapping[Status, str]
) -> Callable[[SqlCheck], SqlCheck]:
    """Register a check that is one SELECT with the columns of `engine.views.RESULT`."""
    return _register("sql", code, severity, needs, says)


def row_check(
    *, code: str, severity: Severity, needs: tuple[type[Row], ...], says: Mapping[Status, str]
) -> Callable[[RowCheck], RowCheck]:
    """Register a check that reads one snapshot's rows in Python."""
    return _register("row", code, severity, needs, says)


def gate_check(
    *, code: str, severity: Severity, needs: tuple[type[Row], ...], says: Mapping[Status, str]
) -> Callable[[RowCheck], RowCheck]:
    """Register a check that reads rows in Python before a change, and never in an audit."""
    return _register("gate", code, severity, needs, says)


def catalogue() -> Mapping[str, Check]:
    """Return all checks by code, importing every module below this package once (works inside a zip too)."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return MappingProxyType(dict(sorted(_REGISTRY.items())))

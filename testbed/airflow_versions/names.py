"""Which names of Airflow this checkout imports."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from testbed.airflow_home import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Name = tuple[str, str]


def sources() -> list[Path]:
    """Return the modules that Airflow imports."""
    return [*sorted((ROOT / "plugins").rglob("*.py")), *sorted((ROOT / "dags").glob("*.py"))]


def imported(path: Path) -> Iterator[tuple[Name, bool]]:
    """Yield each name of Airflow that a module imports, and whether an Airflow may lack it: the import is within `try`."""
    yield from _below(ast.parse(path.read_text(encoding="utf-8")), optional=False)


def wanted() -> list[Name]:
    """Return all names of Airflow that the checkout imports anywhere."""
    return sorted({name for path in sources() for name, _ in imported(path)})


def _below(node: ast.AST, *, optional: bool) -> Iterator[tuple[Name, bool]]:
    if isinstance(node, ast.ImportFrom) and node.level == 0 and _is_airflow(node.module or ""):
        yield from (((node.module or "", alias.name), optional) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (((alias.name, ""), optional) for alias in node.names if _is_airflow(alias.name))
    elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    else:
        within = optional or (isinstance(node, ast.Try) and any(map(_catches_import_errors, node.handlers)))
        for child in ast.iter_child_nodes(node):
            yield from _below(child, optional=within)


def _catches_import_errors(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and "ImportError" in {
        name.id for name in ast.walk(handler.type) if isinstance(name, ast.Name)
    }


def _is_airflow(module: str) -> bool:
    return module.partition(".")[0] == "airflow"

"""What of Airflow is used is public, but for what `kafka_audit.airflow.internals` names, each with its reason."""

import ast
import functools
import importlib
import inspect
import re

import pytest

from airflow_environment import ROOT

PACKAGE = ROOT / "plugins" / "kafka_audit"
INTERNALS = PACKAGE / "airflow" / "internals.py"
SOURCES = [*sorted((ROOT / "plugins").rglob("*.py")), *sorted((ROOT / "dags").glob("*.py"))]
OTHERS = [path for path in SOURCES if path != INTERNALS]

PUBLIC = {
    "airflow.sdk",
    "airflow.sdk.bases.decorator",
    "airflow.sdk.exceptions",
    "airflow.sdk.io",  # of the page "Object Storage"
    "airflow.sdk.log",  # mask_secret, of the page "Masking sensitive data"
    "airflow.sdk.types",
    "airflow.plugins_manager",
    "airflow.triggers.base",
}
"""Modules of the public interface (Airflow's page "Public Interface for Airflow 3.0+", and its guide to task decorators)."""

PROVIDERS = ("operators", "hooks", "notifications")
"""Kinds of modules of a provider that are public."""


def is_public(module, name):
    if name.startswith("_"):
        return False
    parts = module.split(".")
    return module in PUBLIC or (parts[:2] == ["airflow", "providers"] and any(kind in parts for kind in PROVIDERS))


def imported(tree):
    """Yield what is imported, but for what an older Airflow has elsewhere: `except ImportError`."""
    older = {id(node) for handler in ast.walk(tree) if isinstance(handler, ast.ExceptHandler) for node in ast.walk(handler)}
    for node in ast.walk(tree):
        if id(node) in older:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


@functools.cache
def of_airflow(path):
    text = path.read_text(encoding="utf-8")
    if not re.search(r"^\s*(?:from|import) airflow\b", text, re.MULTILINE):  # parsing all files takes seconds
        return []
    return [name for name in imported(ast.parse(text)) if name[0].split(".")[0] == "airflow"]


def test_only_internals_imports_what_is_not_public():
    private = [(str(path.relative_to(ROOT)), *name) for path in OTHERS for name in of_airflow(path) if not is_public(*name)]
    assert private == []


def test_only_internals_names_private_variables_of_airflows_processes():
    assert [str(path) for path in OTHERS if re.search(r"\b_AIRFLOW_", path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("path", [path for path in OTHERS if of_airflow(path)], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_subclass_touches_private_names_of_its_parents(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parents = {name: module for module, name in of_airflow(path)}
    for node in [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]:
        own = {used.attr for used in ast.walk(node) if isinstance(used, ast.Attribute)} | {
            made.name for made in node.body if isinstance(made, ast.FunctionDef)
        }
        for base in (base.id for base in node.bases if isinstance(base, ast.Name) and base.id in parents):
            parent = getattr(importlib.import_module(parents[base]), base)
            theirs = {
                used.attr
                for cls in inspect.getmro(parent)
                if cls.__module__.startswith("airflow")
                for used in ast.walk(ast.parse(inspect.getsource(inspect.getmodule(cls))))
                if isinstance(used, ast.Attribute)
            }
            private = {name for name in own & theirs if name.startswith("_") and not name.startswith("__")}
            assert private == set(), f"{node.name} touches {private} of {base}"


def test_each_thing_that_is_not_public_has_its_reason():
    functions = [node for node in ast.parse(INTERNALS.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    assert functions
    assert [node.name for node in functions if "Not public: " not in ast.get_docstring(node)] == []
    assert any(not is_public(*name) for name in of_airflow(INTERNALS))

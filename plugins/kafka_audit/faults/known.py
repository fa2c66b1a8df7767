"""All known faults of an edge: one module and one YAML file each, in the folder of its family."""

import importlib
import pkgutil
from functools import cache

from kafka_audit.faults.cause import KnownCause, registered


def groups_of(code: str) -> frozenset[str]:
    """Return the groups of causes that a check reports."""
    return frozenset(cause.kind.group for cause in causes() if cause.kind.code == code)


@cache
def causes() -> tuple[KnownCause, ...]:
    """Return all causes, in the order of layers, importing every module of every family once (works inside a zip too)."""
    here = importlib.import_module(__package__)
    families = [module.name for module in pkgutil.iter_modules(here.__path__, f"{__package__}.") if module.ispkg]
    for family in families:
        for module in pkgutil.iter_modules(importlib.import_module(family).__path__, f"{family}."):
            importlib.import_module(module.name)
    return tuple(sorted(registered().values(), key=lambda cause: (cause.layer, cause.rare, cause.name)))

"""The known causes of a broken edge: one module, one cause, with its cases in a YAML file beside it."""

import importlib
import pkgutil
from functools import cache

from kafka_audit.diagnosis.cause import KnownCause, registered


def groups_of(code: str) -> frozenset[str]:
    """Return the groups of causes that a check reports."""
    return frozenset(cause.kind.group for cause in causes() if cause.kind.code == code)


@cache
def causes() -> tuple[KnownCause, ...]:
    """Return all causes, in the order of layers, importing every module of this package once (works inside a zip too)."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    return tuple(sorted(registered().values(), key=lambda cause: (cause.layer, cause.rare, cause.name)))

"""All known faults of an edge: one module and one YAML file each, in the folder of its family."""

import importlib
import pkgutil
from functools import cache

from kafka_audit.faults.fault import Fault, registered


@cache
def known_faults() -> tuple[Fault, ...]:
    """Return all faults, in the order of layers, importing every module of every family once (works inside a zip too)."""
    here = importlib.import_module(__package__)
    families = [module.name for module in pkgutil.iter_modules(here.__path__, f"{__package__}.") if module.ispkg]
    for family in families:
        for module in pkgutil.iter_modules(importlib.import_module(family).__path__, f"{family}."):
            importlib.import_module(module.name)
    return tuple(sorted(registered().values(), key=lambda fault: (fault.depth, fault.rare, fault.name)))

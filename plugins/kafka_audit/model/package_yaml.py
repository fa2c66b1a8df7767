"""YAML files of this package: texts and tables that code fills or looks up. They are trusted; `bounds` reads those of others."""

from importlib.resources import files
from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where it is there: ten times as fast."""


def package_yaml(package: str, *path: str, until: str | None = None) -> Any:  # noqa: ANN401 -- what the file holds
    """Return what a file of a package holds, in a zip, too; only what stands before a top-level key if `until` names one."""
    text = files(package).joinpath(*path).read_text(encoding="utf-8")
    if until is not None:
        text = text.partition(f"\n{until}:")[0]
    return yaml.load(text, LOADER)  # noqa: S506 -- a safe loader, in C where it is there

"""YAML files of this package: texts and tables that code fills or looks up. They are trusted; `bounds` reads those of others."""

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where it is there: ten times as fast."""


def package_yaml(package: str, *path: str, since: str | None = None, until: Iterable[str] = ()) -> Any:  # noqa: ANN401 -- what the file holds
    """Return what a file of a package holds, in a zip, too.

    Args:
        package: and its file.
        path: of the file in it.
        since: only what stands below this top-level key; nothing if there is no such key.
        until: only what stands before the first of these top-level keys.
    """
    text = files(package).joinpath(*path).read_text(encoding="utf-8")
    if since is not None:
        text = text.partition(f"\n{since}:")[2]
    for key in until:
        text = text.partition(f"\n{key}:")[0]
    return yaml.load(text, LOADER)  # noqa: S506 -- a safe loader, in C where it is there

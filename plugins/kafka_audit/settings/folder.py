"""The files of a cluster file: itself, or those of a folder such as `clusters.d/`."""

import os
from pathlib import Path

from kafka_audit.model.errors import UsageError

_SUFFIXES = (".yaml", ".yml")
_MOST_FILES = 1_000
_DEFAULTS = "defaults"


def cluster_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the path itself, or the YAML files of a folder by name; hidden files, other files and subfolders are not read.

    A ConfigMap that is mounted as a folder keeps its files in hidden folders, and links to them.

    Raises:
        UsageError: the folder cannot be read, has no such file, or too many.
    """
    named = os.fspath(path)
    folder = Path(named).expanduser()
    if not folder.is_dir():  # a pipe, too: `--config <(decrypt clusters.yaml)`
        return [named]
    try:
        names = sorted(entry.name for entry in folder.iterdir() if _is_read(entry))
    except OSError as error:
        msg = f"{named}: cannot be read: {error.strerror}"
        raise UsageError(msg) from error
    if not names:
        msg = f"{named}: contains no *.yaml file; each file must contain `clusters:`, see clusters.example.yaml"
        raise UsageError(msg)
    if len(names) > _MOST_FILES:
        msg = f"{named}: contains {len(names)} *.yaml files, more than the limit of {_MOST_FILES}"
        raise UsageError(msg)
    return [str(Path(named) / name) for name in names]


def is_defaults_file(file: str) -> bool:
    """Return whether a file of a folder is the one whose defaults all clusters of the folder inherit."""
    return Path(file).stem == _DEFAULTS


def _is_read(entry: Path) -> bool:
    return entry.suffix in _SUFFIXES and not entry.name.startswith(".") and not entry.is_dir()

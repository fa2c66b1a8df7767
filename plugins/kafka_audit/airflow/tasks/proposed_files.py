"""Files that a form proposes: names below one folder of the worker, and nothing else of it.

A user who may trigger the DAG chooses the names and reads the task's log: outside the folder every name gets the same answer,
whether there is a file or not.
"""

import glob
import itertools
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from kafka_audit.airflow import environment
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import clean

MOST_FILES = 2_000
MOST_BYTES = 100 * 1024 * 1024
"""Of all that lies below what a line names; a cluster's files are a few hundred of a few kB."""

_MOST_PATTERNS = 4
_UNUSUAL = ("\\", "\0", "://")


def arguments(lines: Iterable[str]) -> tuple[str, ...]:
    """Return what `lint` is to read for each line: an absolute path or pattern, below which no link leads out of the folder.

    Raises:
        UsageError: a line names something else, or too much.
    """
    return tuple(_argument(line) for line in lines)


def _argument(line: str) -> str:
    root = Path(environment.proposed_root())
    if not root.is_dir():
        way_out = "create it on the worker, or set another folder, and copy the proposed files there"
        msg = f"KAFKA_AUDIT_PROPOSED_ROOT: folder {root} does not exist; {way_out}"
        raise UsageError(msg)
    parts = _parts(line, root)
    patterns = [number for number, part in enumerate(parts) if glob.has_magic(part)]
    if "**" in parts or len(patterns) > _MOST_PATTERNS:
        msg = f"proposed files: {clean(line)!r} matches too much; name a folder to read all files below it"
        raise UsageError(msg)
    _require_within(line, root, root.joinpath(*parts[: patterns[0]] if patterns else parts))
    return str(root.joinpath(*parts))


def _parts(line: str, root: Path) -> tuple[str, ...]:
    """Return a line's parts below the root; no file is looked at."""
    path = PurePosixPath(line)
    if not line.strip() or line.startswith("~") or ".." in path.parts or any(text in line for text in _UNUSUAL):
        raise _outside(line)
    if not path.is_absolute():
        return path.parts
    for folder in (root, root.resolve()):
        if path.is_relative_to(folder):
            return path.relative_to(folder).parts
    raise _outside(line)


def _require_within(line: str, root: Path, start: Path) -> None:
    """Raise unless all that a path leads to, links followed, lies below the root and is no more than `lint` should read."""
    inside, size = Path(os.path.realpath(root)), 0
    left, known = [start], set[Path]()
    while left:
        path = Path(os.path.realpath(left.pop()))  # unlike Path.resolve it takes a loop of links for a name
        if not path.is_relative_to(inside):
            raise _outside(line)
        if path in known:
            continue
        known.add(path)
        if path.is_dir():
            left += _entries(path, MOST_FILES - len(known) - len(left))
        elif path.is_file():
            size += path.stat().st_size
        if len(known) + len(left) > MOST_FILES or size > MOST_BYTES:
            most = f"{MOST_FILES} files or {MOST_BYTES // 1024**2} MB"
            msg = f"proposed files: {clean(line)!r} matches more than {most}; name a smaller folder"
            raise UsageError(msg)


def _entries(folder: Path, most: int) -> list[Path]:
    """Return what is in a folder, at most one more than `most`."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in itertools.islice(entries, max(most, 0) + 1)]
    except OSError as error:
        msg = f"proposed files: a folder below KAFKA_AUDIT_PROPOSED_ROOT cannot be read: {error.strerror}"
        raise UsageError(msg) from None


def _outside(line: str) -> UsageError:
    way_out = "name files, folders or patterns in that folder"
    return UsageError(f"proposed files: {clean(line)!r} is not a name below KAFKA_AUDIT_PROPOSED_ROOT; {way_out}")

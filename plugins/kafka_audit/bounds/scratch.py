"""A folder for what Spark on this machine keeps while it answers. Nothing of it stays, however a run ends.

Spark and its JVM clear their own folders when they end, not when they are killed. So they get one folder of ours below the
temporary folder of this machine. Who made it removes it; should that process be killed as well, the next run does, at once: the
kernel has released the lock of the one that is gone.
"""

import contextlib
import fcntl
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

PREFIX = "kafka-audit-scratch-"
LOG_PREFIX = "kafka-audit-spark-"
"""Logs of a Spark that failed; an error names its file, so they stay for a while."""

_LOCK, _UNLOCKED = "lock", "unlocked"
_NO_LOCK_S = 60.0  # between a folder and its lock there are microseconds
_LOGS_S = 7 * 24 * 3600.0

log = logging.getLogger(__name__)


class Scratch:
    """A folder that is there as long as the `with` block, or until `close`.

    Attributes:
        path: the folder, readable by this user alone.
        lock: file descriptor of the lock; a child that has it keeps the folder from being taken for a leftover.
    """

    def __init__(self) -> None:
        """Remove what runs that were killed left, and make a folder; raises OSError if there is no space."""
        remove_scratch_leftovers()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        made = self.path / _UNLOCKED
        self.lock = os.open(made, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        made.rename(self.path / _LOCK)  # what other runs find is locked: they take a folder with a free lock for a leftover

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Remove the folder; may be called again."""
        if self.lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self.lock)
            self.lock = -1


def remove_scratch_leftovers() -> None:
    """Remove folders of runs that were killed, and logs that are older than a week; what cannot be removed stays."""
    place = Path(tempfile.gettempdir())
    for path in _own(place, PREFIX):
        with contextlib.suppress(OSError), _claimed(path) as is_left:  # another run removes it at the same time
            if is_left:
                log.info("removing %s, which a run that was killed left", path)
                shutil.rmtree(path, ignore_errors=True)
    for path in _own(place, LOG_PREFIX):
        with contextlib.suppress(OSError):
            if path.lstat().st_mtime < time.time() - _LOGS_S:
                path.unlink()


def _own(place: Path, prefix: str) -> list[Path]:
    """Return this user's files and folders of that prefix, without links: any user can write to a temporary folder."""
    paths = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.name.startswith(prefix) and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    paths.append(Path(entry.path))
    return [path for path in paths if not path.is_symlink()]


@contextlib.contextmanager
def _claimed(path: Path) -> Iterator[bool]:
    """Yield whether a folder is unused; it is locked meanwhile."""
    try:
        lock = os.open(path / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield path.stat().st_mtime < time.time() - _NO_LOCK_S
        return
    try:
        yield _locks(lock)
    finally:
        os.close(lock)


def _locks(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

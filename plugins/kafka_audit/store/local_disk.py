"""Files below a folder of this machine."""

import contextlib
import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

STAGING = ".staging"
"""Folder below the root for what is being written. What an interrupted write left there goes with `pruning.remove_leftovers`."""

FILE_MODE, _FOLDER_MODE = 0o640, 0o750
_NO_MODES = frozenset({errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENOSYS, errno.EROFS})


class LocalDisk:
    """The files below a folder. Methods raise OSError, and are those of `ObjectStore`."""

    def __init__(self, root: str) -> None:
        """Take a folder, which may not be there yet."""
        self._root = Path(root)

    def prepare(self) -> None:
        """Create the root, and see whether it can be written."""
        _make_folder(self._root)
        with tempfile.TemporaryFile(dir=self._root):
            pass
        for path in self._root.glob("findings.*"):  # an earlier version left them readable by all users
            _close_to_others(path)

    def read(self, path: str) -> bytes:
        """Return the content of a file; raises FileNotFoundError or NotADirectoryError."""
        return (self._root / path).read_bytes()

    def write(self, path: str, content: bytes) -> None:
        """Write a file, replacing what was there."""
        self._make_private(path)
        _write_by_rename(self._root / path, content, self._root / STAGING)

    def create(self, path: str, content: bytes) -> None:
        """Write a new file; raises FileExistsError where there is one, which may be empty for a moment."""
        self._make_private(path)
        target = self._root / path
        target.touch(mode=FILE_MODE, exist_ok=False)
        target.write_bytes(content)

    def _make_private(self, path: str) -> None:
        """Make the folders above a file; those between the root and the file are closed to others."""
        folder = self._root
        _make_folder(folder)
        for part in PurePosixPath(path).parent.parts:
            folder /= part
            if not _make_folder(folder):
                _close_to_others(folder)

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; raises FileNotFoundError or NotADirectoryError."""
        # A year of ten clusters has 90,000 names: a path of each would take seconds.
        return sorted(os.listdir(f"{self._root}/{folder}"))  # noqa: PTH208 -- see above

    def remove(self, path: str) -> None:
        """Remove a file; raises FileNotFoundError."""
        (self._root / path).unlink()

    def remove_folder(self, path: str, *, but: Collection[str] = ()) -> None:
        """Remove a folder; names of files in it that are in `but` stay. Raises FileNotFoundError."""
        folder = self._root / path
        names = self.names(path) if but else []
        if set(names).isdisjoint(but) or folder.is_symlink():
            shutil.rmtree(folder)
            return
        for name in names:
            if name not in but:
                (folder / name).unlink(missing_ok=True)

    def modified(self, path: str) -> datetime:
        """Return when a file was written; raises FileNotFoundError or NotADirectoryError."""
        return datetime.fromtimestamp((self._root / path).stat().st_mtime, UTC)


def _write_by_rename(target: Path, content: bytes, staging: Path) -> None:
    if not _make_folder(staging):
        _close_to_others(staging)
    temporary = staging / f"{target.name}.{secrets.token_hex(4)}"
    try:
        temporary.touch(mode=0o600, exist_ok=False)
        _set_mode(temporary, FILE_MODE)
        temporary.write_bytes(content)
        temporary.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _make_folder(folder: Path) -> bool:
    """Make a folder and those above it; returns whether it was not there."""
    try:
        try:
            folder.mkdir(mode=0o700)
        except FileNotFoundError:
            _make_folder(folder.parent)
            folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return False
    # A folder may hand its group down, for readers of reports.
    _set_mode(folder, _FOLDER_MODE | (folder.stat().st_mode & stat.S_ISGID))
    return True


def _close_to_others(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & stat.S_IRWXO:
        _set_mode(path, mode & ~stat.S_IRWXO)


def _set_mode(path: Path, mode: int) -> None:
    """Set a mode; another user's file and a file system without modes keep theirs."""
    try:
        path.chmod(mode)
    except OSError as error:
        if error.errno not in _NO_MODES:
            raise

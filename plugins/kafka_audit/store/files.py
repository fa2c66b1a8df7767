"""Files below one root, on a disk or in an object store, with errors that name the file."""

import contextlib
import errno
import io
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from kafka_audit.model.errors import StoreBusyError, StoreError, UsageError
from kafka_audit.model.text import without_logins
from kafka_audit.store.object_store import ObjectStore

# Spark's readers treat a path with one of these characters as a pattern.
_PATTERN_CHARACTERS = frozenset("*?[]{}\\")

FILE_MODE, _FOLDER_MODE = 0o640, 0o750
_NO_MODES = frozenset({errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENOSYS, errno.EROFS})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_WRONG_PLACE = frozenset({errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT})


_TRIED = "tried"

STAGING = ".staging"
"""Folder below the root for what is being written. What an interrupted write left there goes with `pruning.remove_leftovers`."""


class Files:
    """Reads and writes below a root: a local path, or a URL that fsspec knows (`s3://`, `gs://`, `abfs://`, `hdfs://`).

    A write is seen whole or not at all: by rename on a local disk, without one in an object store.

    On a local disk files are 0640 and folders 0750, whatever the umask. A root that was there before keeps its mode, since it may
    hold more than a store; folders below it that a write passes through lose the rights of others.

    Raises:
        UsageError: the root is no place for a store; no file system for its protocol is installed.
        StoreError: from every method: the place does not take or give the file. `StoreBusyError` where that may pass.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Take a root; nothing is created before the first write."""
        given = os.fspath(root).removeprefix("file://")
        self.is_local = "://" not in given
        if not self.is_local:
            _require_no_login(given)
        self.root = str(Path(given).expanduser().absolute()) if self.is_local else given.rstrip("/")
        if self.is_local and _PATTERN_CHARACTERS & set(self.root):
            msg = f"{self.root}: Spark reads this path as a pattern; use a path without * ? [ ] {{ }} and backslash"
            raise UsageError(msg)
        self._base = Path(self.root)
        try:
            self._remote = None if self.is_local else ObjectStore(self.root)
        except (ImportError, ValueError) as error:  # a missing package is reported now, not after the audit
            msg = f"{self.root}: {without_logins(str(error))}"
            raise UsageError(msg) from None
        except OSError as error:
            raise _refused(self.root, error) from None

    def prepare(self) -> None:
        """Create a local root, and see whether the root can be written."""
        if self._remote is not None:
            self.write(f"{STAGING}/{_TRIED}", b"")
            self.remove(f"{STAGING}/{_TRIED}")
            return
        try:
            _make_folder(Path(self.root))
            with tempfile.TemporaryFile(dir=self.root):
                pass
            for path in Path(self.root).glob("findings.*"):  # an earlier version left them readable by all users
                _close_to_others(path)
        except OSError as error:
            raise _refused(self.root, error) from None

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None where there is no such file."""
        try:
            content = (self._base / path).read_bytes() if self._remote is None else self._remote.read(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _refused(self.place(path), error) from None
        return content

    def write(self, path: str, content: bytes) -> None:
        """Write a file, and the folders above it, replacing what was there."""
        try:
            if self._remote is None:
                self._make_private(path)
                _write_by_rename(self._base / path, content, self._base / STAGING)
            else:
                self._remote.write(path, content)
        except OSError as error:
            raise _refused(self.place(path), error) from None

    def _make_private(self, path: str) -> None:
        """Make the folders above a file; those between the root and the file are closed to others."""
        folder = self._base
        _make_folder(folder)
        for part in PurePosixPath(path).parent.parts:
            folder /= part
            if not _make_folder(folder):
                _close_to_others(folder)

    def names(self, folder: str) -> list[str]:
        """Return what is in a folder, sorted; nothing where there is no such folder."""
        try:
            if self._remote is not None:
                return self._remote.names(folder)
            # A year of ten clusters has 90,000 names: a path of each would take seconds.
            return sorted(os.listdir(f"{self.root}/{folder}"))  # noqa: PTH208 -- see above
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise _refused(self.place(folder), error) from None

    def remove(self, path: str) -> None:
        """Remove a file if it is there."""
        try:
            if self._remote is None:
                (self._base / path).unlink()
            else:
                self._remote.remove(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _refused(self.place(path), error) from None

    def remove_folder(self, path: str, *, but: Collection[str] = ()) -> None:
        """Remove a folder and what is in it, if it is there; a link is not followed but refused.

        Args:
            path: the folder.
            but: names of files in it that stay, and the folder with them.
        """
        target = self._base / path
        try:
            if self._remote is not None:
                self._remote.remove_folder(path, but=but)
                return
            names = self.names(path) if but else []
            if not set(names).isdisjoint(but) and not target.is_symlink():
                for name in names:
                    if name not in but:
                        (target / name).unlink(missing_ok=True)
            else:
                shutil.rmtree(target)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _refused(self.place(path), error) from None

    def modified(self, path: str) -> datetime | None:
        """Return when a file was written, with a time zone; None if the file or its time does not exist."""
        try:
            if self._remote is not None:
                return self._remote.modified(path)
            return datetime.fromtimestamp((self._base / path).stat().st_mtime, UTC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _refused(self.place(path), error) from None

    def place(self, path: str) -> str:
        """Return the full path or URL of a file, for messages."""
        return f"{self.root}/{path}"


def _require_no_login(url: str) -> None:
    """Raise `UsageError` for a URL that holds a password or a query: it would appear in commands, logs and Airflow's pages."""
    scheme, _, rest = url.partition("://")
    login, at, _ = rest.rpartition("@")
    if at and ":" in login:
        shown = f"{scheme}://***@…"
        instead = "the Airflow connection kafka_audit_store, or in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        msg = f"{shown}: the URL of a store must not contain a password; set it for the file system, for S3 in {instead}"
        raise UsageError(msg)
    if "?" in rest or "#" in rest:
        shown = url.replace("#", "?").partition("?")[0]
        msg = f"{shown}?…: the URL of a store must not contain a query; set keys in the variables of the file system"
        raise UsageError(msg)


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


@contextlib.contextmanager
def whole_file(target: Path, *, replace: bool = False) -> Iterator[io.BufferedRandom]:
    """Give a stream whose content becomes a file outside of a store when the block ends: whole or not at all, with mode 0640.

    Args:
        target: the file, in a folder that exists.
        replace: take the place of a file of this name, not of what a link of this name leads to.

    Raises:
        UsageError: the file exists, or cannot be written.
    """
    try:
        if not replace:
            _require_free(target)
        with tempfile.TemporaryDirectory(prefix=".kafka-audit-", dir=target.parent) as folder:
            held = Path(folder, target.name)
            with held.open("x+b") as stream:
                yield stream
            held.chmod(FILE_MODE)
            if replace:
                held.replace(target)
            else:
                _give_name(held, target)
    except FileExistsError:
        msg = f"{target}: exists already; remove it, or name another file with --out"
        raise UsageError(msg) from None
    except OSError as error:
        msg = f"{target}: {error.strerror or error}; name another file with --out"
        raise UsageError(msg) from None


def _give_name(held: Path, target: Path) -> None:
    """Move a file to a name that is free; raises FileExistsError where it is not."""
    try:
        os.link(held, target)  # unlike a rename, it replaces nothing that another process wrote meanwhile
    except FileExistsError:
        raise
    except OSError:  # no hard links, as on a memory stick
        _require_free(target)
        held.rename(target)


def _require_free(target: Path) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


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


def _refused(place: str, error: OSError) -> StoreError:
    message = f"{place}: {without_logins(error.strerror or str(error) or type(error).__name__)}"
    elsewhere = "set another store with --out or KAFKA_AUDIT_STORE"
    if error.errno in _NO_ROOM:
        return StoreBusyError(f"{message}; free disk space, or keep fewer snapshots (`keep` of a cluster, KAFKA_AUDIT_RETENTION)")
    if error.errno in _NO_RIGHT or isinstance(error, PermissionError):  # object stores raise it without a number
        return StoreError(f"{message}; grant this user read and write access, or {elsewhere}")
    if error.errno in _WRONG_PLACE or isinstance(error, FileNotFoundError):  # as above, for a bucket that does not exist
        return StoreError(f"{message}; {elsewhere}")
    return StoreBusyError(f"{message}; check that the storage is reachable, then try again")

"""Files below one root, on a disk or in an object store, with errors that name the file; and a file elsewhere, written whole."""

import contextlib
import errno
import io
import os
import tempfile
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

from kafka_audit.model.errors import StoreBusyError, StoreError, UsageError
from kafka_audit.model.text import without_logins
from kafka_audit.store.local_disk import FILE_MODE, STAGING, LocalDisk
from kafka_audit.store.object_store import ObjectStore

# Spark's readers treat a path with one of these characters as a pattern.
_PATTERN_CHARACTERS = frozenset("*?[]{}\\")

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_WRONG_PLACE = frozenset({errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT})
_TRIED = "tried"
_NONE_THERE = (FileNotFoundError, NotADirectoryError)


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
        self._held: LocalDisk | ObjectStore
        if "://" in given:
            _require_no_login(given)
            self.root = given.rstrip("/")
            self._held = _object_store(self.root)
        else:
            self.root = str(Path(given).expanduser().absolute())
            if _PATTERN_CHARACTERS & set(self.root):
                msg = f"{self.root}: Spark reads this path as a pattern; use a path without * ? [ ] {{ }} and backslash"
                raise UsageError(msg)
            self._held = LocalDisk(self.root)

    def prepare(self) -> None:
        """Create a local root, and see whether the root can be written."""
        if isinstance(self._held, ObjectStore):
            self.write(f"{STAGING}/{_TRIED}", b"")
            self.remove(f"{STAGING}/{_TRIED}")
            return
        with self._errors():
            self._held.prepare()

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None where there is no such file."""
        with self._errors(path), contextlib.suppress(*_NONE_THERE):
            return self._held.read(path)
        return None

    def write(self, path: str, content: bytes) -> None:
        """Write a file, and the folders above it, replacing what was there."""
        with self._errors(path):
            self._held.write(path, content)

    def create(self, path: str, content: bytes) -> bool:
        """Write a file unless there is one; return whether there was none."""
        with self._errors(path), contextlib.suppress(FileExistsError):
            self._held.create(path, content)
            return True
        return False

    def names(self, folder: str) -> list[str]:
        """Return what is in a folder, sorted; nothing where there is no such folder."""
        with self._errors(folder), contextlib.suppress(*_NONE_THERE):
            return self._held.names(folder)
        return []

    def remove(self, path: str) -> None:
        """Remove a file if it is there."""
        with self._errors(path), contextlib.suppress(FileNotFoundError):
            self._held.remove(path)

    def remove_folder(self, path: str, *, but: Collection[str] = ()) -> None:
        """Remove a folder and what is in it, if it is there; a link is not followed but refused.

        Args:
            path: the folder.
            but: names of files in it that stay, and the folder with them.
        """
        with self._errors(path), contextlib.suppress(FileNotFoundError):
            self._held.remove_folder(path, but=but)

    def modified(self, path: str) -> datetime | None:
        """Return when a file was written, with a time zone; None if the file or its time does not exist."""
        with self._errors(path), contextlib.suppress(*_NONE_THERE):
            return self._held.modified(path)
        return None

    @contextlib.contextmanager
    def _errors(self, path: str | None = None) -> Iterator[None]:
        """Raise StoreError for OSError, with the name of the file, or of the root."""
        try:
            yield
        except OSError as error:
            raise _refused(self.root if path is None else self.place(path), error) from None

    def place(self, path: str) -> str:
        """Return the full path or URL of a file, for messages."""
        return f"{self.root}/{path}"


def _object_store(root: str) -> ObjectStore:
    """Return the files below a URL; a missing package, or a service that refuses, is reported now and not after the audit."""
    try:
        return ObjectStore(root)
    except (ImportError, ValueError) as error:
        msg = f"{root}: {without_logins(str(error))}"
        raise UsageError(msg) from None
    except OSError as error:
        raise _refused(root, error) from None


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

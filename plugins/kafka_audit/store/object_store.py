"""Files below a URL that fsspec knows (`s3://`, `gs://`, `abfs://`, `hdfs://`).

An object appears when its upload ends, whole; nothing here renames or appends. Each listing is read anew: other processes write.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from typing import Any

FileSystemOf = Callable[[str], Any]
"""Returns a file system of fsspec that has the credentials for a URL, None for the default of that file system."""

_FLAT = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "memory"})
"""Protocols without folders: to make one costs requests, and with s3fs a wrong bucket would be created."""

_connected: list[FileSystemOf] = []


def use_file_systems(file_system: FileSystemOf) -> None:
    """Let a function choose the file systems of this process; without one each finds its credentials in the environment."""
    _connected[:] = [file_system]


class ObjectStore:
    """The files below a URL. Methods raise OSError, whatever the file system raises."""

    def __init__(self, root: str) -> None:
        """Find the file system; raises ImportError or ValueError where none is installed for the protocol, else OSError."""
        with _as_os_errors():
            self._fs: Any = next((fs for of in _connected if (fs := of(root)) is not None), None)
        if self._fs is None:
            from fsspec.core import url_to_fs  # noqa: PLC0415 -- takes as long as the store's other imports, and few stores are a URL

            self._fs, _ = url_to_fs(root, use_listings_cache=False)
        self._fs.dircache.use_listings_cache = False
        self._root = self._fs._strip_protocol(root)  # noqa: SLF001 -- fsspec's own way from a URL to a path
        self._is_flat = root.partition("://")[0] in _FLAT

    def read(self, path: str) -> bytes:
        """Return the content of a file; raises FileNotFoundError."""
        with _as_os_errors():
            content: bytes = self._fs.cat_file(self._path(path))
        return content

    def write(self, path: str, content: bytes) -> None:
        """Write a file, replacing what was there."""
        target = self._path(path)
        with _as_os_errors():
            if not self._is_flat:
                self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._fs.pipe_file(target, content)

    def create(self, path: str, content: bytes) -> None:
        """Write a new file; raises FileExistsError where there is one, as far as its service can tell."""
        with _as_os_errors():
            self._fs.pipe_file(self._path(path), content, mode="create")

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted; raises FileNotFoundError."""
        place = self._path(folder)
        with _as_os_errors():
            found = self._fs.ls(place, detail=False)
        names = (name.rstrip("/").removeprefix(f"{place}/") for name in found)
        return sorted(name for name in names if name and "/" not in name)

    def remove(self, path: str) -> None:
        """Remove a file; raises FileNotFoundError, or nothing, where there is none."""
        with _as_os_errors():
            self._fs.rm_file(self._path(path))

    def remove_folder(self, path: str, *, but: Collection[str] = ()) -> None:
        """Remove a folder; names of files in it that are in `but` stay. Raises FileNotFoundError."""
        names = self.names(path) if but else []
        if set(names).isdisjoint(but):
            with _as_os_errors():
                self._fs.rm(self._path(path), recursive=True)
            return
        for name in names:
            if name not in but:
                self.remove(f"{path}/{name}")

    def modified(self, path: str) -> datetime | None:
        """Return when a file was written, None where its file system does not know; raises FileNotFoundError."""
        try:
            with _as_os_errors():
                found: datetime = self._fs.modified(self._path(path))
        except NotImplementedError:
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def _path(self, path: str) -> str:
        return f"{self._root}/{path}"


@contextlib.contextmanager
def _as_os_errors() -> Iterator[None]:
    """Raise OSError for errors of the client library of a service, as for an unreachable one; PermissionError without login."""
    try:
        yield
    except (OSError, ImportError, NotImplementedError):
        raise
    except Exception as error:  # noqa: BLE001 -- the libraries of the services have no common error
        kind = PermissionError if "Credential" in type(error).__name__ else OSError
        message = f"{type(error).__name__}: {error}"
        raise kind(message) from None

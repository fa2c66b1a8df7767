"""Reading files with untrusted names: only regular files, none of the kernel, and only up to a size."""

import errno
import os
import stat
from pathlib import Path

_KERNELS = ("/proc", "/sys")
"""Files there look regular, but reading one may block, or each read may differ."""


class FileRefusedError(ValueError):
    """A file that is not read; the message says why, without its name."""


class FileTooLargeError(FileRefusedError):
    """A file that exceeds the size."""

    def __init__(self, most: int) -> None:
        """Say how many they are."""
        super().__init__(f"larger than {most / (1 << 20):g} MB")


def read_regular_file(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a regular file, links followed, as Kubernetes makes them for mounted ConfigMaps.

    Args:
        path: of the file.
        most: bytes that it may have.

    Raises:
        FileRefusedError: it is a device, a pipe or a socket, belongs to the kernel, or is larger.
        OSError: it is absent or cannot be read.
    """
    _refuse(Path(path).stat(), most)  # before it is opened: opening a device may do something
    real = os.path.realpath(path)
    if real.startswith(tuple(f"{folder}/" for folder in _KERNELS)):
        message = f"is a kernel file, {real}"
        raise FileRefusedError(message)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 -- the opened file is checked, not the name
        _refuse(os.fstat(descriptor), most)
        data = stream.read(most + 1)
    if len(data) > most:
        raise FileTooLargeError(most)
    return data


def _refuse(about: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(about.st_mode):
        message = "is not a regular file"
        raise FileRefusedError(message)
    if about.st_size > most:
        raise FileTooLargeError(most)

"""The alerting state of each channel: `ROOT/alerts/<channel>/<cluster>.json`, written atomically."""

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from kafka_audit.model.processes import lives
from kafka_audit.store.files import Files

TURN_S = 120.0
"""Sending may take so long; then another process no longer waits: a message too many is better than none."""

_AGAIN_S = 0.2


class AlertFiles:
    """The files of one channel. Whatever reads or writes raises `StoreError` where the place refuses."""

    def __init__(self, root: str | os.PathLike[str], channel: str) -> None:
        """Take the store's root and the channel's name; nothing is created before the first write."""
        self._files = Files(root)
        self._folder = f"alerts/{channel}"

    def read(self, cluster: str) -> bytes | None:
        """Return the state of a cluster, None if nothing was sent yet."""
        return self._files.read(self._path(cluster))

    def write(self, cluster: str, content: bytes) -> None:
        """Write the state of a cluster."""
        self._files.write(self._path(cluster), content)

    @contextlib.contextmanager
    def turn(self, cluster: str) -> Iterator[None]:
        """Keep other processes from deciding what to send about a cluster meanwhile; wait for one that does.

        The sign is a file with the process that holds the turn. That of a killed process does not count on its own host, and
        anywhere after `TURN_S`.
        """
        sign, until = f"{self._path(cluster)}.turn", time.monotonic() + TURN_S
        while not self._files.create(sign, f"{socket.gethostname()} {os.getpid()}".encode()):
            if time.monotonic() > until or self._is_old(sign):
                self._files.remove(sign)
            else:
                time.sleep(_AGAIN_S)
        try:
            yield
        finally:
            self._files.remove(sign)

    def _is_old(self, sign: str) -> bool:
        host, _, pid = (self._files.read(sign) or b"").decode(errors="replace").partition(" ")
        if host == socket.gethostname() and pid.isdecimal() and not lives(int(pid)):
            return True
        since = self._files.modified(sign)
        return since is not None and (datetime.now(UTC) - since).total_seconds() > TURN_S

    def place(self, cluster: str) -> str:
        """Return the file's full path or URL, for messages."""
        return self._files.place(self._path(cluster))

    def _path(self, cluster: str) -> str:
        return f"{self._folder}/{cluster}.json"

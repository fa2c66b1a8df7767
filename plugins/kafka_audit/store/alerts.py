"""The alerting state of each channel: `ROOT/alerts/<channel>/<cluster>.json`, written atomically."""

import os

from kafka_audit.store.files import Files


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

    def place(self, cluster: str) -> str:
        """Return the file's full path or URL, for messages."""
        return self._files.place(self._path(cluster))

    def _path(self, cluster: str) -> str:
        return f"{self._folder}/{cluster}.json"

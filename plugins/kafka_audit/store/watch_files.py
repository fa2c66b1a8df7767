"""What the watch of each cluster remembers: `ROOT/watch/<cluster>.json`, written atomically."""

import os

from kafka_audit.store.files import Files


class WatchFiles:
    """The files of all clusters. Whatever reads or writes raises `StoreError` where the place refuses."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Take the store's root; nothing is created before the first write."""
        self._files = Files(root)

    def read(self, cluster: str) -> bytes | None:
        """Return what the watch of a cluster wrote, None if it never did."""
        return self._files.read(f"watch/{cluster}.json")

    def write(self, cluster: str, content: bytes) -> None:
        """Write it."""
        self._files.write(f"watch/{cluster}.json", content)

    def place(self, cluster: str) -> str:
        """Return the file's full path or URL, for messages."""
        return self._files.place(f"watch/{cluster}.json")

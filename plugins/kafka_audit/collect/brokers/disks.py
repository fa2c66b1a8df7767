"""Which replicas are in which log dir, of brokers with several of them: what the loss of a disk takes along."""

import hashlib
import threading
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from kafka_audit.clients.budget import Budget
from kafka_audit.collect.brokers.log_dirs import ListedLogDir
from kafka_audit.collect.rows.columns import Lists, empty, table
from kafka_audit.model.names import NameKind, can_be_name
from kafka_audit.model.tables import DiskReplicas


class DiskBook:
    """Takes log dirs from any thread, and keeps each distinct content once: it seldom changes between samples."""

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._contents: dict[str, pa.Table] = {}

    def add(self, log_dirs: Sequence[ListedLogDir], budget: Budget) -> tuple[str | None, ...]:
        """Take all log dirs of a broker; return the digest of the content of each, None for a broker's only one.

        Raises:
            ReadError: over the budget of rows, which all different contents share.
        """
        if len(log_dirs) == 1:
            return (None,)
        return tuple(self._add(log_dir, budget) for log_dir in log_dirs)

    def _add(self, log_dir: ListedLogDir, budget: Budget) -> str:
        names, lengths, partitions = log_dir.held()
        # A name that no topic has is in no list of topics either, so that nothing can become of its partitions.
        possible = np.array([can_be_name(NameKind.TOPIC, name) for name in names], np.bool_)
        if not possible.all():
            names = [name for name, kept in zip(names, possible.tolist(), strict=True) if kept]
            partitions, lengths = partitions[np.repeat(possible, lengths)], lengths[possible]
        content = hashlib.blake2b("\n".join(names).encode(), digest_size=16)
        content.update(lengths.tobytes() + partitions.tobytes())
        digest = content.hexdigest()
        with self._lock:
            if digest not in self._contents:
                budget.add_rows(1, sum(map(len, names)) + partitions.nbytes)  # columns: far smaller than as many rows
                lists = Lists.of_lengths(lengths, partitions)
                of = pa.repeat(digest, len(names))
                self._contents[digest] = table(DiskReplicas, replicas_digest=of, topic=names, partitions=lists)
        return digest

    def large(self, digests: Iterable[str]) -> pa.Table:
        """Return the contents with these digests, each once."""
        return pa.concat_tables([empty(DiskReplicas), *(self._contents[digest] for digest in sorted({*digests}))])

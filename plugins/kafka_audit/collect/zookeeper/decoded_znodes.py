"""What znodes of topics and partitions held when an earlier sample of the audit read them: most hold the same in the next one."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from kafka_audit.collect.rows.columns import Ints
from kafka_audit.collect.zookeeper.partition_states import States, decoded
from kafka_audit.collect.zookeeper.znodes import Assignment


class DecodedZnodes:
    """Decoded contents by digests of their bytes, so that only what changed is decoded again. Of one audit, for one thread."""

    def __init__(self) -> None:
        """Start without any."""
        self._assignments: dict[str, tuple[bytes, Assignment]] = {}
        self._states: dict[tuple[int, bytes], States] = {}
        self.sizes: dict[str, int] = {}  # of the largest, by path

    def assignment(self, topic: str, data: bytes) -> Assignment | None:
        """Return what /brokers/topics/T holds, None where these bytes were not decoded before."""
        digest, found = self._assignments.get(topic, (b"", None))
        return found if found is not None and digest == _digest(data) else None

    def add(self, topic: str, data: bytes, assignment: Assignment) -> None:
        """Keep what /brokers/topics/T holds."""
        self._assignments[topic] = _digest(data), assignment

    def states(self, contents: Sequence[bytes], mzxid: Ints) -> States | None:
        """Return what `partition_states.decoded` does."""
        # No state that can be decoded has a zero byte in it, so the same bytes are the same states.
        key = len(contents), _digest(b"\0".join(contents))
        if key in self._states:
            return replace(self._states[key], mzxid=mzxid)
        found = decoded(contents, mzxid)
        if found is not None:
            self._states[key] = found
        return found


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()

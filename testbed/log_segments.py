"""Segments of a partition's log, written without a broker."""

import struct
import time
from pathlib import Path

from kafka.record.default_records import DefaultRecordBatchBuilder

BATCH_BYTES = 1 << 14
CHUNK = 10_000


def write_offset_commits(path: Path, count: int) -> None:
    """Write this many commits of one consumer group, each in a batch of its own, as of a group that commits each record."""
    now = int(time.time() * 1000)
    key = struct.pack(">h", 1) + _text("busy") + _text("orders") + struct.pack(">i", 0)
    value = struct.pack(">hq", 1, 1) + _text("") + struct.pack(">qq", now, now + 86_400_000)
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, BATCH_BYTES)  # noqa: FBT003 - it takes no names
    builder.append(0, now, key, value, [])
    tail = bytes(builder.build())[8:]  # the checksum does not cover the first offset
    with path.open("wb") as segment:
        for first in range(0, count, CHUNK):
            segment.write(b"".join(struct.pack(">q", offset) + tail for offset in range(first, min(first + CHUNK, count))))


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()

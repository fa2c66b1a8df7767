"""Segments that the bed writes are such as brokers write."""

import struct

from kafka.record.memory_records import MemoryRecords

from testbed.log_segments import write_offset_commits


def test_commits_follow_each_other_in_batches_of_one_with_right_checksums(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    write_offset_commits(path, 3)
    records, batches = MemoryRecords(path.read_bytes()), []
    while (batch := records.next_batch()) is not None:
        assert batch.validate_crc()
        batches.append(list(batch))
    assert [[record.offset for record in batch] for batch in batches] == [[0], [1], [2]]
    (record,) = batches[0]
    version, length = struct.unpack_from(">hh", record.key)
    assert (version, record.key[4 : 4 + length]) == (1, b"busy")
    assert struct.unpack_from(">hq", record.value) == (1, 1)

"""A replica that no assignment names, on a real broker: a directory that was left, and what DescribeLogDirs says of it."""

import shutil

import pytest

from collect.test_collect_real import Audited
from testbed import Bed

pytestmark = [pytest.mark.bed, pytest.mark.scenario]


def held(snapshot, broker):
    """Return how many replicas a broker lists, and how many are assigned to it."""
    sample = max(row["sample"] for row in snapshot.of("LogDir"))
    listed = sum(row["replicas"] for row in snapshot.of("LogDir") if (row["broker_id"], row["sample"]) == (broker, sample))
    return listed, sum(broker in row["replicas"] for row in snapshot.of("RegisteredPartition") if row["last_sample"] >= sample)


def test_a_directory_that_was_left_is_one_replica_more(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        audited = Audited(bed, "2.8.2", "")
        broker = audited.cluster.brokers[2]
        whole = held(audited.snapshot(), 2)
        assert whole[0] == whole[1] > 0
        broker.stop()
        data = broker.server.folder / "data"
        shutil.copytree(data / "payments-0", data / "deleted-0")
        (data / "deleted-0" / "partition.metadata").unlink(missing_ok=True)
        audited.cluster.start_brokers([2])
        audited.cluster.await_settled()
        assert held(audited.snapshot(), 2) == (whole[0] + 1, whole[1])

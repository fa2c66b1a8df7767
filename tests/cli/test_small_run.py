"""The run with which the class archive is created."""

from kafka_audit.cli.archiving import small_run
from kafka_audit.model.tables import RegisteredPartition, ViewPartition
from kafka_audit.store import Store


def test_its_snapshots_and_its_request_can_be_read(tmp_path):
    small_run.write_small_run(tmp_path)
    store = Store(tmp_path)
    (pair,) = store.read_request(small_run.RUN).pairs
    before, now = (store.read(snapshot_id) for snapshot_id in (pair.previous_snapshot_id, pair.snapshot_id))
    assert {before.cluster_id, now.cluster_id} == {"small-cluster"}
    assert [before.of(RegisteredPartition)[0].leader, now.of(RegisteredPartition)[0].leader] == [0, 1]
    assert {partition.leader for partition in now.of(ViewPartition)} == {0}

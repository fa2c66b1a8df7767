"""Partitions without a leader in a cluster with eligible leader replicas (KIP-966), as a snapshot of 4.3.0 tells them."""

import time

import pytest

from collect.test_collect_real import Audited
from testbed import Bed
from testbed.topics import configure_topic

pytestmark = [pytest.mark.bed, pytest.mark.scenario]


class Eligible(Audited):
    def __init__(self, bed):
        self.bed = bed
        self.cluster = bed.kraft("4.3.0", controllers=1, properties={"offsets.topic.num.partitions": "1"})
        self.cluster.create_topic("pair", {0: [1, 2]})
        self.cluster.create_topic("orders", {0: [0, 1, 2]})
        self.cluster.create_topic("__consumer_offsets", {0: [0, 1, 2]})
        configure_topic(self.cluster, "pair", {"min.insync.replicas": "2"})
        self.cluster.await_settled()

    def look(self):
        return self.snapshot(zookeeper=None, bootstrap=[self.cluster.brokers[0].address])


def test_an_eligible_replica_of_a_leaderless_partition_is_named(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        audited = Eligible(bed)
        whole = audited.look()
        assert whole.of("EligibleReplicas") == []
        assert {(row["broker_id"], row["error"]) for row in whole.of("GroupCoordinator")} == {(0, 0), (1, 0), (2, 0)}
        levels = {row["feature"]: (row["finalized"], row["max_supported"]) for row in whole.of("BrokerFeature")}
        assert levels["metadata.version"] == (30, 30)
        assert levels["eligible.leader.replicas.version"] == (1, 1)
        for broker in (2, 1):
            audited.cluster.brokers[broker].stop(hard=True)
            while broker not in {row["fenced_id"] for row in audited.look().of("FencedBroker")}:
                time.sleep(1)
        # A partition that broker 0 leads has fewer in sync than it needs, and rows as well.
        rows = [row for row in audited.look().of("EligibleReplicas") if row["leader"] is None]
        assert {(row["topic"], row["partition"], *row["isr"]) for row in rows} == {("pair", 0)}
        assert [sorted(row["eligible"]) for row in rows][-1] == [1, 2]

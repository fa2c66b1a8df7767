"""Clusters without ZooKeeper, proved with real servers."""

import time

import pytest

from testbed import Bed, BedError, presets
from testbed.faults import cut_from_quorum, heal_quorum

pytestmark = pytest.mark.bed


@pytest.mark.smoke
def test_brokers_that_are_controllers_too_make_a_cluster_and_restart(tmp_path):
    with Bed(tmp_path) as bed:
        cluster = bed.kraft(brokers=1, controllers=0)
        assert (cluster.zookeeper_connect, cluster.controllers) == (None, {})
        assert "zookeeper" not in cluster.clusters_yaml("x")
        cluster.create_topic("orders", {0: [0]})
        with pytest.raises(BedError, match=r"topic orders was refused: .*already exists"):
            cluster.create_topic("orders", {0: [0]})
        cluster.brokers[0].restart()
        cluster.await_settled()
        assert cluster.views()[0].topics["orders"][0]["leader"] == 0


@pytest.mark.scenario
def test_a_broker_without_the_inter_broker_user_looks_healthy_but_for_the_isr_that_it_leads(tmp_path):
    preset = presets.no_super_user(2) | {"settle": None, "properties": {"replica.lag.time.max.ms": "3000"}}
    with Bed(tmp_path) as bed:
        cluster = bed.kraft(**preset)
        cluster.create_topic("orders", {0: [0, 1, 2], 1: [2, 0, 1]})
        while not (topics := cluster.views([0])[0].topics) or topics["orders"][1]["isr"] != [2]:
            time.sleep(0.2)
        views = cluster.views()
        assert {broker: sorted(view.brokers) for broker, view in views.items()} == {0: [0, 1, 2], 1: [0, 1, 2], 2: [0, 1, 2]}
        assert sorted(views[0].topics["orders"][0]["isr"]) == [0, 1, 2]
        log = (cluster.brokers[2].log_dir / "kafka-authorizer.log").read_text()
        assert "Principal = User:kafka is Denied operation = CLUSTER_ACTION" in log
        cluster.heal_security(2)
        while len(cluster.views([0])[0].topics["orders"][1]["isr"]) < 3:
            time.sleep(0.2)


@pytest.mark.scenario
def test_a_broker_cut_from_the_quorum_stands_still_while_the_others_go_on(tmp_path):
    with Bed(tmp_path) as bed:
        cluster = bed.kraft(controllers=1)
        cluster.create_topic("orders", {0: [2, 0, 1]})
        cluster.await_settled()
        cut_from_quorum(bed, cluster, 2)
        views = cluster.views()
        assert {broker: sorted(view.brokers) for broker, view in views.items()} == {0: [0, 1], 1: [0, 1], 2: [0, 1, 2]}
        assert {broker: view.topics["orders"][0]["leader"] for broker, view in views.items()} == {0: 0, 1: 0, 2: 2}
        heal_quorum(bed, cluster, 2)
        assert cluster.views([2])[2].topics["orders"][0]["leader"] == 0

"""Faults that need more than one step, proved with real brokers."""

import time

import pytest

from testbed import Bed, presets
from testbed.faults import cross_forwards, rolling_restart, stale_leader

pytestmark = [pytest.mark.bed, pytest.mark.scenario]


def wait_for(condition):
    while not condition():
        time.sleep(0.1)


def test_a_stale_leader_goes_on_believing_in_itself_while_all_others_follow_another(healthy, bed):
    leader = stale_leader(bed, healthy, 2)
    views = healthy.views()
    leaders = {broker: view.topics["moved"][0]["leader"] for broker, view in views.items()}
    assert leaders == {0: leader, 1: leader, 2: 2}
    assert {broker: sorted(view.brokers) for broker, view in views.items()} == {0: [0, 1, 2], 1: [0, 1, 2], 2: [0, 1, 2]}
    assert healthy.partition_states()["moved/0"]["leader"] == leader
    controller = healthy.controller_id()
    assert controller not in (leader, 2)
    bed.heal(healthy.brokers[controller].host, healthy.brokers[2].host)
    healthy.brokers[2].restart()
    healthy.await_settled()
    assert healthy.views([2])[2].topics["moved"][0]["leader"] == leader


def test_a_rolling_restart_stops_after_each_step(healthy):
    seen = []
    for step in rolling_restart(healthy, hard=True):
        registered = f"/brokers/ids/{step.broker}" in healthy.znodes()
        seen.append((*step, registered, healthy.brokers[step.broker].server.is_running))
        if step.broker == 1:
            break
    healthy.brokers[1].start()
    assert seen == [
        (0, "stopped", True, False),  # killed: the registration outlives it for a session
        (0, "started", True, True),
        (0, "settled", True, True),
        (1, "stopped", True, False),
    ]


def test_crossed_forwards_lead_to_each_other_and_the_cluster_stays_whole(tmp_path):
    with Bed(tmp_path) as bed:
        cluster = bed.cluster("3.9.1", **presets.split())
        cross_forwards(bed, cluster, 1, 2)
        views = cluster.views()
        assert {view.brokers[1] for view in views.values()} == {f"{cluster.forward_address(1)}:9092"}
        behind = cluster._clients.views({1: views[0].brokers[1]})[1][1]
        assert behind.error is None
        own = {broker: cluster.brokers[broker].server.properties["advertised.listeners"].split(",")[1] for broker in (1, 2)}
        assert own == {1: "INTERNAL://10.99.0.11:9094", 2: "INTERNAL://10.99.0.12:9094"}
        cluster.brokers[2].stop(hard=True)  # what answers at broker 1's address is broker 2
        assert cluster._clients.views({1: views[0].brokers[1]})[1][1].error is not None
        assert cluster.views([1])[1].error is None

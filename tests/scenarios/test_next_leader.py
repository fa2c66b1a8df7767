"""Kafka 3.9.1: the next leader is the first replica in sync, whether clients reach it or not; `may` says so before."""

import time

import pytest

from scenarios import beds
from scenarios.may_table import Table

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test


def test_a_broker_that_clients_do_not_reach_becomes_the_leader(bed, tmp_path):
    """The nearest false alarm: another broker stops, of which it leads nothing then."""
    cluster = bed.kraft("3.9.1", controllers=1)
    cluster.create_topic("orders", {0: [0, 2, 1]})
    cluster.create_topic("calm", {0: [1, 0, 2]})
    cluster.await_settled()
    cluster.restart_brokers({2: {"advertised.listeners": "PLAINTEXT://127.0.0.1:9092"}})
    await_partition(cluster, "orders", lambda state: sorted(state["isr"]) == [0, 1, 2])
    table = Table(bed, cluster, tmp_path, "a broker out of reach")
    asked = {step: table.may(step) for step in ("stop 0", "stop 1")}
    assert asked["stop 0"].answer == "NOT_NOW", vars(asked["stop 0"])
    assert "1 partition of orders would have no leader in reach of clients" in asked["stop 0"].why
    assert asked["stop 1"].answer == "GO", vars(asked["stop 1"])
    cluster.brokers[0].stop()
    await_partition(cluster, "orders", lambda state: state["leader"] == 2)
    assert cluster.views([1])[1].topics["calm"][0]["leader"] == 1


def await_partition(cluster, topic, holds):
    deadline = time.monotonic() + 120
    while not holds(state := cluster.views([1])[1].topics[topic][0]):
        assert time.monotonic() < deadline, state
        time.sleep(1)

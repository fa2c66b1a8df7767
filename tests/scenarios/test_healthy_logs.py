"""Healthy clusters that start, move a replica, are rolled and stopped: `kafka-audit logs` finds no fault in what they write."""

import io

import pytest

from kafka_audit.collect.logs.pieces import LogFile
from kafka_audit.logs.diagnosis import exit_code, log_document
from kafka_audit.logs.tally import LogTally
from scenarios import beds
from testbed.topics import await_reassigned, reassign

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test
ORDERS = {number: [number % 3, (number + 1) % 3] for number in range(3)}


@pytest.mark.parametrize("version", ["2.8.2", "3.9.1", "4.0.2", "4.3.0"])
def test_it_writes_only_what_is_ordinary(bed, version):
    cluster = bed.kraft(version, controllers=3) if version.startswith("4") else bed.cluster(version)
    cluster.create_topic("orders", ORDERS)
    cluster.await_settled()
    cluster.produce("orders", 0, 1)
    reassign(cluster, "orders", 0, [1, 2])
    await_reassigned(cluster)
    for broker in cluster.brokers.values():
        broker.restart()
        cluster.await_settled()
    for broker in cluster.brokers.values():
        broker.stop()
    document = log_document(_tallied(cluster.folder))
    found = {name: document[name] for name in ("incidents", "earlier", "signs", "unknown", "not_read") if document[name]}
    assert found == {}
    assert {node["node"] for node in document["nodes"]} >= {"broker 0", "broker 1", "broker 2"}
    assert exit_code(document) == 0


def _tallied(folder):
    tally = LogTally()
    for path in sorted(folder.glob("*/logs/*.log")):
        tally.read(LogFile(f"{path.parent.parent.name}/{path.name}", io.BufferedReader(io.BytesIO(path.read_bytes()))))
    return tally

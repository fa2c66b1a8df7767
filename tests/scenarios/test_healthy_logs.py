"""Healthy clusters that start, move a replica, are rolled and stopped: `kafka-audit logs` finds no fault in what they write.

Nor does it while they get other certificates, or leave ZooKeeper.
"""

import io

import pytest

from kafka_audit.collect.logs.pieces import LogFile
from kafka_audit.logs.diagnosis import exit_code, log_document
from kafka_audit.logs.tally import LogTally
from scenarios import beds
from testbed.migration import Migration
from testbed.security import Listener, Security
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
    assert_ordinary(cluster)


@pytest.mark.parametrize("version", ["2.8.2", "3.9.1", "4.0.2", "4.3.0"])
def test_a_roll_of_certificates_is_ordinary(bed, version):
    security = Security(
        listeners=(Listener(protocol="SSL"),), inter_broker="SSL", client_auth="required", controller_tls=version > "4"
    )
    cluster = bed.kraft(version, security=security) if version > "4" else bed.cluster(version, security=security)
    cluster.create_topic("orders", ORDERS)
    cluster.await_settled()
    for broker in cluster.brokers.values():
        before = cluster.secured.party(f"broker-{broker.id}").certificate.read_bytes()
        cluster.heal_security(broker.id)  # it gets another certificate, and is restarted
        assert cluster.secured.party(f"broker-{broker.id}").certificate.read_bytes() != before
    for broker in cluster.brokers.values():
        broker.stop()
    assert_ordinary(cluster)


def test_a_migration_is_ordinary(bed):
    cluster = bed.cluster("3.9.1")
    cluster.create_topic("orders", ORDERS)
    cluster.await_settled()
    moving = Migration(bed, cluster)
    moving.start_controllers()
    moving.prepare_brokers()
    moving.convert_brokers()
    moving.finish()
    for broker in cluster.brokers.values():
        broker.stop()
    assert_ordinary(cluster)


def assert_ordinary(cluster):
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

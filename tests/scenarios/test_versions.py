"""Every release that is still in use: at rest, with one fault, healed; and brokers of two releases in one cluster."""

import pytest

from kafka_audit.model.tables import BrokerApi, BrokerView
from kafka_audit.store import Store
from scenarios import beds
from scenarios.audits import Audits, assert_clean, failing
from testbed import kafka_jars
from testbed.faults import cut_from_quorum, heal_quorum
from testbed.population import populate
from testbed.population.contents import FEW

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test
TOPIC = {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}
METADATA = 3


def made(bed, tmp_path, version, mode, **options):
    cluster = bed.cluster(version, **options) if mode == "zookeeper" else bed.kraft(version, **options)
    cluster.create_topic("orders", TOPIC)
    cluster.await_settled()
    if cluster.plan.release.topic_ids:  # the clients of 1.1 lack most of it
        populate(bed, cluster, FEW)
    return cluster, Audits(bed, cluster, tmp_path / "audits")


@pytest.mark.parametrize("version", ["1.1.1", "2.8.2", "3.9.1"])
def test_with_zookeeper_an_unreachable_broker_is_found_and_heals(bed, tmp_path, version):
    cluster, audits = made(bed, tmp_path, version, "zookeeper")
    cluster.make_controller(0)
    cluster.await_settled()
    whole = audits.by_command("all")
    assert_clean(whole)

    cluster.advertise_through_forward([2])
    faulty = audits.by_command("near")
    assert faulty.code == 3, faulty.said
    high = failing(faulty.report, at_least="HIGH")
    assert {("KA105", "broker/2"), ("KA107", "broker/2"), ("KA302", "broker/2/listener/PLAINTEXT")} <= high, high
    (incident,) = faulty.report["incidents"]
    assert incident["cause"] == "KA302"
    assert incident["confidence"] == "measured"

    cluster.advertise_directly([2])
    assert_clean(audits.by_command("near"))


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0", "4.4.0"])
def test_without_zookeeper_a_broker_cut_off_is_found_and_heals(bed, tmp_path, version):
    cluster, audits = made(bed, tmp_path, version, "kraft", controllers=1)
    whole = audits.by_command("all")
    assert_clean(whole)

    cut_from_quorum(bed, cluster, 2)
    faulty = audits.by_command("near")
    assert faulty.code == 3, faulty.said
    high = failing(faulty.report, at_least="HIGH")
    assert {("KA101", "broker/2"), ("KA210", "broker/2"), ("KA216", "broker/2")} <= high, high
    (incident,) = faulty.report["incidents"]
    assert incident["cause"] == "KA216"

    heal_quorum(bed, cluster, 2)
    assert_clean(audits.by_command("near"))


def test_a_rolling_upgrade_asks_each_broker_in_its_own_dialect(bed, tmp_path):
    pinned = {"inter.broker.protocol.version": "2.8"}
    cluster, audits = made(bed, tmp_path, "2.8.2", "zookeeper", properties=pinned)
    spoken = {}
    for broker in cluster.brokers.values():
        broker.stop()
        broker.server.jars = kafka_jars("3.9.1")
        broker.start()
        cluster.await_settled()
        audit = audits.by_command("files")
        assert_clean(audit)
        newer = broker.id + 1
        unlike = {0: {"broker/0"}, 1: {"broker/2"}, 2: set()}[broker.id]
        assert {resource for code, resource in failing(audit.report) if code == "KA703"} == unlike
        store = Store(str(tmp_path / "audits" / "files" / "store"))
        snapshot = store.read(audit.report["snapshot_id"])
        highest = {row.broker_id: row.max_version for row in snapshot.of(BrokerApi) if row.api_key == METADATA}
        assert len({highest[partition] for partition in range(newer)}) == 1
        assert len(set(highest.values())) == (1 if newer == len(highest) else 2), highest
        spoken |= {(row.broker_id, newer): row.metadata_version for row in snapshot.of(BrokerView)}
    assert spoken[2, 1] <= spoken[2, 3]

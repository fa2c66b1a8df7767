"""From ZooKeeper to KRaft on 3.9.1: what stands in the way is found one by one, then the way is free, and gone."""

from types import SimpleNamespace

import pytest
import yaml

from scenarios import beds
from scenarios.gates import gate_of
from testbed.acls import Acl
from testbed.disks import add_disk
from testbed.migration import Migration
from testbed.topics import await_reassigned, delete, reassign

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test
PROTOCOL = "inter.broker.protocol.version"
ALLOW = "allow.everyone.if.no.acl.found"


@pytest.fixture
def cluster(bed):
    cluster = bed.cluster("3.9.1")
    disk = add_disk(cluster, 1)
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1], 3: [1, 0, 2]})
    cluster.create_topic("gone", {0: [2, 1]})
    cluster.create_topic("narrow", {0: [0, 1]})
    cluster.make_controller(0)
    cluster.await_settled()
    return SimpleNamespace(bed=cluster, disk=disk)


@pytest.fixture
def gate(bed, tmp_path):
    return gate_of(bed, tmp_path)


def codes(items):
    return {(finding["code"], finding["resource"]) for finding in items}


def test_each_blocker_is_found_and_the_migration_is_what_was_meant(bed, cluster, gate):
    disk, cluster = cluster.disk, cluster.bed
    entry = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"]

    def before(*options):
        return gate("before-migration", entry, "--kind", "zookeeper-to-kraft", "--node-ids", "3000", *options)

    usual = cluster.brokers[1].server.properties.get(PROTOCOL)
    cluster.brokers[1].restart({PROTOCOL: "3.3"})
    cluster.await_settled()
    old = before()
    assert old.code == 3
    # Two log dirs at a protocol below 3.7-IV2 are a blocker of their own.
    assert {("KA901", "broker/1"), ("KA902", "broker/1")} <= codes(old.report["blockers"])
    cluster.brokers[1].restart({PROTOCOL: usual})
    cluster.await_settled()

    cluster.create_topic("disks", {number: [1, 0, 2] for number in range(4)})  # at least one of them lies on the new disk
    cluster.await_settled()
    disk.fill(*next(partition for partition in disk.partitions if partition[0] == "disks"))
    cluster.await_settled([0, 2])
    dead = before()
    assert dead.code == 3
    assert ("KA903", f"broker/1/logdir/{disk.path}") in codes(dead.report["blockers"])
    disk.replace()

    cluster.brokers[2].suspend()  # still registered, so the controller begins what it cannot end
    reassign(cluster, "narrow", 0, [0, 1, 2])
    cluster.brokers[2].stop(hard=True)
    delete(cluster, "gone")
    busy = before()
    assert busy.code == 3
    assert {("KA906", "change/deletion"), ("KA906", "change/reassignment")} <= codes(busy.report["warnings"])
    cluster.brokers[2].start()
    await_reassigned(cluster)
    cluster.await_settled()

    clean = before()
    assert (clean.code, clean.report["verdict"]) == (0, "go"), clean.report["headline"]

    moving = Migration(bed, cluster)
    moving.start_controllers()
    moving.prepare_brokers()
    moving.convert_brokers()
    moving.finish()
    entry = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"]
    del entry["zookeeper"]
    result = gate("after-migration", entry)
    assert (result.code, result.report["verdict"]) == (0, "as expected"), result.report
    assert {"kind": "mode", "resource": "cluster", "before": "zookeeper", "after": "kraft"} in result.report["meant"]


LEFT_BEHIND = {
    "/config/quotas": "{}",  # of a tool; Kafka has no such child
    "/consumers/old": "",
    "/consumers/old/offsets": "",
}
EXPECTED = {
    ("KA904", "broker/0"), ("KA905", "check/KA601"), ("KA907", "cluster"), ("KA908", "cluster"), ("KA910", "node/2"),
    ("KA911", "cluster"),
}  # fmt: skip


def test_what_a_migration_would_leave_behind_is_named_and_no_longer_afterwards(bed, gate):
    cluster = bed.cluster("3.9.1", properties={"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer", ALLOW: "true"})
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.create_topic("single", {0: [2]})
    cluster.await_settled()
    entry = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"]

    def before(node):
        result = gate("before-migration", entry, "--kind", "zookeeper-to-kraft", "--node-ids", node)
        return {item for name in ("blockers", "warnings", "information") for item in codes(result.report[name])} & EXPECTED

    restored = cluster.write_znodes(LEFT_BEHIND)
    acl = Acl(principal="User:app", resource="Topic", name="orders", operation="Read")
    cluster.put_acls([acl])
    cluster.brokers[2].stop()
    assert before("2") == EXPECTED

    cluster.drop_acls([acl])
    cluster.write_znodes(dict(reversed(restored.items())))
    for broker in cluster.brokers.values():
        broker.restart({"authorizer.class.name": None, ALLOW: None})
    cluster.await_settled()
    assert before("3000") == set()

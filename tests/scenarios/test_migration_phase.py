"""Kafka 3.9.1 on its way from ZooKeeper to KRaft: every phase is told by its name, and nothing that belongs to it is a fault."""

import time

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing, finding_of
from testbed.migration import Migration

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test


@pytest.fixture
def cluster(bed):
    cluster = bed.cluster("3.9.1")
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


def assert_phase(audit, phase, state):
    assert failing(audit.report, at_least="HIGH") == set(), audit.said
    assert audit.code == 0, audit.said
    (found,) = [f for f in audit.report["findings"] if f["code"] == "KA909"]
    assert [row["kind"] for row in audit.report["progress"] if row["kind"] == "migration"] == ["migration"] * (
        phase != "finished"
    )
    assert (found["severity"], found["status"], found["evidence"]["phase"]) == ("INFO", "FAIL", phase)
    assert state in found["message"]
    # No word that only a cluster at rest deserves: /controller names no broker, and Metadata any.
    assert not {code for code, _ in failing(audit.report)} & {"KA201", "KA202", "KA204", "KA205", "KA105", "KA113"}


def migration(audit):
    (row,) = [row for row in audit.report["progress"] if row["kind"] == "migration"]
    return row


def written_by(cluster):
    """Return the epochs of controllers in the states of partitions."""
    return {state["controller_epoch"] for state in cluster.partition_states().values()}


def test_each_phase_is_named_and_none_is_a_fault(bed, cluster, tmp_path):
    moving = Migration(bed, cluster)
    audits = Audits(bed, cluster, tmp_path / "audits")

    before = written_by(cluster)
    moving.start_controllers()
    waiting = audits.by_command("far")
    assert_phase(waiting, "prepared", "no broker is prepared")
    assert migration(waiting)["waits_for"] == "brokers 0, 1 and 2, without zookeeper.metadata.migration.enable=true"
    moving.prepare_brokers([0, 1])
    audits.describe("hasty", progress={"migration": 0.1})
    moved = audits.by_command("hasty")
    assert (migration(moved)["state"], migration(moved)["share"]) == ("unknown", None), moved.said
    time.sleep(8)
    stands = audits.by_command("hasty")
    assert migration(stands)["waits_for"] == "broker 2, without zookeeper.metadata.migration.enable=true"
    assert migration(stands)["state"] == "standing", stands.said
    found = finding_of(stands.report, "KA909", "cluster")
    assert (found["severity"], found["evidence"]["missing"]) == ("MEDIUM", [2])
    moving.prepare_brokers()
    assert migration(audits.by_command("hasty"))["state"] == "moving"
    assert_phase(audits.by_dag("far", "dual-write.log"), "dual write", "KRaft controller 200 has taken over")
    for _ in range(2):
        moving.restart_controllers()
    moving.prepare_brokers()  # leaders move, and their states carry KRaft's epoch
    later = audits.by_command("far", "--all")
    assert_phase(later, "dual write", "KRaft controller 200 has taken over")
    assert finding_of(later.report, "KA205", "cluster")["status"] == "NOT_APPLICABLE"
    assert max(written_by(cluster)) > max(before), "else nothing is shown"
    moving.convert_brokers([0])
    mixed = "Broker 0 runs without ZooKeeper, brokers 1 and 2 still use it"
    assert_phase(audits.by_command("far"), "brokers change", mixed)
    assert_phase(audits.by_command("files"), "brokers change", mixed)
    moving.convert_brokers()
    assert_phase(audits.by_command("far"), "not finalised", "controller 200 still writes to ZooKeeper")
    moving.finish()
    assert_phase(audits.by_command("far"), "finished", "no longer writes to ZooKeeper")

    # What remains to be done: ZooKeeper out of the cluster file.
    audits.describe("far", zookeeper=None)
    whole = audits.by_command("far", "--all")
    assert whole.code == 0, whole.said
    findings = {(f["code"], f["status"]) for f in whole.report["findings"]}
    assert {("KA201", "PASS"), ("KA209", "PASS"), ("KA210", "PASS"), ("KA909", "NOT_APPLICABLE")} <= findings


def test_a_claim_that_a_rollback_left_is_no_controller(bed, cluster, tmp_path):
    """The znode is persistent. Brokers that have restarted receive nothing, as if the controller did not reach them."""
    moving = Migration(bed, cluster)
    audits = Audits(bed, cluster, tmp_path / "audits")
    audits.describe("unaware", controllers=None)
    moving.start_controllers()
    moving.prepare_brokers()
    assert_phase(audits.by_command("far"), "dual write", "KRaft controller 200 has taken over")

    moving.stop_controllers()
    assert_no_controller(audits.by_command("far"), delete=True)
    unaware = audits.by_command("unaware")
    assert finding_of(unaware.report, "KA201", "cluster")["status"] == "UNKNOWN"  # brokers have what it sent before

    moving.roll_back()
    assert_no_controller(audits.by_command("far"), delete=True)
    assert_no_controller(audits.by_command("unaware"), delete=False)

    cluster.write_znodes({"/controller": None, "/migration": None})
    cluster.await_settled()
    healed = audits.by_command("unaware")
    assert healed.code == 0, healed.said
    assert finding_of(healed.report, "KA201", "cluster")["status"] == "PASS"


def assert_no_controller(audit, *, delete):
    assert audit.code == 3, audit.said
    found = finding_of(audit.report, "KA201", "cluster")
    assert (found["status"], found["severity"], found["confidence"]) == ("FAIL", "CRITICAL", "inferred"), audit.said
    assert [incident["cause"] for incident in audit.report["incidents"]] == ["KA201"], audit.said
    assert ("delete /controller" in audit.stdout.replace("Do not delete /controller", "")) is delete, audit.said
    assert "KA302" not in {code for code, _ in failing(audit.report)}

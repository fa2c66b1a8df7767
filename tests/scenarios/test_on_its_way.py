"""What is on its way on real brokers: it moves and is INFO with an estimate, stands still and is a finding, is done and gone."""

import sys
import time

import pytest

from scenarios.audits import Audits, failing, finding_of
from testbed import Bed
from testbed.hosts import HERE
from testbed.topics import await_reassigned, configure_topic, prepare_transaction, reassign, throttle

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

LARGE = ("large", 0)
RESOURCE = "topic/large/partition/0"
MEGABYTES = 30  # a throttle lets a megabyte through at a time, one every ten seconds
THROTTLED = "follower.replication.throttled.replicas"


@pytest.fixture(params=["3.9.1", "4.3.0"])
def bed_and_cluster(request, tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.cluster(request.param) if request.param < "4" else bed.kraft(request.param, controllers=1)
        cluster.create_topic("orders", {0: [0, 1, 2]})
        cluster.create_topic("large", {0: [2, 1]})
        configure_topic(cluster, "large", {"min.insync.replicas": "1", THROTTLED: "*"})
        for broker in (0, 1):
            throttle(cluster, broker)
        cluster.await_settled()
        yield bed, cluster


def rows(audit, kind):
    return [row for row in audit.report["progress"] if row["kind"] == kind]


def until_it_moves(audits, name, kind):
    """Audit until the row of a kind has moved since the audit before: a batch comes every ten seconds."""
    for _ in range(20):
        audit = audits.by_command(name)
        (row,) = rows(audit, kind)
        if row["state"] == "moving" and row["minutes_left"] is not None:
            return audit, row
        assert row["state"] in {"moving", "unknown"}, audit.said
        time.sleep(3)
    raise AssertionError(audit.said)


def above_info(audit):
    return {(code, resource) for code, resource in failing(audit.report, at_least="LOW") if code != "KA604"}


def test_replicas_that_are_copied(bed_and_cluster, tmp_path):
    bed, cluster = bed_and_cluster
    audits = Audits(bed, cluster, tmp_path / "audits")
    audits.describe("hasty", progress={"reassignment": 0.1, "catch_up": 0.1})
    assert cluster.produce(*LARGE, MEGABYTES) is None
    at_rest = audits.by_command("far")
    assert at_rest.report["progress"] == []

    reassign(cluster, *LARGE, [2, 1, 0])
    audit, row = until_it_moves(audits, "far", "reassignment")
    assert 0 < row["share"] < 1, row
    moving = finding_of(audit.report, "KA608", "cluster")
    assert (moving["status"], moving["severity"]) == ("FAIL", "INFO")
    assert f"about {row['minutes_left']} more" in moving["message"]
    assert above_info(audit) - above_info(at_rest) <= {("KA608", "cluster")}, audit.said
    assert "ON ITS WAY" in audit.stdout

    cluster.brokers[0].stop()
    cluster.await_gone(0) if hasattr(cluster, "await_gone") else time.sleep(25)
    audits.by_command("hasty")
    time.sleep(8)
    audit = audits.by_command("hasty")
    (row,) = rows(audit, "reassignment")
    assert (row["state"], row["waits_for"]) == ("standing", "broker 0, which is not registered"), audit.said
    stands = finding_of(audit.report, "KA608", RESOURCE)
    assert (stands["status"], stands["severity"]) == ("FAIL", "MEDIUM")

    cluster.brokers[0].start()
    for broker in (0, 1):
        throttle(cluster, broker, None)
    await_reassigned(cluster)
    configure_topic(cluster, "large", {THROTTLED: None})
    cluster.await_settled()
    audit = audits.by_command("hasty")
    assert rows(audit, "reassignment") == []
    assert finding_of(audit.report, "KA608", RESOURCE)["lifecycle"] == "resolved"


def test_a_follower_that_catches_up(bed_and_cluster, tmp_path):
    bed, cluster = bed_and_cluster
    audits = Audits(bed, cluster, tmp_path / "audits")
    cluster.brokers[1].stop()
    assert cluster.produce(*LARGE, MEGABYTES) is None
    cluster.brokers[1].start()
    while any(1 not in view.topics["orders"][0]["isr"] for view in cluster.views().values()):
        time.sleep(1)
    audit, row = until_it_moves(audits, "far", "catch_up")
    assert row["parties"] == ["broker/1", "broker/2"]
    assert 0 <= row["share"] < 1, row
    behind = finding_of(audit.report, "KA604", RESOURCE)
    assert behind["severity"] == "MEDIUM", audit.said
    assert f"about {row['minutes_left']} more" in behind["message"]
    assert audit.report["incidents"] == [], audit.said

    throttle(cluster, 1, None)
    configure_topic(cluster, "large", {THROTTLED: None})
    cluster.await_settled()
    assert audits.by_command("far").report["progress"] == []


@pytest.mark.parametrize("release", ["3.9.1", "4.3.0"])
def test_a_transaction_that_is_prepared_is_never_to_be_aborted(release, tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.cluster(release) if release < "4" else bed.kraft(release, controllers=1)
        cluster.create_topic("pay", {0: [1, 2]})
        cluster.create_topic("__transaction_state", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
        configure_topic(cluster, "__transaction_state", {"cleanup.policy": "compact"})
        configure_topic(cluster, "pay", {"min.insync.replicas": "1"})
        cluster.await_settled()
        audits = Audits(bed, cluster, tmp_path / "audits")
        audits.describe("hasty", progress={"transaction": 0.1})
        cluster.brokers[2].stop()
        prepare_transaction(cluster, "pay", 0)

        first = audits.by_command("hasty")
        begun = finding_of(first.report, "KA614", "topic/pay/partition/0")
        assert (begun["status"], begun["evidence"]["state"]) == ("UNKNOWN", "PrepareCommit"), first.said
        time.sleep(8)
        audit = audits.by_command("hasty")
        hangs = finding_of(audit.report, "KA614", "topic/pay/partition/0")
        assert (hangs["status"], hangs["severity"]) == ("FAIL", "HIGH"), audit.said
        assert "is prepared (PrepareCommit) and does not end" in hangs["message"]
        assert "Never abort it" in hangs["remediation"]
        assert "--start-offset" not in audit.said
        (row,) = rows(audit, "transaction")
        assert (row["state"], row["clients_wait"]) == ("standing", True)

        cluster.brokers[2].start()
        cluster.await_settled()
        for _ in range(20):
            audit = audits.by_command("hasty")
            if not rows(audit, "transaction"):
                break
            time.sleep(3)
        assert finding_of(audit.report, "KA614", "topic/pay/partition/0")["lifecycle"] == "resolved", audit.said


def test_metadata_that_is_received_and_not_applied(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.kraft("4.3.0", controllers=1)
        audits = Audits(bed, cluster, tmp_path / "audits")
        audits.describe("hasty", progress={"metadata": 0.1})
        assert rows(audits.by_command("hasty"), "metadata") == []
        server = cluster.brokers[2].server
        stopper = [sys.executable, "-I", str(HERE / "thread_stopper.py"), str(server.pid), "kafka-2-metadat"]
        stopped = bed.stay(server.host, stopper, line="ready")
        time.sleep(30)  # an audit takes a second sample once more than twenty records are not applied

        first = audits.by_command("hasty")
        (begun,) = rows(first, "metadata")
        assert begun["state"] in {"unknown", "standing"}, first.said
        assert finding_of(first.report, "KA210", "broker/2")["severity"] == "HIGH", first.said
        audit = audits.by_command("hasty")
        (row,) = rows(audit, "metadata")
        assert (row["state"], row["parties"], row["clients_wait"]) == ("standing", ["broker/2"], True), audit.said
        assert row["measure"] == begun["measure"]
        assert "and applies nothing after offset" in finding_of(audit.report, "KA210", "broker/2")["message"]

        stopped.terminate()
        stopped.wait()
        time.sleep(5)
        audit = audits.by_command("hasty")
        assert rows(audit, "metadata") == []
        assert finding_of(audit.report, "KA210", "broker/2")["lifecycle"] == "resolved", audit.said

"""What is on its way on real brokers: it moves and is INFO with an estimate, stands still and is a finding, is done and gone."""

import shutil
import sys
import time
from subprocess import DEVNULL, PIPE

import pytest

from scenarios.audits import Audits, failing, finding_of
from scenarios.watching import watching
from testbed import Bed
from testbed.corpus.tools import Tools
from testbed.group_member import start_member
from testbed.hosts import HERE
from testbed.tiers import await_tiered, tier_properties
from testbed.topics import await_reassigned, configure_topic, prepare_transaction, reassign, spoil_offsets, throttle

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


def member(bed, cluster, kind):
    return start_member(bed, cluster, kind, "app", "orders")


def until(audits, name, kind, state):
    """Audit until the only row of a kind, or none where no state is awaited, is in a state."""
    for _ in range(10):
        audit = audits.by_command(name)
        if [row["state"] for row in rows(audit, kind)] == ([] if state is None else [state]):
            return audit
        time.sleep(4)
    raise AssertionError(audit.said)


@pytest.mark.parametrize("release", ["2.8.2", "3.9.1"])
def test_a_member_that_does_not_join_again(release, tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.cluster(release)
        cluster.create_topic("orders", {0: [0, 1], 1: [1, 2]})
        cluster.await_settled()
        audits = Audits(bed, cluster, tmp_path / "audits")
        audits.describe("hasty", progress={"group": 0.1})
        blocked = member(bed, cluster, "blocked")
        audit = until(audits, "hasty", "group", None)
        assert "KA622" in audit.report["passed_checks"], audit.said

        member(bed, cluster, "polls")
        audit = until(audits, "hasty", "group", "standing")
        (row,) = rows(audit, "group")
        assert (row["parties"][0], row["waits_for"]) == ("group/app", "one of 2 members to join again"), audit.said
        stands = finding_of(audit.report, "KA622", "group/app")
        assert (stands["status"], stands["severity"], stands["evidence"]["state"]) == ("FAIL", "HIGH", "PreparingRebalance")

        blocked.terminate()
        audit = until(audits, "hasty", "group", None)
        assert finding_of(audit.report, "KA622", "group/app")["lifecycle"] == "resolved", audit.said


def test_a_member_that_does_not_give_up_a_partition(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.kraft("4.3.0", controllers=1)
        cluster.create_topic("orders", {0: [0, 1], 1: [1, 2], 2: [2, 0]})
        cluster.await_settled()
        audits = Audits(bed, cluster, tmp_path / "audits")
        audits.describe("hasty", progress={"group": 0.1})
        keeps = member(bed, cluster, "keeps")
        audit = until(audits, "hasty", "group", None)
        assert "KA622" in audit.report["passed_checks"], audit.said

        member(bed, cluster, "gives")
        audit = until(audits, "hasty", "group", "standing")
        stands = finding_of(audit.report, "KA622", "group/app")
        assert (stands["status"], stands["severity"], stands["evidence"]["state"]) == ("FAIL", "MEDIUM", "Reconciling")
        assert "to give up partitions" in rows(audit, "group")[0]["waits_for"], audit.said

        member(bed, cluster, "gives")
        audit = audits.by_command("hasty")
        assert [row["state"] for row in rows(audit, "group")] == ["moving"], audit.said
        assert finding_of(audit.report, "KA622", "cluster")["severity"] == "INFO"
        assert finding_of(audit.report, "KA622", "group/app")["lifecycle"] == "resolved", audit.said

        keeps.terminate()
        audit = until(audits, "hasty", "group", None)
        assert finding_of(audit.report, "KA622", "cluster")["lifecycle"] == "resolved", audit.said


def test_a_partition_that_its_coordinator_could_not_load(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.kraft("4.3.0", controllers=1)
        cluster.create_topic("__consumer_offsets", {0: [0], 1: [1], 2: [2]})
        cluster.await_settled()
        audits = Audits(bed, cluster, tmp_path / "audits")
        audits.describe("hasty", progress={"coordinator": 0.1})
        for broker in cluster.brokers.values():
            broker.restart()  # a coordinator counts the partitions when it starts
        audit = until(audits, "hasty", "coordinator", None)
        assert "KA615" in audit.report["passed_checks"], audit.said

        spoil_offsets(cluster, 1)
        cluster.brokers[1].restart()
        audit = until(audits, "hasty", "coordinator", "standing")
        (row,) = rows(audit, "coordinator")
        assert (row["parties"], row["measure"]) == (["broker/1"], "NOT_COORDINATOR for 1"), audit.said
        stands = finding_of(audit.report, "KA615", "broker/1")
        assert (stands["status"], stands["severity"], stands["evidence"]["code"]) == ("FAIL", "HIGH", 16), audit.said

        cluster.brokers[1].stop()
        (data,) = (path for path in cluster.folder.rglob("__consumer_offsets-1") if path.is_dir())
        shutil.rmtree(data)  # what was committed is lost with it
        cluster.brokers[1].start()
        audit = until(audits, "hasty", "coordinator", None)
        assert finding_of(audit.report, "KA615", "broker/1")["lifecycle"] == "resolved", audit.said


@pytest.mark.parametrize("release", ["3.9.1", "4.3.0"])
def test_a_broker_that_starts_again_and_again(release, tmp_path):
    """The watch counts how often it comes back; with ZooKeeper the third audit in a row sees it, too, without a log."""
    with_zookeeper = release == "3.9.1"
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.cluster(release) if with_zookeeper else bed.kraft(release, controllers=1)
        cluster.create_topic("orders", {0: [0, 1], 1: [1, 2]})
        cluster.await_settled()
        audits = Audits(bed, cluster, tmp_path / "audits")
        audits.describe("hasty", progress={"start": 0.1})
        with watching(bed, audits, "far", "--every", "5", "--grace", "120") as watch:
            watch.await_all_answer()
            for turn in range(3):
                assert not any("comes and goes" in sentence for sentence in watch.suspected())
                cluster.brokers[2].stop(hard=turn == 1)
                time.sleep(8)  # a reading in which it is not there
                cluster.brokers[2].start()
                cluster.await_settled()
                audit = audits.by_command("hasty") if with_zookeeper else None
            watch.await_reading(lambda reading: "comes_and_goes" in {one["what"] for one in reading["suspicions"]}, 120)
        if with_zookeeper:
            assert [row["state"] for row in rows(audit, "start")] == ["standing"], audit.said
            assert finding_of(audit.report, "KA116", "broker/2")["evidence"]["state"] == "starts again and again", audit.said


@pytest.mark.parametrize("release", ["3.9.1", "4.3.0"])
def test_segments_that_are_not_copied_to_remote_storage(release, tmp_path):
    def allow(rate):
        for broker in cluster.brokers:
            keys = {"remote.log.manager.copy.max.bytes.per.second": rate}
            assert cluster.ask_topics("configure", at=broker, topic=None, broker=broker, keys=keys) is None

    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        properties = tier_properties(release, bed.folder)
        of_kraft = {} if release < "4" else {"controllers": 0}  # controllers have to know that topics may have a tier
        cluster = (bed.kraft if of_kraft else bed.cluster)(release, properties=properties, **of_kraft)
        cluster.create_topic("archive", {0: [0, 1, 2]})
        segments = {"remote.storage.enable": "true", "segment.bytes": "1048576", "local.retention.bytes": "1048576"}
        configure_topic(cluster, "archive", segments)
        cluster.await_settled()
        audits = Audits(bed, cluster, tmp_path / "audits")
        audits.describe("hasty", progress={"tier": 0.1})
        audit = until(audits, "hasty", "tier", None)
        assert "KA510" in audit.report["passed_checks"], audit.said

        allow("1")
        assert cluster.produce("archive", 0, 8) is None
        audit = until(audits, "hasty", "tier", "standing")
        stands = finding_of(audit.report, "KA510", "topic/archive/partition/0")
        assert (stands["status"], stands["severity"]) == ("FAIL", "MEDIUM")
        assert "remote.log.manager.copy.max.bytes.per.second" in stands["message"], audit.said

        allow(None)
        await_tiered(cluster, "archive")
        audit = until(audits, "hasty", "tier", None)
        assert finding_of(audit.report, "KA510", "topic/archive/partition/0")["lifecycle"] == "resolved", audit.said


def test_a_member_of_a_share_group_that_processes_nothing(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.kraft("4.3.0", controllers=1)
        cluster.create_topic("orders", {0: [0, 1]})
        cluster.await_settled()
        tools = Tools(bed, cluster)
        earliest = "--entity-type groups --entity-name app --add-config share.auto.offset.reset=earliest"
        tools.demand(f"kafka-configs.sh --bootstrap-server {tools.bootstrap} --alter {earliest}")
        consumer = f"kafka-console-share-consumer.sh --bootstrap-server {tools.bootstrap} --topic orders --group app"
        quietly = f"{consumer} --formatter-property print.value=false"
        audits = Audits(bed, cluster, tmp_path / "audits")
        audits.describe("hasty", progress={"share": 0.1})
        assert cluster.produce("orders", 0, 1) is None
        tools.demand(f"{quietly} --max-messages 2")

        # Nobody reads what it prints: its loop is blocked while it holds records, and its heartbeats go on.
        blocked = bed.worker.popen(tools.line(consumer), stdout=PIPE, stderr=DEVNULL)
        audit = until(audits, "hasty", "share", "standing")
        assert rows(audit, "share")[0]["parties"] == ["group/app", "topic/orders/partition/0"], audit.said
        stands = finding_of(audit.report, "KA623", "group/app")
        assert (stands["status"], stands["severity"], stands["evidence"]["left"]) == ("FAIL", "MEDIUM", 8), audit.said

        time.sleep(30)  # what it holds is given to others then
        tools.demand(f"{quietly} --max-messages 1")
        audit = audits.by_command("hasty")
        assert [row["state"] for row in rows(audit, "share")] == ["moving"], audit.said
        assert finding_of(audit.report, "KA623", "cluster")["severity"] == "INFO"
        assert finding_of(audit.report, "KA623", "group/app")["lifecycle"] == "resolved", audit.said

        blocked.kill()
        others = bed.worker.popen(tools.line(quietly), stdout=DEVNULL, stderr=DEVNULL)
        audit = until(audits, "hasty", "share", None)
        assert "KA623" in audit.report["passed_checks"], audit.said
        others.terminate()


def test_a_broker_that_stops_and_keeps_what_no_other_can_lead(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        properties = {"controlled.shutdown.max.retries": "1000", "controlled.shutdown.retry.backoff.ms": "1000"}
        cluster = bed.cluster("3.9.1", properties=properties)
        cluster.create_topic("orders", {0: [2, 0], 1: [0, 2], 2: [2, 1]})
        configure_topic(cluster, "orders", {"min.insync.replicas": "1"})
        cluster.await_settled()
        audits = Audits(bed, cluster, tmp_path / "audits")
        logs = [str(cluster.folder / "broker-{broker_id}" / "logs" / "server.log")]
        audits.describe("hasty", progress={"shutdown": 0.1}, logs={"paths": logs})
        assert rows(audits.by_command("hasty"), "shutdown") == []

        cluster.brokers[1].stop()
        cluster.brokers[2].server.signal_stop()
        audit = until(audits, "hasty", "shutdown", "standing")
        (row,) = rows(audit, "shutdown")
        assert (row["measure"], row["waits_for"]) == (1, "another leader of orders-2, whose other replicas are out of sync"), (
            audit.said
        )
        stands = finding_of(audit.report, "KA116", "broker/2")
        assert (stands["status"], stands["severity"], stands["evidence"]["state"]) == ("FAIL", "MEDIUM", "is stopping"), (
            audit.said
        )

        cluster.brokers[1].start()  # what the finding says, in its order
        cluster.brokers[2].stop(hard=True)
        cluster.brokers[2].start()
        cluster.await_settled()
        deadline = time.monotonic() + 60
        while 1 not in cluster.views([0])[0].topics["orders"][2]["isr"]:  # until then nobody else can lead it
            assert time.monotonic() < deadline
            time.sleep(1)
        cluster.brokers[2].stop()
        audit = audits.by_command("hasty")
        assert rows(audit, "shutdown") == [], audit.said
        assert finding_of(audit.report, "KA116", "broker/2")["evidence"]["state"] == "was stopped", audit.said

"""Partitions in trouble on real brokers, and back: a stopped broker, weak topics, reassignments, throttles, a stuck deletion."""

import pytest

from scenarios.audits import failing, finding_of
from scenarios.watch import Watch
from testbed import Bed
from testbed.topics import (
    await_reassigned,
    cancel_reassignment,
    configure_topic,
    delete,
    elect_preferred,
    reassign,
    throttle,
)

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

TOPICS = {
    "orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]},
    "single": {0: [2]},
    "pair": {0: [1, 2]},
    "slow": {0: [0]},
    "dead": {0: [0, 1]},
    "doomed": {0: [0, 2]},
}
THROTTLED = "follower.replication.throttled.replicas"
SETTINGS = {"min.insync.replicas": "2", "auto.leader.rebalance.enable": "false", "group.initial.rebalance.delay.ms": "0"}


@pytest.fixture(params=["3.9.1", "4.3.0"])
def cluster(request, tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        zookeeper = request.param < "4"
        options = {"properties": SETTINGS}
        cluster = bed.cluster(request.param, **options) if zookeeper else bed.kraft(request.param, controllers=1, **options)
        for name, assignment in TOPICS.items():
            cluster.create_topic(name, assignment)
        # Since 4.1 (KIP-966) the static setting of brokers no longer counts: the controllers set one for the cluster.
        configure_topic(cluster, "orders", {"min.insync.replicas": "2"})
        for name in ("pair", "slow", "dead", "doomed"):
            configure_topic(cluster, name, {"min.insync.replicas": "1"})
        if zookeeper:
            cluster.make_controller(0)
        cluster.await_settled()
        cluster.produce("slow", 0, 40)  # a throttle lets a megabyte through at a time, one every ten seconds
        yield bed, cluster


def of_family(report, *, at_least="INFO"):
    """Return what fails of the family, by code; that a reassignment moves, at INFO, is no fault."""
    found = {}
    moves = {("KA608", "cluster")} - failing(report, at_least="LOW")
    for code, resource in failing(report, at_least=at_least) - moves:
        if code.startswith("KA6"):
            found.setdefault(code, set()).add(resource)
    return found


def partitions(*names):
    return {"topic/{}/partition/{}".format(*name.rsplit("-", 1)) for name in names}


def put_through(cluster, watch):
    """Put faults into the cluster, one after the other, and take them out again."""
    watch.describe("far", progress={"reassignment": 0, "catch_up": 0, "deletion": 0})  # looks are seconds apart
    watch.look("whole")

    configure_topic(cluster, "pair", {"min.insync.replicas": "2"})
    configure_topic(cluster, "slow", {THROTTLED: "*"})
    throttle(cluster, 1)
    reassign(cluster, "slow", 0, [0, 1])
    watch.look("weak")

    cluster.brokers[2].suspend()
    reassign(cluster, "dead", 0, [0, 1, 2])
    cluster.brokers[2].stop(hard=True)
    if cluster.zookeeper_connect is not None:
        delete(cluster, "doomed")
    watch.look("down")
    watch.look("lasting")

    cancel_reassignment(cluster, "dead", 0)
    cluster.brokers[2].start()
    throttle(cluster, 1, "1000000000")
    configure_topic(cluster, "pair", {"min.insync.replicas": "1"})
    await_reassigned(cluster)
    cluster.await_settled()
    watch.look("back")

    elect_preferred(cluster)
    throttle(cluster, 1, None)
    configure_topic(cluster, "slow", {THROTTLED: None})
    watch.look("healed")


ALL = partitions("orders-0", "orders-1", "orders-2", "pair-0")
SLOW = partitions("slow-0")  # a megabyte every ten seconds: since the look before, one was copied, or none was yet
DOOMED = partitions("doomed-0")  # with ZooKeeper its deletion is under way, and it is not looked at


def assert_whole(report):
    assert failing(report, at_least="HIGH") == set()
    assert of_family(report) == {"KA606": partitions("single-0", "slow-0")}
    statuses = {finding["code"]: finding["status"] for finding in report["findings"] if finding["resource"]["name"] == "cluster"}
    assert {statuses[code] for code in ("KA601", "KA602", "KA603", "KA604", "KA605", "KA607", "KA608")} == {"PASS"}


def assert_weak(report):
    """A topic needs all of its replicas; a reassignment goes on as slowly as its throttle wants it, which is no fault yet."""
    assert of_family(report) == {"KA605": partitions("pair-0"), "KA606": partitions("single-0")}
    assert "1 partition is being reassigned" in finding_of(report, "KA608", "cluster")["message"]


def assert_down(report):
    """A broker has stopped: some fail now, others are close to it, and what may be temporary is said to be."""
    findings = of_family(report)
    assert findings["KA601"] == partitions("single-0")
    assert findings["KA602"] == partitions("pair-0")
    assert findings["KA603"] - DOOMED == partitions("orders-0", "orders-1", "orders-2")
    assert findings["KA604"] - DOOMED == ALL
    assert "KA604" not in of_family(report, at_least="HIGH")
    assert "temporary" in finding_of(report, "KA604", "topic/orders/partition/0")["message"]
    assert findings.get("KA608", set()) <= SLOW
    causes = {incident["cause"]: incident["headline"] for incident in report["incidents"]}
    assert {"KA113", "KA605"} <= causes.keys(), causes
    assert not causes.keys() & {"KA601", "KA602"}, causes


def assert_lasting(report, *, zookeeper):
    assert of_family(report, at_least="HIGH")["KA604"] - DOOMED == ALL
    assert of_family(report)["KA608"] - SLOW == partitions("dead-0")
    hanging = finding_of(report, "KA608", "topic/dead/partition/0")
    assert (hanging["confidence"], hanging["evidence"]["dead"]) == ("measured", [2])
    if zookeeper:
        assert "it waits for broker 2" in finding_of(report, "KA610", "topic/doomed")["message"]


def assert_back(report):
    """Healed, but for leaders that stay away and a throttle that nobody takes back."""
    assert failing(report, at_least="HIGH") == set()
    assert of_family(report) == {"KA606": partitions("single-0"), "KA607": {"cluster"}, "KA608": {"cluster"}}
    assert "broker 2 does not lead" in finding_of(report, "KA607", "cluster")["message"]
    assert "on 1 topic (slow), with a rate at broker 1, but" in finding_of(report, "KA608", "cluster")["message"]


def assert_healed(report):
    assert failing(report, at_least="HIGH") == set()
    assert of_family(report) == {"KA606": partitions("single-0")}
    assert finding_of(report, "KA607", "cluster")["status"] == "PASS"


def test_partitions_in_trouble_and_back(cluster, tmp_path):
    watch = Watch(*cluster, tmp_path / "audits")
    put_through(cluster[1], watch)
    reports = {step.what: step.report for step in watch.judged()}
    assert_whole(reports["whole"])
    assert_weak(reports["weak"])
    assert_down(reports["down"])
    assert_lasting(reports["lasting"], zookeeper=cluster[1].zookeeper_connect is not None)
    assert_back(reports["back"])
    assert_healed(reports["healed"])

"""Partitions in trouble on real brokers, and back: a stopped broker, weak topics, reassignments, throttles, a stuck deletion."""

import pytest

from kafka_audit.testbed import Bed
from kafka_audit.testbed.topics import (
    await_reassigned,
    cancel_reassignment,
    configure_topic,
    delete,
    elect_preferred,
    reassign,
    throttle,
)
from scenarios.audits import Audits, failing, finding_of

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
        for name in ("pair", "dead", "doomed"):
            configure_topic(cluster, name, {"min.insync.replicas": "1"})
        if zookeeper:
            cluster.make_controller(0)
        cluster.await_settled()
        cluster.produce("slow", 0, 40)  # a throttle lets a megabyte through at a time, one every ten seconds
        yield bed, cluster


@pytest.fixture
def audits(cluster, tmp_path):
    return Audits(*cluster, tmp_path / "audits")


def of_family(report, *, at_least="INFO"):
    """Return what fails of the family, by code."""
    found = {}
    for code, resource in failing(report, at_least=at_least):
        if code.startswith("KA6"):
            found.setdefault(code, set()).add(resource)
    return found


def partitions(*names):
    return {"topic/{}/partition/{}".format(*name.rsplit("-", 1)) for name in names}


def assert_whole(audits):
    whole = audits.by_command("far", "--all")
    assert whole.code == 0, whole.said
    assert of_family(whole.report) == {"KA606": partitions("single-0", "slow-0")}
    assert {one["status"] for one in whole.report["findings"] if one["code"] in {"KA601", "KA602", "KA604"}} == {"PASS"}


def assert_weak_topic_and_slow_reassignment(cluster, audits):
    # A topic that needs all of its replicas, and a reassignment that goes on as slowly as its throttle wants it.
    configure_topic(cluster, "pair", {"min.insync.replicas": "2"})
    configure_topic(cluster, "slow", {THROTTLED: "*"})
    throttle(cluster, 1)
    reassign(cluster, "slow", 0, [0, 1])
    weak = audits.by_command("far", "--all")
    assert weak.code == 3, weak.said
    assert of_family(weak.report, at_least="HIGH") == {"KA605": partitions("pair-0")}
    assert "1 partitions are being reassigned" in finding_of(weak.report, "KA608", "cluster")["message"]
    assert "KA604" not in of_family(weak.report)  # what a reassignment adds is no lack


def assert_broker_down(cluster, audits):
    # A broker that a reassignment leads to, and that stops.
    cluster.brokers[2].suspend()
    reassign(cluster, "dead", 0, [0, 1, 2])
    cluster.brokers[2].stop(hard=True)
    if cluster.zookeeper_connect is not None:
        delete(cluster, "doomed")
    down = audits.by_command("far", "--all")
    assert down.code == 3, down.said
    told = of_family(down.report)
    assert told["KA601"] == partitions("single-0")
    assert told["KA602"] == partitions("pair-0")
    assert told["KA603"] == partitions("orders-0", "orders-1", "orders-2")
    assert {one for one in told["KA604"] if "doomed" not in one} == partitions("orders-0", "orders-1", "orders-2", "pair-0")
    assert told["KA608"] == partitions("slow-0")
    assert "KA604" not in of_family(down.report, at_least="HIGH")  # the first time it is called temporary
    assert "temporary" in finding_of(down.report, "KA604", "topic/orders/partition/0")["message"]
    assert {one["cause"] for one in down.report["incidents"]} == {"KA113", "KA605"}, down.said


def assert_what_lasts(cluster, audits):
    lasting = audits.by_command("far", "--all")
    told = of_family(lasting.report, at_least="HIGH")
    assert {one for one in told["KA604"] if "doomed" not in one} == partitions("orders-0", "orders-1", "orders-2", "pair-0")
    told = of_family(lasting.report)
    assert told["KA608"] == partitions("slow-0", "dead-0")
    hanging = finding_of(lasting.report, "KA608", "topic/dead/partition/0")
    assert (hanging["confidence"], hanging["evidence"]["dead"]) == ("measured", "2")
    assert finding_of(lasting.report, "KA608", "topic/slow/partition/0")["confidence"] == "suspected"
    if cluster.zookeeper_connect is not None:
        assert "it waits for broker 2" in finding_of(lasting.report, "KA610", "topic/doomed")["message"]


def assert_healed(cluster, audits):
    # Healed, but for leaders that stay away and a throttle that nobody takes back.
    cancel_reassignment(cluster, "dead", 0)
    cluster.brokers[2].start()
    throttle(cluster, 1, None)
    configure_topic(cluster, "pair", {"min.insync.replicas": "1"})
    await_reassigned(cluster)
    cluster.await_settled()
    back = audits.by_command("far", "--all")
    assert back.code == 0, back.said
    assert of_family(back.report) == {"KA606": partitions("single-0"), "KA607": {"cluster"}, "KA608": {"cluster"}}, back.said
    assert "topic (slow)" in finding_of(back.report, "KA608", "cluster")["message"]

    elect_preferred(cluster)
    configure_topic(cluster, "slow", {THROTTLED: None})
    healed = audits.by_command("far", "--all")
    assert healed.code == 0, healed.said
    assert of_family(healed.report) == {"KA606": partitions("single-0")}, healed.said
    assert finding_of(healed.report, "KA607", "cluster")["status"] == "PASS"


def test_partitions_in_trouble_and_back(cluster, audits):
    _, cluster = cluster
    assert_whole(audits)
    assert_weak_topic_and_slow_reassignment(cluster, audits)
    assert_broker_down(cluster, audits)
    assert_what_lasts(cluster, audits)
    assert_healed(cluster, audits)

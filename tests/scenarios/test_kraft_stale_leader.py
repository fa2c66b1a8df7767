"""KRaft 4.3.0: a broker that is cut from its controllers goes on leading; one that its followers miss, or the last, is alone."""

import time

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing
from scenarios.audits import finding_of as finding
from testbed.faults import cut_from_quorum, heal_quorum

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test
TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}}


@pytest.fixture
def cluster(bed):
    cluster = bed.kraft("4.3.0", controllers=1)
    for name, assignment in TOPICS.items():
        cluster.create_topic(name, assignment)
    cluster.await_settled()
    return cluster


@pytest.fixture
def audits(bed, cluster, tmp_path):
    return Audits(bed, cluster, tmp_path / "audits")


@pytest.mark.airflow
def test_a_broker_cut_from_its_controllers_is_stale_and_one_that_is_stopped_is_gone(bed, cluster, audits):
    cut_from_quorum(bed, cluster, 2)
    cut = audits.by_dag("near", "cut.log")
    assert cut.code == 1, cut.tail
    # It cannot pass the question for the quorum on (KA001), and the quorum's leader tells the same from the other side.
    assert {found for found in failing(cut.report, at_least="HIGH") if found[0] < "KA3"} == {
        (code, "broker/2") for code in ("KA001", "KA101", "KA105", "KA210", "KA212", "KA216")
    }
    assert "at offset" in finding(cut.report, "KA210", "broker/2")["message"]
    stale = finding(cut.report, "KA101", "broker/2")
    assert "the newest leader epoch (brokers 0 and 1)" in stale["message"]
    assert stale["evidence"]["partitions"] == ["orders-2"]
    (incident,) = cut.report["incidents"]
    assert (incident["cause"], incident["confidence"]) == ("KA216", "measured")
    assert incident["headline"].startswith("Broker 2 cannot reach its controllers and names stale leaders")
    assert finding(cut.report, "KA216", "broker/2")["evidence"]["addresses"] == [*cluster.controller_addresses]
    assert "ZooKeeper" not in str(cut.report["incidents"]) + stale["message"]

    heal_quorum(bed, cluster, 2)
    healed = audits.by_dag("near", "healed.log")
    assert healed.code == 0, healed.tail
    assert failing(healed.report, at_least="HIGH") == set()
    assert (
        finding(healed.report, "KA101", "broker/2")["status"] == finding(healed.report, "KA216", "broker/2")["status"] == "PASS"
    )

    # The nearest false alarm: it does not answer, so nobody may say that what it would tell is stale.
    cluster.brokers[2].stop()
    gone = audits.by_command("near")
    assert {resource for code, resource in failing(gone.report) if code == "KA113"} - {"cluster"} == {"broker/2"}
    assert {code for code, _ in failing(gone.report, at_least="HIGH") if "KA101" <= code < "KA500"} <= {"KA113"}, gone.said


def await_isr(cluster, partition, isr):
    deadline = time.monotonic() + 300  # replica.lag.time.max.ms is 30 s
    while sorted(cluster.views([0])[0].topics["orders"][partition]["isr"]) != isr:
        assert time.monotonic() < deadline
        time.sleep(1)


def test_a_broker_that_its_followers_do_not_reach_is_cut_off(bed, cluster, audits):
    """All views are equal, and the quorum is whole: only the ISR shows it, and a probe from the followers' hosts."""
    target = cluster.brokers[2].host
    for follower in (0, 1):
        bed.cut(cluster.brokers[follower].host, target)
    assert cluster.produce("orders", 2, megabytes=1) is None  # followers that have all there is stay in the ISR through any cut
    await_isr(cluster, 2, [2])
    # Without a vantage nothing rules out that small requests pass and large answers do not.
    suspected, measured = "possibly they cannot reach its address", "they cannot reach its address"
    for name, confidence, report in (("far", "suspected", suspected), ("near", "measured", measured)):
        audit = audits.by_command(name)
        assert audit.code == 3, audit.said
        (incident,) = audit.report["incidents"]
        headline = f"Brokers 0 and 1 are cut off from broker 2: {report}"
        assert (incident["cause"], incident["confidence"], incident["headline"]) == ("KA302", confidence, headline)
        assert failing(audit.report, at_least="HIGH") == {("KA302", "broker/2/listener/PLAINTEXT")}

    for follower in (0, 1):
        bed.heal(cluster.brokers[follower].host, target)
    await_isr(cluster, 2, [0, 1, 2])
    healed = audits.by_command("near")
    assert healed.code == 0, healed.said
    assert finding(healed.report, "KA302", "broker/2/listener/PLAINTEXT")["status"] in {"PASS", "NOT_APPLICABLE"}
    assert [incident["cause"] for incident in healed.report["resolved_incidents"]] == ["KA302"]


@pytest.mark.parametrize("earlier", [False, True])
def test_one_broker_of_three_that_is_left_tells_what_waits_for_the_others(cluster, audits, earlier):
    cluster.create_topic("payments", {0: [2], 1: [0]})
    cluster.await_settled()
    if earlier:
        whole = audits.by_command("near")
        assert failing(whole.report, at_least="HIGH") == set(), whole.said
    for broker in (1, 2):
        cluster.brokers[broker].stop(hard=True)
    while [*cluster.views([0])[0].brokers] != [0]:
        time.sleep(1)
    left = audits.by_command("near")
    assert left.code == 3, left.said
    (incident,) = left.report["incidents"]
    assert (incident["cause"], incident["confidence"]) == ("KA113", "measured")
    assert incident["headline"] == "Brokers 1 and 2 are gone: no other broker lists them"
    assert {(code, name) for code, name in failing(left.report, at_least="HIGH") if code in {"KA113", "KA601"}} == {
        ("KA113", "cluster"),
        ("KA113", "broker/1"),
        ("KA113", "broker/2"),
        ("KA601", "topic/payments/partition/0"),
    }
    # One that no leaderless partition waits for is no worse than a broker less.
    assert [finding(left.report, "KA113", f"broker/{broker}")["severity"] for broker in (1, 2)] == ["HIGH", "CRITICAL"]
    warnings = [step["text"] for step in incident["remediation"] if step["kind"] == "do_not"]
    assert any("empty disk" in text for text in warnings), warnings

    for broker in (1, 2):
        cluster.brokers[broker].start()
    cluster.await_settled()
    healed = audits.by_command("near")
    assert healed.code == 0, healed.said
    assert failing(healed.report, at_least="HIGH") == set()

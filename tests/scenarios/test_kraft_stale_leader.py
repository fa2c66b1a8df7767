"""KRaft 4.3.0: a broker that is cut from its controllers goes on leading what others lead by now."""

import pytest

from kafka_audit.testbed import Bed
from kafka_audit.testbed.faults import cut_from_quorum, heal_quorum, rolling_restart
from scenarios.audits import Audits, failing

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}}


@pytest.fixture
def bed(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        yield bed


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


def finding(report, code, resource):
    (found,) = [f for f in report["findings"] if (f["code"], f["resource"]["name"]) == (code, resource)]
    return found


def test_a_broker_cut_from_its_controllers_is_stale(bed, cluster, audits):
    cut_from_quorum(bed, cluster, 2)
    for name in audits.NAMES:
        audit = audits.by_command(name)
        assert audit.code == 3, audit.said
        # It cannot pass the question for the quorum on (KA001), and the quorum's leader tells the same from the other side.
        assert {found for found in failing(audit.report, at_least="HIGH") if found[0] < "KA3"} == {
            (code, "broker/2") for code in ("KA001", "KA101", "KA105", "KA210", "KA212")
        }
        assert "at offset" in finding(audit.report, "KA210", "broker/2")["message"]
        stale = finding(audit.report, "KA101", "broker/2")
        assert "the newest leader epoch, held by brokers 0 and 1," in stale["message"]
        assert stale["evidence"]["partitions"] == "orders-2"
        (incident,) = audit.report["incidents"]
        assert incident["cause"] == "KA101"
        assert incident["headline"].startswith("Broker 2 follows its controllers no more and names stale leaders")
        assert "ZooKeeper" not in str(audit.report["incidents"]) + stale["message"]

    heal_quorum(bed, cluster, 2)
    for name in audits.NAMES:
        healed = audits.by_command(name)
        assert healed.code == 0, healed.said
        assert failing(healed.report, at_least="HIGH") == set()
        assert finding(healed.report, "KA101", "broker/2")["status"] == "PASS"


def test_a_rolling_restart_raises_nothing_that_the_next_audit_takes_back(cluster, audits):
    """KA113 may be true for a while: a broker that stopped is gone."""
    told = []
    for step in rolling_restart(cluster):
        audit = audits.by_command("far")
        wolf = {code for code, _ in failing(audit.report, at_least="HIGH") if "KA101" <= code < "KA500"} - {"KA113"}
        gone = {resource for code, resource in failing(audit.report) if code == "KA113"} - {"cluster"}
        told.append((step, audit.code, wolf, gone))
    assert not [one for one in told if one[2]], told
    assert {(step.what, tuple(gone)) for step, _, _, gone in told if step.what == "stopped"} == {
        ("stopped", (f"broker/{broker}",)) for broker in cluster.brokers
    }, told
    assert told[-1][1] == 0

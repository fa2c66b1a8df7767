"""ZooKeeper itself: an ensemble of one, a server that is dead, a session that expired while its broker stood still."""

import time

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test

SESSION_S = 6  # of the bed's brokers


def found(audit, code):
    return [finding for finding in audit.report["findings"] if finding["code"] == code]


def codes(audit, **more):
    return {code for code, _ in failing(audit.report, **more)}


def stand_still(cluster, broker):
    """Freeze a broker until ZooKeeper has ended its session, and let it go on and register again."""
    cluster.brokers[broker].suspend()
    time.sleep(2 * SESSION_S)
    cluster.brokers[broker].resume()
    cluster.await_settled()
    time.sleep(3)  # until it has caught up: what this is about is over by then


@pytest.mark.parametrize("version", ["3.9.1", "2.8.2"])
def test_a_single_server_a_dead_one_and_a_session_that_expired(bed, tmp_path, version):
    cluster = bed.cluster(version)
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [2, 0, 1]})
    cluster.make_controller(0)
    cluster.await_settled()
    audits = Audits(bed, cluster, tmp_path / "audits")

    first = audits.by_command("written")
    assert first.code == 0, first.said
    assert {"KA801", "KA804"} <= codes(first)  # the bed has one server, and leaves its znodes open
    assert codes(first).isdisjoint({"KA802", "KA803", "KA805", "KA806", "KA807"})
    assert first.report["coverage"]["unknown"] == []
    assert [finding["status"] for finding in found(first, "KA805")] == ["NOT_APPLICABLE"]

    stand_still(cluster, 1)
    second = audits.by_command("written")
    assert second.code == 0, second.said
    (expired,) = (finding for finding in found(second, "KA805") if finding["status"] == "FAIL")
    assert (expired["resource"]["name"], expired["severity"], expired["confidence"]) == ("broker/1", "MEDIUM", "measured")
    assert "its log reports" in expired["message"]

    cluster.brokers[2].restart()  # another session too, and none that expired
    cluster.await_settled()
    third = audits.by_command("written")
    assert third.code == 0, third.said
    statuses = {finding["resource"]["name"]: finding["status"] for finding in found(third, "KA805")}
    assert "FAIL" not in statuses.values()
    assert statuses["broker/2"] == "UNKNOWN"

    dead = f"{cluster.zookeeper.host.address}:2999"
    audits.describe("dead", zookeeper=f"{cluster.zookeeper_connect},{dead}")
    audit = audits.by_command("dead")
    assert audit.code == 3, audit.said
    (away,) = found(audit, "KA802")
    assert (away["status"], away["severity"]) == ("FAIL", "HIGH")
    assert f"{dead} (connection refused)" in away["message"]
    (incident,) = audit.report["incidents"]
    assert incident["cause"] == "KA802"
    assert codes(audits.by_command("far"), at_least="HIGH") == set()

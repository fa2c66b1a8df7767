"""Brokers that lag, hang, die or restart: what lasts is told, what passes is not."""

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing
from testbed import presets
from testbed.faults import cross_forwards, rolling_restart, stale_leader

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test
TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}}


@pytest.fixture
def cluster(bed):
    return whole(bed)


def whole(bed, **options):
    cluster = bed.cluster("3.9.1", **options)
    cluster.create_topics(TOPICS)
    cluster.await_settled()
    return cluster


@pytest.fixture
def audits(bed, cluster, tmp_path):
    return Audits(bed, cluster, tmp_path / "audits")


def brokers_failing(report, code):
    return {resource for found, resource in failing(report) if found == code}


def test_a_leader_that_was_never_told_of_the_election_is_stale(bed, cluster, audits):
    stale_leader(bed, cluster, 2)
    audit = audits.by_command("near")
    assert audit.code == 3, audit.said
    assert brokers_failing(audit.report, "KA101") == {"broker/2"}
    (stale,) = [f for f in audit.report["findings"] if f["code"] == "KA101" and f["status"] == "FAIL"]
    assert "moved-0" in str(stale["evidence"])
    assert len(audit.report["incidents"]) == 1

    bed.heal(cluster.brokers[cluster.controller_id()].host, cluster.brokers[2].host)
    cluster.brokers[2].restart()
    cluster.await_settled()
    healed = audits.by_command("near")
    assert healed.code == 0, healed.said


def test_a_forward_that_leads_to_another_broker_is_told_on_both(bed, tmp_path):
    cluster = whole(bed, **presets.split())
    audits = Audits(bed, cluster, tmp_path / "audits")
    cross_forwards(bed, cluster, 1, 2)
    audit = audits.by_command("far")
    assert audit.code == 3, audit.said
    assert brokers_failing(audit.report, "KA111") == {"broker/1/listener/CLIENT", "broker/2/listener/CLIENT"}
    assert [incident["cause"] for incident in audit.report["incidents"]] == ["KA111"]


def test_a_hanging_broker_costs_its_own_answers_and_its_deadline(cluster, audits):
    cluster.brokers[1].suspend()
    try:
        audit = audits.by_command("far")
    finally:
        cluster.brokers[1].resume()
    assert audit.code == 3, audit.said
    unknown = {read["observer"] for read in audit.report["coverage"]["unknown"]}
    assert all("1" in observer or "10.99.0.11" in observer for observer in unknown), unknown


@pytest.mark.parametrize("hard", [False, True], ids=["SIGTERM", "SIGKILL"])
def test_a_broker_that_stopped_is_gone_and_back_again(cluster, audits, hard):
    assert audits.by_command("far").code == 0
    cluster.brokers[1].stop(hard=hard)
    audit = audits.by_command("far")
    assert audit.code == 3, audit.said
    assert "broker/1" in brokers_failing(audit.report, "KA113")
    assert [incident["cause"] for incident in audit.report["incidents"]] == ["KA113"]
    cluster.brokers[1].start()
    cluster.await_settled()
    assert audits.by_command("far").code == 0


@pytest.mark.parametrize("hard", [False, True], ids=["SIGTERM", "SIGKILL"])
def test_a_rolling_restart_raises_nothing_that_the_next_audit_takes_back(cluster, audits, hard):
    """KA113 may be true for a while: a broker that stopped is gone. Everything else of weight would be a cry of wolf."""
    changes = []
    for step in rolling_restart(cluster, hard=hard):
        audit = audits.by_command("near")
        wolf = {code for code, _ in failing(audit.report, at_least="HIGH") if "KA101" <= code < "KA500"} - {"KA113"}
        changes.append((step, audit.code, wolf))
    assert not [change for change in changes if change[2]], changes
    assert changes[-1][1] == 0

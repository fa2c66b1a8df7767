"""Incident 001: one broker of three is published; a forward leads to the wrong broker; one broker carries it all."""

import pytest

from scenarios.audits import Audits, assert_repaired, evidence_of, failing, finding_of, from_host, znodes_in
from testbed import presets
from testbed.faults import cross_forwards

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}}
QUICK = {"read_s": 3, "settle_s": 2}
FOR_CLIENTS = {"INTERNAL": "skip"}  # nobody means clients to reach the listener between brokers


@pytest.fixture(scope="module")
def cluster(bed, version):
    """Three brokers with a listener for clients and one between them."""
    cluster = bed.cluster(version, **presets.split())
    cluster.create_topics(TOPICS)
    cluster.make_controller(0)
    cluster.await_settled()
    return cluster


@pytest.fixture(scope="module")
def dmz(bed):
    return bed.hosts.add("dmz", "10.99.0.100")


@pytest.fixture
def one_published(bed, cluster, dmz):
    """The clients' network reaches broker 0 alone, for as long as the test does not repair it."""
    for broker in (1, 2):
        bed.cut(dmz, cluster.brokers[broker].host)
    yield
    heal(bed, cluster, dmz)


def heal(bed, cluster, dmz):
    for broker in (1, 2):
        bed.heal(dmz, cluster.brokers[broker].host)


def assert_one_of_three(report):
    (incident,) = report["incidents"]
    assert incident["headline"] == "Clients at dmz cannot reach brokers 1 and 2: 2 of 3 advertised endpoints fail at tcp"
    assert (incident["cause"], incident["severity"], incident["confidence"]) == ("KA301", "HIGH", "measured")
    assert "Clients there cannot use the partitions that brokers 1 and 2 lead: 2 of 3" in incident["impact"]
    assert "vantage dmz: layer by layer: dns 3 of 3, tcp 1 of 3, api 1 of 1, packets 1 of 1" in evidence_of(incident)
    assert [line["text"] for line in incident["evidence_against"]] == ["reaches 3 of 3: this is no proof for clients elsewhere"]
    missed = {("KA301", f"broker/{broker}/listener/CLIENT") for broker in (1, 2)}
    assert failing(report, at_least="HIGH") == missed
    assert all(finding_of(report, *failure)["evidence"]["stops"] == ["tcp failed with timeout at dmz"] for failure in missed)
    (row,) = [observer for observer in report["matrix"]["observers"] if observer["name"] == "dmz"]
    assert row["reach"] == ".TT"


@pytest.mark.usefixtures("one_published")
def test_the_command_says_which_endpoints_clients_miss_and_when_they_are_back(audits, bed, cluster, dmz):
    audits.describe("exposed", listeners=FOR_CLIENTS, limits=QUICK, vantages={"dmz": from_host(dmz)})
    before = znodes_in(cluster)
    audit = audits.by_command("exposed")
    assert audit.code == 3, audit.said
    assert_one_of_three(audit.report)
    assert "dmz" in audit.stdout
    assert znodes_in(cluster) == before

    heal(bed, cluster, dmz)
    audit = audits.by_command("exposed")
    assert audit.code == 0, audit.said
    assert_repaired(audit.report, "KA301")


@pytest.mark.airflow
@pytest.mark.usefixtures("one_published")
def test_the_gate_of_the_dag_fails_with_it_and_passes_after_the_repair(audits, bed, cluster, dmz):
    audits.describe("near", listeners=FOR_CLIENTS, limits=QUICK, vantages={"dmz": from_host(dmz)})
    broken = audits.by_dag("near", "broken.log")
    assert broken.code == 1, broken.tail
    assert_one_of_three(broken.report)
    assert f"near: {broken.report['incidents'][0]['headline']}" in broken.said

    heal(bed, cluster, dmz)
    repaired = audits.by_dag("near", "repaired.log")
    assert repaired.code == 0, repaired.tail
    assert_repaired(repaired.report, "KA301")


def test_a_forward_wired_to_the_wrong_broker_is_no_open_port(audits, bed, cluster):
    audits.describe("crossed", limits=QUICK)
    cross_forwards(bed, cluster, 1, 2)
    try:
        audit = audits.by_command("crossed")
        assert audit.code == 3, audit.said
        (incident,) = audit.report["incidents"]
        assert incident["headline"] == "Brokers 1 and 2 are not at their addresses: other brokers answer there"
        assert (incident["cause"], incident["severity"], incident["confidence"]) == ("KA111", "CRITICAL", "measured")
        wrong = {("KA111", f"broker/{broker}/listener/CLIENT") for broker in (1, 2)}
        assert failing(audit.report, at_least="HIGH") >= wrong
        assert {finding_of(audit.report, *failure)["evidence"]["answered_by"] for failure in wrong} == {"broker 1", "broker 2"}
        assert not {failure for failure in failing(audit.report) if failure[0] == "KA301"}
    finally:
        cluster.restart_brokers({broker: {"advertised.listeners": cluster.advertised(broker, set())} for broker in (1, 2)})
        cluster.await_settled()
    audit = audits.by_command("crossed")
    assert audit.code == 0, audit.said
    assert_repaired(audit.report, "KA111")


def test_one_broker_is_a_finding_of_its_own_until_it_is_meant(bed, version, tmp_path):
    cluster = bed.cluster(version, 1)
    audits = Audits(bed, cluster, tmp_path)
    audits.describe("alone", limits=QUICK, expect=None)
    audit = audits.by_command("alone")
    assert audit.code == 0, audit.said
    assert finding_of(audit.report, "KA612", "cluster")["status"] == "FAIL"
    assert finding_of(audit.report, "KA612", "cluster")["severity"] == "MEDIUM"
    assert audit.report["incidents"] == []

    audits.describe("alone", limits=QUICK, expect={"single_broker": True})
    audit = audits.by_command("alone")
    assert finding_of(audit.report, "KA612", "cluster")["status"] == "NOT_APPLICABLE"

"""What brokers wrote themselves: with their logs a cause is measured and quoted that is inferred, or not decided, without."""

import time

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing, only_incident
from testbed import presets
from testbed.acls import auditor_grants

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test

VERSIONS = ["3.9.1", "2.8.2"]


def started(bed, tmp_path, version, preset):
    cluster = bed.kraft(version, **preset) if version > "4" else bed.cluster(version, **preset)
    if cluster.secured and cluster.secured.security.authorizer:
        cluster.put_acls(auditor_grants())
    if len(cluster.brokers) > 1:
        cluster.create_topic("orders", {0: [0, 1, 2], 1: [2, 0, 1]})
    return cluster, Audits(bed, cluster, tmp_path / "audits")


def quotes(incident):
    return [line["text"] for line in incident["evidence_for"] if line["observer"].startswith("log of ")]


def assert_clean(audit):
    assert audit.code == 0, audit.said
    assert audit.report["incidents"] == []
    assert failing(audit.report, at_least="HIGH") == set()
    assert audit.report["coverage"]["unknown"] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_controller_writes_that_it_gets_no_connection(bed, tmp_path, version):
    cluster, audits = started(bed, tmp_path, version, {})
    # A host in a zone of its own: its log does not name it.
    cluster.brokers[0].server.jvm = [*cluster.brokers[0].server.jvm, "-Duser.timezone=Asia/Kathmandu"]
    cluster.brokers[0].restart()
    cluster.await_settled()
    cluster.make_controller(0)
    cluster.advertise_through_forward([2])

    inferred = only_incident(audits.by_command("far"))
    assert (inferred["cause"], inferred["confidence"]) == ("KA302", "inferred")
    measured = only_incident(audits.by_command("written"))
    assert (measured["cause"], measured["confidence"]) == ("KA302", "measured")
    assert measured["headline"] == "Broker 2 is cut off: controller 0 cannot reach the address it advertises"
    assert any("Error connecting to node" in line or "was unsuccessful" in line for line in quotes(measured))
    assert any(line["observer"] == f"log of broker 0 at {cluster.brokers[0].host.address}" for line in measured["evidence_for"])
    assert all(" UTC: [" in line for line in quotes(measured))
    # As `kubectl logs` does: one stream of all logs.
    audits.describe("stream", logs={"command": ["sh", "-c", f"cat {cluster.folder}/broker-{{broker_id}}/logs/*.log"]})
    assert only_incident(audits.by_command("stream"))["confidence"] == "measured"

    cluster.advertise_directly([2])
    assert_clean(audits.by_command("written"))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_controller_writes_that_it_is_refused(bed, tmp_path, version):
    cluster, audits = started(bed, tmp_path, version, presets.incident_004())
    assert only_incident(audits.by_command("far"))["confidence"] == "suspected"
    incident = only_incident(audits.by_command("written"))
    assert (incident["cause"], incident["confidence"]) == ("KA401", "measured")
    assert "CLUSTER_AUTHORIZATION_FAILED" in str(quotes(incident))

    cluster.brokers[0].restart(presets.REPAIR_004)
    cluster.await_settled()
    assert "CLUSTER_AUTHORIZATION_FAILED" in (cluster.brokers[0].log_dir / "state-change.log").read_text()
    assert_clean(audits.by_command("written"))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_broker_writes_what_it_refuses_also_without_an_authorizer_log(bed, tmp_path, version):
    cluster, audits = started(bed, tmp_path, version, presets.no_super_user(2))
    audits.describe("own", logs={"paths": [f"{cluster.folder}/broker-{{broker_id}}/logs/server.log"]})
    assert only_incident(audits.by_command("far"))["confidence"] != "measured"
    incident = only_incident(audits.by_command("own"))
    assert (incident["cause"], incident["confidence"]) == ("KA401", "measured")
    assert "ClusterAuthorizationException" in str(quotes(incident))

    cluster.heal_security(2)
    assert "ClusterAuthorizationException" in (cluster.brokers[2].log_dir / "server.log").read_text()
    assert_clean(audits.by_command("own"))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_controller_writes_that_its_login_is_refused(bed, tmp_path, version):
    cluster, audits = started(bed, tmp_path, version, presets.unknown_password(2))
    without = only_incident(audits.by_command("far"))
    assert "not decided" in without["headline"] or without["confidence"] != "measured"
    incident = only_incident(audits.by_command("written"))
    assert (incident["cause"], incident["confidence"]) == ("KA412", "measured")
    assert "uthentication failed" in str(quotes(incident))
    assert ("KA302", "broker/2/listener/SASL_PLAINTEXT") not in failing(audits.by_command("written").report)

    cluster.heal_security(2)
    assert_clean(audits.by_command("written"))


def test_followers_without_zookeeper_write_that_their_login_is_refused(bed, tmp_path):
    """All views are equal, and without logs or files the ISR alone shows that followers are kept out, not by what."""
    preset = presets.unknown_password(2) | {"settle": None, "properties": {"replica.lag.time.max.ms": "3000"}}
    cluster, audits = started(bed, tmp_path, "4.3.0", preset)
    deadline = time.monotonic() + 300
    while cluster.views([2])[2].topics["orders"][1]["isr"] != [2]:  # nothing else shows it
        assert time.monotonic() < deadline
        time.sleep(1)
    without = only_incident(audits.by_command("far"))
    assert (without["cause"], without["confidence"]) == ("KA603", "suspected")
    assert "not decided" in without["headline"]
    assert "a refused login (KA412)" in str(without)
    incident = only_incident(audits.by_command("written"))
    assert (incident["cause"], incident["confidence"]) == ("KA412", "measured")
    assert "uthentication failed" in str(quotes(incident))

    cluster.heal_security(2)
    assert_clean(audits.by_command("written"))


@pytest.mark.airflow
def test_the_dag_quotes_the_refused_controller(bed, tmp_path):
    cluster, audits = started(bed, tmp_path, "3.9.1", presets.incident_004())
    broken = audits.by_dag("written", "broken.log")
    assert broken.code == 1, broken.tail
    (incident,) = broken.report["incidents"]
    assert (incident["cause"], incident["confidence"]) == ("KA401", "measured")
    assert "CLUSTER_AUTHORIZATION_FAILED" in str(quotes(incident))
    assert ("KA401", "broker/0") in failing(broken.report, at_least="CRITICAL")
    assert f"written: {incident['headline']}" in broken.said

    cluster.brokers[0].restart(presets.REPAIR_004)
    cluster.await_settled()
    repaired = audits.by_dag("written", "repaired.log")
    assert repaired.code == 0, repaired.tail
    assert repaired.report["incidents"] == []
    assert [incident["cause"] for incident in repaired.report["resolved_incidents"]] == ["KA401"]

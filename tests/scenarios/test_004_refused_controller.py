"""Incident 004 and what looks like it from outside: a broker is reached, and does not accept who must talk to it."""

import pytest

from kafka_audit.model import quoting
from scenarios import beds
from scenarios.audits import Audits, assert_clean, failing, only_incident
from testbed import presets
from testbed.acls import auditor_grants

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test

VERSIONS = ["3.9.1", "2.8.2"]
UNREACHABLE = "cut off: controller 0 cannot reach"


def started(bed, tmp_path, version, preset):
    """Return a cluster that has the preset's fault, and audits of it by a user with the documented rights."""
    cluster = bed.cluster(version, **preset)
    if cluster.secured.security.authorizer:
        cluster.put_acls(auditor_grants())
    if len(cluster.brokers) > 1:
        cluster.create_topic("orders", {0: [0, 1, 2], 1: [2, 0, 1]})
    return cluster, Audits(bed, cluster, tmp_path / "audits")


def commands(incident):
    return "\n".join(line for step in incident["remediation"] for line in [step["text"], *step["commands"]])


@pytest.mark.parametrize("version", VERSIONS)
def test_one_broker_that_refuses_its_own_controller(bed, tmp_path, version):
    cluster, audits = started(bed, tmp_path, version, presets.incident_004())
    for name in ("far", "files"):
        audit = audits.by_command(name)
        incident = only_incident(audit)
        assert incident["cause"] == "KA401"
        assert ("KA401", "broker/0") in failing(audit.report)
        assert "ANONYMOUS" in commands(incident)
        assert UNREACHABLE not in incident["headline"]
        # Without files super.users is hidden, and without a vantage nothing rules an address out of reach out.
        assert incident["confidence"] == ("measured" if name == "files" else "suspected")

    cluster.brokers[0].restart(presets.REPAIR_004)
    cluster.await_settled()
    for name in ("far", "files"):
        assert_clean(audits.by_command(name))


@pytest.mark.parametrize("version", VERSIONS)
def test_one_of_three_lacks_the_inter_broker_user(bed, tmp_path, version):
    cluster, audits = started(bed, tmp_path, version, presets.no_super_user(2))
    for name in ("far", "all"):
        audit = audits.by_command(name)
        incident = only_incident(audit)
        passed = {f["resource"]["name"] for f in audit.report["findings"] if f["code"] == "KA401" and f["status"] == "PASS"}
        if name == "all":
            assert incident["cause"] == "KA401"
            assert {resource for code, resource in failing(audit.report) if code == "KA401"} == {"broker/2"}
            assert "--add --allow-principal User:kafka --operation ClusterAction --cluster" in commands(incident)
        else:  # whom brokers log in as stands in their properties alone
            assert "broker/2" not in passed
            assert "KA401" in str(incident)
        assert UNREACHABLE not in incident["headline"]

    cluster.heal_security(2)
    for name in ("far", "all"):
        assert_clean(audits.by_command(name))


@pytest.mark.parametrize("preset", ["wrong-san:2", "expired:2", "unknown-password:2"])
@pytest.mark.parametrize("name", ["near", "all"])
def test_a_login_that_fails_is_never_called_unreachable(bed, tmp_path, preset, name):
    cluster, audits = started(bed, tmp_path, "3.9.1", presets.named(preset))
    incident = only_incident(audits.by_command(name))
    undecided = "not decided" in incident["headline"]
    if preset == "unknown-password:2" and name == "near":  # no probe sees a password
        assert undecided or (incident["cause"], incident["confidence"]) == ("KA412", "inferred")
        assert "server.properties" in str(incident["not_known"]) + commands(incident)
    else:
        assert (incident["cause"], undecided) == ("KA412", False)
    assert "cannot reach" not in incident["headline"]

    cluster.heal_security(2)
    assert_clean(audits.by_command(name))


def test_one_of_three_makes_other_names_of_certificates(bed, tmp_path):
    preset = presets.unmapped(2)
    cluster, audits = started(bed, tmp_path, "3.9.1", preset)
    audit = audits.by_command("all")
    incident = only_incident(audit)
    assert {code for code, resource in failing(audit.report, at_least="HIGH") if resource == "broker/2"} >= {"KA401", "KA404"}
    assert incident["cause"] == "KA404"
    assert incident["headline"] == "Broker 2 possibly refuses its controller: its ssl.principal.mapping.rules differ"
    rules = preset["properties"][presets.MAPPING_RULES]
    assert quoting.properties_line(presets.MAPPING_RULES, rules) in commands(incident)  # as Kafka's loader reads it
    assert "CN=broker-" in str(audit.report["findings"])

    cluster.brokers[2].restart(preset["properties"])
    cluster.await_settled()
    assert_clean(audits.by_command("all", "--min-coverage", "0.9"))  # the auditor has no certificate for the brokers' listener


def test_kraft_shows_the_refused_broker_by_its_isr(bed, tmp_path):
    preset = presets.no_super_user(2) | {"settle": None, "properties": {"replica.lag.time.max.ms": "3000"}}
    cluster = bed.kraft("4.3.0", **preset)
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [2, 0, 1]})
    audit = Audits(bed, cluster, tmp_path / "audits", user="admin").by_command("all")
    incident = only_incident(audit)
    assert incident["cause"] == "KA401"
    assert {resource for code, resource in failing(audit.report) if code == "KA401"} == {"broker/2"}

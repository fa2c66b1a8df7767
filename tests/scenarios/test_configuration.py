"""What configuration decides, on real brokers: drift, dynamic settings, super users, SCRAM users, each faulty and healed."""

from contextlib import contextmanager

import pytest

from scenarios.audits import Audits, failing, finding_of
from testbed import Bed, presets
from testbed.acls import auditor_grants
from testbed.security import ADMIN, BROKER

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

TOPIC = {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}


@contextmanager
def started(folder, preset):
    with Bed(folder / "bed", keep_logs=folder / "logs") as bed:
        cluster = bed.cluster("3.9.1", **preset)
        if cluster.secured.security.authorizer:
            cluster.put_acls(auditor_grants())
        cluster.create_topic("orders", TOPIC)
        cluster.await_settled()
        yield bed, cluster, Audits(bed, cluster, folder / "audits")


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    with started(tmp_path_factory.mktemp("split"), presets.split()) as parts:
        yield parts


@pytest.fixture(scope="module")
def scram(tmp_path_factory):
    with started(tmp_path_factory.mktemp("scram"), presets.scram()) as parts:
        yield parts


def assert_clean(audit):
    assert audit.code == 0, audit.said
    assert audit.report["incidents"] == []


def statuses(report, code):
    return {finding["resource"]["name"]: finding["status"] for finding in report["findings"] if finding["code"] == code}


def of_all(status):
    return {f"broker/{broker}": status for broker in range(3)}


def configs(bed, cluster, *arguments):
    """Run kafka-configs.sh."""
    server = cluster.brokers[0].server
    command = [*server.java(), "kafka.admin.ConfigCommand", "--bootstrap-server", cluster.brokers[0].address, *arguments]
    bed.worker.demand(command)


def test_a_cluster_by_the_defaults_is_weak_here_and_there_and_no_more(split):
    _, _, audits = split
    audit = audits.by_command("files", "--all")
    assert_clean(audit)
    seven = {failure for failure in failing(audit.report) if failure[0].startswith("KA7")}
    # Kafka 3.9 bounds no record of the future, and the bed keeps its data below /tmp.
    seven -= {failure for failure in seven if failure[0] == "KA720"}
    assert seven == {(code, "cluster") for code in ("KA705", "KA707", "KA722")}
    for code in ("KA306", "KA308", "KA701", "KA702", "KA703", "KA704", "KA706"):
        assert statuses(audit.report, code) == of_all("PASS"), code
    assert statuses(audit.report, "KA708") == {"cluster": "NOT_APPLICABLE"}
    assert statuses(audit.report, "KA402") == of_all("NOT_APPLICABLE")
    assert statuses(audit.report, "KA405") == of_all("NOT_APPLICABLE")


def test_settings_of_one_broker_that_others_do_not_share(split):
    _, cluster, audits = split
    own = {"inter.broker.listener.name": "CLIENT", "message.max.bytes": "5000000", "unclean.leader.election.enable": "true"}
    cluster.restart_brokers({2: own, 1: {"broker.rack": "b"}, 0: {"broker.rack": "a"}})
    cluster.await_settled()
    try:
        audit = audits.by_command("far")
    finally:
        cluster.restart_brokers({2: {**dict.fromkeys(own), "inter.broker.listener.name": "INTERNAL"}})
        cluster.restart_brokers({0: {"broker.rack": None}, 1: {"broker.rack": None}})
        cluster.await_settled()
    wanted = {("KA306", "broker/2"), ("KA701", "broker/2/config/message.max.bytes"), ("KA706", "broker/2")}
    wanted |= {("KA701", "broker/2/config/unclean.leader.election.enable"), ("KA704", "broker/2"), ("KA708", "broker/2")}
    assert wanted <= failing(audit.report)
    assert failing(audit.report, at_least="HIGH") == {("KA704", "broker/2")}
    assert finding_of(audit.report, "KA306", "broker/2")["evidence"]["usual"] == "INTERNAL"
    (incident,) = audit.report["incidents"]
    assert incident["headline"] == "Broker 2 allows unclean leader elections, which lose records"
    assert_clean(audits.by_command("far"))


def test_dynamic_settings_on_one_broker_and_against_the_files(split):
    bed, cluster, audits = split
    key = "message.max.bytes"
    configs(bed, cluster, "--alter", "--entity-type", "brokers", "--entity-name", "2", "--add-config", "log.cleaner.threads=2")
    configs(bed, cluster, "--alter", "--entity-type", "brokers", "--entity-default", "--add-config", f"{key}=1000000")
    cluster.restart_brokers({1: {key: "900000"}})
    cluster.await_settled()
    audit = audits.by_command("files")
    dynamic = {failure for failure in failing(audit.report) if failure[0] == "KA702"}
    assert dynamic == {("KA702", "broker/2/config/log.cleaner.threads"), ("KA702", f"broker/1/config/{key}")}
    assert "its server.properties says 900000" in finding_of(audit.report, "KA702", f"broker/1/config/{key}")["message"]
    assert not [failure for failure in failing(audit.report) if failure[0] == "KA701"]  # the dynamic setting is the same for all
    assert failing(audit.report, at_least="HIGH") == set()
    # What the page says takes it away.
    remediation = finding_of(audit.report, "KA702", "broker/2/config/log.cleaner.threads")["remediation"]
    assert "--alter --entity-type brokers --entity-name 2 --delete-config log.cleaner.threads`" in remediation
    configs(bed, cluster, "--alter", "--entity-type", "brokers", "--entity-name", "2", "--delete-config", "log.cleaner.threads")
    configs(bed, cluster, "--alter", "--entity-type", "brokers", "--entity-default", "--delete-config", key)
    cluster.restart_brokers({1: {key: None}})
    cluster.await_settled()
    healed = audits.by_command("files", "--all")
    assert_clean(healed)
    assert statuses(healed.report, "KA702") == of_all("PASS") | dict.fromkeys(
        ("broker/2/config/log.cleaner.threads", f"broker/1/config/{key}"), "NOT_APPLICABLE"
    )


def test_super_users_that_differ(scram):
    _, cluster, audits = scram
    whole = audits.by_command("files", "--all")
    assert_clean(whole)
    assert statuses(whole.report, "KA402") == statuses(whole.report, "KA405") == of_all("PASS")
    assert statuses(audits.by_command("far").report, "KA402") == of_all("UNKNOWN")

    cluster.restart_brokers({2: {"super.users": f" User:{BROKER} ;User:{ADMIN}"}})
    cluster.await_settled()
    assert_clean(audits.by_command("files"))

    cluster.restart_brokers({2: {"super.users": f"User:{BROKER}"}})
    cluster.await_settled([0, 1])
    audit = audits.by_command("files")
    assert failing(audit.report, at_least="HIGH") == {("KA402", "broker/2")}
    (incident,) = audit.report["incidents"]
    assert incident["headline"] == f"Broker 2 has different super users than brokers 0 and 1: User:{ADMIN} missing"

    # Without the brokers' own user it is more than drift, and one incident still.
    cluster.make_controller(0)
    cluster.restart_brokers({2: {"super.users": f"User:{ADMIN}"}})
    cluster.await_settled([0, 1])
    audit = audits.by_command("files")
    assert ("KA402", "broker/2") in failing(audit.report)
    (incident,) = audit.report["incidents"]
    assert incident["cause"] == "KA401"

    cluster.restart_brokers({2: {"super.users": f"User:{ADMIN};User:{BROKER}"}})
    cluster.await_settled()
    assert_clean(audits.by_command("files"))


def test_a_scram_user_that_is_gone(scram):
    _, cluster, audits = scram
    cluster.drop_scram_user(BROKER)
    audit = audits.by_command("files")
    assert {(f"broker/{broker}", "HIGH") for broker in range(3)} == {
        (finding["resource"]["name"], finding["severity"]) for finding in audit.report["findings"] if finding["code"] == "KA405"
    }
    assert len(audit.report["incidents"]) == 1
    cluster.put_scram_user(BROKER, cluster.secured.security.users[BROKER])
    assert_clean(audits.by_command("files"))

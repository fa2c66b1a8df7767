"""An auditor with no rights, some and all, as whole runs; the commands that a page prints are what gives it the rest."""

import os
import re
import shlex
import sys

import pytest

from scenarios.audits import Audits, failing
from testbed import presets
from testbed.acls import Acl
from testbed.jars import java
from testbed.security import ADMIN, AUDITOR

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

BROKERS = ["broker:0", "broker:1", "broker:2"]
DESCRIBE, DESCRIBE_CONFIGS = "Describe on Cluster", "DescribeConfigs on Cluster"
RIGHT = re.compile(r"AUTHORIZATION_FAILED|Describe(Configs)? on (Cluster|Topic)")
OF_TOPICS = {("ListOffsets", "Describe on Topic '*'")}
PROTECTED = {"DescribeAcls", "DescribeLogDirs", "ListPartitionReassignments"}
CONFIGS = {"DescribeConfigs BROKER", "DescribeConfigs identity"}
SOME = (
    Acl(principal=f"User:{AUDITOR}", operation="DescribeConfigs"),
    Acl(principal=f"User:{AUDITOR}", operation="Describe", resource="Topic", name="*"),
)
TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0]}, "payments": {0: [2, 0, 1]}}


@pytest.fixture(scope="module")
def cluster(bed):
    """Three brokers with SCRAM and an authorizer that nobody told of an auditor."""
    cluster = bed.cluster("3.9.1", **presets.scram())
    cluster.create_topics(TOPICS)
    cluster.await_settled()
    return cluster


def lacking(report):
    """Return what each broker's answers lacked: (read, right that it needs)."""
    found = {broker: set() for broker in BROKERS}
    for read in report["coverage"]["unknown"]:
        assert read["reason"] == "NOT_AUTHORIZED", read
        found[read["observer"]].add((read["operation"], read["needs"]))
    return found


def for_want_of_rights(report):
    """Return the checks that are not known because a right is missing."""
    unknown = (f for f in report["findings"] if f["status"] == "UNKNOWN")
    return {f["code"] for f in unknown if RIGHT.search(f["message"] + f["remediation"])}


def counted(report, *, short):
    """Assert that coverage counts exactly the reads that it lists."""
    coverage = report["coverage"]
    assert coverage["asked"] - coverage["answered"] == len(coverage["unknown"]) == short


def printed(text):
    """Return the commands of a page as argument lists; a backslash at a line's end goes on, as in a shell."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if line.strip().startswith("kafka-acls.sh ")]


def execute(bed, cluster, command, folder):
    """Run a printed command as the administrator, its placeholders filled as the page says."""
    login = cluster.secured.client_options(ADMIN)
    settings = folder / "admin.properties"
    settings.touch(0o600)
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    jaas = f'{module} required username="{login["sasl_plain_username"]}" password="{login["sasl_plain_password"]}";'
    client = {
        "security.protocol": login["security_protocol"],
        "sasl.mechanism": login["sasl_mechanism"],
        "sasl.jaas.config": jaas,
    }
    settings.write_text("".join(f"{key}={value}\n" for key, value in client.items()))
    values = {"BROKER:9092": cluster.brokers[0].address, "admin.properties": str(settings), "AUDITOR": AUDITOR}
    for name, value in values.items():
        command = [word.replace(name, value) for word in command]
    kafka_acls = [java(), "-cp", f"{cluster.brokers[0].server.jars}/*", "kafka.admin.AclCommand"]
    completed = bed.worker.run([*kafka_acls, *command[1:]], cwd=folder)
    assert (completed.returncode, "Adding ACLs" in completed.stdout) == (0, True), completed.stdout + completed.stderr


def test_what_an_auditor_may_not_read_is_told_and_the_printed_commands_give_it(bed, cluster, tmp_path):
    audits = Audits(bed, cluster, tmp_path / "audits")

    none = audits.by_command("far")
    assert none.code == 4, none.said
    assert failing(none.report, at_least="HIGH") == set()
    assert {resource for code, resource in failing(none.report) if code == "KA002"} == {f"broker/{n}" for n in (0, 1, 2)}
    nothing = lacking(none.report)
    controller = f"broker:{cluster.controller_id()}"
    for broker in BROKERS:
        protected = {(api, DESCRIBE) for api in PROTECTED if api != "ListPartitionReassignments" or broker == controller}
        assert nothing[broker] >= protected, broker
        assert nothing[broker] >= OF_TOPICS
        nothing[broker] -= OF_TOPICS
        assert {api for api, _ in nothing[broker]} <= PROTECTED | CONFIGS
        assert {needs for api, needs in nothing[broker] if api in CONFIGS} == {DESCRIBE_CONFIGS}
    counted(none.report, short=sum(len(reads) for reads in nothing.values()) + len(BROKERS) * len(OF_TOPICS))
    assert for_want_of_rights(none.report) >= {"KA107", "KA401", "KA407"}
    assert (
        "reads were answered, first failed read: broker 0" in none.said
        or "reads were answered, first failed read: broker:0" in none.said
    )
    assert "commands: kafka-audit explain KA002" in " ".join(none.stdout.split())

    cluster.put_acls(SOME)
    audited = audits.by_command("far")
    assert audited.code == 4, audited.said
    rest = lacking(audited.report)
    assert {needs for needed in rest.values() for _, needs in needed} == {DESCRIBE}
    assert {api for needed in rest.values() for api, _ in needed} == PROTECTED
    counted(audited.report, short=sum(len(reads) for reads in rest.values()))
    assert for_want_of_rights(audited.report) < for_want_of_rights(none.report)
    cluster.drop_acls(SOME)

    explained = [sys.executable, "-m", "kafka_audit.cli", "explain", "KA002"]
    page = bed.worker.run(explained, cwd=tmp_path, env=os.environ | {"COLUMNS": "80"}).stdout
    (remediation,) = {
        f["remediation"] for f in none.report["findings"] if f["code"] == "KA002" and f["resource"]["name"] == "broker/0"
    }
    assert printed(page) == printed(remediation)
    assert len(printed(page)) == 3
    for command in printed(page):
        execute(bed, cluster, command, tmp_path)
    everything = audits.by_command("far")
    assert everything.code == 0, everything.said
    assert everything.report["coverage"]["unknown"] == []
    counted(everything.report, short=0)
    assert for_want_of_rights(everything.report) == set()
    assert "KA002" not in {code for code, _ in failing(everything.report)}
    assert everything.report["coverage"]["asked"] >= audited.report["coverage"]["asked"]

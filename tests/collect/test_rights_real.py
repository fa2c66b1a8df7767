"""An auditor with no rights, some and all, at real brokers with an authorizer: what is told, what is needed, what brokers log."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collect.test_collect_real import HERE, PLUGINS, ended, failed, told
from kafka_audit.collect.brokers.leader_reads import MAY_DESCRIBE_TOPICS
from testbed import Bed
from testbed.acls import Acl, auditor_grants
from testbed.security import ADMIN, BROKER, Listener, Security

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

OPEN = Listener()
BETWEEN = Listener(protocol="SASL_PLAINTEXT", port=OPEN.port + 1, mechanisms=("SCRAM-SHA-512",))
AUDITOR = "User:ANONYMOUS"
ALL = auditor_grants(AUDITOR)
SOME = (
    Acl(principal=AUDITOR, operation="DescribeConfigs"),
    Acl(principal=AUDITOR, operation="Describe", resource="Topic", name="*"),
)
DESCRIBE, DESCRIBE_CONFIGS = "Describe on Cluster", "DescribeConfigs on Cluster"
PUT = """
import json, sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1]); client.start()
for path, data in json.load(sys.stdin).items():
    client.ensure_path(path.rpartition("/")[0])
    client.set(path, data.encode()) if client.exists(path) else client.create(path, data.encode())
client.stop(); client.close()
"""


class Audited:
    """A cluster whose auditor comes as ANONYMOUS, and snapshots of it."""

    def __init__(self, bed, version="3.9.1", brokers=3, zookeeper="plain", more=()):
        self.bed = bed
        users = (f"User:{ADMIN}", f"User:{BROKER}", *more)
        listeners = (OPEN, BETWEEN)
        security = Security(
            listeners=listeners, inter_broker=BETWEEN.label, authorizer=True, zookeeper=zookeeper or "plain", super_users=users
        )
        if zookeeper is None:
            self.cluster = bed.kraft(version, brokers=brokers, controllers=1, security=security)
        else:
            self.cluster = bed.cluster(version, brokers=brokers, security=security)
        self.cluster.create_topic("orders", {0: list(range(brokers)), 1: list(range(brokers))})
        self.cluster.await_settled()

    def snapshot(self, **options):
        described = {
            "zookeeper": self.cluster.zookeeper_connect,
            "limits": {"read_s": 20.0, "settle_s": 1.0},
            "listeners": {BETWEEN.label: None},
            **options,
        }
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [sys.executable, str(HERE / "take_snapshot.py"), json.dumps(described)]
        return told(ended(self.bed.worker.popen(command, env={**os.environ, "PYTHONPATH": str(PLUGINS)}, **pipes)))

    def put(self, znodes):
        """Write znodes without a notification of brokers."""
        command = [sys.executable, "-c", PUT, self.cluster.zookeeper_connect]
        process = self.bed.worker.popen(command, stdin=subprocess.PIPE)
        process.communicate(json.dumps(znodes))
        assert process.returncode == 0

    def errors_of(self, act):
        """Return what `act` gives, and the lines of ERROR that brokers have written meanwhile."""
        logs = [*Path(self.cluster.folder).glob("broker-*/logs/*.log")]
        assert logs
        before = {path: path.stat().st_size for path in logs}
        found = act()
        new = [line for path in logs for line in path.read_bytes()[before[path] :].decode(errors="replace").splitlines()]
        return found, [line for line in new if " ERROR " in line]


@pytest.fixture(scope="module", params=["3.9.1", "2.8.2"])
def audited(request, tmp_path_factory):
    with Bed(tmp_path_factory.mktemp("bed")) as bed:
        yield Audited(bed, request.param)


@pytest.fixture
def granted(audited):
    """Grant the auditor ACLs for one test."""
    granted = []

    def grant(acls):
        audited.cluster.put_acls(acls)
        granted.extend(acls)
        return audited

    yield grant
    if granted:
        audited.cluster.drop_acls(granted)


def needs(snapshot):
    return {
        (row["operation"], row["error"], row["needs"])
        for row in snapshot.of("SourceRead")
        if row["outcome"] == "failed" and row["observer"].startswith("broker:")
    }


def controller_reads(snapshot):
    return [row["observer"] for row in snapshot.of("SourceRead") if row["operation"] == "ListPartitionReassignments"]


REFUSED = "not tried"
PROTECTED = ("DescribeAcls", "DescribeLogDirs", "ListPartitionReassignments")


def test_no_rights_provoke_no_error_and_every_need_is_told(audited):
    snapshot, errors = audited.errors_of(audited.snapshot)
    assert errors == []
    told_needs = {api for api in needs(snapshot) if api[0] in PROTECTED}
    # Who may not Describe any topic is shown none, and the controller all the same.
    assert told_needs == {(api, REFUSED, DESCRIBE) for api in PROTECTED}
    assert {need[2] for need in needs(snapshot)} == {DESCRIBE, DESCRIBE_CONFIGS, MAY_DESCRIBE_TOPICS}
    assert snapshot.of("LeadershipAnswer") == snapshot.of("LeadershipAsked") == []
    assert snapshot.of("LogDir") == snapshot.of("Reassignment") == []
    assert [row["observer"] for row in snapshot.of("AclHolder") if row["observer"] != "zookeeper"] == []
    assert {row["user"] for row in snapshot.of("ScramUser")} == {"admin", "auditor", "kafka"}


def test_some_rights_tell_their_part_and_name_the_rest(granted):
    audited = granted(SOME)
    snapshot, errors = audited.errors_of(audited.snapshot)
    assert errors == []
    assert needs(snapshot) == {(api, REFUSED, DESCRIBE) for api in PROTECTED}
    assert {row["broker_id"] for row in snapshot.of("BrokerConfig")} == {0, 1, 2}
    assert len(controller_reads(snapshot)) == len(snapshot.of("Sample"))


def test_all_rights_leave_nothing_unknown(granted):
    audited = granted(ALL)
    snapshot, errors = audited.errors_of(audited.snapshot)
    assert errors == []
    assert failed(snapshot) == []
    assert len(snapshot.of("Sample")) == 1
    holders = {row["observer"]: (row["acls_digest"], row["acls"]) for row in snapshot.of("AclHolder")}
    assert set(holders) == {"zookeeper", "broker:0", "broker:1", "broker:2"}
    assert set(holders.values()) == {(snapshot.of("Acl")[0]["acls_digest"], len(ALL))}
    entries = {(row["resource_type"], row["resource_name"], row["operation"], row["permission"]) for row in snapshot.of("Acl")}
    assert entries == {(acl.resource, acl.name, acl.operation, "ALLOW") for acl in ALL}
    assert len(snapshot.of("Acl")) == len(ALL)
    assert controller_reads(snapshot) == [f"broker:{audited.cluster.controller_id()}"]
    assert {(row["broker_id"], row["error"], row["replicas"]) for row in snapshot.of("LogDir")} == {
        (broker, 0, 2) for broker in (0, 1, 2)
    }
    assert snapshot.of("Reassignment") == []


def test_asking_with_all_rights_writes_nothing(granted):
    audited = granted(ALL)
    before = audited.cluster.znodes()
    audited.snapshot()
    assert audited.cluster.znodes() == before


def test_acls_that_brokers_have_not_heard_of_are_looked_at_twice_ten_thousand_of_them_too(granted):
    audited = granted(ALL)
    acl = {"principal": "User:a", "permissionType": "Allow", "operation": "Read", "host": "*"}
    many = {f"/kafka-acl/Topic/many-{number}": json.dumps({"version": 1, "acls": [acl]}) for number in range(10_000)}
    audited.put(many)
    snapshot = audited.snapshot()
    assert failed(snapshot) == []
    assert [row["sample"] for row in snapshot.of("Sample")] == [1, 2]
    assert "and ZooKeeper hold different ACLs" in snapshot.of("Sample")[1]["reason"]
    held = [(row["sample"], row["observer"] == "zookeeper", row["acls"]) for row in snapshot.of("AclHolder")]
    assert sorted(held) == [(look, *of) for look in (1, 2) for of in ((False, len(ALL)),) * 3 + ((True, len(ALL) + 10_000),)]
    assert len(snapshot.of("Acl")) == 2 * len(ALL) + 10_000


def test_dynamic_configuration_is_told_without_its_secrets(audited):
    config = {"log.cleaner.threads": "2", "ssl.keystore.password": "passwordLength:7,encryptedPassword:aHVudGVyMg=="}
    audited.put({"/config/brokers/1": json.dumps({"version": 1, "config": config}), "/config/users/broken": "{"})
    snapshot = audited.snapshot()
    rows = {(row["broker_id"], row["key"]): (row["value"], row["secret"]) for row in snapshot.of("DynamicConfig")}
    assert rows == {(1, "log.cleaner.threads"): ("2", False), (1, "ssl.keystore.password"): (None, True)}
    assert "aHVudGVyMg" not in json.dumps(snapshot.rows)
    assert "stored_key" not in json.dumps(snapshot.rows)
    broken = ("zookeeper", "zookeeper /config/users/broken", "unreadable")
    assert {failure for failure in failed(snapshot) if failure[0] == "zookeeper"} == {broken}


def test_server_properties_are_told_without_their_secrets(audited):
    paths = [str(Path(audited.cluster.folder) / "broker-{broker_id}" / "server.properties")]
    snapshot = audited.snapshot(properties=paths)
    assert [failure for failure in failed(snapshot) if failure[0].startswith("properties")] == []
    users = {(row["broker_id"], row["key"]): row["value"] for row in snapshot.of("BrokerProperty") if row["key"] == "super.users"}
    assert users == {(broker, "super.users"): "User:admin;User:kafka" for broker in (0, 1, 2)}
    text = json.dumps(snapshot.rows)
    assert not [user for user in audited.cluster.secured.security.users.values() if user in text]
    logins = {
        (row["broker_id"], row["listener"], row["mechanism"], row["side"], row["username"])
        for row in snapshot.of("PropertyLogin")
    }
    assert logins == {(broker, BETWEEN.label, "SCRAM-SHA-512", "client", "kafka") for broker in (0, 1, 2)}
    assert len({row["password_digest"] for row in snapshot.of("PropertyLogin")}) == 1


def test_what_zookeeper_set_acl_hides_is_unknown_and_the_rest_is_told(tmp_path):
    with Bed(tmp_path) as bed:
        snapshot = Audited(bed, brokers=1, zookeeper="sasl").snapshot()
        hidden = ("zookeeper /config/brokers", "zookeeper /config/users")
        rows = {row["operation"]: row for row in snapshot.of("SourceRead") if row["observer"] == "zookeeper"}
        assert {operation for operation, row in rows.items() if row["outcome"] == "failed"} == set(hidden)
        assert {rows[operation]["error"] for operation in hidden} == {"NoAuthError"}
        assert [rows[operation]["needs"] for operation in hidden] == [
            f"read permission on {operation.removeprefix('zookeeper ')} in ZooKeeper" for operation in hidden
        ]
        assert snapshot.of("ScramUser") == snapshot.of("DynamicConfig") == []
        assert {row["broker_id"] for row in snapshot.of("RegisteredBroker")} == {0}


def test_znodes_of_four_megabytes_are_one_row_each(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Djute.maxbuffer=16777216")  # or ZooKeeper would not take them
    with Bed(tmp_path) as bed:
        audited = Audited(bed, brokers=1)
        few = {f"/kafka-acl/Topic/t{number}": json.dumps({"version": 1, "acls": []}) for number in range(100)}
        huge = dict.fromkeys(("/kafka-acl/Topic/huge", "/config/users/huge", "/config/brokers/9"), "x" * 4000000)
        audited.put(few | huge)
        snapshot = audited.snapshot()
        rows = {row["operation"]: row for row in snapshot.of("SourceRead") if row["observer"] == "zookeeper" and row["error"]}
        assert {operation: row["error"] for operation, row in rows.items()} == {
            "zookeeper /kafka-acl": "incomplete",
            **{f"zookeeper {path}": "unreadable" for path in huge},
        }
        assert all(len(row["message"]) <= 300 and row["needs"] for row in rows.values())
        assert {row["topic"] for row in snapshot.of("RegisteredTopic")} == {"orders"}
        assert {row["user"] for row in snapshot.of("ScramUser")} == {"admin", "auditor", "kafka"}


@pytest.mark.parametrize("more", [(), (AUDITOR,)], ids=["none", "all"])
def test_without_zookeeper_too(tmp_path, more):
    with Bed(tmp_path) as bed:
        audited = Audited(bed, "4.3.0", brokers=2, zookeeper=None, more=more)
        described = {
            "zookeeper": None,
            "bootstrap": [f"{broker.host.address}:{OPEN.port}" for broker in audited.cluster.brokers.values()],
        }
        snapshot, errors = audited.errors_of(lambda: audited.snapshot(**described))
    assert errors == []
    if not more:
        assert needs(snapshot) >= {(api, REFUSED, DESCRIBE) for api in PROTECTED}
        assert {need[2] for need in needs(snapshot)} == {DESCRIBE, DESCRIBE_CONFIGS}
        return
    assert failed(snapshot) == []
    assert [(row["observer"], row["acls"]) for row in snapshot.of("AclHolder")] == [("broker:0", 0), ("broker:1", 0)]
    assert {(row["broker_id"], row["error"]) for row in snapshot.of("LogDir")} == {(0, 0), (1, 0)}
    assert set(controller_reads(snapshot)) == {"broker:0"}

"""Bad input from a real cluster, as whole runs: what it costs, what is said of it, and what is audited all the same."""

import json
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from scenarios.audits import failing
from testbed.security import Listener, Security

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

FAKES = Path(__file__).with_name("fake_brokers.py")
LOGIN = Listener(protocol="SASL_PLAINTEXT", mechanisms=("SCRAM-SHA-512",))
TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}, "payments": {0: [1, 0, 2]}}
LIMITS = {"read_s": 4, "settle_s": 1, "audit_s": 40}
WRONG = "not-this-one-73"
HIDDEN = {("zookeeper", f"zookeeper /config/{name}") for name in ("brokers", "users")}
"""What `zookeeper.set.acl` keeps from every auditor."""


@pytest.fixture(scope="module")
def cluster(bed):
    """Three brokers that want a login, and a ZooKeeper that wants one and takes what is larger than it should be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-Djute.maxbuffer=16777216")
        cluster = bed.cluster("3.9.1", security=Security(listeners=(LOGIN,), inter_broker=LOGIN.label, zookeeper="sasl"))
    cluster.create_topics(TOPICS)
    cluster.make_controller(0)
    cluster.await_settled()
    return cluster


@pytest.fixture
def audit(bed, cluster, tmp_path):
    """Run `kafka-audit run` with further keys in the cluster file; what it says is held to the rules for all bad input."""
    entry = yaml.safe_load(cluster.clusters_yaml("any"))["clusters"]["any"]
    entry = {key: value for key, value in entry.items() if key in {"zookeeper", "bootstrap", "security"}} | {"limits": LIMITS}
    environ = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_AUDIT_")}
    environ |= cluster.secured.audit_environment() | {"WRONG": WRONG}

    def run(*options, **keys):
        (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": {"bad": entry | keys}}))
        command = [sys.executable, "-m", "kafka_audit.cli", "run", "bad", "--out", str(tmp_path / "store"), *options]
        completed = bed.worker.run(command, cwd=tmp_path, env=environ)
        output = completed.stdout + completed.stderr
        assert "Traceback" not in output
        assert WRONG not in output
        path = tmp_path / "store" / "findings.json"
        report = json.loads(path.read_text()) if path.is_file() else None
        return SimpleNamespace(code=completed.returncode, out=completed.stdout, err=completed.stderr, said=output, report=report)

    run.entry = entry
    return run


def seconds(report):
    """Return how long the cluster was asked."""
    started, ended = (datetime.fromisoformat(report[key]) for key in ("started_at", "finished_at"))
    return (ended - started).total_seconds()


def unanswered(report):
    """Return what was not answered, by observer and read, without what no auditor is told."""
    reads = {(read["observer"], read["operation"]): read for read in report["coverage"]["unknown"]}
    assert set(reads) >= HIDDEN
    return {key: read for key, read in reads.items() if key not in HIDDEN}


def flat(page):
    return re.sub(r"\s+", " ", page)


def whole(report):
    """Assert that the three real brokers were judged, and nothing of weight was found at them."""
    judged = {f["resource"]["name"] for f in report["findings"] if f["code"] == "KA110" and f["status"] == "PASS"}
    assert judged >= {f"broker/{broker}" for broker in (0, 1, 2)}
    heavy = failing(report, at_least="HIGH")
    assert not [failure for failure in heavy if re.match(r"broker/[012]\b", failure[1])], heavy


@pytest.fixture
def fakes(bed, cluster):
    """Register a broker for each way to misbehave; yield its id and address by that way."""
    command = [sys.executable, str(FAKES), bed.worker.address]
    process = bed.worker.popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ports = json.loads(process.stdout.readline())
    found = {name: (20 + number, f"{bed.worker.address}:{port}") for number, (name, port) in enumerate(ports.items())}
    label = LOGIN.label
    endpoints = {"version": 5, "features": {}, "listener_security_protocol_map": {label: label}, "jmx_port": -1, "port": -1}
    endpoints |= {"host": None, "timestamp": "1789408782000"}
    cluster.write_znodes(
        {f"/brokers/ids/{broker}": json.dumps(endpoints | {"endpoints": [f"{label}://{at}"]}) for broker, at in found.values()}
    )
    yield found
    cluster.write_znodes({f"/brokers/ids/{broker}": None for broker, _ in found.values()})
    process.communicate()
    cluster.await_settled()


ERRORS = {
    "garbage": "not a Kafka broker",
    "trickle": "timeout",
    "silence": "timeout",
    "hang-up": "connection closed at once",
}


def test_brokers_that_misbehave_cost_their_own_answers_and_their_deadline(audit, fakes):
    result = audit("--all")
    assert result.code == 3, result.said
    assert seconds(result.report) <= LIMITS["audit_s"]
    failed = {f["resource"]["name"]: f for f in result.report["findings"] if f["code"] == "KA001" and f["status"] == "FAIL"}
    assert set(failed) == {f"broker/{fake}" for fake, _ in fakes.values()}
    reads = unanswered(result.report)
    assert {observer for observer, _ in reads} == {f"broker:{fake}" for fake, _ in fakes.values()}
    for name, (broker, address) in fakes.items():
        assert re.search(rf"{ERRORS[name]}: api to {address}: {ERRORS[name]}", failed[f"broker/{broker}"]["message"])
        assert f"Required: a Kafka broker that answers at {address} within limits" in failed[f"broker/{broker}"]["remediation"]
        assert f"{address} (broker {broker}, {LOGIN.label})" in flat(result.out)
    whole(result.report)
    assert not {failure for failure in failing(result.report) if failure[0] == "KA312"}


DAMAGED = {
    "/brokers/topics/payments": '{"partitions": ',
    "/brokers/topics/orders/partitions/2/state": "{",
    "/brokers/ids/8": "x" * 4_000_000,
    "/brokers/ids/9": '{"host"',
}


def test_damaged_znodes_and_a_file_that_does_not_parse_cost_what_they_hold(audit, cluster, tmp_path):
    for broker in cluster.brokers.values():
        text = broker.server.config_file.read_text() if broker.id != 1 else "broker.id=1\nlisteners=P\\u12zz\n"
        (tmp_path / f"server-{broker.id}.properties").write_text(text)
    before = cluster.write_znodes(DAMAGED)
    try:
        result = audit("--all", properties=[str(tmp_path / "server-{broker_id}.properties")])
    finally:
        cluster.write_znodes(before)
        cluster.await_settled()
    assert result.code == 3, result.said
    reads = unanswered(result.report)
    znodes = {operation.removeprefix("zookeeper ") for observer, operation in reads if observer == "zookeeper"}
    assert znodes == set(DAMAGED)
    assert reads.keys() - {("zookeeper", f"zookeeper {path}") for path in znodes} == {("properties:1", "properties")}
    for path in DAMAGED:
        read = reads["zookeeper", f"zookeeper {path}"]
        assert path in read["error"]
        assert path in read["needs"]
        assert f"needs {read['needs']}" in flat(result.out)
    line = reads["properties:1", "properties"]
    assert f"{tmp_path}/server-1.properties, line 2: " in line["error"]
    assert line["needs"] == f"a file that Java can read: {tmp_path}/server-1.properties, line 2"
    assert "x" * 1000 not in result.said + json.dumps(result.report)
    whole(result.report)
    assert [incident["cause"] for incident in result.report["incidents"]] == ["KA001"]
    assert seconds(result.report) <= LIMITS["audit_s"]


def test_a_wrong_zookeeper_password_names_the_user_and_the_variable(audit):
    zookeeper = audit.entry["zookeeper"] | {"sasl": {"username": "auditor", "password_env": "WRONG"}}
    result = audit(zookeeper=zookeeper)
    assert result.code == 3, result.said
    assert result.err.rstrip().endswith(f"{zookeeper['connect']} refuses the auditor's login")
    assert [incident["cause"] for incident in result.report["incidents"]] == ["KA001"]
    assert f"a user and password that {zookeeper['connect']} accepts (auditor, WRONG)" in flat(result.out)
    assert "the login of auditor was refused" in flat(result.out)
    brokers = {read["observer"] for read in result.report["coverage"]["unknown"]}
    assert brokers == {"zookeeper"}


def test_a_wrong_broker_password_names_every_broker_and_the_variable(audit):
    result = audit(security=audit.entry["security"] | {"password_env": "WRONG"})
    assert result.code == 3, result.said
    assert {failure for code, failure in failing(result.report) if code == "KA001"} == {
        f"broker/{broker}" for broker in (0, 1, 2)
    }
    assert "invalid credentials" in flat(result.out)
    assert "WRONG" in flat(result.out)
    assert {read["observer"] for read in result.report["coverage"]["unknown"]} == {
        "zookeeper",
        *(f"broker:{n}" for n in (0, 1, 2)),
    }


def test_a_wrong_chroot_is_one_line_with_the_nearest_right_one(audit):
    connect = audit.entry["zookeeper"]["connect"]
    result = audit("--quiet", zookeeper=audit.entry["zookeeper"] | {"connect": f"{connect}/kafka"})
    assert (result.code, result.out, result.report) == (2, "", None)
    line = f"kafka-audit: zookeeper {connect}/kafka: there is no /brokers/ids below the chroot /kafka; did you mean {connect}?\n"
    assert result.err == line

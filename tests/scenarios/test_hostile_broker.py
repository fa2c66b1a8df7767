"""A hostile broker beside two honest ones of a real cluster, registered by a znode: the honest are audited in full, it is named.

Broker 9 speaks Kafka's protocol from a host of its own (`hostile_parties.serve`), and does one thing wrong at a time. It was
taken over, not put there: it knows the auditor's SCRAM credential, and the cluster file trusts its host, but for the last case.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from cluster_views import cluster_view
from kafka_audit.checks.run import judge
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import BrokerApi, BrokerConfig, BrokerIdentity, LogDir, SourceRead
from kafka_audit.store import Store
from scenarios.audits import failing
from testbed.security import Listener, Security

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

TESTS = Path(__file__).parents[1]
LOGIN = Listener(protocol="SASL_PLAINTEXT", mechanisms=("SCRAM-SHA-512",))
HONEST, HOSTILE = (0, 1), 9
LIMITS = {"read_s": 3, "settle_s": 1, "audit_s": 40}
MEASURED = """
import pathlib, resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
pathlib.Path(sys.argv[1]).write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""
"""Runs a command and writes into a file how much memory it took, in KB."""
LATE_S = 10  # to start Python, and to end what hangs
METADATA, CONFIGS, VERSIONS = "3", "32", "18"
RULES = {"ssl.principal.mapping.rules": "RULE:(.|..)*#/$1/,DEFAULT", "super.users": "User:admin"}
MANY = {str(number): [f"10.99.{200 + number // 250}.{1 + number % 250}", 9092] for number in range(3000)}


@pytest.fixture(scope="module")
def cluster(bed):
    cluster = bed.cluster("3.9.1", brokers=len(HONEST), security=Security(listeners=(LOGIN,), inter_broker=LOGIN.label))
    cluster.create_topic("orders", {0: [0, 1], 1: [1, 0]})
    cluster.make_controller(0)
    cluster.await_settled()
    return cluster


@pytest.fixture(scope="module")
def audit(bed, cluster, tmp_path_factory):
    """Run `kafka-audit snapshot` or `run` on the worker host with further keys in the cluster file."""
    folder = tmp_path_factory.mktemp("audits")
    entry = yaml.safe_load(cluster.clusters_yaml("any"))["clusters"]["any"]
    entry = {key: value for key, value in entry.items() if key in {"zookeeper", "bootstrap", "security"}} | {"limits": LIMITS}
    passwords = cluster.secured.audit_environment()
    environ = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_AUDIT_")} | passwords
    store = Store(folder / "store")

    def start(command, *options, **keys):
        (folder / "clusters.yaml").write_text(json.dumps({"clusters": {"c": entry | keys}}))
        where = ["--config", str(folder / "clusters.yaml"), "--out", store.root]
        began = time.monotonic()
        audit = [sys.executable, "-m", "kafka_audit.cli", command, "c", *where, *options]
        completed = bed.worker.run([sys.executable, "-c", MEASURED, str(folder / "peak"), *audit], cwd=folder, env=environ)
        output = completed.stdout + completed.stderr
        assert "Traceback" not in output
        kept = b"".join(path.read_bytes() for path in Path(store.root).rglob("*") if path.is_file())
        for password in passwords.values():
            assert password not in output
            assert password.encode() not in kept
        return SimpleNamespace(
            code=completed.returncode,
            said=output,
            out=completed.stdout.strip(),
            seconds=time.monotonic() - began,
            store=store,
            megabytes=int((folder / "peak").read_text()) / 1024,
        )

    start.passwords = passwords
    start.user = entry["security"]["username"]
    return start


@pytest.fixture(scope="module")
def hostile(bed, cluster, audit, alone):
    """Broker 9 as a function that changes it, configured as broker 1; its znode is there as long as a test is."""
    (network,) = {broker.host.address.rpartition(".")[0] for broker in cluster.brokers.values()}
    host = bed.hosts.add("hostile", f"{network}.{10 + HOSTILE}")
    brokers = {str(broker.id): [broker.host.address, LOGIN.port] for broker in cluster.brokers.values()}
    honest = {"brokers": brokers | {str(HOSTILE): [host.address, LOGIN.port]}, "topics": {}, "controller_id": 0, "refuses": False}
    own = {"broker.id", "listeners", "advertised.listeners", "log.dirs"}
    configs = {row.key: row.value for row in alone.snapshot.of(BrokerConfig) if row.broker_id == 1 and row.value is not None}
    honest |= {"configs": {key: value for key, value in configs.items() if key not in own}}
    (password,) = audit.passwords.values()
    described = {"broker_id": HOSTILE, "host": host.address, "port": LOGIN.port, "mechanisms": ["SCRAM-SHA-512"]}
    honest |= {"users": {audit.user: password}}
    described |= {"cluster_id": cluster_id(cluster), "users": {}, "fields": honest}
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "plugins")])
    process = host.popen(
        [sys.executable, "-m", "hostile_parties.serve", json.dumps(described)],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert json.loads(process.stdout.readline())["port"] == LOGIN.port

    def be(script=None, **fields):
        changed = fields | {"configs": honest["configs"] | fields.get("configs", {})}
        process.stdin.write(json.dumps({"script": script or {}, "fields": honest | changed}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {}

    be.host, be.process = host, process
    yield be
    process.communicate()


def cluster_id(cluster):
    lines = (cluster.brokers[0].server.folder / "data" / "meta.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["cluster.id"]


@pytest.fixture(scope="module")
def alone(audit, cluster):
    """The two honest brokers without broker 9."""
    cluster.await_settled()
    result = audit("snapshot")
    assert result.code == 0, result.said
    return seen(result)


@pytest.fixture
def registered(cluster, hostile, alone):  # noqa: ARG001 -- taken before
    cluster.write_znodes({f"/brokers/ids/{HOSTILE}": registration(f"{LOGIN.label}://{hostile.host.address}:{LOGIN.port}")})
    time.sleep(1)  # the controller tells the honest ones
    yield
    cluster.write_znodes({f"/brokers/ids/{HOSTILE}": None})


def registration(*endpoints):
    listed = {"version": 5, "features": {}, "jmx_port": -1, "port": -1, "host": None, "timestamp": "1789408782000"}
    protocols = {endpoint.partition("://")[0]: LOGIN.protocol for endpoint in endpoints}
    return json.dumps(listed | {"endpoints": endpoints, "listener_security_protocol_map": protocols})


def seen(result):
    """Return what the newest snapshot has of the honest brokers, and the reads that broker 9 failed."""
    snapshot = result.store.read(result.out)
    reads = {(row.observer, row.operation): row for row in snapshot.of(SourceRead)}
    observers = {f"broker:{broker}" for broker in HONEST} | {"zookeeper"}
    results = {
        table.__name__: {
            (row.observer, row.key, row.value) if table is BrokerConfig else row
            for row in snapshot.of(table)
            if row.broker_id in HONEST
        }
        for table in (BrokerConfig, BrokerApi)
    }
    results["log_dirs"] = {
        (row.broker_id, row.path, row.error, row.replicas) for row in snapshot.of(LogDir) if row.broker_id in HONEST
    }
    results["identities"] = {(row.broker_id, row.answered_by) for row in snapshot.of(BrokerIdentity) if row.broker_id in HONEST}
    results["answered"] = {key for key, row in reads.items() if key[0] in observers and row.outcome == "answered"}
    judged = {
        (judgement.code, judgement.resource) for judgement in judge(cluster_view(snapshot)) if judgement.status is Status.FAIL
    }
    results["failures"] = {failure for failure in judged if re.match(r"broker/[01]\b", failure[1])}
    failed = [row for row in snapshot.of(SourceRead) if row.outcome != "answered" and row.observer == f"broker:{HOSTILE}"]
    return SimpleNamespace(honest=results, failed=failed, snapshot=snapshot, megabytes=result.megabytes)


CASES = {
    "hangs": ({METADATA: "hang"}, {}, "timeout"),
    "drips": ({METADATA: "drip 2"}, {}, "timeout"),
    "hangs at once": ({"accept": "hang"}, {}, "timeout"),
    "announces 2 GB and floods": (
        {METADATA: "announce 2000000000 300000000"},
        {},
        ".",
    ),
    "announces 250 MB and is silent": ({METADATA: "announce 250000000"}, {}, "."),
    "refuses the login": ({}, {"refuses": True}, "(?i)refused|authentication"),
    "has null arrays": ({CONFIGS: "null_arrays configs"}, {}, "."),
    "has no results": ({CONFIGS: "null_arrays results"}, {}, "."),
    "sends no text": ({CONFIGS: "undecodable_text"}, {}, "."),
    "answers another question": ({METADATA: "wrong_correlation"}, {}, "."),
    "speaks something else": ({VERSIONS: "raw HTTP/1.1"}, {}, "."),
    "maps principals by a slow rule": ({}, {"configs": RULES}, None),
    "lists 3,000 brokers": ({}, {"brokers": MANY}, None),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("registered")
def test_the_honest_are_asked_in_full_and_the_hostile_one_is_named(audit, hostile, alone, case):
    script, fields, error = CASES[case]
    hostile(script, **fields)
    before = logins(hostile).count(audit.user)
    result = audit("snapshot", trusted_hosts=[hostile.host.address])
    assert result.code == 0, result.said
    assert result.seconds < LIMITS["audit_s"] + LATE_S
    results = seen(result)
    assert_honest(results, alone)
    assert (logins(hostile).count(audit.user) > before) == ("accept" not in script and VERSIONS not in script)
    if error is not None:
        assert results.failed, case
        words = [f"{row.error}: {row.message}" for row in results.failed]
        assert any(re.search(error, word) for word in words), words


def assert_honest(results, alone):
    for name, rows in alone.honest.items():
        missing = rows - results.honest[name]
        assert not missing, (name, missing)
    assert results.honest["failures"] == alone.honest["failures"]


@pytest.mark.usefixtures("registered")
def test_where_the_file_does_not_trust_its_host_no_login_is_begun(audit, hostile, alone):
    hostile({})
    before = logins(hostile).count(audit.user)
    result = audit("snapshot")
    assert result.code == 0, result.said
    results = seen(result)
    assert_honest(results, alone)
    assert any("trusted_hosts" in (row.needs or "") for row in results.failed), results.failed
    assert logins(hostile).count(audit.user) == before


def logins(hostile):
    """Return who began a login at broker 9; the other brokers do, too."""
    hostile.process.stdin.write('{"tell": ["logins"]}\n')
    hostile.process.stdin.flush()
    return json.loads(hostile.process.stdout.readline())["logins"]


def test_link_local_addresses_of_a_znode_are_not_dialled(audit, cluster, hostile, alone):
    hostile({})
    endpoints = [f"{LOGIN.label}://{hostile.host.address}:{LOGIN.port}", "METADATA://169.254.169.254:80", "ALL://0.0.0.0:9092"]
    cluster.write_znodes({f"/brokers/ids/{HOSTILE}": registration(*endpoints)})
    try:
        result = audit("snapshot", trusted_hosts=[hostile.host.address])
    finally:
        cluster.write_znodes({f"/brokers/ids/{HOSTILE}": None})
    assert result.code == 0, result.said
    results = seen(result)
    assert_honest(results, alone)
    rows = [row for row in results.snapshot.rows if getattr(row, "host", None) in {"169.254.169.254", "0.0.0.0"}]  # noqa: S104 -- no bind
    words = {str(getattr(row, "error", "") or "") for row in rows}
    assert any("not dialled" in word for word in words), rows


@pytest.mark.spark
def test_a_whole_run_beside_one_that_does_much_wrong(audit, cluster, hostile):
    """Findings of the honest ones with Spark: as without it."""
    without = audit("run")
    assert without.code in {0, 3, 4}, without.said
    expected = _of_honest(without)
    script = {METADATA: "announce 2000000000 100000000", CONFIGS: "null_arrays configs", "35": "drip 2"}
    hostile(script, configs=RULES, brokers=MANY)
    endpoint = f"{LOGIN.label}://{hostile.host.address}:{LOGIN.port}"
    cluster.write_znodes({f"/brokers/ids/{HOSTILE}": registration(endpoint, "METADATA://169.254.169.254:80")})
    time.sleep(1)
    try:
        result = audit("run", "--format", "json,html,md,sarif", trusted_hosts=[hostile.host.address])
    finally:
        cluster.write_znodes({f"/brokers/ids/{HOSTILE}": None})
    assert result.code in {3, 4}, result.said
    assert _of_honest(result) == expected
    report = json.loads((Path(result.store.root) / "findings.json").read_text())
    text = json.dumps([*report["coverage"]["unknown"], *(f for f in report["findings"] if f["status"] == "FAIL")])
    assert f"broker:{HOSTILE}" in text or f"broker/{HOSTILE}" in text


def _of_honest(result):
    report = json.loads((Path(result.store.root) / "findings.json").read_text())
    return {failure for failure in failing(report) if re.match(r"broker/[01]\b", failure[1])}


MOST_BROKERS = 20
HOSTS = {str(number): ["h" * 30_000, 9092] for number in range(1000, 1600)}
MADE_UP = {str(number): [f"10.99.210.{number - 99}", 9092] for number in range(100, 290)}
SHELL = {"7": ["x ;touch /tmp/P;#", 9092]}


def _claims(endpoint):
    """Return znodes of claims that cost memory, processes and files: this one comes last, for a broker keeps such a topic."""
    state = {"controller_epoch": 1, "leader": 5000, "version": 1, "leader_epoch": 0, "isr": [5000]}
    partitions = {str(number): [*range(5000 + 200 * number, 5200 + 200 * number)] for number in range(2)}
    yield f"/brokers/ids/{HOSTILE}", registration(endpoint)
    yield "/brokers/topics/flood", json.dumps({"version": 2, "partitions": partitions, "adding_replicas": {}})
    for number in partitions:
        yield f"/brokers/topics/flood/partitions/{number}/state", json.dumps(state)
    for number in range(60, 90):  # lower than none that is honest, and more than limits.brokers
        yield f"/brokers/ids/{number}", registration(f"{LOGIN.label}://10.99.211.{number}:{LOGIN.port}")
    empty = ",".join(["{}"] * 200_000)
    yield "/brokers/ids/91", f'{{"version":5,"endpoints":[],"x":[{empty}]}}'


def test_claims_of_a_broker_and_of_znodes_start_and_keep_no_more_than_the_limits(audit, cluster, hostile, alone, tmp_path):
    """Made-up ids by a topic, registrations and a broker that lists 792 with 18 MB of hosts, and a znode of empty objects."""
    shown = tmp_path / "started"
    limits = LIMITS | {"read_s": 10, "audit_s": 60, "brokers": MOST_BROKERS, "rows": 20_000}
    logs = {"command": ["sh", "-c", f"echo {{broker_id}} >>{shown}"]}
    keys = {"limits": limits, "logs": logs, "properties": [f"{tmp_path}/{{broker_id}}.properties"]}
    for number in HONEST:
        (tmp_path / f"{number}.properties").write_text(f"broker.id={number}\n")
    hostile({}, brokers={**HOSTS, **MADE_UP, **SHELL, "0": [cluster.brokers[0].host.address, LOGIN.port]})
    cluster.write_znodes(dict(_claims(f"{LOGIN.label}://{hostile.host.address}:{LOGIN.port}")))
    time.sleep(1)
    result = audit("snapshot", trusted_hosts=[hostile.host.address], **keys)
    assert result.code == 0, result.said
    assert result.seconds < limits["audit_s"] + LATE_S
    assert result.megabytes < alone.megabytes + 150, (result.megabytes, alone.megabytes)
    results = seen(result)
    for name, rows in alone.honest.items():  # that they miss the made-up replicas is their failure
        missing = rows - results.honest[name] - {("zookeeper", "zookeeper /brokers/ids")}  # of which a part is left out
        assert name == "failures" or not missing, (name, missing)
    started = shown.read_text().split()
    assert {"0", "1"} <= {*started}
    assert len({*started}) <= MOST_BROKERS
    files = {row.observer for row in results.snapshot.of(SourceRead) if row.observer.startswith("properties:")}
    assert {"properties:0", "properties:1"} <= files
    assert len(files) <= MOST_BROKERS
    failed = {row.operation: row for row in results.snapshot.of(SourceRead) if row.outcome == "failed"}
    assert "broker ids are left out" in failed["read the files of all brokers"].message
    assert "registered brokers are left out" in failed["zookeeper /brokers/ids"].message
    assert "more than 65536" in failed["zookeeper /brokers/ids/91"].message

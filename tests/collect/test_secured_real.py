"""Snapshots of real secured clusters by the console: every protocol at once, right and wrong logins, and nothing that leaks."""

import json
import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import bundled
from kafka_audit import audit
from kafka_audit.cli import main
from kafka_audit.job import embedded_job
from kafka_audit.model.report import report_json
from kafka_audit.model.tables import (
    AuthorityCertificate,
    BrokerIdentity,
    BrokerProperty,
    BrokerView,
    Certificate,
    Probe,
    RegisteredBroker,
    SourceRead,
)
from kafka_audit.store import Store
from testbed import Bed, Listener, Security
from testbed.certificates import STORE_PASSWORD, Authority
from testbed.certificates import Certificate as Wanted
from testbed.servers import BROKER_PORT

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

PLUGINS = Path(__file__).parents[2] / "plugins"
LISTENERS = (
    Listener(protocol="SSL"),
    Listener(protocol="SASL_PLAINTEXT", port=BROKER_PORT + 1, mechanisms=("SCRAM-SHA-512", "SCRAM-SHA-256")),
    Listener(protocol="SASL_SSL", name="EXTERNAL", port=BROKER_PORT + 2, mechanisms=("PLAIN",)),
)
NAMES = [listener.label for listener in LISTENERS]
WRONG = "no-such-password"
# A vantage that notes what it was given, and every command line that runs while it does.
NOTING = """#!/bin/sh
{{ env; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; }} >>{notes} 2>/dev/null
exec "$@"
"""


class Audited:
    """One cluster with all kinds of listeners."""

    def __init__(self, folder, bed, cluster):
        self.folder = folder
        self.bed = bed
        self.cluster = cluster
        self.secured = cluster.secured
        self.notes = folder / "notes"
        self.noting = folder / "noting"
        self.noting.write_text(NOTING.format(notes=self.notes))
        self.noting.chmod(stat.S_IRWXU)
        self.number = 0

    def entry(self, names=NAMES, ca_file=None):
        found = {label: self.secured.audit_settings(label=label) for label in names}
        if ca_file is not None:
            for label in ("SSL", "EXTERNAL"):
                found[label]["ca_file"] = str(ca_file)
        return {
            "zookeeper": self.secured.audit_zookeeper(self.cluster.zookeeper_connect),
            "listeners": found,
            "trusted_hosts": [broker.host.address for broker in self.cluster.brokers.values()],
            "limits": {"read_s": 20, "settle_s": 0.5},
            "vantages": {"here": {"command": [str(self.noting)]}},
        }

    def snapshot(self, entry, password=None, **more):
        self.number += 1
        config, out = self.folder / f"{self.number}.yaml", self.folder / f"store-{self.number}"
        config.write_text(json.dumps({"clusters": {"prod": entry}}))
        environment = {**os.environ, "PYTHONPATH": str(PLUGINS), **self.secured.audit_environment(), **more}
        if password is not None:
            environment["KAFKA_AUDIT_PASSWORD"] = password
        command = [sys.executable, "-m", "kafka_audit.cli", "snapshot", "prod", "--config", str(config), "--out", str(out)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = self.bed.worker.popen(command, env=environment, **pipes)
        stdout, stderr = process.communicate()
        assert process.returncode == 0, stderr
        self._demand_secrecy(out, stdout + stderr, environment["KAFKA_AUDIT_PASSWORD"])
        snapshot_id = stdout.strip()
        rows = Store(out).read(snapshot_id).rows
        return SimpleNamespace(
            snapshot_id=snapshot_id, rows=rows, of=lambda table: [row for row in rows if isinstance(row, table)]
        )

    def _demand_secrecy(self, out, log, used):
        secrets = {used, *self.secured.security.users.values()}
        files = {str(path): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        assert files
        noted = self.notes.read_text(errors="replace")
        assert "HOME=" in noted
        assert "kafka_audit.cli" in noted
        for secret in secrets:
            assert secret not in log
            assert secret not in noted
            assert [path for path, content in files.items() if secret.encode() in content] == []


@contextmanager
def bed_with(folder, version, brokers=1, **security):
    with Bed(folder / "bed") as bed:
        cluster = bed.cluster(version, brokers=brokers, security=Security(**security))
        cluster.create_topic("orders", {0: [0]})
        cluster.await_settled()
        yield Audited(folder, bed, cluster)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    options = {"listeners": LISTENERS, "inter_broker": "SASL_PLAINTEXT", "asked": "SASL_PLAINTEXT", "zookeeper": "sasl"}
    with bed_with(tmp_path_factory.mktemp("secured"), "3.9.1", **options) as found:
        yield found


def failed(snapshot):
    return {(row.operation, row.target): row for row in snapshot.of(SourceRead) if row.outcome == "failed"}


def layers(snapshot, vantage, listener):
    rows = [row for row in snapshot.of(Probe) if (row.vantage, row.listener) == (vantage, listener)]
    last = max(row.sample for row in rows)
    return {row.layer: (row.outcome, row.error or row.detail) for row in rows if row.sample == last}


def log_of(audited, level):
    logs = audited.cluster.brokers[0].log_dir
    return [line for path in logs.glob("*.log") for line in path.read_text(errors="replace").splitlines() if f" {level} " in line]


def test_every_listener_is_read_as_the_auditor_and_zookeeper_too(audited):
    errors = log_of(audited, "ERROR")
    snapshot = audited.snapshot(audited.entry())
    kafka = {key: row for key, row in failed(snapshot).items() if row.observer == "broker:0"}
    assert kafka == {}
    assert [row.broker_id for row in snapshot.of(RegisteredBroker)] == [0]
    assert {(row.listener, row.topics_listed) for row in snapshot.of(BrokerView)} == {(label, 1) for label in NAMES}
    assert {(row.listener, row.answered_by) for row in snapshot.of(BrokerIdentity)} == {(label, 0) for label in NAMES}
    assert log_of(audited, "ERROR") == errors


def test_probes_see_tls_and_mechanisms_from_here_and_from_a_vantage(audited):
    snapshot = audited.snapshot(audited.entry())
    for vantage in ("worker", "here"):
        assert {layer: outcome for layer, (outcome, _) in layers(snapshot, vantage, "SSL").items()} == dict.fromkeys(
            ("dns", "tcp", "tls", "api", "identity", "packets"), "ok"
        )
        seen = layers(snapshot, vantage, "SASL_PLAINTEXT")
        assert seen["sasl"][0] == seen["api"][0] == "ok"
        assert sorted(seen["sasl"][1].split(",")) == ["SCRAM-SHA-256", "SCRAM-SHA-512"]
        assert layers(snapshot, vantage, "EXTERNAL")["sasl"] == ("ok", "PLAIN")
    authorities = {row.subject for row in snapshot.of(AuthorityCertificate)}
    assert {row.issuer for row in snapshot.of(Certificate)} == authorities != set()
    shown = {(row.vantage, row.listener, row.trusted, row.name_matches) for row in snapshot.of(Certificate)}
    assert shown == {(place, label, True, True) for place in ("worker", "here") for label in ("SSL", "EXTERNAL")}


def test_a_wrong_password_is_a_refused_login_and_the_broker_is_reachable(audited):
    without_login = {"zookeeper": audited.cluster.zookeeper_connect}
    snapshot = audited.snapshot(audited.entry() | without_login, password=WRONG)
    metadata = {
        target.rpartition(":")[2]: row for (operation, target), row in failed(snapshot).items() if operation == "Metadata"
    }
    scram, plain = str(BROKER_PORT + 1), str(BROKER_PORT + 2)
    assert {port: row.error for port, row in metadata.items()} == dict.fromkeys((scram, plain), "SASL_AUTHENTICATION_FAILED")
    assert "invalid credentials with SASL mechanism SCRAM-SHA-512" in metadata[scram].message
    assert "Invalid username or password" in metadata[plain].message
    assert metadata[scram].needs == "a user and password that listener SASL_PLAINTEXT accepts (auditor, KAFKA_AUDIT_PASSWORD)"
    assert layers(snapshot, "worker", "SASL_PLAINTEXT")["api"][0] == "ok"
    refused = [line for line in log_of(audited, "INFO") if "ailed authentication" in line and "invalid credentials" in line]
    assert len(refused) == 1  # an account that locks after a few attempts is not locked by an audit


def test_a_wrong_password_is_refused_by_zookeeper_too(audited):
    snapshot = audited.snapshot(audited.entry(), password=WRONG)
    reads = [row for row in snapshot.of(SourceRead) if row.observer == "zookeeper"]
    assert {(row.outcome, row.error) for row in reads} == {("failed", "AuthFailedError")}
    connect = audited.cluster.zookeeper_connect
    assert {row.needs for row in reads} == {f"a user and password that {connect} accepts (auditor, KAFKA_AUDIT_PASSWORD)"}


def test_an_authority_that_did_not_sign_is_told_and_nothing_is_said_to_such_a_broker(audited, tmp_path):
    snapshot = audited.snapshot(audited.entry(ca_file=Authority(tmp_path, "other").ca_file))
    errors = {
        row.target.rpartition(":")[2]: row.error for (operation, _), row in failed(snapshot).items() if operation == "Metadata"
    }
    stranger = "certificate of an unknown issuer"
    assert errors == {str(BROKER_PORT): stranger, str(BROKER_PORT + 2): stranger}
    for vantage in ("worker", "here"):
        assert layers(snapshot, vantage, "EXTERNAL")["tls"] == ("failed", stranger)
    assert {(row.trusted, row.name_matches, row.error) for row in snapshot.of(Certificate)} == {(False, True, stranger)}


def test_a_bundle_of_it_holds_nothing_secret(audited, tmp_path):
    """Its own server.properties holds every password of the cluster, and its log is quoted."""
    broker = audited.cluster.brokers[0]
    secrets = {*audited.secured.security.users.values(), STORE_PASSWORD}
    written = broker.server.config_file.read_text()
    assert [secret for secret in secrets if secret in written]
    sources = {"properties": [str(broker.server.config_file)], "logs": {"paths": [f"{broker.log_dir}/*.log"]}}
    snapshot = audited.snapshot(audited.entry() | sources)
    assert {row.key for row in snapshot.of(BrokerProperty) if row.secret}
    store = Store(audited.folder / f"store-{audited.number}")
    audit.prepare_request(store, [snapshot.snapshot_id], None, "run", show_all=True)
    embedded_job.answer(store, "run")
    audit.write_reports(store, "run", {})
    target, config = tmp_path / "prod.zip", audited.folder / f"{audited.number}.yaml"
    assert main(["bundle", "prod", "--store", store.root, "--out", str(target), "--config", str(config)]) == 0
    entries = bundled.contents(target)
    assert {"cluster.json", "report.html"} < set(entries)
    for name, content in entries.items():
        text = bundled.cells(content) if name.endswith(".parquet") else content.decode()
        assert [secret for secret in secrets if secret in text or secret.encode() in content] == [], name
    assert main(["report", str(target), "--format", "json"]) == 0


def test_an_old_broker_is_read_by_scram_and_plain(tmp_path):
    """PLAIN without TLS goes to it only where the file names its address: that it trusts the host is not enough."""
    listeners = (
        Listener(protocol="SASL_PLAINTEXT", mechanisms=("SCRAM-SHA-256",)),
        Listener(protocol="SASL_PLAINTEXT", name="OTHER", port=BROKER_PORT + 1, mechanisms=("PLAIN",)),
    )
    with bed_with(tmp_path, "2.8.2", listeners=listeners, inter_broker="SASL_PLAINTEXT", zookeeper="sasl") as audited:
        security = audited.secured.audit_settings(label="SASL_PLAINTEXT")
        other = audited.secured.audit_settings(label="OTHER")
        address = audited.cluster.brokers[0].address.rpartition(":")[0]
        entry = audited.entry([]) | {"security": security, "listeners": {"OTHER": other}}
        snapshot = audited.snapshot(entry)
        assert {row.listener for row in snapshot.of(BrokerView)} == {"SASL_PLAINTEXT"}
        read = failed(snapshot)["Metadata", f"{address}:{BROKER_PORT + 1}"]
        assert (read.error, "PLAIN without TLS sends the password in clear text" in read.message) == ("not trusted", True)
        snapshot = audited.snapshot(entry | {"bootstrap": [f"{address}:{BROKER_PORT + 1}"]})
        assert {(row.listener, row.topics_listed) for row in snapshot.of(BrokerView)} == {("SASL_PLAINTEXT", 1), ("OTHER", 1)}


def test_a_broker_that_only_zookeeper_lists_gets_no_login_until_the_file_trusts_its_host(tmp_path):
    listener = Listener(protocol="SASL_SSL", mechanisms=("SCRAM-SHA-512",))
    with bed_with(tmp_path, "3.9.1", brokers=2, listeners=(listener,), inter_broker="SASL_SSL") as audited:
        hosts = [broker.host.address for broker in audited.cluster.brokers.values()]
        entry = audited.entry(["SASL_SSL"]) | {"trusted_hosts": hosts[:1]}
        snapshot = audited.snapshot(entry, password=WRONG)
        metadata = {row.observer: row for (operation, _), row in failed(snapshot).items() if operation == "Metadata"}
        assert {who: row.error for who, row in metadata.items()} == {
            "broker:0": "SASL_AUTHENTICATION_FAILED",
            "broker:1": "not trusted",
        }
        assert metadata["broker:1"].needs == f'trusted_hosts: ["{hosts[1]}"]'
        refused = [
            broker.id for broker in audited.cluster.brokers.values() for line in said_by(broker) if "invalid credentials" in line
        ]
        assert refused == [0]  # broker 1 heard of no login, not even of a wrong one
        snapshot = audited.snapshot(entry)
        assert {row.observer for row in failed(snapshot).values()} == {"broker:1"}
        assert {(row.observer, row.topics_listed) for row in snapshot.of(BrokerView)} == {("broker:0", 1)}
        probes = {row.layer: row.outcome for row in snapshot.of(Probe) if (row.vantage, row.broker_id) == ("worker", 1)}
        assert probes == dict.fromkeys(("dns", "tcp", "tls", "sasl", "api", "packets"), "ok")
        snapshot = audited.snapshot(entry | {"trusted_hosts": hosts})
        assert failed(snapshot) == {}
        assert {row.observer for row in snapshot.of(BrokerView)} == {"broker:0", "broker:1"}


# What a broker does whose own credentials are off: this handler knows no SCRAM, so it refuses every SCRAM login.
REFUSES = {
    "listener.name.clients.scram-sha-512.sasl.server.callback.handler.class": (
        "org.apache.kafka.common.security.plain.internals.PlainServerCallbackHandler"
    )
}


def test_one_of_three_brokers_that_refuses_the_right_password_is_named_and_the_others_are_read_in_full(tmp_path):
    """It has the lowest id and is named first."""
    clients = Listener(protocol="SASL_PLAINTEXT", name="CLIENTS", port=BROKER_PORT + 1, mechanisms=("SCRAM-SHA-512",))
    with Bed(tmp_path / "bed") as bed:
        cluster = bed.cluster(
            "3.9.1", brokers=3, security=Security(listeners=(Listener(), clients), asked="PLAINTEXT"), per_broker={0: REFUSES}
        )
        cluster.create_topic("orders", {0: [0, 1, 2]})
        cluster.await_settled()
        audited = Audited(tmp_path, bed, cluster)
        hosts = [broker.host.address for broker in cluster.brokers.values()]
        entry = audited.entry(["CLIENTS"]) | {"bootstrap": [f"{host}:{clients.port}" for host in hosts]}
        entry["listeners"]["PLAINTEXT"] = "skip"
        del entry["trusted_hosts"]
        for without in ((), ("zookeeper",)):
            if without:
                entry["security"] = entry["listeners"].pop("CLIENTS")
            snapshot = audited.snapshot({key: value for key, value in entry.items() if key not in without})
            failed_at = {row.target for row in snapshot.of(SourceRead) if row.outcome == "failed" and row.target}
            assert failed_at == {f"{hosts[0]}:{clients.port}"}
            assert {row.broker_id for row in snapshot.of(BrokerView)} == {1, 2}
            reads = [row for row in snapshot.of(SourceRead) if row.observer in {"broker:1", "broker:2"}]
            assert {row.outcome for row in reads} == {"answered"}
            assert {"DescribeConfigs BROKER", "DescribeLogDirs"} <= {row.operation for row in reads}
            store = Store(audited.folder / f"store-{audited.number}")
            audit.prepare_request(store, [snapshot.snapshot_id], None, "run")
            embedded_job.answer(store, "run")
            (document,) = report_json(audit.write_reports(store, "run", {}))
            incident = next(incident for incident in document["incidents"] if incident["cause"] == "KA001")
            assert incident["headline"] == "Broker 0 refuses the login that brokers 1 and 2 accept"
        refusals = {
            broker.id: sum("ailed authentication" in line for line in said_by(broker)) for broker in cluster.brokers.values()
        }
        assert refusals == {0: 2, 1: 0, 2: 0}, "one for each of the two audits"


def said_by(broker):
    return [line for path in broker.log_dir.glob("*.log") for line in path.read_text(errors="replace").splitlines()]


def test_zookeeper_by_tls_and_a_listener_that_wants_a_certificate(tmp_path):
    options = {"listeners": (Listener(), Listener(protocol="SSL", port=BROKER_PORT + 1)), "client_auth": "required"}
    with bed_with(tmp_path, "3.9.1", zookeeper="tls", **options) as audited:
        entry = audited.entry(["SSL"])
        snapshot = audited.snapshot(entry)
        assert [row.broker_id for row in snapshot.of(RegisteredBroker)] == [0]
        assert {row.listener: row.topics_listed for row in snapshot.of(BrokerView)} == {"PLAINTEXT": 1, "SSL": 1}
        assert layers(snapshot, "here", "SSL")["api"] == ("unknown", "client certificate required")
        without = {"protocol": "SSL", "ca_file": entry["listeners"]["SSL"]["ca_file"]}
        snapshot = audited.snapshot(entry | {"listeners": {"SSL": without}})
        assert layers(snapshot, "worker", "SSL")["api"] == ("unknown", "client certificate required")
        read = next(row for (operation, _), row in failed(snapshot).items() if operation == "Metadata")
        assert read.needs == "cert_file and key_file for SSL in the cluster file"
        tls = entry["zookeeper"]["tls"]
        for wrong, error in (
            (tls | {"ca_file": str(Authority(tmp_path, "other").ca_file)}, "certificate of an unknown issuer"),
            ({"ca_file": tls["ca_file"]}, "client certificate required"),
        ):
            access = {"connect": audited.cluster.zookeeper_connect, "tls": wrong}
            reads = [row for row in audited.snapshot(entry | {"zookeeper": access}).of(SourceRead) if row.observer == "zookeeper"]
            assert {(row.outcome, row.error) for row in reads} == {("failed", error)}
            assert all("zookeeper.tls" in row.needs for row in reads)


def test_a_zookeeper_of_a_ca_that_the_machine_trusts_and_ca_file_does_not_gets_no_session_and_no_login(tmp_path):
    with bed_with(tmp_path, "3.9.1", zookeeper="tls_offered") as audited:
        log = audited.cluster.zookeeper.log_dir / "server.log"

        def lines(text):
            return [line for line in log.read_text(errors="replace").splitlines() if text in line]

        logins, sessions = "authenticated client: authenticationID=auditor", "Established session"
        entry = {key: value for key, value in audited.entry([]).items() if key != "listeners"}
        snapshot = audited.snapshot(entry)
        assert [row.broker_id for row in snapshot.of(RegisteredBroker)] == [0]
        assert [row.outcome for row in snapshot.of(SourceRead) if row.observer == "zookeeper" and row.outcome != "answered"] == []
        assert lines(logins), log.read_text(errors="replace")[-3000:]
        before = len(lines(logins)), len(lines(sessions))
        access = entry["zookeeper"]
        pinned = access | {"tls": access["tls"] | {"ca_file": str(Authority(tmp_path, "other").ca_file)}}
        machine = {"SSL_CERT_FILE": access["tls"]["ca_file"]}
        snapshot = audited.snapshot(entry | {"zookeeper": pinned}, **machine)
        asked = [row for row in snapshot.of(SourceRead) if row.observer.startswith("zookeeper")]
        assert {(row.outcome, row.error) for row in asked} == {("failed", "certificate of an unknown issuer")}
        assert (len(lines(logins)), len(lines(sessions))) == before
        # The same machine without `ca_file`, so that its own authorities count: they do trust this server.
        unpinned = access | {"tls": {key: file for key, file in access["tls"].items() if key != "ca_file"}}
        snapshot = audited.snapshot(entry | {"zookeeper": unpinned}, **machine)
        assert [row.broker_id for row in snapshot.of(RegisteredBroker)] == [0]
        assert len(lines(logins)) > before[0]


def test_a_wrong_name_and_an_expired_certificate_are_told_apart_and_cost_their_listener_only(tmp_path):
    certificates = {0: Wanted(san=("other.example",)), 1: Wanted(valid_for=-timedelta(hours=1))}
    listeners = (Listener(), Listener(protocol="SSL", port=BROKER_PORT + 1))
    with bed_with(tmp_path, "3.9.1", brokers=2, listeners=listeners, certificates=certificates) as audited:
        snapshot = audited.snapshot(audited.entry(["SSL"]))
        assert {row.observer: row.error for (operation, _), row in failed(snapshot).items() if operation == "Metadata"} == {
            "broker:0": "certificate for another name",
            "broker:1": "certificate expired",
        }
        assert {(row.broker_id, row.listener) for row in snapshot.of(BrokerView)} == {(0, "PLAINTEXT"), (1, "PLAINTEXT")}
        shown = {(row.broker_id, row.trusted, row.name_matches, row.sans) for row in snapshot.of(Certificate)}
        address = audited.cluster.brokers[1].address.rpartition(":")[0]
        assert shown == {(0, True, False, ("other.example",)), (1, False, True, (address,))}
        assert log_of(audited, "ERROR") == []

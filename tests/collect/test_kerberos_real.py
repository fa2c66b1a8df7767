"""A real KDC, real brokers with GSSAPI, and audits with a ticket cache, a keytab, and what is wrong with either."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafka_audit.model.tables import BrokerView, SourceRead
from kafka_audit.store import Store
from testbed import Bed, Listener, Security
from testbed.kerberos import REALM, Kdc, missing
from testbed.security import Tickets
from testbed.servers import BROKER_PORT

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

PLUGINS = Path(__file__).parents[2] / "plugins"
KERBEROS = Listener(protocol="SASL_PLAINTEXT", name="KERBEROS", port=BROKER_PORT + 2, mechanisms=("GSSAPI",))
ADDRESSES = ("10.99.0.10", "10.99.0.11")
WATCH = """
import asyncio, os, sys
from kafka_audit import settings
from kafka_audit.watch.reader import Reader

async def read():
    reading = await Reader(settings.load(sys.argv[1])["prod"], os.environ).read({})
    print([[one.broker_id, one.metadata.error] for one in reading.brokers])

asyncio.run(read())
"""


class Audited:
    def __init__(self, folder, bed, kdc):
        self.folder, self.bed, self.kdc, self.number = folder, bed, kdc, 0
        tickets = Tickets(configuration=kdc.configuration, keytab=kdc.brokers, realm=REALM)
        security = Security(listeners=(Listener(), KERBEROS), asked="PLAINTEXT", tickets=tickets)
        self.cluster = bed.cluster("3.9.1", brokers=len(ADDRESSES), security=security)
        assert [broker.host.address for broker in self.cluster.brokers.values()] == [*ADDRESSES]
        self.cluster.create_topic("orders", {0: [0, 1]})
        self.cluster.await_settled()
        self.keytab = kdc.add("auditor")

    def run(self, *command, code=0, **environment):
        self.number += 1
        config = self.folder / f"{self.number}.yaml"
        entry = {
            "bootstrap": [f"{address}:{KERBEROS.port}" for address in ADDRESSES],
            "security": {"protocol": "SASL_PLAINTEXT", "mechanism": "GSSAPI"},
            "limits": {"read_s": 20, "settle_s": 0.5},
        }
        config.write_text(json.dumps({"clusters": {"prod": entry}}))
        variables = {"PYTHONPATH": str(PLUGINS), "KRB5_CONFIG": str(self.kdc.configuration), **environment}
        own = {name: value for name, value in os.environ.items() if not name.startswith("KRB5")}
        command = [str(config) if part == "CONFIG" else part for part in command]
        completed = self.bed.worker.run([sys.executable, *command], env=own | variables)
        assert completed.returncode == code, completed.stderr
        return completed.stdout

    def audit(self, **environment):
        """Audit by the console, and return the report."""
        out = self.folder / f"run-{self.number}"
        command = ["-m", "kafka_audit.cli", "run", "prod", "--config", "CONFIG", "--out", str(out), "--fail-on", "high"]
        self.run(*command, "--format", "json", code=3 if environment.pop("fails", False) else 0, **environment)
        return json.loads((out / "findings.json").read_text())

    def failed(self, **environment):
        """Take a snapshot, and return its failed reads by broker."""
        out = self.folder / f"store-{self.number}"
        command = ["-m", "kafka_audit.cli", "snapshot", "prod", "--config", "CONFIG", "--out", str(out)]
        rows = Store(out).read(self.run(*command, **environment).strip()).rows
        self.views = {row.observer for row in rows if isinstance(row, BrokerView)}
        reads = [row for row in rows if isinstance(row, SourceRead) and row.outcome == "failed"]
        return {(read.target.partition(":")[0], read.error, read.message, read.needs) for read in reads}

    def cache(self, principal, keytab):
        return {"KRB5CCNAME": f"FILE:{self.kdc.log_in(principal, keytab)}"}

    def by_keytab(self, keytab):
        return {"KRB5CCNAME": f"FILE:{self.folder}/cache-{self.number}", "KRB5_CLIENT_KTNAME": str(keytab)}


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    if absent := missing():
        pytest.skip(f"no {', '.join(absent)} here (Debian: krb5-kdc krb5-admin-server krb5-user)")
    if importlib.util.find_spec("gssapi") is None:
        pytest.skip("no Python package gssapi here: make kerberos (Debian: libkrb5-dev gcc)")
    folder = tmp_path_factory.mktemp("kerberos")
    with Bed(folder / "bed") as bed, Kdc(folder / "kdc", bed.worker, ADDRESSES) as kdc:
        yield Audited(folder, bed, kdc)


def incident(report):
    (found,) = [incident for incident in report["incidents"] if incident["cause"] == "KA001"]
    return found["headline"], json.dumps(found)


def test_with_a_ticket_an_audit_reads_everything(audited):
    report = audited.audit(**audited.cache("auditor", audited.keytab))
    assert report["coverage"]["unknown"] == []
    assert report["coverage"]["answered"] == report["coverage"]["asked"] > 0
    assert [incident for incident in report["incidents"] if incident["cause"] == "KA001"] == []


def test_with_a_keytab_no_kinit_is_needed(audited):
    assert audited.failed(**audited.by_keytab(audited.keytab)) == set()
    assert audited.views == {"broker:0", "broker:1"}


def test_an_expired_ticket_is_named(audited):
    environment = audited.cache("brief", audited.kdc.add("brief", life="6s"))
    time.sleep(7)
    headline, incident_text = incident(audited.audit(fails=True, **environment))
    assert headline == "The auditor has no Kerberos ticket: Ticket expired"
    assert "kinit" in incident_text


def test_a_principal_that_the_kdc_does_not_know_is_named(audited):
    keytab = audited.kdc.add("stranger")
    audited.kdc.remove("stranger")
    headline, incident_text = incident(audited.audit(fails=True, **audited.by_keytab(keytab)))
    assert headline.startswith("The auditor has no Kerberos ticket")
    assert f"Client 'stranger@{REALM}' not found in Kerberos database" in incident_text


def test_a_broker_without_a_principal_is_named_and_the_other_is_read(audited):
    audited.kdc.remove(f"kafka/{ADDRESSES[1]}")
    failed = audited.failed(**audited.cache("auditor", audited.keytab))
    message = f"Server kafka/{ADDRESSES[1]}@{REALM} not found in Kerberos database"
    assert {failure[:3] for failure in failed} == {(ADDRESSES[1], "no Kerberos ticket", message)}
    assert audited.views == {"broker:0"}


def test_a_broker_with_an_old_key_refuses_the_ticket_and_the_row_says_which_key(audited):
    """Of the same principal, made again: the broker's keytab has the key before."""
    audited.kdc.add(f"kafka/{ADDRESSES[1]}")
    failed = audited.failed(**audited.cache("auditor", audited.keytab))
    assert {failure[:2] for failure in failed} == {(ADDRESSES[1], "SASL_AUTHENTICATION_FAILED")}
    assert all(f"the key of kafka/{ADDRESSES[1]} that the KDC has" in failure[3] for failure in failed)


def test_a_kdc_that_does_not_answer_is_named_by_an_audit_and_by_the_watch(audited):
    audited.kdc.stop()
    try:
        environment = audited.by_keytab(audited.keytab)
        failed = audited.failed(**environment)
        assert {failure[1] for failure in failed} == {"no Kerberos ticket"}
        assert any("Cannot contact any KDC" in failure[2] for failure in failed)
        seen = json.loads(audited.run("-c", WATCH, "CONFIG", **environment).replace("'", '"').replace("None", "null"))
        assert {error for _, error in seen} == {"no Kerberos ticket"}
    finally:
        audited.kdc.start()


def test_nothing_of_a_key_is_written(audited):
    keys = audited.keytab.read_bytes()[-32:]
    files = [path for path in audited.folder.glob("store-*/**/*") if path.is_file()]
    assert files
    assert not [path for path in files if keys in path.read_bytes()]
    assert subprocess.run(["klist"], env={**os.environ, "KRB5CCNAME": "FILE:/none"}, capture_output=True, check=False).returncode

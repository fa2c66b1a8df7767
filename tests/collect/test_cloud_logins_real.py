"""Real brokers with the logins of Azure: a token of a managed identity by Azure's own library, and a connection string.

The brokers are Kafka's, and the endpoint is a process of the bed: there is no Azure here.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import jwt
import pytest

from collect.oidc_server import AUDIENCE, ISSUER, make_key
from collect.snapshot_process import snapshot_rows
from kafka_audit.model.tables import BrokerView, SourceRead
from testbed import Bed, Listener, Security
from testbed.security import ADMIN, BROKER, Tokens, passwords
from testbed.servers import BROKER_PORT

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

HERE = Path(__file__).parent
PLUGINS = HERE.parents[1] / "plugins"
OAUTH = Listener(protocol="SASL_SSL", name="OAUTH", port=BROKER_PORT + 2, mechanisms=("OAUTHBEARER",))
EVENTS = Listener(protocol="SASL_SSL", name="EVENTS", port=BROKER_PORT + 3, mechanisms=("PLAIN",))
USER, KEY = "$ConnectionString", "aGFzaGVkLWtleS1vZi1hLW5hbWVzcGFjZQ=="
STRING = f"Endpoint=sb://space.servicebus.windows.net/;SharedAccessKeyName=auditor;SharedAccessKey={KEY}"
IDENTITY_HEADER = "header-secret-1234"


class Audited:
    def __init__(self, folder, bed):
        private, keys = make_key(folder)
        self.folder, self.bed, self.number, self.log = folder, bed, 0, folder / "issued"
        security = Security(
            listeners=(Listener(), OAUTH, EVENTS),
            asked="PLAINTEXT",
            tokens=Tokens(keys=keys, issuer=ISSUER, audience=AUDIENCE),
            users={**passwords(ADMIN, BROKER), USER: STRING},
        )
        self.cluster = bed.kraft("4.3.0", brokers=2, controllers=0, security=security)
        self.cluster.create_topic("orders", {0: [0, 1]})
        self.cluster.await_settled()
        self.ca_file = str(self.cluster.secured.authority.ca_file)
        clients = {
            "machine": {"secret": "unused", "audience": AUDIENCE},
            "stranger": {"secret": "unused", "audience": "payments"},
        }
        settings = {"key_file": str(private), "clients": clients, "lifetime_s": 300, "log": str(self.log)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.server = bed.worker.popen([sys.executable, str(HERE / "oidc_server.py")], **pipes)
        self.server.stdin.write(json.dumps(settings))
        self.server.stdin.close()
        self.endpoint = self.server.stdout.readline().strip()

    def snapshot(self, listener, security, **environment):
        self.number += 1
        config, out = self.folder / f"{self.number}.yaml", self.folder / f"store-{self.number}"
        addresses = [f"{broker.host.address}:{listener.port}" for broker in self.cluster.brokers.values()]
        login = {"protocol": "SASL_SSL", "ca_file": self.ca_file, **security}
        entry = {"bootstrap": addresses, "listeners": {listener.name: login}, "limits": {"read_s": 20, "settle_s": 0.5}}
        entry["listeners"] |= {other.label: "skip" for other in (Listener(), OAUTH, EVENTS) if other != listener}
        # How the addresses above are asked before a broker has named its listeners.
        entry["security"] = login
        config.write_text(json.dumps({"clusters": {"prod": entry}}))
        command = [sys.executable, "-m", "kafka_audit.cli", "snapshot", "prod", "--config", str(config), "--out", str(out)]
        variables = {**os.environ, "PYTHONPATH": str(PLUGINS), **environment}
        process = self.bed.worker.popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        string = environment.get("EVENT_HUBS", STRING)
        return snapshot_rows(process, out, self.log, IDENTITY_HEADER, string, string.partition("SharedAccessKey=")[2])

    def by_token(self, audience):
        security = {"mechanism": "OAUTHBEARER", "azure_scope": f"{audience}/.default"}
        identity = {"IDENTITY_ENDPOINT": self.endpoint, "IDENTITY_HEADER": IDENTITY_HEADER}
        return self.snapshot(OAUTH, security, **identity)

    def by_string(self, string):
        return self.snapshot(EVENTS, {"mechanism": "PLAIN", "username": USER, "password_env": "EVENT_HUBS"}, EVENT_HUBS=string)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clouds")
    with Bed(folder / "bed") as bed:
        made = Audited(folder, bed)
        yield made
        made.server.kill()
        made.server.wait()
        made.server.stdout.close()


def failed(rows):
    return {(row.error, row.message, row.needs) for row in rows if isinstance(row, SourceRead) and row.outcome == "failed"}


def observers(rows):
    return {row.observer for row in rows if isinstance(row, BrokerView)}


def test_brokers_accept_the_token_of_a_managed_identity(audited):
    rows = audited.by_token(AUDIENCE)
    assert failed(rows) == set()
    assert observers(rows) == {"broker:0", "broker:1"}
    issued = [line.split()[1:] for line in audited.log.read_text().splitlines()]
    assert {client for client, _ in issued} == {"machine"}
    claims = [jwt.decode(token, options={"verify_signature": False}) for _, token in issued]
    assert {claim["aud"] for claim in claims} == {AUDIENCE}
    assert len(issued) == 1, "one token for both brokers"


def test_a_token_for_another_audience_is_what_brokers_refuse(audited):
    found = failed(audited.by_token("payments"))
    assert {error for error, *_ in found} == {"SASL_AUTHENTICATION_FAILED"}
    (needs,) = {needs for *_, needs in found}
    assert "an Azure identity that listener" in needs
    assert f"Microsoft Entra ID (scope payments/.default) issued this one with issuer {ISSUER}, audience payments" in needs


def test_brokers_accept_a_connection_string_as_the_password_of_plain(audited):
    rows = audited.by_string(STRING)
    assert failed(rows) == set()
    assert observers(rows) == {"broker:0", "broker:1"}


def test_a_wrong_key_in_a_connection_string_is_refused_and_not_shown(audited):
    found = failed(audited.by_string(STRING.replace(KEY, "d3Jvbmcta2V5LW9mLWEtbmFtZXNwYWNl")))
    assert "SASL_AUTHENTICATION_FAILED" in {error for error, *_ in found}
    assert any(USER in needs for *_, needs in found)

"""Real brokers that validate access tokens (OAUTHBEARER), and a token server whose tokens end in 30 seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jwt
import pytest

from cluster_views import cluster_view
from collect.oidc_server import AUDIENCE, ISSUER, make_key
from collect.snapshot_process import ended, issued_tokens, snapshot_rows
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import BrokerConfig, BrokerView, Sample, Snapshot, SourceRead
from made_rows import of
from testbed import Bed, Listener, Security
from testbed.security import Tokens
from testbed.servers import BROKER_PORT

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

HERE = Path(__file__).parent
PLUGINS = HERE.parents[1] / "plugins"
LIFETIME_S, PORT = 30, 8443
OAUTH = Listener(protocol="SASL_SSL", name="OAUTH", port=BROKER_PORT + 2, mechanisms=("OAUTHBEARER",))
CLIENTS = {
    "auditor": {"secret": "right-secret-1234", "audience": AUDIENCE, "scopes": ["kafka"]},
    "stranger": {"secret": "other-secret-5678", "audience": "payments"},
}
# One connection for longer than a token lives: the broker ends its session, unless it logs in again (KIP-368).
ONE_CONNECTION = """
import json, os, sys, time
from kafka_audit import settings
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.targets import bootstrap_targets

cluster = settings.load(sys.argv[1])["prod"]
target = bootstrap_targets(cluster, ())[0]
logins = ClusterLogins(cluster, os.environ)
sizes, started = [], time.monotonic()
with Conversation(*target.dialled, ClientOptions(read_s=60, logins=logins).at(target)) as conversation:
    while time.monotonic() < started + 45:
        sizes.append(len(conversation.ask_metadata(9, [])))
        time.sleep(2)
print(json.dumps({"answers": len(sizes), "tokens": len(logins.passwords()) - 1}))
"""


class Audited:
    def __init__(self, folder, bed):
        private, keys = make_key(folder)
        self.folder, self.bed, self.number, self.log = folder, bed, 0, folder / "issued"
        tokens = Tokens(keys=keys, issuer=ISSUER, audience=AUDIENCE)
        security = Security(listeners=(Listener(), OAUTH), asked="PLAINTEXT", tokens=tokens)
        self.cluster = bed.kraft("4.3.0", brokers=2, controllers=0, security=security)
        self.cluster.create_topic("orders", {0: [0, 1]})
        self.cluster.await_settled()
        authority = self.cluster.secured.authority
        pair = authority.issue("login", ("127.0.0.1",))
        settings = {"key_file": str(private), "clients": CLIENTS, "lifetime_s": LIFETIME_S, "port": PORT, "log": str(self.log)}
        settings["tls"] = [str(pair.certificate), str(pair.key)]
        self.ca_file = str(authority.ca_file)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.server = bed.worker.popen([sys.executable, str(HERE / "oidc_server.py")], **pipes)
        self.server.stdin.write(json.dumps(settings))
        self.server.stdin.close()
        self.endpoint = self.server.stdout.readline().strip()

    def entry(self, client="auditor", settle_s=0.5, **oidc):
        oidc = {"token_endpoint": self.endpoint, "ca_file": self.ca_file} | oidc
        security = {"protocol": "SASL_SSL", "mechanism": "OAUTHBEARER", "username": client, "password_env": "CLIENT_SECRET"}
        return {
            "bootstrap": [f"{broker.host.address}:{OAUTH.port}" for broker in self.cluster.brokers.values()],
            "security": security | {"ca_file": self.ca_file, "oidc": oidc},
            "limits": {"read_s": 20, "settle_s": settle_s},
        }

    def popen(self, command, entry, secret):
        self.number += 1
        config = self.folder / f"{self.number}.yaml"
        config.write_text(json.dumps({"clusters": {"prod": entry}}))
        environment = {**os.environ, "PYTHONPATH": str(PLUGINS), "CLIENT_SECRET": secret}
        command = [str(config) if part == "CONFIG" else part for part in command]
        return self.bed.worker.popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def snapshot(self, entry, secret="right-secret-1234"):  # noqa: S107 -- of a fake
        out = self.folder / f"store-{self.number}"
        command = [sys.executable, "-m", "kafka_audit.cli", "snapshot", "prod", "--config", "CONFIG", "--out", str(out)]
        return snapshot_rows(self.popen(command, entry, secret), out, self.log, secret)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokens")
    with Bed(folder / "bed") as bed:
        made = Audited(folder, bed)
        yield made
        made.server.kill()
        made.server.wait()


def failed(rows):
    return {(row.error, row.message, row.needs) for row in of(rows, SourceRead) if row.outcome == "failed"}


def test_an_audit_that_lasts_longer_than_a_token_reads_everything(audited):
    lasting = audited.popen([sys.executable, "-c", ONE_CONNECTION, "CONFIG"], audited.entry(), "right-secret-1234")
    # A cluster id that is not the expected one is looked at twice.
    rows = audited.snapshot(audited.entry(settle_s=LIFETIME_S + 5, scope="kafka") | {"expect": {"cluster_id": "x" * 22}})
    assert failed(rows) == set()
    samples = of(rows, Sample)
    assert samples[-1].finished_ms - samples[0].started_ms > LIFETIME_S * 1000
    assert {(row.sample, row.observer) for row in of(rows, BrokerView)} >= {
        (sample, f"broker:{broker}") for sample in (1, 2) for broker in (0, 1)
    }
    issued = [jwt.decode(token, options={"verify_signature": False}) for token in issued_tokens(audited.log)]
    mine = [claims for claims in issued if claims.get("scope") == "kafka"]
    assert 2 <= len(mine) <= 4, "one token for both brokers, and another when it ends"
    assert all(claims["exp"] - claims["iat"] == LIFETIME_S for claims in mine)
    found = json.loads(ended(lasting)[0])
    assert found["answers"] >= 15
    assert found["tokens"] >= 2, "it logged in again on the same connection"


def test_a_broker_reports_the_class_that_validates_tokens_and_one_without_accepts_any(audited):
    rows = audited.snapshot(audited.entry())
    key = "listener.name.oauth.oauthbearer.sasl.server.callback.handler.class"
    assert {row.broker_id for row in of(rows, BrokerConfig) if row.key == key} == {0, 1}
    for settings, status in ((rows, Status.PASS), ([row for row in rows if getattr(row, "key", "") != key], Status.FAIL)):
        snapshot = Snapshot(snapshot_id="s", cluster="prod", cluster_id="c", rows=tuple(settings))
        found = judge(cluster_view(snapshot), {"KA415": catalogue()["KA415"]})
        assert {(one.resource, one.status) for one in found} == {(f"broker/{broker}/listener/OAUTH", status) for broker in (0, 1)}


def test_a_wrong_client_secret_is_what_is_missing(audited):
    rows = audited.snapshot(audited.entry(), "wrong-secret-9999")
    ((error, message, needs),) = failed(rows)
    assert error == "token refused"
    assert message == f"{audited.endpoint} answers 401 invalid_client (Invalid client auditor or secret ***)"
    assert needs == f"the client ID and secret of a client that {audited.endpoint} knows (auditor)"


def test_an_endpoint_that_is_down_is_what_is_missing(audited):
    down = "https://127.0.0.1:8444/token"
    rows = audited.snapshot(audited.entry(token_endpoint=down))
    assert failed(rows) == {
        ("no token", f"{down} does not answer (connection refused)", f"a connection from this worker to {down}")
    }


def test_an_endpoint_of_an_unknown_authority_gets_no_secret(audited):
    entry = audited.entry()
    del entry["security"]["oidc"]["ca_file"]
    before = audited.log.read_text() if audited.log.exists() else ""
    ((error, message, needs),) = failed(audited.snapshot(entry))
    assert (error, message) == ("no token", f"{audited.endpoint} cannot be trusted (certificate of an unknown issuer)")
    assert "oidc.ca_file (https.ca.location)" in needs
    assert (audited.log.read_text() if audited.log.exists() else "") == before


def test_a_token_for_another_audience_is_what_brokers_refuse(audited):
    rows = audited.snapshot(audited.entry("stranger"), "other-secret-5678")
    found = failed(rows)
    assert {error for error, *_ in found} == {"SASL_AUTHENTICATION_FAILED"}
    assert any("invalid_token" in message for _, message, _ in found)
    (needs,) = {needs for *_, needs in found}
    assert "expected.audience" in needs
    assert f"{audited.endpoint} issued this one with issuer {ISSUER}, audience payments, subject stranger" in needs

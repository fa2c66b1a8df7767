"""Secured clusters proved with real brokers: each fault gives the picture that the audit must tell apart, and heals."""

import base64
import hashlib
import hmac
import stat
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from testbed import Bed, BedError, Listener, Security, presets
from testbed.acls import Acl, auditor_grants
from testbed.certificates import Authority, Certificate
from testbed.security import scram_credential

EMPTY = (None, {}, -1)


def picture(view):
    return (view.error, view.brokers, view.controller_id)


def log_of(cluster, broker, name):
    return (cluster.brokers[broker].log_dir / f"{name}.log").read_text(errors="replace")


def wait_for(condition):
    while not condition():
        time.sleep(0.1)


def test_a_scram_credential_opens_with_the_proof_of_rfc_7677():
    """The RFC's example exchange, section 3: user «user», password «pencil»."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    credential = dict(field.split("=", 1) for field in scram_credential("SCRAM-SHA-256", "pencil", salt).split(","))
    stored, server = (base64.b64decode(credential[key]) for key in ("stored_key", "server_key"))
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    auth_message = f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={nonce}".encode()
    proof = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    client_key = bytes(one ^ two for one, two in zip(proof, hmac.digest(stored, auth_message, "sha256"), strict=True))
    assert hashlib.sha256(client_key).digest() == stored
    signature = base64.b64encode(hmac.digest(server, auth_message, "sha256")).decode()
    assert signature == "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert credential["iterations"] == "4096"


def test_certificates_differ_from_a_right_one_as_asked(tmp_path):
    authority = Authority(tmp_path)
    right = authority.issue("right", ("10.99.0.10",))
    wrong = authority.issue("wrong", ("10.99.0.10",), Certificate(san=("other.example",), valid_for=-timedelta(hours=1)))
    foreign = authority.issue("foreign", ("10.99.0.10",), Certificate(foreign=True))
    new = authority.issue("new", ("10.99.0.10",), Certificate(valid_since=-timedelta(hours=1), for_servers=True))
    read = {pair: x509.load_pem_x509_certificate(pair.certificate.read_bytes()) for pair in (right, wrong, foreign, new)}
    names = {
        pair: certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        for pair, certificate in read.items()
    }
    ca = x509.load_pem_x509_certificate(authority.ca_file.read_bytes())
    read[right].verify_directly_issued_by(ca)
    assert [str(address) for address in names[right].get_values_for_type(x509.IPAddress)] == ["10.99.0.10"]
    assert names[wrong].get_values_for_type(x509.DNSName) == ["other.example"]
    assert read[wrong].not_valid_after_utc < datetime.now(UTC) < read[right].not_valid_after_utc
    assert read[foreign].issuer != ca.subject
    assert datetime.now(UTC) - timedelta(days=1) < read[new].not_valid_before_utc < datetime.now(UTC)
    usage = read[new].extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert [*usage] == [x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]
    assert authority.ca_file.read_bytes() in foreign.truststore.read_bytes()
    for path in (right.key, right.keystore, foreign.key):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_preset_that_there_is_not_is_named_beside_those_there_are():
    with pytest.raises(BedError, match=r"no security 'wrong-san:7'; there are 004, scram, .*wrong-san:2"):
        presets.named("wrong-san:7")


@pytest.mark.bed
@pytest.mark.scenario
@pytest.mark.parametrize("version", ["3.9.1", "2.8.2"])
def test_004_the_only_broker_knows_nothing_until_it_speaks_to_itself_as_a_super_user(tmp_path, version):
    with Bed(tmp_path) as bed:
        cluster = bed.cluster(version, **presets.incident_004())
        line = "Received error CLUSTER_AUTHORIZATION_FAILED in UpdateMetadata response"
        wait_for(lambda: line in log_of(cluster, 0, "state-change"))
        assert {user: picture(cluster.views(user=user)[0]) for user in ("admin", "auditor")} == dict.fromkeys(
            ("admin", "auditor"), EMPTY
        )
        assert "/brokers/ids/0" in cluster.znodes()
        cluster.brokers[0].restart(presets.REPAIR_004)
        cluster.await_settled()


@pytest.mark.bed
@pytest.mark.scenario
@pytest.mark.parametrize("version", ["3.9.1", "2.8.2"])
def test_one_broker_without_the_inter_broker_user_and_an_auditor_who_gets_its_rights(tmp_path, version):
    with Bed(tmp_path) as bed:
        cluster = bed.cluster(version, **presets.no_super_user(2))
        cluster.create_topic("orders", {0: [0, 1, 2], 1: [2, 0, 1]})
        assert picture(cluster.views()[2]) == EMPTY
        assert cluster.controller_id() == 0
        wait_for(lambda: "Principal = User:kafka is Denied Operation = ClusterAction" in log_of(cluster, 2, "kafka-authorizer"))
        cluster.heal_security(2)
        assert cluster.views(user="auditor")[0].topics == {}
        cluster.put_acls(auditor_grants())
        wait_for(lambda: sorted(cluster.views(user="auditor")[0].topics) == ["orders"])
        cluster.drop_acls(
            [Acl(principal="User:auditor", operation=operation, resource="Topic", name="*") for operation in ("Describe",)]
        )
        wait_for(lambda: cluster.views(user="auditor")[0].topics == {})
        cluster.drop_scram_user("auditor")
        wait_for(lambda: cluster.views([1], user="auditor")[1].error is not None)
        assert "invalid credentials with SASL mechanism SCRAM-SHA-512" in log_of(cluster, 1, "server")
        assert cluster.views([1])[1].error is None


@pytest.mark.bed
@pytest.mark.scenario
@pytest.mark.parametrize(
    ("preset", "message"),
    [
        ("wrong-san:2", "No subject alternative names matching IP address 10.99.0.12 found"),
        ("expired:2", "java.security.cert.CertificateExpiredException: NotAfter"),
        ("unknown-password:2", "Authentication failed: Invalid username or password"),
    ],
)
def test_a_broker_that_the_controller_cannot_talk_to_knows_nothing_and_heals(tmp_path, preset, message):
    with Bed(tmp_path) as bed:
        cluster = bed.cluster("3.9.1", **presets.named(preset))
        cluster.create_topic("orders", {0: [2, 0, 1]})
        views = cluster.views()
        assert picture(views[2]) == EMPTY
        assert {broker: sorted(views[broker].brokers) for broker in (0, 1)} == {0: [0, 1, 2], 1: [0, 1, 2]}
        assert sorted(cluster.partition_states()["orders/0"]["isr"]) == [0, 1, 2]
        wait_for(lambda: message in log_of(cluster, 0, "server"))
        cluster.heal_security(2)


@pytest.mark.bed
@pytest.mark.scenario
@pytest.mark.parametrize("kind", ["sasl", "tls"])
def test_a_secured_zookeeper_lets_brokers_and_the_bed_in_and_hides_users(tmp_path, kind):
    login = Listener(protocol="SASL_SSL", mechanisms=("SCRAM-SHA-256",))
    with Bed(tmp_path) as bed:
        security = Security(listeners=(login,), inter_broker=login.label, zookeeper=kind)
        cluster = bed.cluster("3.9.1", brokers=1, security=security)
        cluster.create_topic("orders", {0: [0]})
        cluster.await_settled()
        commands = " ".join(Path(f"/proc/{server.process.pid}/cmdline").read_text() for server in cluster._servers())
        assert "kafka.Kafka" in commands
        assert not [user for user, password in security.users.items() if password in commands]
        assert {stat.S_IMODE(server.config_file.stat().st_mode) for server in cluster._servers()} == {0o600}


@pytest.mark.bed
@pytest.mark.scenario
def test_certificates_are_names_to_the_authorizer(tmp_path):
    names = ("User:CN=broker-0,O=bed", "User:CN=admin,O=bed")
    security = Security(
        listeners=(presets.SSL,), inter_broker=presets.SSL.label, client_auth="required", authorizer=True, super_users=names
    )
    with Bed(tmp_path) as bed:
        cluster = bed.cluster("3.9.1", brokers=1, security=security)
        cluster.create_topic("orders", {0: [0]})
        cluster.await_settled()
        assert {user: sorted(cluster.views(user=user)[0].topics) for user in ("admin", "auditor")} == {
            "admin": ["orders"],
            "auditor": [],
        }
        cluster.put_acls(auditor_grants("User:CN=auditor,O=bed"))
        wait_for(lambda: sorted(cluster.views(user="auditor")[0].topics) == ["orders"])


@pytest.mark.bed
@pytest.mark.scenario
def test_a_broker_with_a_wrong_password_of_its_own_knows_all_and_follows_nobody(tmp_path):
    security = Security(listeners=(presets.PLAIN,), inter_broker=presets.PLAIN.label, mistypes=(1,))
    with Bed(tmp_path) as bed:
        shrink = {"replica.lag.time.max.ms": "3000"}
        cluster = bed.cluster("3.9.1", brokers=2, security=security, controller=0, properties=shrink)
        cluster.create_topic("orders", {0: [0, 1]})
        wait_for(lambda: cluster.partition_states()["orders/0"]["isr"] == [0])
        assert {broker: sorted(view.brokers) for broker, view in cluster.views().items()} == {0: [0, 1], 1: [0, 1]}
        cluster.heal_security(1)
        wait_for(lambda: sorted(cluster.partition_states()["orders/0"]["isr"]) == [0, 1])

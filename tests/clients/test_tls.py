"""`ca_file` pins, in every client: a server proves itself to the CA in that file, or it receives nothing.

The machine trusts another CA in all of these tests, and the server that listens has a certificate of that one.
"""

import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

import kafka_audit
from clients.auditor import AMPLE, SECRETS
from clients.auditor import login as auditor_login
from collect.oidc_server import make_key, oidc_server
from collect.taken import taken, target
from hostile_parties.broker import HostileBroker
from hostile_parties.zookeeper import HostileZookeeper, kafka_tree
from kafka_audit.cli import main
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.sockets import THIS_MACHINE, context
from kafka_audit.clients.tls import TlsFiles, read_tls
from kafka_audit.collect.probes.command_vantages import python_text
from kafka_audit.model.cluster import Cluster, Oidc, Security, Tls, ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import AuthorityCertificate, BrokerView, RegisteredBroker, SourceRead, ZookeeperMember
from testbed.certificates import Authority

PACKAGE = Path(kafka_audit.__file__).parent
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ours"), "ours")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """Another CA, and a certificate of it for every server of these tests."""
    authority = Authority(tmp_path_factory.mktemp("foreign"), "foreign")
    authority.pair = authority.issue("server", (HOST,))
    return authority


@pytest.fixture
def machine(foreign, monkeypatch):
    """This machine trusts the foreign CA."""
    monkeypatch.setenv("SSL_CERT_FILE", str(foreign.ca_file))
    return foreign


@pytest.fixture
def zookeeper(foreign):
    with HostileBroker(0, host=HOST) as broker:  # it listens, so no audit waits for the end of its session
        broker.brokers = {0: (HOST, broker.port)}
        with HostileZookeeper(kafka_tree(broker.brokers, {}), tls=foreign.pair) as made:
            yield made


def zookeeper_access(party, ca_file, **login):
    return ZookeeperAccess(connect=party.address, tls=Tls(ca_file=ca_file and str(ca_file)), **login)


snapshot = partial(taken, limits=AMPLE, secrets=SECRETS)


def errors(found, observer):
    return {row.error for row in found.of(SourceRead) if row.observer.startswith(observer) and row.outcome == "failed"}


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("login", [{}, {"username": "auditor", "password_env": "AUDITOR"}], ids=["no login", "DIGEST-MD5"])
def test_a_zookeeper_of_another_ca_that_the_machine_trusts_hears_nothing(ours, zookeeper, login):
    found = snapshot(zookeeper=zookeeper_access(zookeeper, ours.ca_file, **login))
    assert zookeeper.connections > 1  # the session and the four-letter word
    assert bytes(zookeeper.received) == b""
    assert errors(found, "zookeeper") == {"certificate of an unknown issuer"}
    assert {row.state for row in found.of(ZookeeperMember)} == {"down"}


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "the machine's CAs"])
def test_a_zookeeper_of_the_right_ca_is_read(machine, zookeeper, pinned):
    found = snapshot(zookeeper=zookeeper_access(zookeeper, machine.ca_file if pinned else None))
    assert {row.broker_id for row in found.of(RegisteredBroker)} == {0}
    assert {row.state for row in found.of(ZookeeperMember)} == {"serving"}
    assert errors(found, "zookeeper") == set()


secured = partial(auditor_login, "PLAIN", "SASL_SSL")


def test_a_broker_of_another_ca_that_the_machine_trusts_hears_nothing_and_one_of_the_right_ca_is_read(machine, ours):
    with HostileBroker(0, host=HOST, tls=machine.pair, mechanisms=("PLAIN",), users={"auditor": SECRETS["AUDITOR"]}) as broker:
        broker.brokers = {0: (HOST, broker.port)}
        found = snapshot(bootstrap=(broker.address,), security=secured(ours.ca_file))
        assert bytes(broker.received) == b""
        assert "certificate of an unknown issuer" in errors(found, "broker")
        for ca_file in (machine.ca_file, None):
            found = snapshot(bootstrap=(broker.address,), security=secured(ca_file))
            assert [row.observer for row in found.of(BrokerView)] == ["broker:0"]
            assert errors(found, "broker") == set()


def test_a_token_endpoint_of_another_ca_that_the_machine_trusts_gets_no_secret(machine, ours, tmp_path):
    clients = {"auditor": {"secret": SECRETS["AUDITOR"], "audience": "kafka"}}
    with oidc_server(make_key(tmp_path)[0], clients, tls=(machine.pair.certificate, machine.pair.key)) as endpoint:

        def login(ca_file):
            oidc = Oidc(token_endpoint=endpoint.url, ca_file=str(ca_file))
            security = auditor_login("OAUTHBEARER", "SASL_PLAINTEXT", oidc=oidc)
            logins = ClusterLogins(Cluster(name="c", bootstrap=(f"{HOST}:9",), security=security), SECRETS)
            return logins.listener_security(target((HOST, 9), protocol="SASL_PLAINTEXT"))

        with pytest.raises(ReadError, match="certificate of an unknown issuer"):
            login(ours.ca_file)
        assert endpoint.requests == []
        assert login(machine.ca_file).tokens is not None


def cut_texts(text):
    """Return what a file of two certificates holds while it is being written."""
    whole = text.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
    places = [0, 1, 11, 27, 28, 300, whole - 30, whole - 6, whole - 1, whole + 8, whole + 20, whole + 300, len(text) - 9]
    return {f"{place} characters": text[:place] for place in places}


FAULTY = {
    "empty": "",
    "blank": " \n\n",
    "words": "see the wiki\n",
    "a key": "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n",
    "no base64": "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
    "base64 of anything": "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
}


def refused(tls):
    with pytest.raises(UsageError) as caught:
        read_tls(tls, "clusters.c.security")
    return str(caught.value)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("text", FAULTY.values(), ids=FAULTY)
def test_a_ca_file_that_is_none_is_refused_with_its_key_and_reason(tmp_path, text):
    file = tmp_path / "ca.pem"
    file.write_text(text)
    assert re.fullmatch(
        rf"clusters\.c\.security\.ca_file: {file} (is empty|contains no certificate in PEM format|is damaged: .*)",
        refused(Tls(ca_file=str(file))),
    )


def test_a_ca_file_that_is_being_written_is_refused_at_any_place(ours, foreign, tmp_path):
    file = tmp_path / "ca.pem"
    for place, text in cut_texts(ours.ca_file.read_text() + foreign.ca_file.read_text()).items():
        file.write_text(text)
        assert f"clusters.c.security.ca_file: {file} " in refused(Tls(ca_file=str(file))), place


def test_a_damaged_certificate_behind_a_good_one_is_refused(ours, tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text(ours.ca_file.read_text() + FAULTY["base64 of anything"])
    assert refused(Tls(ca_file=str(file))).endswith("is damaged: one of its certificates cannot be read")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_with_comments_and_a_key_is_taken_and_the_key_leaves_it_nowhere(ours, foreign, tmp_path, end):
    """The nearest healthy file: bundles have titles, and some hold the key beside the certificate."""
    pair = ours.issue("me", ())
    file = tmp_path / "ca.pem"
    parts = ["# Unsere Behörde -- 2026", ours.ca_file.read_text(), "=====", pair.key.read_text(), foreign.ca_file.read_text()]
    file.write_text("\n".join(parts).replace("\n", end), encoding="utf-8", newline="")
    access = read_tls(Tls(ca_file=str(file)), "key")
    assert len(access.context.get_ca_certs()) == 2
    assert access.authorities.count("BEGIN") == access.authorities.count("BEGIN CERTIFICATE") == 2
    cluster = Cluster(name="c", security=Security(protocol="SSL", tls=Tls(ca_file=str(file))))
    assert "PRIVATE KEY" not in python_text([target((HOST, 9), protocol="SSL")], 1.0, ClusterLogins(cluster, {}))


def test_files_of_a_client_certificate_are_refused_with_key_and_reason(ours, tmp_path):
    pair, other = ours.issue("me", ()), ours.issue("other", ())
    encrypted, empty = tmp_path / "encrypted.pem", tmp_path / "empty.pem"
    command = ["openssl", "ec", "-in", str(pair.key), "-aes128", "-passout", "pass:x", "-out", str(encrypted)]
    subprocess.run(command, check=True, capture_output=True)
    empty.touch()
    files = {"cert_file": str(pair.certificate), "key_file": str(pair.key)}
    no_key = f"holds no key without a password that belongs to the certificate in {pair.certificate}"
    for key, path, fault in (
        ("cert_file", empty, "is empty"),
        ("cert_file", pair.key, "contains no certificate in PEM format"),
        ("key_file", empty, "is empty"),
        ("key_file", pair.certificate, "contains no private key in PEM format"),
        ("key_file", other.key, no_key),
        ("key_file", encrypted, no_key),
    ):
        assert refused(Tls(**files | {key: str(path)})) == f"clusters.c.security.{key}: {path} {fault}"
    read_tls(Tls(**files), "key")
    read_tls(Tls(cert_file=str(pair.keystore)), "key")  # both in one file


def test_an_empty_text_is_no_authority():
    with pytest.raises(ValueError, match="mpty"):
        context("")
    assert context(THIS_MACHINE).verify_mode.name == "CERT_REQUIRED"


@pytest.mark.parametrize("empty", [True, False])
def test_a_file_that_is_replaced_in_an_audit_changes_nothing_in_it(machine, ours, zookeeper, tmp_path, empty):
    """Read once: what the file holds now would refuse the server's certificate, or trust the machine's authorities."""
    later = "" if empty else ours.ca_file.read_text()
    file = tmp_path / "ca.pem"
    file.write_text(machine.ca_file.read_text())
    found = snapshot(say=lambda _: file.write_text(later), zookeeper=zookeeper_access(zookeeper, file))
    assert file.read_text() == later
    assert {row.broker_id for row in found.of(RegisteredBroker)} == {0}
    assert {row.state for row in found.of(ZookeeperMember)} == {"serving"}
    assert {row.subject for row in found.of(AuthorityCertificate)} == {"CN=foreign CA,O=foreign"}


def test_authorities_of_two_files_with_one_name_are_both_kept(ours, foreign, tmp_path):
    files = []
    for authority in (ours, foreign):
        folder = tmp_path / authority.ca_file.stem
        folder.mkdir()
        files.append(folder / "ca.pem")
        files[-1].write_text(authority.ca_file.read_text())
    listeners = {f"L{number}": Security(protocol="SSL", tls=Tls(ca_file=str(file))) for number, file in enumerate(files)}
    assert [name for name, _ in TlsFiles(Cluster(name="c", listeners=listeners)).authorities()] == ["ca.pem", "ca.pem"]


def test_the_command_ends_with_2_and_names_file_key_and_reason(tmp_path, capsys):
    config, file = tmp_path / "clusters.yaml", tmp_path / "ca.pem"
    file.touch()
    config.write_text(f"clusters: {{prod: {{bootstrap: ['{HOST}:1'], security: {{protocol: SSL, ca_file: {file}}}}}}}")
    for command in (["snapshot"], ["run"], ["watch", "--for", "2"]):
        out = [] if command[0] == "watch" else ["--out", str(tmp_path / "store")]
        assert main([*command, "prod", "--config", str(config), *out]) == 2
        assert f"clusters.prod.security.ca_file: {file} is empty" in capsys.readouterr().err


CONTEXTS = re.compile(
    r"SSLContext\(|create_default_context|_create_unverified|load_default_certs|load_verify_locations|load_cert_chain"
    r"|use_ssl|verify_certs|cafile|\bget_server_certificate"
)


def test_one_module_makes_contexts():
    """Others take one that is made: a library that is given the path of `ca_file` may trust more than that file."""
    found = {
        str(path.relative_to(PACKAGE)): sorted(set(CONTEXTS.findall(path.read_text())))
        for path in PACKAGE.rglob("*.py")
        if CONTEXTS.search(path.read_text())
    }
    assert found == {"clients/sockets.py": ["SSLContext(", "load_cert_chain", "load_default_certs", "load_verify_locations"]}
    calls = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"\bTlsContexts\(|\bcontext\((None|trust)", path.read_text())
    }
    assert calls == {"clients/sockets.py", "clients/tls.py", "clients/probe_script.py"}

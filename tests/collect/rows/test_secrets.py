"""No secret is in any column, even if a broker reports that it is none; and what the audit needs stays readable."""

import base64
import json
import time
from dataclasses import replace
from urllib.parse import quote

import pyarrow as pa
import pytest

from collect.columns import rows_of
from collect.taken import taken_of
from hostile_parties.broker import changed
from hostile_parties.cluster import HostileCluster
from kafka_audit.clients.read_error import ReadError, unexpected_failure
from kafka_audit.clients.secrets import secret_keys
from kafka_audit.clients.secrets.masking import MASK, masked, masked_command
from kafka_audit.clients.secrets.secret_keys import LONGEST_KEY, is_secret
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.secret_filter import filtered, is_free_text
from kafka_audit.configuration.definitions import VERSIONS, definitions
from kafka_audit.model.cluster import Logs, Security
from kafka_audit.model.tables import (
    Acl,
    BrokerConfig,
    DynamicConfig,
    Probe,
    RegisteredBroker,
    RegisteredEndpoint,
    SourceRead,
    TopicConfig,
)
from made_rows import made

HIDDEN = "hunter2-hunter2"  # stands in every secret here
PASSWORD = "s3cret-of-the-auditor"  # noqa: S105 -- of a fake


def _segment(content):
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


TOKEN = f"{_segment({'alg': 'RS256'})}.{_segment({'sub': 'broker'})}.{HIDDEN}"

SECRETS = {
    "ldap.bind.password": HIDDEN,
    "ldap.bind.pass": HIDDEN,
    "ldap.bind.pw": HIDDEN,
    "azure.container.sas": HIDDEN,
    "registry.creds": HIDDEN,
    "registry.cred": HIDDEN,
    "metrics.reporter.token": HIDDEN,
    "metrics.api.key": HIDDEN,
    "storage.account.key": HIDDEN,
    "proxy.authorization": HIDDEN,
    "db.connection.string": HIDDEN,
    "listener.name.ext.plain.sasl.jaas.config": HIDDEN,
    "listener.name.ext.ssl.key.password": HIDDEN,
    "query.params": f"a=b&token={HIDDEN}",
    "some.words": f"org.apache.kafka.common.security.plain.PlainLoginModule required user='{HIDDEN}'",
    "remote.location": f"https://store.example/x?sv=2024&sig={HIDDEN}",
    "remote.amazon": f"https://s3.example/x?X-Amz-Signature={HIDDEN}&x=1",
    "remote.azure": f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={HIDDEN};EndpointSuffix=x",
    "remote.login": f"https://user:{HIDDEN}@store.example/x",
    "remote.login.only": f"https://{HIDDEN}@store.example/x",
    "remote.header": f"Bearer {HIDDEN}",
    "remote.jwt": TOKEN,
    "remote.aws": f"AKIAIOSFODNN7EXAMPLE {HIDDEN}",
    "remote.pem": f"-----BEGIN PRIVATE KEY-----\n{HIDDEN}",
    "x" * 2000: HIDDEN,
}

READABLE = {
    "super.users": "User:CN=kafka,OU=Secret Service,O=token;User:admin",
    "ssl.principal.mapping.rules": "RULE:^CN=(.*?),OU=.*$/$1/L,DEFAULT",
    "sasl.kerberos.principal.to.local.rules": "RULE:[1:$1@$0](.*@EXAMPLE.COM)s/@.*//,DEFAULT",
    "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
    "delegation.token.max.lifetime.ms": "604800000",
    "delegation.token.expiry.check.interval.ms": "3600000",
    "password.encoder.cipher.algorithm": "AES/CBC/PKCS5Padding",
    "password.encoder.iterations": "4096",
    "password.encoder.key.length": "128",
    "password.encoder.keyfactory.algorithm": "PBKDF2WithHmacSHA512",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
    "listener.security.protocol.map": "SECRET:SASL_SSL,TOKEN:PLAINTEXT,PASSWORD:SSL",
    "advertised.listeners": "SECRET://b1.example:9092,TOKEN://[::1]:9093,PASSWORD://b1:9094",
    "listener.name.secret.ssl.keystore.type": "PKCS12",
    "listener.name.token.sasl.enabled.mechanisms": "PLAIN",
    "listener.name.password.ssl.client.auth": "required",
    "controller.quorum.voters": "1@c1:9093,2@c2:9093",
    "compression.type": "producer",
    "compression.gzip.level": "6",
    "key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
    "log.dirs": "/var/lib/kafka/password-store",
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "ssl.keystore.location": "/etc/kafka/keystore.p12",
    "zookeeper.connect": "zk1:2181,zk2:2181/kafka",
    "broker.rack": "eu-west-1a",
}


@pytest.mark.parametrize("key", SECRETS, ids=lambda key: key[:40])
def test_what_a_key_or_a_value_shows_is_a_secret(key):
    assert is_secret(key, SECRETS[key])


@pytest.mark.parametrize("key", READABLE)
def test_what_the_audit_stands_on_is_none(key):
    assert not is_secret(key, READABLE[key])


SENTENCES = [
    f"the root password is {HIDDEN}",
    f"password {HIDDEN}",
    f"Passwort: {HIDDEN}",
    f"passphrase of the key store -> {HIDDEN}",
    f"use the secret\n{HIDDEN}",
    f"token, as agreed on Monday, for both: {HIDDEN}",
    f"our API key (of production) {HIDDEN}",
    f"password's value \N{EM DASH} {HIDDEN}",
    f'{{"adminPassword": "{HIDDEN}"}}',
    f"user and password are admin and {HIDDEN}",
    f"db_password : {HIDDEN}",
]
"""Whatever stands between a word for a secret and what follows."""

SENTENCES_OF_SETTINGS = [
    f"pass {HIDDEN}", f"pw: {HIDDEN}", f"log in with the credentials admin/{HIDDEN}", f"password/{HIDDEN}", f"password-{HIDDEN}"
]  # fmt: skip
"""With words that texts of errors and logs use for much else."""

NEITHER = {
    "super.users": "User:CN=kafka,OU=Top Secret Service,O=Token Ring;User:pass",
    "listener.security.protocol.map": "A:SSL, SECRET: SASL_SSL, TOKEN:PLAINTEXT",
    "listeners": "SECRET://:9092,TOKEN://:9093",
    "controller.quorum.voters": "1@secret:9093,2@token:9093",
    "ssl.keystore.location": "/etc/kafka/secrets/kafka.jks",
    "ssl.truststore.location": "secrets/trust.jks",
    "log.dirs": "/data/secret-store,/data/tokens/a",
    "ssl.principal.mapping.rules": "RULE:^CN=(.*?), OU=Secret Service.*$/$1/,DEFAULT",
    "sasl.oauthbearer.jwks.endpoint.url": "https://login.example/secret/token/keys",
    "sasl.server.callback.handler.class": "com.example.token.SecretHandler",
    "inter.broker.listener.name": "SECRET",
    "broker.rack": "secret-zone",
    "ssl.cipher.suites": "",
}


@pytest.mark.parametrize("value", [*SENTENCES, *SENTENCES_OF_SETTINGS])
def test_a_sentence_with_a_secret_is_one_whatever_the_key(value):
    assert is_secret("company.motd", value)
    assert is_secret("broker.rack", value)
    assert is_secret("super.users", value)


@pytest.mark.parametrize("key", NEITHER)
def test_words_for_secrets_in_names_and_paths_hide_no_setting(key):
    assert not is_secret(key, NEITHER[key])
    assert not is_free_text(key, NEITHER[key])


@pytest.mark.parametrize("text", SENTENCES)
def test_what_follows_a_word_for_a_secret_is_in_no_text(text):
    assert HIDDEN not in masked(f"ERROR {text} (kafka.Kafka)")


@pytest.mark.parametrize("value", ["true", " 5 ", "-1.5", "", "io.example.Reporter, io.example.b.Reporter2"])
def test_of_a_key_that_kafka_does_not_define_what_is_no_text_is_kept(value):
    assert not is_free_text("company.reporter.setting", value)
    assert not is_free_text("leader.replication.throttled.rate", value)


@pytest.mark.parametrize("value", [HIDDEN, f"we say {HIDDEN}", "swordfish", "[1]", '{"a": 1}', "a.b", f"io.example.A,{HIDDEN}"])
def test_of_a_key_that_kafka_does_not_define_no_text_is_kept(value):
    assert is_free_text("company.motd", value)
    assert is_free_text("listener.name.ext.company.motd", value)
    assert not is_free_text("broker.rack", value)
    assert not is_free_text("listener.name.ext.ssl.cipher.suites", value)
    assert not is_free_text("listener.name.ext.scram-sha-512.sasl.login.class", value)


BESIDES = {"sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.assertion.private.key.file"}


@pytest.mark.parametrize("version", VERSIONS)
def test_of_kafkas_own_settings_those_are_secrets_that_kafka_hides(version):
    """Rather one too many: what is hidden besides says nothing that a check judges by."""
    found = definitions(version)
    secret = {key for key in found if is_secret(key, "")}
    hidden = {key for key, definition in found.items() if definition.type == "PASSWORD"}
    assert hidden <= secret
    assert secret - hidden <= BESIDES


CLIENT_TEXTS = [
    f"Invalid value {HIDDEN} for configuration ssl.key.password: Password must be set",
    f"Invalid value {HIDDEN} for configuration ldap.bind.pw",
    f"Invalid value 3 for configuration num.io.threads, Invalid value {HIDDEN} for configuration ssl.key.password.",
    f"Invalid value {HIDDEN} for configuration ssl.key.password, Invalid value 3 for configuration num.io.threads",
    f"Invalid value a for configuration {HIDDEN} for configuration ssl.key.password",
    f"refused: password={HIDDEN}",
    f'{{"password": "a \\" {HIDDEN}"}}',
    f"cannot reach https://user:{HIDDEN}@store.example/x",
    f"token {TOKEN} expired",
    f"GET https://store.example/x?sv=1&sig={HIDDEN} failed",
    f"{'k' * 500}.password={HIDDEN}",
    f"KafkaServer {{ org.x.PlainLoginModule required password='{HIDDEN}' }}",
]


@pytest.mark.parametrize("text", CLIENT_TEXTS)
def test_a_party_s_own_words_are_masked(text):
    assert HIDDEN not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "the login of kafka-audit was refused",
        "not tried: PLAIN is not enabled on listener EXTERNAL, which offers SCRAM-SHA-512,GSSAPI",
        "server.properties, line 3: the id is 2, not 1",
        "Unexpected broker id, expected 2 or empty string, but received 2147483647",
        "Invalid value -1 for configuration num.io.threads: Value must be at least 1",
        "api to b1.example:9092: connection refused",
        "/brokers/ids/3: unreadable JSON: Expecting value: line 1 column 1 (char 0)",
        "PLAINTEXT://[::1]:9092,SECRET://b1:9093",
        "Keystore was tampered with, or password was incorrect",
        "Authentication failed due to invalid credentials with SASL mechanism SCRAM-SHA-512",
        "No valid credentials provided (Mechanism level: Failed to find any Kerberos tgt)",
        "SSL key store is specified, but key store password is not specified.",
        "Delegation Token feature is not enabled.",
        "https://idp.example/token answers with an access token that has expired",
        "no access token within 5.0 s",
        "Invalid username or password (channelId=10.0.0.1:9092-10.0.0.2:4711-3)",
        "PLAIN without TLS sends the password in clear text, and b1.example:9092 is not in the cluster file",
        "ssl.key.password is not set, and neither is /etc/kafka/secrets/kafka.jks",
    ],
)
def test_honest_words_stay_as_they_are(text):
    assert masked(text) == text


def sentences():
    """Return settings with sentences, some of which hold a secret that no word shows."""
    told = [*SENTENCES, *SENTENCES_OF_SETTINGS, f"as always {HIDDEN}", HIDDEN]
    return {f"company.motd.{number}": text for number, text in enumerate(told)}


def planted():
    """Return settings that a broker calls harmless, and others that are."""
    return {key: (value, False) for key, value in {**SECRETS, **READABLE, **sentences()}.items()}


def test_what_a_broker_calls_harmless_is_in_no_row(tmp_path):
    with HostileCluster() as cluster:
        broker = cluster.brokers[2]
        broker.configs |= {key: text for key, text in planted().items() if key not in broker.configs and len(key) <= LONGEST_KEY}
        for path in ("/config/brokers/0", "/config/brokers/<default>"):
            cluster.zookeeper.znodes[path] = json.dumps({"version": 1, "config": SECRETS | sentences()}).encode()
        cluster.zookeeper.znodes["/config/topics/orders"] = json.dumps({"config": {"min.insync.replicas": TOKEN}}).encode()
        registration = json.loads(cluster.zookeeper.znodes["/brokers/ids/1"])
        cluster.zookeeper.znodes["/brokers/ids/1"] = json.dumps(registration | {"rack": SENTENCES[0]}).encode()
        broker.script[35] = changed(_refuse)  # DescribeLogDirs has no words of its own, so DescribeCluster says them
        broker.script[60] = changed(_refuse)
        (tmp_path / "0.properties").write_text(
            "broker.id=0\n" + "".join(f"{k}={v!r}\n" for k, v in (SECRETS | sentences()).items())
        )
        (tmp_path / "server-0.log").write_text("".join(f"[2026-11-22 03:00:00,000] {line}\n" for line in _log_lines()))
        logs = Logs(paths=(str(tmp_path / "server-{broker_id}.log"),))
        snapshot = taken_of(cluster, properties=(str(tmp_path / "{broker_id}.properties"),), logs=logs)
    for row in rows_of(snapshot):
        assert HIDDEN not in repr(row), row
    settings = {row.key: row.value for row in snapshot.of(BrokerConfig) if row.broker_id == 2}
    assert {key: settings[key] for key in READABLE if key not in cluster.brokers[0].configs} == {
        key: value for key, value in READABLE.items() if key not in cluster.brokers[0].configs
    }
    assert {row.sensitive for row in snapshot.of(BrokerConfig) if row.key in {**SECRETS, **sentences()}} == {True}
    assert {row.rack for row in snapshot.of(RegisteredBroker) if row.broker_id == 1} == {MASK}
    assert {row.secret for row in snapshot.of(DynamicConfig)} == {True}
    assert {row.value for row in snapshot.of(TopicConfig) if row.topic == "orders"} == {MASK}
    (read,) = {row.message for row in snapshot.of(SourceRead) if row.operation == "DescribeCluster" and row.outcome == "failed"}
    assert read == f"Invalid value {MASK} for configuration ssl.key.password"


def _refuse(message):
    message.error_code = 42
    if hasattr(message, "error_message"):
        message.error_message = f"Invalid value {HIDDEN} for configuration ssl.key.password"


def _log_lines():
    yield "ERROR Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)"
    yield from (f"org.apache.kafka.common.config.ConfigException: {text}" for text in CLIENT_TEXTS[:1])
    yield from (f"org.apache.kafka.common.config.ConfigException: {text}" for text in SENTENCES[:2])
    yield f"ERROR Error while appending records to orders-0 in dir /x?sig={HIDDEN} password={HIDDEN} (kafka.log)"


def test_the_auditor_s_own_password_is_in_no_row():
    """Whoever got it, and wherever it comes back."""
    with HostileCluster() as cluster:
        broker = cluster.brokers[2]
        broker.configs["broker.motto"] = (f"we know {PASSWORD}", False)
        cluster.create_topic(f"of-{PASSWORD}", {0: [0, 1, 2]})
        cluster.zookeeper.znodes["/config/users/" + PASSWORD] = b'{"config":{"SCRAM-SHA-256":"x"}}'
        cluster.zookeeper.znodes["/brokers/ids/7"] = json.dumps({"endpoints": [PASSWORD]}).encode()
        login = Security(protocol="SASL_SSL", mechanism="PLAIN", username="auditor", password_env="PASSWORD")  # noqa: S106 -- a name
        snapshot = taken_of(cluster, listeners={"EXTERNAL": login}, secrets={"PASSWORD": PASSWORD})
    for row in rows_of(snapshot):
        assert PASSWORD not in repr(row), row
    assert f"of-{MASK}" in repr(rows_of(snapshot))


def without_secrets(rows, *more, **named):
    return filtered(Collected(rows=rows), *more, **named).rows


def encoded(secret, user="auditor"):
    """Yield what a party may make of the secret that it received."""
    raw = secret.encode()
    yield from (
        secret,
        secret[::-1],
        raw.hex(),
        raw.hex().upper(),
        quote(secret, safe=""),
        repr(secret)[1:-1],
        json.dumps(secret)[1:-1],
    )
    for message in (
        raw,
        b"\0" + user.encode() + b"\0" + raw,
        b"x" + user.encode() + b"\0" + user.encode() + b"\0" + raw,
        raw + b"=1",
    ):
        yield base64.b64encode(message).decode()
        yield base64.urlsafe_b64encode(message).decode()
        yield message.hex()


SECRET_WORDS = ["correct-horse9", "pa%ss/wo+rd?~", "gr\u00f6\u00dfe und mehr"]


@pytest.mark.parametrize("secret", SECRET_WORDS)
def test_no_form_of_the_auditor_s_password_is_in_any_value(secret):
    """A broker repeats it in a setting, an error, a host, a principal, a topic, a log line."""
    inner = [
        secret,
        secret[::-1],
        secret.encode().hex(),
        *(base64.b64encode(b"\0" * n + secret.encode()).decode()[4:-4] for n in range(3)),
    ]
    for form in encoded(secret):
        text = f"we know {form}, do we"
        rows = (
            BrokerConfig(observer="broker:1", broker_id=1, key="broker.motto", value=text, source=4, sensitive=False),
            SourceRead(sample=1, observer="broker:1", operation="Metadata", target="b", outcome="failed", message=text),
            RegisteredEndpoint(sample=1, broker_id=1, listener="P", protocol="PLAINTEXT", host=form, port=9092),
            Acl(acls_digest="d", resource_type="Topic", resource_name=form, pattern_type="LITERAL", principal=f"User:{form}",
                host="*", operation="Read", permission="ALLOW"),
        )  # fmt: skip
        table = pa.table({"observer": ["zookeeper"], "topic": [form], "key": ["x.motto"], "value": [text]})
        found = filtered(Collected(rows=rows, large={TopicConfig: table}), {secret})
        shown = repr(found.rows) + repr(found.large[TopicConfig].to_pylist())
        assert MASK in shown, form
        assert [part for part in inner if part in shown] == [], form


@pytest.mark.parametrize("value", ["a=1; pass=hunter2; x", "pwd=hunter2", 'x, "pass"=hunter2', "jdbc:x;pw=hunter2"])
def test_a_value_with_a_password_inside_is_a_secret(value):
    assert is_secret("broker.motto", value)
    assert "hunter2" not in masked(f"it said {value}") or value.startswith("x,")


@pytest.mark.parametrize("value", ["bypass=true", "compass=north", "User:pass;User:b", "passes=2", "RULE:[1:$1](.*)s/@.*//"])
def test_a_value_that_only_looks_like_it_stays(value):
    assert not is_secret("broker.motto", value)


def test_of_a_short_password_no_form_is_searched_that_words_hold():
    """Reversed, `pots` is stop; its base64 has five characters, which ids of topics hold by chance."""
    read = made(SourceRead, operation="Metadata", target="b", outcome="failed", message="stop cG90c9 706f7473")
    assert without_secrets((read,), {"pots"})[0].message == f"stop cG90c9 {MASK}"


def test_a_short_password_shreds_no_names():
    endpoint = RegisteredEndpoint(sample=1, broker_id=1, listener="PLAINTEXT", protocol="PLAINTEXT", host="kafka-1", port=9092)
    acl = Acl(
        acls_digest="d", resource_type="Topic", resource_name="kafka", pattern_type="LITERAL", principal="User:a", host="*",
        operation="Read", permission="ALLOW",
    )  # fmt: skip
    read = SourceRead(sample=1, observer="broker:1", operation="Metadata", target="b", outcome="failed", message="login kafka")
    assert without_secrets((endpoint, acl, read), {"kafka"})[:2] == (endpoint, acl)
    assert without_secrets((endpoint, acl, read), {"kafka"})[2].message == f"login {MASK}"
    assert without_secrets((read,), {"a"}) == (read,)


def test_the_last_filter_reads_no_value_twice_and_none_after_its_time(monkeypatch):
    def row(value):
        return BrokerConfig(observer="broker:0", broker_id=0, key="some.setting", value=value, source=4, sensitive=False)

    read, unread = row("read by a reader"), row("read by none")
    assert not is_secret(read.key, read.value)
    assert without_secrets((read, unread), (), until=time.monotonic() - 1) == (read, replace(unread, value=None, sensitive=True))
    assert without_secrets((read, unread), ()) == (read, unread)
    monkeypatch.setattr(secret_keys, "REST", None)  # nothing is searched in again
    assert without_secrets((read, unread), ()) == (read, unread)


def test_our_own_words_are_no_password():
    probe = made(Probe, listener="bootstrap", host="b", port=1, layer="identity")
    assert without_secrets((probe,), {"bootstrap", "identity"}) == (probe,)


@pytest.mark.parametrize(
    "unit", ["://:", ":", "://", "a", "token", "secret ", "passwd", "eyJ", "Invalid value ", " for configuration ", "="]
)
def test_megabytes_are_read_in_a_moment(unit):
    """60 KB of `://:::…` took 21.7 s: a search whose work is the square of the text reads these for hours, and never ends."""
    text = f"://{unit * (2_000_000 // len(unit))}"
    assert is_secret("some.setting", text)
    is_secret(text, "")
    assert masked(text)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("sshpass -p hunter2 ssh kafka-0", "sshpass -p [masked] ssh kafka-0"),
        ("/usr/bin/sshpass -phunter2 ssh kafka-0", "/usr/bin/sshpass -p[masked] ssh kafka-0"),
        ("kubectl --token hunter2 exec -i kafka-0 --", "kubectl --token [masked] exec -i kafka-0 --"),
        ("kubectl --token=hunter2 exec -i kafka-0 --", "kubectl --token=[masked] exec -i kafka-0 --"),
        ("env PGPASSWORD=hunter2 sh", "env PGPASSWORD=[masked] sh"),
        ("curl https://me:hunter2@h/log", "curl https://[masked]@h/log"),
        ("ssh -p 2222 -i key kafka-0", "ssh -p 2222 -i key kafka-0"),  # the nearest cases: no password
        ("docker exec -i password-store cat /keys", "docker exec -i password-store cat /keys"),
        ("", ""),
    ],
)
def test_a_command_is_shown_without_the_passwords_that_its_owner_wrote_into_it(command, shown):
    assert masked_command(command.split()) == shown.split()


def test_an_exception_s_text_stays_out():
    try:
        int(HIDDEN)
    except ValueError as error:
        message = unexpected_failure(error)
    assert isinstance(message, ReadError)
    assert HIDDEN not in str(message)

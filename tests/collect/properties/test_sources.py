"""Files of server.properties wherever they are: what they say, and one clear row for each that cannot be used."""

import os
import threading
import time

import pytest
from upath import UPath

from kafka_audit.collect.nodes import Nodes, nodes
from kafka_audit.collect.properties import sources
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, PropertyLogin, QuorumReplica, SourceRead
from made_rows import made, of

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def text(broker, more=""):
    return f"broker.id={broker}\nlisteners=PLAINTEXT://h{broker}:9092\n{more}"


@pytest.fixture
def files(tmp_path):
    def write(**contents):
        for name, content in contents.items():
            (tmp_path / f"{name}.properties").write_bytes(content if isinstance(content, bytes) else content.encode())
        return [str(tmp_path / f"{name}.properties") for name in contents]

    write.template = str(tmp_path / "s{broker_id}.properties")
    return write


def read(paths, brokers=(0, 1, 2), read_s=60.0, controllers=()):
    return sources.read_properties_files(
        paths, Nodes(brokers=tuple(sorted(brokers)), controllers=controllers), 1, read_s, time.monotonic() + 3600
    )


def reads(rows):
    return {row.observer: (row.outcome, row.error) for row in of(rows, SourceRead)}


def failure(rows):
    (row,) = [row for row in of(rows, SourceRead) if row.outcome == "failed"]
    return row


ANSWERED = ("answered", None)


def test_a_template_is_filled_with_each_broker(files):
    files(s0=text(0), s2=text(2))
    rows = read([files.template], brokers=(2, 0))
    assert reads(rows) == {"properties:0": ANSWERED, "properties:2": ANSWERED}
    found = {(row.broker_id, row.key): (row.value, row.line, row.source) for row in of(rows, BrokerProperty)}
    assert found[2, "listeners"] == ("PLAINTEXT://h2:9092", 2, files.template.replace("{broker_id}", "2"))


def test_placeholders_of_controllers_are_filled_with_theirs(files):
    paths = files(s0=text(0), s200="process.roles=controller\nnode.id=200\n")
    both = files.template.replace("broker_id", "node_id")
    assert reads(read([both], brokers=(0,), controllers=(200,))) == {"properties:0": ANSWERED, "properties:200": ANSWERED}
    alone = files.template.replace("broker_id", "controller_id")
    assert reads(read([files.template, alone], brokers=(0,), controllers=(200,))).keys() == {"properties:0", "properties:200"}
    needed = failure(read([alone, paths[0]], brokers=(0,)))
    assert (needed.needs, needed.observer) == (
        "an answer to DescribeQuorum, or paths without {controller_id}",
        f"properties:{alone}",
    )


def test_the_quorum_settings_and_files_name_controllers():
    common = {"source": "s", "secret": False, "line": 1}
    rows = [
        made(QuorumReplica, observer="broker:0", replica_id=200, voter=True, log_end_offset=1),
        made(QuorumReplica, observer="broker:0", replica_id=7, log_end_offset=1),
        made(BrokerConfig, broker_id=0, key="controller.quorum.voters", value="200@c0:9093, 201@c1:9093,1@b1:9093"),
        BrokerProperty(**common, broker_id=202, key="process.roles", value=" controller "),
        BrokerProperty(**common, broker_id=8, key="process.roles", value="broker"),
    ]  # fmt: skip
    assert nodes([1, 0], rows, 10) == Nodes(brokers=(0, 1), controllers=(200, 201, 202))
    assert nodes([1, 0], rows, 2).controllers == (200, 201)


def test_a_list_may_come_in_any_order_and_the_id_inside_decides(files):
    rows = read(files(x=text(2), y="process.roles=broker\nnode.id = 0 \n"), brokers=(0, 1, 2))
    # Broker 1's file is not named, so it is not asked for.
    assert reads(rows) == {"properties:0": ANSWERED, "properties:2": ANSWERED}


def test_a_url_is_read_and_shown_without_its_login():
    UPath("memory://conf/s1.properties").write_text(text(1))
    (answered,) = of(read(["memory://me:hunter2@conf/s{broker_id}.properties"], brokers=[7]), SourceRead)
    assert "hunter2" not in repr(answered)
    assert reads(read(["memory://conf/s{broker_id}.properties"], brokers=[1])) == {"properties:1": ANSWERED}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("nosuch://AKIA123:hun/ter2@conf/s1", "nosuch://conf/s1"),
        ("nosuch://me:hunt@er2@conf/s1", "nosuch://conf/s1"),
        ("nosuch://h:22/a@b/s1", "nosuch://h:22/a@b/s1"),
        ("nosuch://conf/a@b:c/s1", "nosuch://conf/a@b:c/s1"),
        ("/conf/a@b:c/s1", "/conf/a@b:c/s1"),
    ],
)
def test_a_failure_names_a_url_without_its_login(url, shown):
    (failed,) = of(read([url], brokers=[1]), SourceRead)
    assert shown in failed.message
    assert failed.target == shown
    assert not [part for part in ("AKIA123", "hun", "ter2", "er2") if part in repr(failed)]


def test_secrets_never_become_a_row(files):
    more = (
        "ssl.keystore.password=hunter2\nssl.key.password = hunter2\nssl.keystore.key=hunter2\nsasl.jaas.config=hunter2;\n"
        "listener.name.ext.plain.ssl.truststore.password=hunter2\ndelegation.token.master.key=hunter2\nmy.client.secret=hunter2\n"
        "reporter.url=https://me:hunter2@h/\nproducer.x=org.a.PlainLoginModule required password=hunter2;\n"
        "azure.account.key=hunter2\nssl.keystore.certificate.chain=hunter2\npassword.encoder.iterations=4096\n"
        "super.users=User:a;User:b\ndelegation.token.expiry.time.ms=1\nzookeeper.connect=zk:2181/kafka\nssl.client.auth=none\n"
    )
    rows = read(files(a=text(0, more)))
    assert "hunter2" not in repr(rows)
    shown = {row.key: row.value for row in of(rows, BrokerProperty) if not row.secret}
    assert set(shown) == {
        *("broker.id", "listeners", "password.encoder.iterations", "super.users", "delegation.token.expiry.time.ms"),
        *("zookeeper.connect", "ssl.client.auth"),
    }
    assert all(row.value is None for row in of(rows, BrokerProperty) if row.secret)
    assert len([row for row in of(rows, BrokerProperty) if row.secret]) == 11


def test_logins_show_who_and_whether_passwords_are_equal(files):
    key = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
    jaas = f'{key}={PLAIN} username="kafka" password="a" user_kafka="a" user_eve="b";'
    two = f'{key}={PLAIN} username="kafka" \\\n  password="b" user_kafka="a";'
    rows = read(files(a=text(0, jaas), b=text(1, two)))
    logins = of(rows, PropertyLogin)
    clients = [(row.broker_id, row.listener, row.mechanism, row.side, row.username) for row in logins]
    assert clients == [
        (0, "SASL_PLAINTEXT", "PLAIN", "client", "kafka"),
        (0, "SASL_PLAINTEXT", "PLAIN", "server", "kafka"),
        (0, "SASL_PLAINTEXT", "PLAIN", "server", "eve"),
        (1, "SASL_PLAINTEXT", "PLAIN", "client", "kafka"),
        (1, "SASL_PLAINTEXT", "PLAIN", "server", "kafka"),
    ]
    a, same, b, other, again = [row.password_digest for row in logins]
    assert a == same == again != b == other
    assert a not in {
        row.password_digest for row in of(read(files(a=text(0, jaas))), PropertyLogin)
    }  # another snapshot, another key


def test_a_jaas_text_that_kafka_refuses_is_a_row_and_the_rest_is_there(files):
    (path,) = files(a=text(0, f'listener.name.sasl_ssl.plain.sasl.jaas.config={PLAIN} username="a" password="hunter2"\n'))
    rows = read([path])
    row = failure(rows)
    assert (row.observer, row.error) == ("properties:0", "unreadable JAAS text")
    key = "listener.name.sasl_ssl.plain.sasl.jaas.config"
    assert row.needs == f"a JAAS configuration that Kafka accepts for {key} in {path}, line 3"
    assert "not terminated by semi-colon" in row.message
    assert "hunter2" not in repr(rows)
    assert len(of(rows, BrokerProperty)) == 3


def test_a_jaas_text_that_a_provider_completes_is_not_compared(files):
    more = f'config.providers=file\nlistener.name.x.plain.sasl.jaas.config={PLAIN} username="a" password="${{file:/x:y}}";\n'
    rows = read(files(a=text(0, more)))
    assert (failure(rows).error, of(rows, PropertyLogin)) == ("not in the file", [])
    literal = more.removeprefix("config.providers=file\n")  # the nearest case: without a provider it is the password
    assert len(of(read(files(a=text(0, literal))), PropertyLogin)) == 1


FAILURES = [
    (b"listeners=C:\\users\n", "unreadable", "line 1: a \\u without four hexadecimal digits", "a file that Java can read"),
    (b"\xef\xbb\xbfbroker.id=0\n", "no broker id", "byte order mark", "broker.id or node.id in"),
    (b"", "no broker id", "it contains no property", "broker.id or node.id in"),
    (b"<html>no</html>", "no broker id", "no broker.id or node.id among 1", "broker.id or node.id in"),
    (b"a=1\nbroker.id=-1\n", "no broker id", "line 2: broker.id is assigned by ZooKeeper", "broker.id or node.id in"),
    (b"\nbroker.id=zero\n", "no broker id", "line 2: broker.id is not a number", "a number for broker.id in"),
    (b"node.id=1\nbroker.id=0\n", "two broker ids", "line 2 has broker.id=0, line 1 node.id=1", "one id in"),
    (b"\n\nbroker.id=7\n", "another broker's file", "line 3: the id is 7, not 0", "the file of broker 0 at"),
    (b"x=" + b"1" * sources.MOST_BYTES, "too large", "more than 1048576 bytes", "a server.properties at"),
]


@pytest.mark.parametrize(("content", "error", "message", "needs"), FAILURES)
def test_a_file_that_cannot_be_used_is_one_row_that_names_it(files, content, error, message, needs):
    (path,) = files(s0=content)
    files(s1=text(1))
    rows = read([files.template], brokers=[0, 1])
    row = failure(rows)
    assert (row.observer, row.operation, row.target, row.error) == ("properties:0", "properties", path, error)
    assert path in row.message
    assert message in row.message
    assert needs in row.needs
    assert path in row.needs
    assert {row.broker_id for row in of(rows, BrokerProperty)} == {1}


@pytest.mark.parametrize("name", ["absent", ".", "a.properties/under"])
def test_a_path_that_leads_nowhere_is_a_row(files, tmp_path, name):
    files(a=text(0))
    row = failure(read([str(tmp_path / name)]))
    assert row.error in {"no such file", "a folder"}
    assert row.observer == f"properties:{tmp_path / name}"
    assert row.needs == f"a readable file at {tmp_path / name}"


@pytest.mark.parametrize("url", ["nosuch://conf/x", "s3://conf/x"])
def test_a_file_system_that_is_not_installed_is_a_row(url):
    row = failure(read([url]))
    assert (row.outcome, row.target) == ("failed", url)
    assert url in row.message


def test_two_files_for_one_broker_are_one_row_and_neither_is_believed(files):
    paths = files(a=text(1), b=text(1), c=text(2))
    rows = read(paths)
    row = failure(rows)
    assert (row.observer, row.error, row.needs) == ("properties:1", "two files", "one file for broker 1")
    assert row.message == f"{paths[0]} and {paths[1]} both name broker 1"
    assert {row.broker_id for row in of(rows, BrokerProperty)} == {2}


def test_one_file_named_twice_is_one_file(files):
    assert reads(read(files(a=text(1)) * 2)) == {"properties:1": ANSWERED}


def test_without_any_known_broker_a_template_is_a_row(files):
    row = failure(read([files.template], brokers=()))
    assert (row.observer, row.error) == (f"properties:{files.template}", "no broker id")
    assert "paths without {broker_id}" in row.needs


def test_a_file_that_hangs_costs_its_own_row_and_its_deadline(files, monkeypatch):
    one, other = files(a=text(1), b=text(2))
    own, over = sources.regular_files.read_regular_file, threading.Event()
    monkeypatch.setattr(
        sources.regular_files, "read_regular_file", lambda path, most: over.wait() if str(path) == other else own(path, most)
    )
    rows = read([one, other], read_s=3.0)
    over.set()
    assert reads(rows) == {f"properties:{other}": ("failed", "timeout"), "properties:1": ANSWERED}


def test_what_is_no_regular_file_is_not_opened(files, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "kernel").symlink_to("/proc/version")
    rows = read([str(tmp_path / "pipe"), str(tmp_path / "kernel"), "/dev/zero", *files(a=text(1))])
    refused = ("failed", "unreadable")
    assert reads(rows) == {
        f"properties:{tmp_path / 'pipe'}": refused,
        f"properties:{tmp_path / 'kernel'}": refused,
        "properties:/dev/zero": refused,
        "properties:1": ANSWERED,
    }
    assert "is a kernel file, /proc/version" in str(of(rows, SourceRead))

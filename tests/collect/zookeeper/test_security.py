"""ACLs, dynamic configuration and SCRAM users in a ZooKeeper in memory: told without secrets, refused in one row."""

import pytest
from kazoo.exceptions import NoAuthError

from collect.brokers.test_privileged_reads import RULES, body
from collect.fakes import FakeZookeeper
from collect.zookeeper.test_zookeeper_view import failed, look, text, znodes
from counted_work import counted_calls, exponent
from kafka_audit.clients.zookeeper.multi_read import Znode
from kafka_audit.collect.brokers.acls import AclBook
from kafka_audit.collect.rows.acl_sets import acl_rows, digest
from kafka_audit.collect.zookeeper import security
from kafka_audit.collect.zookeeper.security import PLANNED
from kafka_audit.collect.zookeeper.znodes import LARGE
from kafka_audit.model.tables import Acl, AclHolder, DynamicConfig, Quota, QuotaUser, RegisteredTopic, ScramUser, SourceRead
from kafka_audit.model.tables.registry import DEFAULT
from made_rows import of


def acl(principal="User:a", operation="Read", permission="Allow", host="*"):
    return {"principal": principal, "permissionType": permission, "operation": operation, "host": host}


def acls(*entries):
    return text({"version": 1, "acls": list(entries)})


SCRAM = "salt=c2FsdHNhbHQ=,stored_key=aHVudGVyMg==,server_key=aHVudGVyMg==,iterations=4096"
ENCRYPTED = "passwordLength:7,encryptedPassword:aHVudGVyMg==,keyFactoryAlgorithm:PBKDF2WithHmacSHA512"
SECURITY = {
    "/kafka-acl/Cluster/kafka-cluster": acls(
        acl("User:kafka", "ClusterAction"), acl("User:eve", "ClusterAction", "Deny", "10.0.0.1")
    ),
    "/kafka-acl/Topic": b"",
    "/kafka-acl-extended/prefixed/Topic/pay": acls(acl()),
    "/config/brokers/1": text(
        {
            "version": 1,
            "config": {
                "log.cleaner.threads": "2",
                "listener.name.ext.ssl.keystore.password": ENCRYPTED,
                "listener.name.ext.ssl.keystore.location": "/k",
                "odd.name": ENCRYPTED,
                "sasl.jaas.config": "hunter2",
            },
        }
    ),
    "/config/brokers/<default>": text({"version": 1, "config": {"background.threads": "11"}}),
    "/config/users/alice": text(
        {"version": 1, "config": {"SCRAM-SHA-512": SCRAM, "SCRAM-SHA-256": SCRAM, "producer_byte_rate": "1"}}
    ),
    "/config/users/CN%3Dbob%2CO%3Dx": text({"version": 1, "config": {"SCRAM-SHA-256": SCRAM}}),
    "/config/users/quota-only": text({"version": 1, "config": {"producer_byte_rate": "1"}}),
    "/config/users/<default>": text({"version": 1, "config": {}}),
    "/config/clients/an%20app": text({"version": 1, "config": {"consumer_byte_rate": "2.5", "unknown": "x"}}),
    "/config/ips/<default>": text({"version": 1, "config": {"connection_creation_rate": "20"}}),
    "/config/users/quota-of-one-client/clients/app": text({"version": 1, "config": {"producer_byte_rate": "1"}}),
}


def secured(**changes):
    return FakeZookeeper(znodes() | SECURITY | changes)


def outcomes(rows):
    return {row.operation: (row.outcome, row.error) for row in of(rows, SourceRead)}


@pytest.mark.parametrize("chroot", ["", "/kafka"])
def test_all_of_it_is_told(chroot):
    rows = look(FakeZookeeper({chroot + path: data for path, data in (znodes() | SECURITY).items()}, chroot))
    assert failed(rows) == {}
    (holder,) = of(rows, AclHolder)
    assert (holder.observer, holder.broker_id, holder.acls) == ("zookeeper", None, 3)
    assert [tuple(vars(acl).values())[1:] for acl in of(rows, Acl)] == [
        ("Cluster", "kafka-cluster", "LITERAL", "User:eve", "10.0.0.1", "ClusterAction", "DENY"),
        ("Cluster", "kafka-cluster", "LITERAL", "User:kafka", "*", "ClusterAction", "ALLOW"),
        ("Topic", "pay", "PREFIXED", "User:a", "*", "Read", "ALLOW"),
    ]
    assert {(config.broker_id, config.key): (config.value, config.secret) for config in of(rows, DynamicConfig)} == {
        (1, "log.cleaner.threads"): ("2", False),
        (1, "listener.name.ext.ssl.keystore.password"): (None, True),
        (1, "listener.name.ext.ssl.keystore.location"): ("/k", False),
        (1, "odd.name"): (None, True),
        (1, "sasl.jaas.config"): (None, True),
        (None, "background.threads"): ("11", False),
    }
    assert sorted((user.user, user.mechanism) for user in of(rows, ScramUser)) == [
        ("CN=bob,O=x", "SCRAM-SHA-256"),
        ("alice", "SCRAM-SHA-256"),
        ("alice", "SCRAM-SHA-512"),
    ]
    assert {user.user for user in of(rows, QuotaUser)} == {"alice", "quota-only"}
    assert {(quota.user, quota.client_id, quota.address, quota.key, quota.limit) for quota in of(rows, Quota)} == {
        ("alice", None, None, "producer_byte_rate", 1),
        ("quota-only", None, None, "producer_byte_rate", 1),
        (None, "an app", None, "consumer_byte_rate", 2.5),
        (None, None, DEFAULT, "connection_creation_rate", 20),
    }


def test_a_quota_that_is_no_number_costs_its_own_znode_only():
    rows = look(secured(**{"/config/ips/<default>": text({"version": 1, "config": {"connection_creation_rate": [1]}})}))
    assert failed(rows).keys() == {"zookeeper /config/ips/<default>"}
    assert {quota.key for quota in of(rows, Quota)} == {"producer_byte_rate", "consumer_byte_rate"}


def test_no_secret_is_in_any_row():
    printed = repr(look(secured()))
    for secret in ("hunter2", "aHVudGVyMg", "c2FsdHNhbHQ", "stored_key", "salt="):
        assert secret not in printed


def test_the_same_acls_have_the_same_digest_in_zookeeper_and_at_a_broker():
    (holder,) = of(look(secured()), AclHolder)
    assert AclBook().add(body(3, RULES), 3) == (holder.acls_digest, holder.acls)


def test_no_authorizer_and_none_that_was_given_an_acl_are_two_things():
    assert of(look(FakeZookeeper(znodes())), AclHolder) == []
    (holder,) = of(look(FakeZookeeper(znodes() | {"/kafka-acl/Topic": b"", "/kafka-acl/Cluster": b""})), AclHolder)
    assert holder.acls == 0
    for rows in (look(FakeZookeeper(znodes())), look(secured())):
        assert {f"zookeeper {path}" for path in PLANNED} <= {
            outcome for outcome, reads in outcomes(rows).items() if reads[0] == "answered"
        }


@pytest.mark.parametrize("hidden", ["/config/users", "/config/users/alice"])
def test_what_zookeeper_set_acl_hides_is_one_row_with_its_need(hidden):
    """zookeeper.set.acl=true hides the set itself; where only its znodes are hidden, one row says the same as thousands."""
    rows = look(secured(**{hidden: NoAuthError()}))
    (row,) = failed(rows).values()
    assert (row.operation, row.error) == ("zookeeper /config/users", "NoAuthError")
    assert row.needs.startswith("read permission on /config/users")
    assert of(rows, ScramUser) == []
    assert (len(of(rows, AclHolder)), len(of(rows, DynamicConfig)), len(of(rows, RegisteredTopic))) == (1, 6, 2)


@pytest.mark.parametrize(
    "hidden", ["/kafka-acl", "/kafka-acl/Cluster", "/kafka-acl/Cluster/kafka-cluster", "/kafka-acl-extended/prefixed"]
)
def test_acls_of_which_a_part_is_hidden_are_no_set(hidden):
    rows = look(secured(**{hidden: NoAuthError()}))
    assert {operation: row.error for operation, row in failed(rows).items()} == {"zookeeper /kafka-acl": "NoAuthError"}
    assert of(rows, AclHolder) + of(rows, Acl) == []
    assert len(of(rows, DynamicConfig)) == 6


BROKEN = [
    (b"{", "unreadable JSON"),
    (b"\xff\xfe", "unreadable JSON"),
    (b"[" * 100_000, "nested too deep"),
    (b'{"a":' * 900 + b'"\\ud800"' + b"}" * 900, "nested too deep"),
    (b"[]", "a JSON object was expected"),
    (b"{}", "acls is not a list"),
    (text({"acls": [7]}), "an entry of acls has no principal"),
    (acls({"principal": "User:a"}), "an entry of acls has no principal"),
    (b"x" * 5_000_000, f"5000000 bytes, more than {LARGE}"),
]


@pytest.mark.parametrize(("data", "words"), BROKEN)
def test_a_broken_acl_znode_is_named_and_its_set_is_not_judged_by(data, words):
    path = "/kafka-acl/Topic/orders"
    rows = look(secured(**{path: data}))
    failures = failed(rows)
    assert set(failures) == {f"zookeeper {path}", "zookeeper /kafka-acl"}
    row = failures[f"zookeeper {path}"]
    assert (row.error, row.needs) == ("unreadable", f"a {path} that Kafka can read")
    assert words in row.message
    assert len(row.message) <= 300
    assert (
        failures["zookeeper /kafka-acl"].message == "1 of 2 znodes below /kafka-acl could not be read"
        or "of 3 znodes" in failures["zookeeper /kafka-acl"].message
    )
    assert of(rows, AclHolder) == []
    assert len(of(rows, DynamicConfig)) == 6


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/config/brokers/2", b"{"),
        ("/config/brokers/2", b'{"config": []}'),
        ("/config/brokers/two", b'{"config": {}}'),
        ("/config/brokers/2", b"x" * 4_000_000),
        ("/config/users/carol", b"not json: salt=hunter2"),
        ("/config/users/carol", b'{"config": "salt=hunter2"}'),
    ],
)
def test_a_broken_config_znode_is_one_row_and_the_others_are_told(path, data):
    rows = look(secured(**{path: data}))
    assert set(failed(rows)) == {f"zookeeper {path}"}
    assert (len(of(rows, DynamicConfig)), len(of(rows, ScramUser)), len(of(rows, AclHolder))) == (6, 3, 1)
    assert "hunter2" not in repr(rows)


def test_half_characters_do_not_get_into_a_row():
    """JSON may hold them as escapes, and no file of the store could."""
    data = rb'{"acls": [{"principal": "User:\ud800", "permissionType": "Allow", "operation": "Read", "host": "\uD83D\uDE00"}]}'
    config = b'{"config": {"a\\udfff": "5", "broker.rack": "b\xed\xa0\x80c"}}'
    rows = look(secured(**{"/kafka-acl/Topic/orders": data, "/config/brokers/2": config}))
    assert ("User:\ufffd", "\U0001f600") in {(acl.principal, acl.host) for acl in of(rows, Acl)}
    configs = {(config.key, config.value) for config in of(rows, DynamicConfig)}
    assert {("a\ufffd", "5"), ("broker.rack", "b\ufffdc")} <= configs
    repr(rows).encode()


def test_an_acl_that_goes_away_while_reading_is_no_failure():
    client = secured(**{"/kafka-acl/Topic/orders": acls(acl())})
    client.then["/kafka-acl/Cluster/kafka-cluster"] = lambda: client.znodes.pop("/kafka-acl/Topic/orders")
    rows = look(client)
    assert failed(rows) == {}
    assert [holder.acls for holder in of(rows, AclHolder)] == [3]


def test_many_acls_take_few_requests():
    many = {f"/kafka-acl/Topic/topic-{number}": acls(acl(), acl("User:b", "Write")) for number in range(2_000)}
    client = secured(**many)
    rows = look(client)
    assert [holder.acls for holder in of(rows, AclHolder)] == [4_003]
    assert [len(paths) for paths in client.multi_reads] == [500, 500, 500, 500, 2]
    assert not any("/kafka-acl/" in path for path in client.single_reads)


def test_many_acls_are_decoded_in_little_work():
    znode = Znode(acls(acl(), acl("User:b", "Write")), None)

    def decode(count):
        entries = {acl for number in range(count) for acl in security.acls("Topic", f"t{number}", "LITERAL", znode)}
        assert len([*acl_rows(digest(entries), entries)]) == 2 * count

    assert exponent(decode, [100, 400]) < 1.1
    assert counted_calls(decode, 100) < 200 * 100

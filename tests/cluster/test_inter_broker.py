"""Which listener brokers use to each other, and as whom they appear there: by files, by DescribeConfigs, by registrations."""

from dataclasses import replace

import pytest

from checks.cases import base
from checks.world import snapshots
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.principals import ANONYMOUS
from kafka_audit.model.tables import Certificate, Snapshot, SnapshotInfo
from made_rows import made

LAN = {"PLAINTEXT": "absent", "LAN": "SASL_PLAINTEXT://10.0.0.10:9093"}
SSL = {"PLAINTEXT": "absent", "SSL": "SSL://10.0.0.10:9093"}


def view(**now) -> ClusterView:
    return ClusterView.of_files(snapshots(base(), "world", {"now": now})[0])


def between(**now) -> InterBroker:
    return view(**now).inter_broker


def listener(inter_broker: InterBroker, broker: int = 0):
    found = inter_broker.listener(broker)
    return found and (found.name, found.protocol)


def test_the_protocol_names_the_listener_where_no_name_is_set():
    assert listener(between()) == ("PLAINTEXT", "PLAINTEXT")


def test_the_name_counts_even_beside_a_protocol_that_says_plaintext():
    both = {0: {"listeners": {"LAN": "SASL_PLAINTEXT://10.0.0.10:9093"}}}
    inter_broker = between(
        brokers=both, configs={"inter.broker.listener.name": "LAN", "security.inter.broker.protocol": "PLAINTEXT"}
    )
    assert listener(inter_broker) == ("LAN", "SASL_PLAINTEXT")


def test_a_file_comes_before_what_the_broker_tells():
    both = {0: {"listeners": {"LAN": "SASL_PLAINTEXT://10.0.0.10:9093"}}}
    assert listener(between(brokers=both, properties={0: {"inter.broker.listener.name": "LAN"}})) == ("LAN", "SASL_PLAINTEXT")


def test_a_file_that_names_none_leaves_it_to_the_default():
    assert listener(between(configs="none", properties={0: {"broker.id": "0"}})) == ("PLAINTEXT", "PLAINTEXT")


def test_a_file_alone_maps_its_own_names():
    lines = {"inter.broker.listener.name": "LAN", "listener.security.protocol.map": "LAN:SASL_SSL, PLAINTEXT:PLAINTEXT"}
    assert listener(between(zookeeper="none", brokers="none", configs="none", properties={5: lines}), 5) == ("LAN", "SASL_SSL")


def test_one_that_does_not_tell_uses_what_all_others_use():
    silent = {"configs": {"inter.broker.listener.name": "hidden", 1: {"inter.broker.listener.name": "LAN"}}}
    both = {b: {"listeners": {"LAN": f"SSL://10.0.0.1{b}:9093"}} for b in range(3)}
    assert listener(between(brokers=both, **silent)) == ("LAN", "SSL")


def test_one_listener_is_that_listener_and_two_are_not_known():
    assert listener(between(configs="none")) == ("PLAINTEXT", "PLAINTEXT")
    both = {0: {"listeners": {"LAN": "SSL://10.0.0.10:9093"}}, 1: "absent", 2: "absent"}
    assert listener(between(configs="none", brokers=both)) is None


def test_plaintext_makes_everybody_anonymous():
    principal = between().principal(0, 1)
    assert (principal.names, principal.certain) == ((ANONYMOUS,), True)


@pytest.mark.parametrize(
    ("auth", "names", "certain"),
    [
        ({"ssl.client.auth": "none"}, (ANONYMOUS,), True),
        ({}, (ANONYMOUS,), True),
        ({"ssl.client.auth": "required", "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/"}, ("User:broker-0",), False),
        ({"ssl.client.auth": "requested", "ssl.principal.mapping.rules": "RULE:^CN=.*$/b/U"}, ("User:B", ANONYMOUS), False),
        ({"ssl.client.auth": "required", "ssl.principal.mapping.rules": "RULE:^CN=client$/x/"}, (), False),
        ({"ssl.client.auth": "required", "ssl.principal.mapping.rules": "RULE:\\p{L}+.*/x/,DEFAULT"}, (), False),
        ({"ssl.client.auth": "required", "ssl.principal.mapping.rules": "hidden"}, (), False),
        ({"ssl.client.auth": "requested"}, ("User:CN=broker-0", ANONYMOUS), False),
        ({"ssl.client.auth": "required"}, ("User:CN=broker-0",), False),
        ({"ssl.client.auth": "none", "listener.name.ssl.ssl.client.auth": "required"}, ("User:CN=broker-0",), False),
        ({"ssl.client.auth": "none", "listener.name.ssl.ssl.client.auth": "hidden"}, ("User:CN=broker-0", ANONYMOUS), False),
    ],
)
def test_tls_names_the_certificate_only_where_it_is_asked_for(auth, names, certain):
    brokers = {0: {"listeners": SSL}, 1: "absent", 2: "absent"}
    principal = between(brokers=brokers, configs={"security.inter.broker.protocol": "SSL", **auth}).principal(0, 0)
    assert (principal.names, principal.certain) == (names, certain)


def test_a_certificate_that_nobody_saw_names_nobody():
    inter_broker = between(
        brokers={0: {"listeners": SSL}, 1: "absent", 2: "absent"},
        configs={"security.inter.broker.protocol": "SSL", "ssl.client.auth": "required"},
        certificates={"0/SSL": "unseen"},
    )
    assert inter_broker.principal(0, 0).names == ()


@pytest.mark.parametrize(
    ("mechanism", "logins", "names"),
    [
        ("PLAIN", [("PLAIN", "client", "kafka")], ("User:kafka",)),
        ("PLAIN", [], ()),
        ("PLAIN", [("PLAIN", "server", "kafka")], ()),
        ("PLAIN", [("SCRAM-SHA-512", "client", "kafka")], ()),
        ("PLAIN", [("PLAIN", "client", "kafka"), ("PLAIN", "client", "other")], ()),
        ("GSSAPI", [("GSSAPI", "client", "kafka/host@REALM")], ("User:kafka",)),
        ("GSSAPI", [("GSSAPI", "client", "kafka/host")], ("User:kafka",)),
        ("OAUTHBEARER", [("OAUTHBEARER", "client", "kafka")], ()),
    ],
)
def test_a_login_is_known_from_files_only(mechanism, logins, names):
    inter_broker = between(
        brokers={0: {"listeners": LAN}, 1: "absent", 2: "absent"},
        configs={"inter.broker.listener.name": "LAN", "sasl.mechanism.inter.broker.protocol": mechanism},
        logins=[{"broker": 0, "listener": "lan", "mechanism": m, "side": s, "user": u, "password": "p"} for m, s, u in logins],
    )
    assert inter_broker.principal(0, 0).names == names


def kerberos(rules: str):
    return between(
        brokers={0: {"listeners": LAN}, 1: "absent", 2: "absent"},
        configs={"inter.broker.listener.name": "LAN", "sasl.mechanism.inter.broker.protocol": "GSSAPI"},
        properties={
            0: {
                "inter.broker.listener.name": "LAN",
                "sasl.mechanism.inter.broker.protocol": "GSSAPI",
                "sasl.kerberos.principal.to.local.rules": rules,
            }
        },
        logins=[{"broker": 0, "listener": "lan", "mechanism": "GSSAPI", "side": "client", "user": "kafka/h1@R", "password": ""}],
    ).principal(0, 0)


def test_kerberos_names_go_through_the_rules_of_the_other_side():
    assert kerberos("RULE:[2:$2-$1]/U,DEFAULT").names == ("User:H1-KAFKA",)


def test_a_name_without_rule_ends_the_connection_and_says_so_in_kafkas_words():
    principal = kerberos("RULE:[1:$1]")
    assert principal.names == ()
    assert principal.fails.endswith("end the connection: No rules apply to kafka/h1@R, rules [RULE:[1:$1]]")


def test_rules_that_kafka_refuses_are_told_apart():
    assert kerberos("RULE:[1:$1").refused == "Invalid rule: RULE:[1:$1"


def test_only_the_certificate_of_the_last_look_counts():
    world = {"brokers": {0: {"listeners": SSL}, 1: "absent", 2: "absent"}}
    seen_view = view(**world, configs={"security.inter.broker.protocol": "SSL", "ssl.client.auth": "required"})
    old = [row for row in seen_view.snapshot.of(Certificate) if row.broker_id == 0]
    rows = (*seen_view.snapshot.rows, *(replace(row, sample=row.sample - 1, subject="CN=old") for row in old))
    assert seen_view.with_rows(rows).inter_broker.principal(0, 0).names == ("User:CN=broker-0",)


@pytest.mark.parametrize("builder", ["com.example.Names", "hidden"])
def test_principals_of_somebody_elses_making_are_not_known(builder):
    assert between(configs={"principal.builder.class": builder}).principal(0, 1).names == ()


def test_kafkas_own_builder_of_principals_is_known():
    default = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
    assert between(configs={"principal.builder.class": default}).principal(0, 1).names == (ANONYMOUS,)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"configs": {"super.users": "hidden"}}, None),
        ({"configs": {"super.users": None}}, None),  # null from DescribeConfigs: set, whatever the answer calls it
        ({}, frozenset()),
        ({"configs": "none"}, None),
        ({"properties": {0: {"super.users": "User:a; User:b;"}}}, frozenset({"User:a", "User:b"})),
        ({"properties": {0: {"broker.id": "0"}}, "configs": {"super.users": "hidden"}}, frozenset()),
    ],
)
def test_hidden_super_users_are_never_none_at_all(now, expected):
    assert between(**now).super_users(0) == expected


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("TRUE ", True), ("false", False)])
def test_what_a_file_says_of_no_acl(value, expected):
    assert between(properties={0: {"allow.everyone.if.no.acl.found": value}}).allows_without_acl(0) is expected


def test_nothing_at_all_is_known_of_an_empty_snapshot():
    rows = (made(SnapshotInfo, samples=0),)
    inter_broker = ClusterView.of_files(Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=rows)).inter_broker
    assert inter_broker.brokers == ()
    assert inter_broker.listener(0) is None
    assert inter_broker.acls(0) is None

"""Where a password goes and where it never goes, whatever a cluster lists; hostile brokers keep every byte that they receive."""

import base64
import logging
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

import pytest

from clients.auditor import AMPLE, PASSWORD, SECRETS, ask, login
from collect.oidc_server import make_key, oidc_server
from collect.taken import taken
from collect.taken import target as taken_target
from hostile_parties.broker import HostileBroker
from hostile_parties.party import hang
from hostile_parties.zookeeper import HostileZookeeper, kafka_tree
from kafka_audit.checks.audit.source_not_collected import source_not_collected
from kafka_audit.clients import login_attempts, sasl
from kafka_audit.clients.credentials import ClusterLogins, trust_advice
from kafka_audit.clients.kerberos import Tickets
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.targets import registered_targets
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect.brokers.broker_view import BrokerAsker
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.model.cluster import Cluster, Oidc, Security, ZookeeperAccess
from kafka_audit.model.finding import Status
from kafka_audit.model.read_failure import LASTING, ReadFailure
from kafka_audit.model.tables import BrokerConfig, BrokerView, Probe, RegisteredEndpoint, SourceRead
from made_rows import of

USERS = {"auditor": PASSWORD}
PASSWORDS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
HOSTILE = "127.0.0.19"


class Brokers:
    """Honest brokers 0 and 1, and broker 9, which an attacker listed: its certificate is trusted, and it accepts every login."""

    def __init__(self, authority, mechanism, stack, host=HOSTILE, **hostile):
        self.authority, self.mechanism = authority, mechanism

        def broker(number, host, users):
            made = HostileBroker(
                number, host=host, tls=authority.issue(f"b{number}", (host,)), mechanisms=(mechanism,), users=users
            )
            return stack.enter_context(made)

        takes_all = mechanism == "OAUTHBEARER"
        self.honest = [broker(number, f"127.0.0.{11 + number}", None if takes_all else USERS) for number in range(2)]
        self.hostile = broker(9, host, None)
        for field, value in hostile.items():
            setattr(self.hostile, field, value)
        self.addresses = {broker.id: (broker.host, broker.port) for broker in (*self.honest, self.hostile)}
        for party in (*self.honest, self.hostile):
            party.brokers, party.controller_id = self.addresses, 0
        endpoints = {broker: {"EXTERNAL": ("SASL_SSL", *address)} for broker, address in self.addresses.items()}
        self.zookeeper = stack.enter_context(HostileZookeeper(kafka_tree(endpoints, {}), host="127.0.0.10"))

    def described(self, **more):
        user = None if self.mechanism == "OAUTHBEARER" else "auditor"
        wanted = login(self.mechanism, ca_file=self.authority.ca_file, username=user)
        fields = {"bootstrap": tuple(broker.address for broker in self.honest), "security": wanted, "limits": AMPLE}
        return fields | more

    def audit(self, *, kraft=False, **more):
        if not kraft:
            more["zookeeper"] = ZookeeperAccess(connect=self.zookeeper.address)
        return taken(**self.described(**more), secrets=SECRETS)


@contextmanager
def brokers(authority, mechanism="PLAIN", **hostile):
    with ExitStack() as stack:
        yield Brokers(authority, mechanism, stack, **hostile)


def failed(snapshot, observer):
    rows = [row for row in snapshot.of(SourceRead) if row.observer == observer and row.outcome == "failed"]
    return {row.operation: (row.error, row.needs) for row in rows}


def heard(broker):
    """What of a login a broker could have heard, in any form."""
    raw = bytes(broker.received)
    words = (PASSWORD.encode(), base64.b64encode(PASSWORD.encode())[:-4], b"auditor", b"Bearer", b"n,,")
    return [*broker.passwords, *broker.scram_messages, *(word for word in words if word in raw)]


@pytest.mark.parametrize("kraft", [False, True], ids=["a znode", "Metadata of honest brokers"])
@pytest.mark.parametrize("mechanism", PASSWORDS)
def test_what_only_the_cluster_lists_is_probed_and_gets_no_password(authority, mechanism, kraft):
    with brokers(authority, mechanism) as parties:
        snapshot = parties.audit(kraft=kraft)
        assert heard(parties.hostile) == []
        assert parties.hostile.handshakes == [mechanism] * 2  # by the probe alone, the second one large
    refused = failed(snapshot, "broker:9")
    assert set(refused) == {"ApiVersions", "Metadata", "DescribeConfigs identity", "DescribeConfigs BROKER"}
    assert set(refused.values()) == {("not trusted", f'trusted_hosts: ["{HOSTILE}"]')}
    assert {row.untrusted_host for row in snapshot.of(SourceRead) if row.outcome == "failed"} == {HOSTILE}
    probed = {row.layer: (row.outcome, row.detail) for row in snapshot.of(Probe) if row.broker_id == 9}
    assert {layer: outcome for layer, (outcome, _) in probed.items()} == dict.fromkeys(
        ("dns", "tcp", "tls", "sasl", "api", "packets"), "ok"
    )
    assert probed["sasl"][1] == mechanism
    assert {row.observer for row in snapshot.of(BrokerView)} == {"broker:0", "broker:1"}
    assert failed(snapshot, "broker:0") == failed(snapshot, "broker:1") == {}
    found = [
        (judgement.resource, judgement.evidence["needs"])
        for judgement in source_not_collected(ClusterView.of_files(snapshot))
        if judgement.status is Status.FAIL
    ]
    assert found == [("broker/9", f'trusted_hosts: ["{HOSTILE}"]')]


@pytest.mark.parametrize("pattern", [HOSTILE, "127.0.0.16/28", f"{HOSTILE}:PORT"])
def test_what_trusted_hosts_matches_is_audited_in_full(authority, pattern):
    """The nearest honest neighbour: a broker that the file trusts, not names."""
    with brokers(authority, "SCRAM-SHA-512", users=USERS, _takes_all=False) as parties:
        snapshot = parties.audit(trusted_hosts=(pattern.replace("PORT", str(parties.hostile.port)),))
    assert {row.observer for row in snapshot.of(BrokerView)} == {"broker:0", "broker:1", "broker:9"}
    assert [row for row in snapshot.of(SourceRead) if row.outcome == "failed"] == []


def test_another_port_of_a_named_host_is_another_process(authority):
    with brokers(authority, host="127.0.0.11") as parties:
        snapshot = parties.audit()
        assert heard(parties.hostile) == []
        assert {error for error, _ in failed(snapshot, "broker:9").values()} == {"not trusted"}
        only = parties.audit(trusted_hosts=("127.0.0.11:1",))
        assert heard(parties.hostile) == []
        assert {error for error, _ in failed(only, "broker:9").values()} == {"not trusted"}


def test_a_broker_that_is_not_trusted_asks_for_no_second_sample():
    assert {ReadFailure.NOT_TRUSTED, ReadFailure.SCRAM_WEAK, ReadFailure.SCRAM_NOT_VERIFIED} <= LASTING


def target(host, port=9092, via=None, protocol="SASL_SSL", listener="L"):
    return taken_target((host, port), 1, listener, protocol, via)


def trusts(cluster, where):
    try:
        ClusterLogins(cluster, SECRETS).listener_security(where)
    except ReadError as error:
        if error.error != "not trusted":
            raise
        return False
    return True


@pytest.mark.parametrize("mechanism", PASSWORDS)
def test_addresses_are_compared_as_they_are_dialled(mechanism):
    described = Cluster(
        name="c",
        bootstrap=("b1.kafka.corp:9092", "[fd00::1]:9092"),
        controllers=("c1.kafka.corp:9093",),
        security=login(mechanism),
    )
    named = ("b1.kafka.corp", "B1.Kafka.CORP", "b1.kafka.corp.", "fd00::1", "FD00:0:0::1")
    assert [name for name in named if not trusts(described, target(name))] == []
    assert trusts(described, target("c1.kafka.corp", 9093))
    others = [
        ("b1.kafka.corp", 9093),
        ("c1.kafka.corp", 9092),
        ("b1.kafka.corp..", 9092),
        ("b2.kafka.corp", 9092),
        ("fd00::2", 9092),
    ]
    assert [name for name in others if trusts(described, target(*name))] == []


def test_behind_reach_the_dialled_address_counts():
    described = Cluster(
        name="c",
        bootstrap=("adv.corp:9092",),
        security=login(),
        reach={"adv.corp:9092": "proxy:1", "Adv2.corp:9092": "proxy:2"},
    )
    endpoints = [
        RegisteredEndpoint(sample=1, broker_id=number, listener="L", protocol="SASL_SSL", host=host, port=9092)
        for number, host in enumerate(("adv.corp", "adv2.corp.", "other.corp"))
    ]
    found = [target for (target,) in registered_targets(endpoints, described).values()]
    assert [target.address for target in found] == ["proxy:1", "proxy:2", "other.corp:9092"]
    assert [trusts(described, target) for target in found] == [True, True, False]
    # What it advertises is not where the bytes go from here: without the proxy that address is another machine's.
    assert not trusts(described, target("adv.corp", via=None))


def test_a_mechanism_that_hands_the_password_over_wants_tls_where_only_a_pattern_matches():
    described = Cluster(name="c", bootstrap=("b1:9092",), trusted_hosts=("b2",), security=login("PLAIN", "SASL_PLAINTEXT"))
    assert trusts(described, target("b1", protocol="SASL_PLAINTEXT"))
    assert not trusts(described, target("b2", protocol="SASL_PLAINTEXT"))
    scram = replace(described, security=login("SCRAM-SHA-256", "SASL_PLAINTEXT"))
    assert trusts(scram, target("b2", protocol="SASL_PLAINTEXT"))
    tls = replace(described, security=login("PLAIN"))
    assert trusts(tls, target("b2"))


@pytest.mark.parametrize("pattern", ["*.kafka.corp", "b*.kafka.corp", "10.20.0.0/16"])
@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"])
def test_without_tls_a_pattern_never_suffices(pattern, mechanism):
    """Nothing proves who is at the other end, so the file names each host."""
    host = "10.20.0.2" if "/" in pattern else "b2.kafka.corp"
    described = Cluster(name="c", bootstrap=("b1:9092",), trusted_hosts=(pattern,), security=login(mechanism, "SASL_PLAINTEXT"))
    assert not trusts(described, target(host, protocol="SASL_PLAINTEXT"))
    assert trusts(replace(described, security=login(mechanism)), target(host))
    by_name = replace(described, trusted_hosts=(pattern, host))
    assert trusts(by_name, target(host, protocol="SASL_PLAINTEXT")) == (mechanism != "PLAIN")
    with pytest.raises(ReadError) as caught:
        ClusterLogins(described, SECRETS).listener_security(target(host, protocol="SASL_PLAINTEXT"))
    if mechanism != "PLAIN":
        assert "without TLS, a pattern or a network of trusted_hosts does not prove who is at" in caught.value.message
        assert caught.value.needs == f'trusted_hosts: ["{host}"]'


def test_a_certificate_is_no_password():
    described = Cluster(name="c", bootstrap=("b1:9092",), security=Security(protocol="SSL"))
    assert trusts(described, target("anyone", protocol="SSL"))


def test_a_ticket_goes_to_named_and_trusted_addresses_alone(monkeypatch):
    """Another port of a broker's host, or a host whose name server names the broker, could pass it on to the broker."""
    requested = []
    monkeypatch.setattr(Tickets, "request", lambda _, host, seconds: requested.append((host, seconds)))
    security = Security(protocol="SASL_PLAINTEXT", mechanism="GSSAPI")
    described = Cluster(name="c", bootstrap=("b1:9092",), trusted_hosts=("b2",), security=security)
    assert trusts(described, target("b1", protocol="SASL_PLAINTEXT"))
    assert trusts(described, target("b2", protocol="SASL_PLAINTEXT"))
    assert [host for host, _ in requested] == ["b1", "b2"]
    assert not trusts(described, target("anyone", protocol="SASL_PLAINTEXT"))
    assert len(requested) == 2


@pytest.mark.parametrize("mechanism", ["OAUTHBEARER", "GSSAPI", "SCRAM-SHA-512"])
def test_brokers_that_refuse_a_token_or_ticket_pause_no_attempt_at_another_as_they_would_with_a_password(monkeypatch, mechanism):
    """It may be the broker's own key or rule that is wrong, and no account is locked."""
    monkeypatch.setattr(Tickets, "request", lambda *_: None)
    security = Security(protocol="SASL_SSL", mechanism="GSSAPI") if mechanism == "GSSAPI" else login(mechanism)
    hosts = [f"b{number}" for number in range(4)]
    logins = ClusterLogins(Cluster(name="c", bootstrap=tuple(f"{host}:9092" for host in hosts), security=security), SECRETS)
    tried = []
    for host in hosts:
        with suppress(ReadError), logins.listener_security(target(host)).attempt(0.1):
            tried.append(host)
            raise ReadError(ReadFailure.LOGIN_REFUSED, "refused")
    assert tried == (hosts[:3] if mechanism == "SCRAM-SHA-512" else hosts)


def test_a_ticket_is_for_the_host_that_the_broker_advertises_also_if_another_is_dialled(monkeypatch):
    monkeypatch.setattr(Tickets, "request", lambda *_: None)
    security = Security(protocol="SASL_PLAINTEXT", mechanism="GSSAPI")
    described = Cluster(name="c", reach={"adv.corp:9092": "proxy:9092"}, security=security)
    found = ClusterLogins(described, {}).listener_security(target("adv.corp", protocol="SASL_PLAINTEXT", via="proxy:9092"))
    assert found.kafka["sasl_kerberos_domain_name"] == "adv.corp"


@pytest.mark.parametrize(
    "host", ['b"]\nmute: [', "b\x1b[2J", "*.kafka.corp", "*", "b\u202e", "a b", "", "x" * 5000, "b,c", "b#c", "{a}"]
)
def test_the_line_to_add_is_made_of_nothing_but_a_plain_host(host):
    assert trust_advice(host) == "an address that is a host name or an IP address"


def test_the_line_to_add_names_the_host_and_never_its_domain():
    assert trust_advice("B3.kafka.corp.") == 'trusted_hosts: ["b3.kafka.corp"]'
    assert trust_advice("fd00::1") == 'trusted_hosts: ["fd00::1"]'


def test_what_a_listener_offers_talks_nobody_into_handing_the_password_over():
    described = Cluster(name="c", bootstrap=("b1:9092",), security=login())
    logins = ClusterLogins(described, SECRETS)
    for offered, needs in {
        "PLAIN": "SCRAM-SHA-512 in sasl.enabled.mechanisms of listener L",
        "PLAIN,SCRAM-SHA-256": "mechanism: SCRAM-SHA-256 for listener L in the cluster file",
    }.items():
        logins.offers(target("b1"), offered)
        with pytest.raises(ReadError) as caught:
            logins.listener_security(target("b1"))
        assert caught.value.needs == needs


def test_a_listener_s_name_is_quoted_in_a_line_to_add():
    logins = ClusterLogins(Cluster(name="c"), {})
    with pytest.raises(ReadError) as caught:
        logins.demand_known(target("h", listener='X: skip}, trusted_hosts: ["evil.example'))
    assert caught.value.needs.startswith('listeners: {"X: skip}, trusted_hosts: [\\"evil.example": {protocol: ')


WEAK = {
    "one iteration": ({"iterations": 1}, "weak SCRAM", "1 of at least 4096 iterations"),
    "one iteration fewer than it needs": ({"iterations": 4095}, "weak SCRAM", "4095 of at least 4096 iterations"),
    "more iterations than are computed": ({"iterations": 200_000}, "SCRAM not verified", "it requires 200000 SCRAM iterations"),
    "a wrong signature": ({"signs_wrongly": True}, "SCRAM not verified", "the server's signature is wrong"),
    "no last message": ({"says_nothing_last": True}, "SCRAM not verified", "the server's final message is not SCRAM"),
}


def asked(broker, mechanism="SCRAM-SHA-512"):
    where = target(broker.host, broker.port, protocol="SASL_PLAINTEXT")
    rows = ask(where, Cluster(name="c", bootstrap=(broker.address,), security=login(mechanism, "SASL_PLAINTEXT")))
    return rows, of(rows, SourceRead)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize(("behaves", "error", "words"), WEAK.values(), ids=WEAK)
def test_scram_of_a_server_that_is_not_to_be_trusted_ends_as_one_failure(mechanism, behaves, error, words):
    with HostileBroker(1, mechanisms=(mechanism,), users=USERS) as broker:
        for field, value in behaves.items():
            setattr(broker, field, value)
        rows, reads = asked(broker, mechanism)
        assert [row for row in rows if isinstance(row, BrokerView | BrokerConfig)] == []
        assert {(row.outcome, row.error) for row in reads} == {("failed", error)}
        assert {words in row.message for row in reads} == {True}
        proofs = [message for message in broker.scram_messages if ",p=" in message]
        assert len(proofs) == ("iterations" not in behaves)  # parameters are judged before a proof is made


@pytest.mark.parametrize("iterations", [4096, 8192, 16384, 131072])
def test_scram_with_iterations_as_tools_write_them_lets_in(iterations):
    with HostileBroker(1, mechanisms=("SCRAM-SHA-512",), users=USERS) as broker:
        broker.iterations = iterations
        _, reads = asked(broker)
    assert {row.outcome for row in reads} == {"answered"}, reads


def test_a_proof_that_a_server_repeats_is_not_repeated():
    with HostileBroker(1, mechanisms=("SCRAM-SHA-512",), users={"auditor": "another"}) as broker:
        broker.echo = True
        _, reads = asked(broker)
        (proof,) = [message.rpartition(",p=")[2] for message in broker.scram_messages if ",p=" in message]
    assert {row.error for row in reads} == {"SASL_AUTHENTICATION_FAILED"}
    assert proof not in repr(reads)
    assert "***" in reads[0].message


@pytest.mark.parametrize("secret", [PASSWORD, 'quo"te\\d é%', "a"])
def test_no_encoding_of_a_password_that_a_server_repeats_is_repeated(secret):
    described = Cluster(name="c", bootstrap=("b1:9092",), security=login("PLAIN"))
    way = ClusterLogins(described, {"AUDITOR": secret}).listener_security(target("b1"))
    raw = secret.encode()
    texts = [secret, f"xx{secret}yy"]
    if len(secret) > 1:
        texts += [
            base64.b64encode(b"\0auditor\0" + raw).decode(),
            raw.hex(),
            repr(secret),
            *(base64.b64encode(b"." * n + raw + b"!" * 3).decode() for n in range(3)),
        ]
    for text in texts:
        shown = way.hide(f"no: {text}")
        assert secret not in shown.replace("no: ", "")
        assert "***" in shown


def test_kafka_python_logs_nothing_of_a_login_whatever_its_loggers_are_set_to(caplog):
    """Also after `quiet` has ended: a thread that outlives its sample goes on."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "kafka"]
    with HostileBroker(1, mechanisms=("PLAIN",), users={"auditor": "another"}) as broker:
        broker.echo = True
        described = Cluster(name="c", bootstrap=(broker.address,), security=login("PLAIN", "SASL_PLAINTEXT"))
        options = ClientOptions(read_s=300.0, logins=ClusterLogins(described, SECRETS))
        with ExitStack() as stack:
            for name in names:
                stack.enter_context(caplog.at_level(1, name))
            with (
                pytest.raises(ReadError),
                Conversation(broker.host, broker.port, options.at(target(broker.host, broker.port, protocol="SASL_PLAINTEXT"))),
            ):
                pass
    assert caplog.records == []
    assert len(broker.passwords) == 1


def test_what_a_login_sends_has_no_face():
    options = {"sasl_plain_username": "auditor", "sasl_plain_password": PASSWORD, "client_id": "kafka-audit"}
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        made = sasl.SASL_MECHANISMS[mechanism](**options, sasl_mechanism=mechanism)
        sent = made.auth_bytes()
        assert f"{sent!r} {sent}" == "*** ***"
        assert b"auditor" in sent
        usual = sasl.SASL_MECHANISMS[mechanism](**options | {"client_id": "another"}, sasl_mechanism=mechanism)
        assert type(usual).__module__.startswith("kafka.")  # other users of kafka-python in this process keep theirs


def test_a_hostile_broker_that_refuses_the_login_costs_itself_only(authority):
    with brokers(authority, "SCRAM-SHA-512", refuses=True) as parties:
        snapshot = parties.audit(bootstrap=(), trusted_hosts=("127.0.0.0/8",))
        assert parties.hostile.logins == ["auditor"]
    assert {row.observer for row in snapshot.of(BrokerView)} == {"broker:0", "broker:1"}
    assert {error for error, _ in failed(snapshot, "broker:9").values()} == {"SASL_AUTHENTICATION_FAILED"}
    assert failed(snapshot, "broker:0") == failed(snapshot, "broker:1") == {}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
@pytest.mark.parametrize("named", [(), (0,)], ids=["no honest one is named", "an honest one is named"])
def test_the_refusal_of_a_hostile_broker_does_not_count_against_the_login(authority, mechanism, named):
    with brokers(authority, mechanism, refuses=True) as parties:
        bootstrap = tuple(parties.honest[number].address for number in named)
        described = Cluster(name="c", **parties.described(bootstrap=bootstrap, trusted_hosts=("127.0.0.0/8",)))
        options = ClientOptions(read_s=300.0, logins=ClusterLogins(described, SECRETS))
        answers = []
        for broker in (parties.hostile, parties.hostile, *parties.honest):  # it is asked first, and under another name, too
            where = target(broker.host, broker.port, listener="X" if len(answers) == 1 else "L")
            rows = BrokerAsker([replace(where, broker_id=broker.id)], 1, options, ViewBook()).ask().rows
            answers.append({row.error for row in rows if isinstance(row, SourceRead) and row.outcome == "failed"})
        assert answers == [{"SASL_AUTHENTICATION_FAILED"}, {"SASL_AUTHENTICATION_FAILED"}, set(), set()]
        assert len(parties.hostile.logins) == 1


def test_a_hostile_broker_that_hangs_in_the_login_holds_up_nobody(authority, monkeypatch):
    monkeypatch.setattr(login_attempts, "PATIENCE_S", 600.0)  # who waits for its login waits to the end of it
    with brokers(authority, "SCRAM-SHA-512", host="127.0.0.10") as parties:
        parties.hostile.script[36] = hang
        snapshot = parties.audit(bootstrap=(), trusted_hosts=("127.0.0.0/8",), limits=replace(AMPLE, read_s=10.0))
    assert {row.observer for row in snapshot.of(BrokerView)} == {"broker:0", "broker:1"}
    assert failed(snapshot, "broker:0") == failed(snapshot, "broker:1") == {}
    assert {error for error, _ in failed(snapshot, "broker:9").values()} == {"timeout"}
    took = [row.elapsed_ms for row in snapshot.of(SourceRead) if row.observer in {"broker:0", "broker:1"}]
    assert max(took) < 10_000, "less than limits.read_s, which the hostile one takes"


def test_a_token_is_fetched_once_for_all_brokers_and_goes_to_no_address_that_only_the_cluster_lists(authority, tmp_path):
    clients = {"auditor": {"secret": PASSWORD, "audience": "kafka"}}
    with oidc_server(make_key(tmp_path)[0], clients) as endpoint, brokers(authority, "OAUTHBEARER") as parties:
        wanted = replace(parties.described()["security"], username="auditor", oidc=Oidc(token_endpoint=endpoint.url))
        snapshot = parties.audit(security=wanted)
        (token,) = endpoint.issued
        assert token.encode() not in bytes(parties.hostile.received)
        assert heard(parties.hostile) == []
        assert [token in text for broker in parties.honest for _, _, text in broker.passwords] == [True] * len(
            [text for broker in parties.honest for text in broker.passwords]
        )
        assert PASSWORD not in str([broker.passwords for broker in parties.honest]), (
            "the client secret goes to the endpoint alone"
        )
    assert {row.observer for row in snapshot.of(BrokerView)} == {"broker:0", "broker:1"}
    assert {error for error, _ in failed(snapshot, "broker:9").values()} == {"not trusted"}
    assert token not in repr(snapshot.rows)


def test_without_a_trusted_address_no_token_is_fetched(authority, tmp_path):
    clients = {"auditor": {"secret": PASSWORD, "audience": "kafka"}}
    with oidc_server(make_key(tmp_path)[0], clients) as endpoint, brokers(authority, "OAUTHBEARER") as parties:
        oidc = Oidc(token_endpoint=endpoint.url)
        wanted = replace(parties.described()["security"], username="auditor", oidc=oidc)
        snapshot = parties.audit(security=wanted, bootstrap=())
        assert endpoint.requests == []
    assert {row.error for row in snapshot.of(SourceRead) if row.outcome == "failed"} == {"not trusted"}


def test_a_host_that_the_cluster_file_names_with_another_port_is_said_to_be():
    described = Cluster(name="c", bootstrap=("127.0.0.1:9092",), security=login("SCRAM-SHA-512", protocol="SASL_PLAINTEXT"))
    logins = ClusterLogins(described, SECRETS)
    for host, says in (("127.0.0.1", "names this host with port 9092 only"), ("127.0.0.2", "is not in the cluster file and")):
        place = taken_target((host, 9093), listener="EXTERNAL", protocol="SASL_PLAINTEXT")
        with pytest.raises(ReadError) as caught:
            logins.listener_security(place)
        assert caught.value.failure is ReadFailure.NOT_TRUSTED
        assert says in caught.value.message

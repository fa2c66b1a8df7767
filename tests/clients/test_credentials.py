"""Logins and TLS: who is spoken to as whom, what is told of a refusal, and where no password ever goes."""

import struct
import sys
from contextlib import ExitStack
from datetime import timedelta
from functools import partial

import pytest
from kafka.protocol.sasl import SaslHandshakeResponse

from clients.auditor import AMPLE, PASSWORD, SECRETS, ask
from clients.auditor import login as auditor_login
from collect import fakes, taken
from collect.fakes import FakeBroker, server
from collect.secured_fakes import SAID, SecuredBroker, tls_server
from kafka_audit.checks.audit.source_not_collected import source_not_collected
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect.brokers.broker_view import PLANNED
from kafka_audit.model.cluster import Cluster, Security, Tls
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Status
from kafka_audit.model.secrets import Secrets
from kafka_audit.model.tables import BrokerView, Certificate, Probe, SourceRead
from testbed.certificates import Certificate as Wanted

LOCAL = ("127.0.0.1", "localhost")


login = partial(auditor_login, protocol="SASL_PLAINTEXT")
target = partial(taken.target, broker_id=2, listener="EXTERNAL", protocol="SASL_PLAINTEXT")


def cluster(address, wanted, **more):
    return Cluster(name="c", bootstrap=(f"{address[0]}:{address[1]}",), security=wanted, **more)


def reads(rows):
    return {row.operation: (row.outcome, row.error, row.message, row.needs) for row in rows if isinstance(row, SourceRead)}


def steps(rows):
    return [(row.layer, row.outcome, row.error or row.detail) for row in rows if isinstance(row, Probe)]


def certificates(rows):
    return [row for row in rows if isinstance(row, Certificate)]


def broker(*mechanisms, password=PASSWORD):
    made = SecuredBroker(2, mechanisms, {"auditor": password})
    made.brokers = {2: ("h", 1)}
    return made


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_login_that_is_right_gives_the_view(mechanism):
    fake = broker("PLAIN", mechanism)
    with server(fake) as address:
        rows = ask(target(address), cluster(address, login(mechanism=mechanism)))
    assert {outcome for outcome, *_ in reads(rows).values()} == {"answered"}
    assert [row.brokers_listed for row in rows if isinstance(row, BrokerView)] == [1]
    assert [(layer, outcome) for layer, outcome, _ in steps(rows)] == [
        (layer, "ok") for layer in ("dns", "tcp", "sasl", "api", "identity", "packets")
    ]
    assert ("sasl", "ok", f"PLAIN,{mechanism}") in steps(rows)
    assert fake.logins == ["auditor"]


def test_tls_and_a_login(authority):
    fake = broker("PLAIN")
    with tls_server(fake, authority.issue("right", LOCAL)) as address:
        rows = ask(
            target(address, protocol="SASL_SSL"), cluster(address, login("PLAIN", protocol="SASL_SSL", ca_file=authority.ca_file))
        )
    assert {outcome for outcome, *_ in reads(rows).values()} == {"answered"}
    assert [layer for layer, *_ in steps(rows)] == ["dns", "tcp", "tls", "sasl", "api", "identity", "packets"]
    (shown,) = certificates(rows)
    assert (shown.subject, shown.issuer, shown.sans) == ("CN=right,O=bed", "CN=bed CA,O=bed", ("127.0.0.1", "localhost"))
    assert (shown.trusted, shown.name_matches, shown.error) == (True, True, None)
    assert shown.not_before_ms < shown.not_after_ms


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_told_in_the_brokers_words(mechanism):
    with server(broker(mechanism, password="another")) as address:  # noqa: S106 -- of a fake
        rows = ask(target(address), cluster(address, login(mechanism=mechanism)))
    assert set(reads(rows)) > set(PLANNED)
    for outcome, error, message, needs in reads(rows).values():
        assert (outcome, error, message) == ("failed", "SASL_AUTHENTICATION_FAILED", SAID)
        assert needs == "a user and password that listener EXTERNAL accepts (auditor, AUDITOR)"
    assert steps(rows)[-1][:2] == ("packets", "ok")  # reachable, and said to be


def test_a_broker_that_repeats_the_password_does_not_make_us_repeat_it():
    fake = broker("PLAIN", password="another")  # noqa: S106 -- of a fake
    fake.echo = True
    with server(fake) as address:
        rows = ask(target(address), cluster(address, login(mechanism="PLAIN")))
    assert PASSWORD not in repr(rows)
    assert "***" in reads(rows)["Metadata"][2]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_broker_that_hangs_up_right_after_its_refusal_is_heard(mechanism):
    """As real ones do: the refusal and the end of the stream are read at once."""
    fake = broker(mechanism, password="another")  # noqa: S106 -- of a fake
    fake.hangs_up = True
    with server(fake) as address:
        logins = [ClusterLogins(cluster(address, login(mechanism=mechanism)), SECRETS) for _ in range(5)]
        found = [reads(ask(target(address), None, logins=login))["Metadata"][1:3] for login in logins]
    assert found == [("SASL_AUTHENTICATION_FAILED", SAID)] * 5


def test_no_error_carries_the_password_in_its_text_or_its_cause():
    fake = broker("PLAIN", password="another")  # noqa: S106 -- of a fake
    fake.echo = True
    with server(fake) as address:
        logins = ClusterLogins(cluster(address, login(mechanism="PLAIN")), SECRETS)
        options = ClientOptions(read_s=300.0, logins=logins).at(target(address))
        with pytest.raises(ReadError) as caught, Conversation(*address, options):
            pass
    assert PASSWORD not in f"{caught.value} {caught.value.message} {options!r} {options.listener_security!r} {logins!r}"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_mechanism_that_is_not_enabled_is_not_tried():
    fake = broker("GSSAPI", "SCRAM-SHA-256")
    with server(fake) as address:
        rows = ask(target(address), cluster(address, login(mechanism="PLAIN")))
    outcome, error, message, needs = reads(rows)["Metadata"]
    assert (outcome, error) == ("failed", "UNSUPPORTED_SASL_MECHANISM")
    assert message == "not tried: PLAIN is not enabled on listener EXTERNAL, which offers GSSAPI,SCRAM-SHA-256"
    assert needs == "mechanism: GSSAPI,SCRAM-SHA-256 for listener EXTERNAL in the cluster file"
    assert fake.logins == []


class PlainBroker(FakeBroker):
    """A listener without SASL, which refuses a handshake as Kafka does."""

    def __init__(self, *, closes=()):
        super().__init__(2)
        self.apis |= {17: (0, 1), 36: (0, 2)}
        self.closes = closes

    def _answer(self, connection, request):
        key, version, correlation = struct.unpack_from("!hhi", request)
        if key in self.closes:
            raise ConnectionAbortedError
        if key != 17:
            super()._answer(connection, request)
            return
        refusal = SaslHandshakeResponse(version=version, error_code=34, mechanisms=[])
        refusal.with_header(correlation_id=correlation)
        connection.sendall(refusal.encode(framed=True, header=True))


def test_a_listener_that_takes_no_login_is_named_as_that():
    with server(PlainBroker()) as address:
        rows = ask(target(address), cluster(address, login(mechanism="PLAIN")))
    assert {error for _, error, _, _ in reads(rows).values()} == {"ILLEGAL_SASL_STATE"}
    place = f"{address[0]}:{address[1]}"
    needs = f"a protocol without SASL for {place}, or the port of a listener that takes a login"
    assert reads(rows)["Metadata"][3] == needs


@pytest.mark.parametrize(
    ("offered", "proposed"), [(["PLAIN", "SCRAM-SHA-512", "GSSAPI"], "SCRAM-SHA-512 or GSSAPI"), (["PLAIN"], "PLAIN")]
)
def test_a_listener_that_wants_a_login_is_named_as_that_where_none_is_given(offered, proposed):
    fake = broker(*offered)
    with server(fake) as address:
        rows = ask(target(address, listener="bootstrap", protocol="PLAINTEXT", broker_id=-1), cluster(address, Security()))
    found = reads(rows)
    assert found.pop("ApiVersions")[0] == "answered"
    assert {error for _, error, _, _ in found.values()} == {"login required"}
    wanted = f"{{protocol: SASL_PLAINTEXT, mechanism: {proposed}, username: …, password_env: …}}"
    assert found["Metadata"][3] == f"security: {wanted} in the cluster file"
    assert fake.logins == []


def test_a_listener_without_a_login_that_closes_requests_wants_none():
    with server(PlainBroker(closes={3})) as address:
        rows = ask(target(address, protocol="PLAINTEXT"), cluster(address, Security()))
    assert reads(rows)["Metadata"][1] == "connection closed"


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "PLAIN"])
def test_a_refused_login_is_not_tried_at_every_address(mechanism):
    fake = broker(mechanism, password="another")  # noqa: S106 -- of a fake
    with ExitStack() as stack:
        places = [stack.enter_context(server(fake)) for _ in range(5)]
        listed = tuple(f"{host}:{port}" for host, port in places)
        logins = ClusterLogins(Cluster(name="c", bootstrap=listed, security=login(mechanism=mechanism)), SECRETS)
        answers = [reads(ask(target(where), None, logins=logins))["Metadata"] for where in (*places, places[0])]
    assert len(fake.logins) == 3
    assert [error for _, error, _, _ in answers] == [*["SASL_AUTHENTICATION_FAILED"] * 3, *["login paused"] * 2, answers[0][1]]
    assert answers[-1][2] == f"not tried again: {SAID}"


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "PLAIN"])
@pytest.mark.parametrize("refusing", [1, 2])
def test_brokers_that_refuse_the_right_login_cost_themselves_although_they_are_named_first(mechanism, refusing):
    with ExitStack() as stack:
        parties = [broker(mechanism, **({"password": "another"} if number < refusing else {})) for number in range(4)]
        places = [stack.enter_context(server(fake)) for fake in parties]
        for fake in parties:
            fake.brokers = dict(enumerate(places))
        listed = tuple(f"{host}:{port}" for host, port in places)
        snapshot = taken.taken(bootstrap=listed, security=login(mechanism=mechanism), limits=AMPLE, secrets=SECRETS)
    assert {row.observer for row in snapshot.of(BrokerView)} == {f"broker:{number}" for number in range(refusing, 4)}
    refused = {row.target for row in snapshot.of(SourceRead) if row.error == "SASL_AUTHENTICATION_FAILED"}
    assert refused == {*listed[:refusing]}
    assert "login paused" not in {row.error for row in snapshot.of(SourceRead)}
    assert [len(fake.logins) for fake in parties[:refusing]] == [1] * refusing


def test_a_login_that_one_broker_refuses_and_others_accept_is_tried_at_the_others():
    right, wrong = broker("SCRAM-SHA-512"), broker("SCRAM-SHA-512", password="another")  # noqa: S106 -- of a fake
    with server(right) as one, server(wrong) as two, server(right) as three:
        listed = tuple(f"{host}:{port}" for host, port in (one, two, three))
        logins = ClusterLogins(Cluster(name="c", bootstrap=listed, security=login()), SECRETS)
        answers = [reads(ask(target(where), None, logins=logins))["Metadata"][0] for where in (one, two, three, two)]
    assert answers == ["answered", "failed", "answered", "failed"]
    assert len(wrong.logins) == 1


def test_plain_without_tls_goes_only_to_addresses_in_the_file():
    fake = broker("PLAIN")
    with server(fake) as address:
        elsewhere = Cluster(name="c", bootstrap=("b1:9092",), security=login(mechanism="PLAIN"))
        refused = reads(ask(target(address), elsewhere))["Metadata"]
        assert (refused[0], refused[1]) == ("failed", "not trusted")
        assert "PLAIN without TLS sends the password in clear text" in refused[2]
        assert refused[3].startswith(f"{address[0]}:{address[1]} in bootstrap of the cluster file")
        assert fake.logins == []
        reached = Cluster(name="c", reach={"adv:1": f"{address[0]}:{address[1]}"}, security=login(mechanism="PLAIN"))
        assert reads(ask(target(address), reached))["Metadata"][0] == "answered"


@pytest.mark.parametrize("behave", [fakes.silent, fakes.garbage, fakes.tls_alert, fakes.closing_at_once])
def test_what_does_not_answer_apiversions_gets_no_credential(behave):
    heard = []

    def listening(connection):
        class Ear:
            def recv(self, size):
                heard.append(connection.recv(size))
                return heard[-1]

            def __getattr__(self, name):
                return getattr(connection, name)

        behave(Ear())

    with server(listening) as address:
        rows = ask(target(address), cluster(address, login(mechanism="PLAIN")), read_s=2.0)
    assert {outcome for outcome, *_ in reads(rows).values()} == {"failed"}
    assert PASSWORD.encode() not in b"".join(heard)
    assert b"auditor" not in b"".join(heard)


def test_a_password_that_is_not_there_is_named_by_its_variable():
    with server(broker("SCRAM-SHA-512")) as address:
        rows = ask(target(address), cluster(address, login()), secrets={})
    assert reads(rows)["Metadata"] == ("failed", "no credentials", "AUDITOR is not set", "the environment variable AUDITOR")


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_a_listener_of_which_the_file_says_nothing_is_one_failed_read(protocol):
    with server(broker("PLAIN")) as address:
        rows = ask(target(address, protocol=protocol), cluster(address, Security()), read_s=2.0)
    ((operation, (outcome, error, message, needs)),) = reads(rows).items()
    assert (operation, outcome, error, message) == ("Metadata", "failed", "no credentials", f"EXTERNAL is {protocol}")
    assert needs.startswith(f"listeners: {{EXTERNAL: {{protocol: {protocol}, ")


def test_a_listener_that_is_not_what_the_file_says_is_told():
    with server(broker("PLAIN")) as address:
        described = Cluster(name="c", listeners={"EXTERNAL": login(protocol="SASL_SSL")})
        read = reads(ask(target(address), described))["Metadata"]
    assert read[1:3] == ("protocols differ", "the cluster file says SASL_SSL, the cluster says SASL_PLAINTEXT")


def test_names_and_mechanisms_of_a_cluster_are_hostile():
    fake = broker("EVIL\x1b[2J\nneeds")
    with server(fake) as address:
        endpoint = target(address, listener="X\x1b[31m\u202eY")
        rows = [*ask(endpoint, cluster(address, login(mechanism="PLAIN"))), *ask(endpoint, cluster(address, Security()))]
    for row in rows:
        if isinstance(row, SourceRead):
            assert (row.needs or "").isprintable()
            assert (row.message or "").isprintable()
        if isinstance(row, Probe):
            assert (row.detail or "").isprintable()


def test_listeners_by_name_come_before_security_and_plaintext_needs_nothing():
    named, general = Security(protocol="SSL"), login()
    logins = ClusterLogins(Cluster(name="c", security=general, listeners={"A": named}), SECRETS)
    assert logins.security(target(("h", 1), protocol="SSL", listener="A")) is named
    assert logins.security(target(("h", 1), listener="B")) is general
    assert logins.security(target(("h", 1), protocol="SSL", listener="B")) is None
    with server(FakeBroker(2)) as address:
        rows = ask(target(address, protocol="PLAINTEXT"), None, logins=logins)
    assert reads(rows)["Metadata"][0] == "answered"


@pytest.mark.parametrize("mechanism", ["GSSAPI", "OAUTHBEARER"])
def test_what_this_worker_cannot_do_is_said_for_that_listener(mechanism, monkeypatch):
    monkeypatch.setitem(sys.modules, "gssapi", None)
    wanted = Security(protocol="SASL_PLAINTEXT", mechanism=mechanism)
    with server(broker(mechanism)) as address:
        _, error, _, needs = reads(ask(target(address), cluster(address, wanted)))["Metadata"]
    expected = {
        "GSSAPI": ("not supported", "the Python package gssapi on this worker (pip install 'kafka-audit[kerberos]')"),
        "OAUTHBEARER": ("no credentials", "the environment variable None"),
    }
    assert (error, needs) == expected[mechanism]


WRONG = {
    "expired": (Wanted(valid_for=-timedelta(hours=1)), "certificate expired", False, True),
    "for another name": (Wanted(san=("other.example", "192.0.2.7")), "certificate for another name", True, False),
    "by a stranger": (Wanted(foreign=True), "certificate of an unknown issuer", False, True),
}


@pytest.mark.parametrize(("wanted", "words", "trusted", "named"), WRONG.values(), ids=WRONG)
def test_a_certificate_that_is_not_to_be_trusted_is_told_in_words_and_shown(authority, wanted, words, trusted, named):
    fake = broker("PLAIN")
    with tls_server(fake, authority.issue("wrong", LOCAL, wanted)) as address:
        rows = ask(
            target(address, protocol="SASL_SSL"), cluster(address, login("PLAIN", protocol="SASL_SSL", ca_file=authority.ca_file))
        )
    assert steps(rows)[-1] == ("tls", "failed", words)
    (shown,) = certificates(rows)
    assert (shown.trusted, shown.name_matches, shown.error) == (trusted, named, words)
    assert "CN=wrong" in shown.subject
    assert {error for _, error, _, _ in reads(rows).values()} == {words}
    assert "ca_file" in reads(rows)["Metadata"][3]
    assert fake.requests == []  # nothing was said inside that tunnel


def test_reach_does_not_change_the_name_that_a_certificate_must_show(authority):
    with tls_server(broker("PLAIN"), authority.issue("reached", ("kafka.example",))) as (host, port):
        via = taken.target(("kafka.example", 9092), 2, protocol="SASL_SSL", via=f"{host}:{port}")
        wanted = login("PLAIN", protocol="SASL_SSL", ca_file=authority.ca_file)
        rows = ask(via, Cluster(name="c", security=wanted, reach={"kafka.example:9092": f"{host}:{port}"}))
    assert reads(rows)["Metadata"][0] == "answered"
    assert [(row.host, row.name_matches) for row in certificates(rows)] == [("kafka.example", True)]


def test_without_a_ca_file_nothing_is_said_of_trust_and_strangers_are_not_spoken_to(authority):
    with tls_server(broker("PLAIN"), authority.issue("right", LOCAL)) as address:
        rows = ask(target(address, protocol="SASL_SSL"), cluster(address, login("PLAIN", protocol="SASL_SSL")))
        unknown = ask(target(address, protocol="SASL_SSL"), cluster(address, Security()))
    assert steps(rows)[-1] == ("tls", "failed", "certificate of an unknown issuer")
    assert [(row.trusted, row.name_matches) for row in certificates(rows)] == [(None, True)]
    assert [layer for layer, outcome, _ in steps(unknown) if outcome == "ok"] == ["dns", "tcp", "sasl", "api", "packets"]
    (doubt,) = [row for row in unknown if isinstance(row, Probe) and row.layer == "tls"]
    assert (doubt.outcome, doubt.needs) == ("unknown", "a ca_file for this listener in the cluster file")
    assert [(row.trusted, row.error) for row in certificates(unknown)] == [(None, None)]


def test_a_client_certificate_that_is_wanted_is_named_and_one_that_fits_opens(authority):
    plain, mine = FakeBroker(2), authority.issue("me", ())
    without = Security(protocol="SSL", tls=Tls(ca_file=str(authority.ca_file)))
    files = Tls(ca_file=str(authority.ca_file), cert_file=str(mine.certificate), key_file=str(mine.key))
    with tls_server(plain, authority.issue("right", LOCAL), client_auth=True) as address:
        rows = ask(target(address, protocol="SSL"), cluster(address, without))
        inside = ask(target(address, protocol="SSL"), cluster(address, Security(protocol="SSL", tls=files)))
    last = [row for row in rows if isinstance(row, Probe)][-1]
    assert (last.outcome, last.error) == ("unknown", "client certificate required")
    assert last.needs == reads(rows)["Metadata"][3] == "cert_file and key_file for EXTERNAL in the cluster file"
    assert reads(inside)["Metadata"][0] == "answered"
    assert steps(inside)[-2] == ("identity", "ok", "2")


def test_a_port_that_speaks_no_tls_is_told():
    with server(fakes.garbage) as address:
        rows = ask(target(address, protocol="SSL"), cluster(address, Security(protocol="SSL")))
    assert steps(rows)[-1] == ("tls", "failed", "no TLS spoken there")


@pytest.mark.parametrize("behave", [fakes.silent, fakes.one_byte_a_second])
def test_a_handshake_that_hangs_costs_its_deadline(behave):
    with server(behave) as address:
        rows = ask(target(address, protocol="SSL"), cluster(address, Security(protocol="SSL")), read_s=2.0)
    assert steps(rows)[-1][0] == "tls"
    assert {row.outcome for row in rows if isinstance(row, SourceRead)} == {"failed"}


@pytest.mark.parametrize("key", ["ca_file", "cert_file", "key_file"])
def test_a_file_that_cannot_be_read_is_a_usage_error_with_its_key(authority, tmp_path, key):
    mine = authority.issue("me", ())
    files = {"ca_file": str(authority.ca_file), "cert_file": str(mine.certificate), "key_file": str(mine.key)}
    described = Cluster(name="c", listeners={"X": Security(protocol="SSL", tls=Tls(**files | {key: str(tmp_path / "none")}))})
    with pytest.raises(UsageError, match=rf"clusters\.c\.listeners\.X\.{key}: .*/none cannot be read: No such file"):
        ClusterLogins(described, {})
    (tmp_path / "none").write_text("nothing")
    with pytest.raises(UsageError, match=rf"clusters\.c\.listeners\.X\.{key}: .*/none contains no "):
        ClusterLogins(described, {})


def test_brokers_without_zookeeper_are_found_and_read_with_a_login():
    fakes_ = [SecuredBroker(number, ("SCRAM-SHA-256",), {"auditor": PASSWORD}) for number in range(3)]
    with ExitStack() as stack:
        addresses = {broker.id: stack.enter_context(server(broker)) for broker in fakes_}
        for broker in fakes_:
            broker.brokers = addresses
        first = ("{}:{}".format(*addresses[0]),)
        named = {"bootstrap": first, "trusted_hosts": ("127.0.0.1",), "security": login("SCRAM-SHA-256")}
        snapshot = taken.taken(**named, limits=AMPLE, secrets=SECRETS)
    assert {row.observer for row in snapshot.of(BrokerView)} == {"broker:0", "broker:1", "broker:2"}
    assert [len(broker.logins) for broker in fakes_] == [2, 1, 1]  # the first is asked for the others, too


def test_a_wrong_password_is_tried_three_times_in_a_whole_audit():
    fake = broker("SCRAM-SHA-256", password="another")  # noqa: S106 -- of a fake
    with ExitStack() as stack:
        listed = tuple(f"{host}:{port}" for host, port in (stack.enter_context(server(fake)) for _ in range(6)))
        snapshot = taken.taken(bootstrap=listed, security=login(mechanism="SCRAM-SHA-256"), limits=AMPLE, secrets=SECRETS)
    assert fake.logins == ["auditor"] * 3
    assert {row.error for row in snapshot.of(SourceRead)} == {"SASL_AUTHENTICATION_FAILED", "login paused"}
    (judged,) = {judgement.status for judgement in source_not_collected(ClusterView.of_files(snapshot))}
    assert judged == Status.FAIL  # KA001, so the exit code is 3


def test_secrets_show_nowhere():
    hidden = Secrets({"connection x": PASSWORD}, {"OTHER": PASSWORD})
    assert PASSWORD not in f"{hidden} {hidden!r} {hidden.own} {vars(hidden)['own']!r}"
    assert hidden["OTHER"] == hidden["connection x"] == PASSWORD
    assert sorted(hidden) == ["OTHER", "connection x"]
    assert len(hidden) == 2

"""Asking one broker: a fake that answers frames, and servers that do not."""

from functools import partial

import pytest

from collect import fakes, taken
from collect.fakes import FakeBroker, Garbling, creates_topics, server
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.clients.targets import UNREGISTERED
from kafka_audit.collect.brokers.broker_view import CONFIGS, IDENTITY, MAY_DESCRIBE_CONFIGS, BrokerAsker
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.model.tables import BOOTSTRAP, BrokerApi, BrokerConfig, BrokerIdentity, BrokerView, Probe, SourceRead
from made_rows import of

target = partial(taken.target, broker_id=2, listener="PLAINTEXT")
AMPLE_S = 60.0


def ask(*targets, read_s=AMPLE_S):
    return BrokerAsker(targets, 1, ClientOptions(read_s=read_s), ViewBook()).ask().rows


def outcomes(answer):
    return {row.operation: (row.outcome, row.error) for row in of(answer, SourceRead)}


def identities(answer):
    return [(row.broker_id, row.answered_by, row.kafka_cluster_id) for row in of(answer, BrokerIdentity)]


def steps(answer):
    return [(row.layer, row.outcome, row.error or row.detail) for row in of(answer, Probe)]


@pytest.fixture
def broker():
    fake = FakeBroker(2)
    fake.brokers = {2: ("127.0.0.1", 1)}
    fake.topics = {"orders": {0: (2, [2])}}
    with server(fake, one_at_a_time=True) as fake.address:  # a second connection beside the first would never be answered
        yield fake


def test_a_broker_is_asked_everything_that_it_offers(broker):
    answer = ask(target(broker.address))
    assert outcomes(answer) == dict.fromkeys(
        ("ApiVersions", "Metadata", "DescribeCluster", CONFIGS, IDENTITY), ("answered", None)
    )
    (view,) = of(answer, BrokerView)
    assert (view.observer, view.brokers_listed, view.topics_listed, view.metadata_version) == ("broker:2", 1, 1, 12)
    assert identities(answer) == [(2, 2, "fake")]
    assert {(row.api_key, row.min_version, row.max_version) for row in of(answer, BrokerApi)} >= {(3, 0, 12), (60, 0, 0)}
    assert [(layer, outcome) for layer, outcome, _ in steps(answer)] == [
        ("dns", "ok"), ("tcp", "ok"), ("api", "ok"), ("identity", "ok"), ("packets", "ok"),
    ]  # fmt: skip


def test_asking_creates_no_topic(broker):
    ask(target(broker.address))
    assert [creates_topics(request, version) for key, version, request in broker.requests if key == 3] == [False]


def test_an_answer_of_megabytes_is_taken(broker):
    """kafka-python refuses beyond a million bytes unless told otherwise: about 21,000 partitions."""
    broker.topics = {f"{'long-name-' * 20}{number}": {partition: (2, [2]) for partition in range(30)} for number in range(1500)}
    (view,) = of(ask(target(broker.address), read_s=300.0), BrokerView)
    assert view.topics_listed == 1500


def test_hidden_values_never_become_a_row(broker):
    broker.configs = {"ssl.key.password": ("secret", True), "super.users": (None, True), "broker.rack": ("r1", False)}
    found = {row.key: (row.value, row.sensitive) for row in of(ask(target(broker.address)), BrokerConfig)}
    assert found == {"ssl.key.password": (None, True), "super.users": (None, True), "broker.rack": ("r1", False)}


def test_what_is_not_offered_is_not_asked_and_gives_no_row(broker):
    broker.apis = {3: (0, 5), 18: (0, 1)}
    answer = ask(target(broker.address))
    assert outcomes(answer) == dict.fromkeys(("ApiVersions", "Metadata"), ("answered", None))
    assert broker.asked(32) == broker.asked(60) == []
    assert [view.metadata_version for view in of(answer, BrokerView)] == [5]
    assert identities(answer) == []


@pytest.mark.parametrize("operations", [0, 1 << 8])
def test_without_the_right_the_reads_fail_and_name_it(broker, operations):
    broker.may_describe_configs, broker.operations = False, operations
    answer = ask(target(broker.address))
    error = "not tried" if operations else "CLUSTER_AUTHORIZATION_FAILED"
    for operation in (CONFIGS, IDENTITY):
        (row,) = [row for row in of(answer, SourceRead) if row.operation == operation]
        assert (row.outcome, row.error, row.needs, row.reason) == ("failed", error, MAY_DESCRIBE_CONFIGS, "NOT_AUTHORIZED")
    assert identities(answer) == [(2, None, "fake")]
    assert steps(answer)[-2] == ("identity", "unknown", error)
    # Rights that DescribeCluster lists without DescribeConfigs are not tried: the broker would log each refusal.
    assert bool(broker.asked(32)) == (operations == 0)


def test_a_server_that_refuses_in_other_words_than_kafka_is_read_and_its_id_is_unknown(broker):
    broker.refusal = "no such broker"
    answer = ask(target(broker.address))
    assert outcomes(answer)[IDENTITY] == ("answered", None)
    assert identities(answer) == [(2, None, "fake")]
    assert ("identity", "unknown", "not supported") in steps(answer)


def test_the_wrong_broker_at_an_address_tells_its_id_and_not_its_configuration(broker):
    answer = ask(target(broker.address, broker_id=7))
    assert identities(answer) == [(7, 2, "fake")]
    assert outcomes(answer)[CONFIGS] == ("failed", "INVALID_REQUEST")
    assert of(answer, BrokerConfig) == []


def test_an_address_that_nobody_registered_tells_its_view_and_identity(broker):
    answer = ask(target(broker.address, broker_id=UNREGISTERED, listener=BOOTSTRAP))
    assert set(outcomes(answer)) == {"ApiVersions", "Metadata", "DescribeCluster", IDENTITY}
    assert identities(answer) == [(UNREGISTERED, 2, "fake")]
    assert {row.observer for row in of(answer, SourceRead)} == {f"broker@127.0.0.1:{broker.address[1]}"}
    assert of(answer, Probe) == []


def test_configuration_comes_from_the_first_address_that_answers(broker):
    gone = fakes.refused()
    answer = ask(target(gone, listener="A"), target(broker.address, listener="B"), target(broker.address, listener="C"))
    assert len([row for row in of(answer, SourceRead) if row.operation == CONFIGS]) == 1
    assert outcomes(answer)[CONFIGS] == ("answered", None)
    assert len(of(answer, BrokerConfig)) == 1
    assert [view.listener for view in of(answer, BrokerView)] == ["B", "C"]


FAILURES = [
    (fakes.silent, "timeout", 1.0),
    (fakes.one_byte_a_second, "timeout", 1.0),
    (fakes.garbage, "not a Kafka broker", AMPLE_S),
    (fakes.tls_alert, "not a Kafka broker", AMPLE_S),
    (fakes.closing_at_once, "connection closed", AMPLE_S),
    (fakes.hanging_up, "connection closed at once", AMPLE_S),
]


@pytest.mark.parametrize(("behave", "error", "read_s"), FAILURES, ids=[behave.__name__ for behave, _, _ in FAILURES])
def test_whatever_answers_instead_is_rows_within_the_deadline(behave, error, read_s):
    connections = []
    with server(lambda connection: connections.append(1) or behave(connection)) as address:
        answer = ask(target(address), read_s=read_s)
    assert len(connections) <= 2, "one, and a second one only to see whether it is closed unasked"
    assert len(connections) == 1 or error != "timeout"
    assert outcomes(answer) == dict.fromkeys(("ApiVersions", "Metadata", IDENTITY, CONFIGS), ("failed", error))
    assert steps(answer)[-1] == ("api", "failed", error)
    assert of(answer, BrokerView) == []


def test_a_closed_port_and_a_name_that_nobody_knows():
    answer = ask(target(fakes.refused()))
    assert steps(answer)[-1] == ("tcp", "failed", "connection refused")
    assert outcomes(answer)["Metadata"] == ("failed", "connection refused")
    nowhere = ask(target(("kafka-0.invalid", 9092)))
    assert steps(nowhere)[-1][:2] == ("dns", "failed")
    assert "name" in steps(nowhere)[-1][2]


@pytest.mark.parametrize("host", ["$(touch x)", "a b", "", "a/../b", "ü", "a\n"])
def test_what_is_no_host_name_is_not_even_looked_up(host):
    assert steps(ask(target((host, 9092)))) == [("dns", "failed", "no host name")]


@pytest.mark.parametrize("port", [-1, 0, 65536])
def test_what_is_no_port_is_not_dialled(port):
    assert steps(ask(target(("127.0.0.1", port)))) == [("dns", "failed", "no port number")]


@pytest.mark.parametrize(("key", "lost"), [(3, ("Metadata", CONFIGS, IDENTITY)), (32, (CONFIGS, IDENTITY))])
def test_one_answer_that_does_not_come_costs_one_deadline(broker, key, lost):
    broker.mute = {key}
    answer = ask(target(broker.address), read_s=3.0)
    assert broker.requests[-1][0] == key, "nothing is asked behind it"
    assert len(broker.asked(key)) == 1
    assert {operation for operation, (outcome, _) in outcomes(answer).items() if outcome == "failed"} >= set(lost)
    assert {error for _, error in outcomes(answer).values()} == {None, "timeout"}


@pytest.mark.parametrize("seed", range(40))
def test_answers_that_make_no_sense_inside_are_rows_too(seed):
    with server(Garbling(2, seed)) as address:
        answer = ask(target(address), read_s=0.3)
    assert {row.operation for row in of(answer, SourceRead)} >= {"ApiVersions", "Metadata"}


def test_a_broker_that_goes_mute_after_the_probe_is_rows_as_well():
    class OnlyOnce(FakeBroker):
        def _answer(self, connection, request):
            if self.requests:
                self.mute = {18}
            super()._answer(connection, request)

    fake = OnlyOnce(2)
    with server(fake) as address:
        answer = ask(target(address), read_s=0.7)
    assert outcomes(answer) == dict.fromkeys(("ApiVersions", "Metadata", IDENTITY, CONFIGS), ("failed", "timeout"))

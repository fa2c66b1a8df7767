"""Kafka's znodes in all their versions, and in none."""

import json

import pytest

from collect.fakes import FakeZookeeper
from kafka_audit.collect.zookeeper import znodes
from kafka_audit.collect.zookeeper.znodes import ZnodeError

STAT = FakeZookeeper({}).stat("/")


def endpoints(text):
    found = znodes.parse_registration(1, 2, text.encode(), STAT)
    return [(endpoint.listener, endpoint.protocol, endpoint.host, endpoint.port) for endpoint in found.endpoints], found


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"version": 1, "host": "h", "port": 9092}, [("PLAINTEXT", "PLAINTEXT", "h", 9092)]),
        ({"version": 2, "endpoints": ["SSL://h:9093"], "host": None, "port": -1}, [("SSL", "SSL", "h", 9093)]),
        (
            {
                "version": 5,
                "endpoints": ["CLIENT://kafka-0.kafka.ns.svc:9092", "INTERNAL://[2001:db8::1]:9094", "EMPTY://:9095"],
                "listener_security_protocol_map": {"CLIENT": "SASL_SSL", "INTERNAL": "PLAINTEXT"},
                "features": {},
            },
            [
                ("CLIENT", "SASL_SSL", "kafka-0.kafka.ns.svc", 9092),
                ("INTERNAL", "PLAINTEXT", "2001:db8::1", 9094),
                ("EMPTY", "UNKNOWN", "", 9095),
            ],
        ),
    ],
)
def test_endpoints_of_every_version_of_a_registration(content, expected):
    assert endpoints(json.dumps(content))[0] == expected


def test_a_registration_carries_rack_owner_and_its_own_time():
    row = endpoints('{"endpoints": [], "rack": "a", "timestamp": "1700000000123"}')[1].broker
    assert (row.rack, row.registered_ms, row.ephemeral_owner, row.czxid) == ("a", 1700000000123, 7, 10)


def test_an_endpoint_that_no_kafka_wrote_is_told_and_leaves_the_others():
    hostile = "PLAINTEXT://$(touch x):9092"
    found, registration = endpoints(json.dumps({"endpoints": [hostile, 7, "PLAINTEXT://h:1"]}))
    assert found == [("PLAINTEXT", "PLAINTEXT", "h", 1)]
    assert registration.unreadable == (hostile, "7")


def test_assignments_of_all_three_versions():
    assert znodes.parse_assignment(b'{"version":1,"partitions":{"1":[2,0],"0":[0,1]}}').by_partition() == {0: (0, 1), 1: (2, 0)}
    assert znodes.parse_assignment(b'{"version":2,"partitions":{"0":[1]},"adding_replicas":{}}').topic_id is None
    assert znodes.parse_assignment(b'{"version":3,"topic_id":"abc","partitions":{}}').topic_id == "abc"


def test_a_state_has_a_sorted_isr_and_perhaps_a_recovery_state():
    text = b'{"controller_epoch":4,"leader":-1,"version":1,"leader_epoch":9,"isr":[2,0],"leader_recovery_state":1}'
    state = znodes.parse_state(text)
    assert (state.leader, state.leader_epoch, state.controller_epoch, state.isr, state.leader_recovery_state) == (
        -1,
        9,
        4,
        (0, 2),
        1,
    )
    assert znodes.parse_state(text.replace(b',"leader_recovery_state":1', b"")).leader_recovery_state is None


BROKEN = [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"partitions":[1]}', b'{"partitions":{"x":[1]}}']


@pytest.mark.parametrize("data", [*BROKEN, b'{"partitions":{"0":["a"]}}', b'{"partitions":{"0":[18446744073709551616]}}'])
def test_a_broken_assignment_is_an_error_of_ours(data):
    with pytest.raises(ZnodeError):
        znodes.parse_assignment(data)


@pytest.mark.parametrize(
    "data", [*BROKEN, b'{"leader":"1"}', b'{"leader":true,"leader_epoch":1,"controller_epoch":1,"isr":[]}', b'{"leader":1e3}']
)
def test_a_broken_state_is_an_error_of_ours(data):
    with pytest.raises(ZnodeError):
        znodes.parse_state(data)


@pytest.mark.parametrize("data", [*BROKEN[:6], b'{"endpoints":3}', b'{"endpoints":[],"listener_security_protocol_map":[1]}'])
def test_a_broken_registration_is_an_error_of_ours(data):
    with pytest.raises(ZnodeError):
        znodes.parse_registration(1, 0, data, STAT)


@pytest.mark.parametrize("data", [b"", b"x", b"9" * 30, b"9" * 5000])
def test_a_broken_number_is_an_error_of_ours(data):
    with pytest.raises(ZnodeError):
        znodes.read_int(data)

"""What is refused next, once what is refused first is corrected: somebody who repairs one line must not start twice in vain."""

import pytest

from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import Property
from kafka_audit.lint.starts import next_refusals, start_verdict

GOOD = {
    "process.roles": "broker",
    "node.id": "2",
    "controller.quorum.voters": "200@c:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://:9092",
    "advertised.listeners": "PLAINTEXT://b2:9092",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}
NO_NUMBER = {"num.io.threads": "x"}
OTHER_LISTENER = {"inter.broker.listener.name": "INTERNAL"}
A_ALONE = {"listeners": "A://:9092", "inter.broker.listener.name": "A", "listener.security.protocol.map": "A:SSL,CONTROLLER:SSL"}
ANY_ADDRESS = {"advertised.listeners": "PLAINTEXT://0.0.0.0:9092"}


@pytest.mark.parametrize(
    ("more", "first", "then"),
    [
        ({}, None, []),
        (ANY_ADDRESS, "advertised.listeners", []),
        (OTHER_LISTENER | ANY_ADDRESS, "inter.broker.listener.name", ["advertised.listeners"]),
        (
            NO_NUMBER | OTHER_LISTENER | ANY_ADDRESS,
            "num.io.threads",
            ["inter.broker.listener.name", "advertised.listeners"],
        ),
        ({**A_ALONE, **ANY_ADDRESS}, "advertised.listeners", []),
        ({"process.roles": "brokers"} | ANY_ADDRESS, "process.roles", []),  # what else it refuses hangs on the role
    ],
)
def test_all_that_a_start_refuses_is_said_at_once(more, first, then):
    broker = Described(properties={key: Property(key=key, value=value, line=1) for key, value in (GOOD | more).items()})
    verdict = start_verdict(broker, "4.3.0")
    assert (verdict.refused and verdict.refused.key) == first
    assert [refused.key for refused in next_refusals(broker, verdict, "4.3.0")] == then

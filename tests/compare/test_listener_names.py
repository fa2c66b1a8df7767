"""Kafka registers names of listeners in capital letters, whatever a file says."""

import pytest

from kafka_audit.compare.listener_names import canonical_listener, same_listener


@pytest.mark.parametrize("name", ["LAN", "lan", " Lan "])
def test_one_listener(name):
    assert same_listener(name, "LAN")
    assert canonical_listener(name) == "LAN"


@pytest.mark.parametrize("name", ["", "LAN2", "L AN"])
def test_two_listeners(name):
    assert not same_listener(name, "LAN")

"""Time for readings: a watch waits for a party as long as the cluster file of a test says, however slow the machine is."""

import pytest

from hostile_parties.broker import honest_brokers
from kafka_audit.watch import reader

NEVER = 3600.0  # seconds that no test lasts


@pytest.fixture(autouse=True)
def ample_time(monkeypatch):
    """Lift the watch's own bounds of a party and of a reading: those that a test is about it sets itself."""
    monkeypatch.setattr(reader, "READ_S", NEVER)
    monkeypatch.setattr(reader, "WHOLE_S", NEVER)


@pytest.fixture
def brokers():
    """Three honest ones that know each other."""
    with honest_brokers() as made:
        yield made

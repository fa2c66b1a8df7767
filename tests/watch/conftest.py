"""Time for readings: a watch waits for a party as long as the cluster file of a test says, however slow the machine is."""

import pytest

from kafka_audit.watch import reader

NEVER = 3600.0  # seconds that no test lasts


@pytest.fixture(autouse=True)
def ample_time(monkeypatch):
    """Lift the watch's own bounds of a party and of a reading: those that a test is about it sets itself."""
    monkeypatch.setattr(reader, "READ_S", NEVER)
    monkeypatch.setattr(reader, "WHOLE_S", NEVER)

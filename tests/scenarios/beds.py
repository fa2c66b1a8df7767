"""What a scenario has for itself, under the names of conftest's fixtures: `bed = beds.of_one_test`."""

import pytest

from scenarios.loopback_cluster import LoopbackCluster
from testbed import Bed


@pytest.fixture
def of_one_test(tmp_path):
    """A bed for each test."""
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        yield bed


@pytest.fixture
def on_loopback():
    """A cluster of fakes on this machine, for each test."""
    cluster = LoopbackCluster()
    yield cluster
    cluster.close()

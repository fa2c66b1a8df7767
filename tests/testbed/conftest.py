"""One 3.9.1 cluster for all tests of this folder: each leaves it as it found it. pytest keeps the folder with its logs."""

import pytest

from testbed import Bed


@pytest.fixture(scope="session")
def bed(tmp_path_factory):
    with Bed(tmp_path_factory.mktemp("bed")) as bed:
        yield bed


@pytest.fixture(scope="session")
def cluster(bed):
    cluster = bed.cluster("3.9.1", properties={"zookeeper.session.timeout.ms": "3000"})
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    return cluster


@pytest.fixture
def healthy(cluster):
    """The cluster, whole; a test that leaves it broken fails here, at its own end."""
    cluster.await_settled()
    yield cluster
    cluster.await_settled()

"""A cluster for each version, whole when a scenario begins."""

import pytest

from scenarios.audits import Audits
from testbed import Bed
from testbed.population import populate
from testbed.population.contents import FEW

TOPICS = {
    "orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]},
    "payments": {0: [1, 0, 2], 1: [0, 2, 1]},
}


@pytest.fixture(scope="module", params=["3.9.1", "2.8.2"])
def version(request):
    return request.param


@pytest.fixture(scope="module")
def bed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bed")
    with Bed(folder, keep_logs=folder / "kept-logs") as bed:
        yield bed


@pytest.fixture(scope="module")
def cluster(bed, version):
    """A whole cluster of three plain brokers, in use, with two topics of known leaders; broker 0 is the controller."""
    cluster = bed.cluster(version)
    populate(bed, cluster, FEW)
    for name, assignment in TOPICS.items():
        cluster.create_topic(name, assignment)
    cluster.make_controller(0)
    cluster.await_settled()
    return cluster


@pytest.fixture
def audits(bed, cluster, tmp_path):
    return Audits(bed, cluster, tmp_path)

"""A cluster for each version, whole when a scenario begins; and pages of each kind in a browser."""

import pytest

from scenarios import browser, page_kinds
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
    cluster.create_topics(TOPICS)
    cluster.make_controller(0)
    cluster.await_settled()
    return cluster


@pytest.fixture
def audits(bed, cluster, tmp_path):
    return Audits(bed, cluster, tmp_path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Pages of each kind, by name."""
    return page_kinds.write_pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as running:
        yield running


@pytest.fixture
def page_in_chromium(chromium, files):
    """Open a page by its name in a window of its own, which is closed after the test."""
    opened = []

    def show(name, **window):
        opened.append(chromium.new_page(**window))
        opened[-1].goto(files[name].as_uri())
        return opened[-1]

    yield show
    for page in opened:
        page.close()

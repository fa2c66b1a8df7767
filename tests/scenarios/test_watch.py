"""`kafka-audit watch` on real brokers: faults within a minute, and silence through restarts and elections."""

import sys
import time

import pytest

from scenarios.audits import Audits
from scenarios.watching import watching
from testbed import Bed
from testbed.corpus import rivals
from testbed.faults import rolling_restart

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

MINUTE = 60
DOWN = {"no_answer", "gone"}
GRACE_S = 30
LATE_S = 15  # from here on a voter lags, and a reading sees it
VERSIONS = {"3.9.1": "zookeeper", "2.8.2": "zookeeper", "4.3.0": "kraft"}


@pytest.fixture(scope="module", params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture(scope="module")
def cluster(bed, version):
    made = bed.kraft(version, controllers=3) if VERSIONS[version] == "kraft" else bed.cluster(version)
    made.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    made.await_settled()
    return made


@pytest.fixture(scope="module")
def bed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bed")
    with Bed(folder, keep_logs=folder / "kept-logs") as bed:
        yield bed


@pytest.fixture
def watch(bed, cluster, tmp_path):
    with watching(bed, Audits(bed, cluster, tmp_path / "audits")) as found:
        found.await_all_answer()
        yield found


@pytest.fixture
def zookeeper(version):
    if VERSIONS[version] == "kraft":
        pytest.skip("only with ZooKeeper")


@pytest.fixture
def kraft(version):
    if VERSIONS[version] == "zookeeper":
        pytest.skip("only in KRaft mode")


def test_a_killed_broker_is_suspected_within_a_minute_and_not_when_it_is_back(cluster, watch):
    assert watch.seconds_until(lambda: cluster.brokers[2].stop(hard=True), DOWN, 2) <= MINUTE
    cluster.brokers[2].start()
    cluster.await_settled()
    watch.await_all_answer()


def test_a_stalled_broker_is_suspected_within_a_minute_and_not_when_it_goes_on(cluster, watch):
    try:
        assert watch.seconds_until(cluster.brokers[1].suspend, DOWN, 1) <= MINUTE
    finally:
        cluster.brokers[1].resume()
    cluster.await_settled()
    watch.await_all_answer()


@pytest.mark.usefixtures("zookeeper")
def test_a_broker_that_the_controller_cannot_reach_is_suspected_within_a_minute(cluster, watch):
    """Incident 000: the broker restarts with an address that the controller does not reach, and its view stays empty."""
    cluster.make_controller(0)
    try:
        cluster.advertise_through_forward([2])
        began = time.monotonic()
        assert watch.seconds_until(lambda: None, {"view_empty"}, 2) <= MINUTE
        assert time.monotonic() - began <= MINUTE
    finally:
        cluster.advertise_directly([2])
    cluster.await_settled()
    watch.await_all_answer()


def test_a_rolling_restart_is_silent(cluster, watch):
    away, stopped = [], 0.0
    for step in rolling_restart(cluster):
        if step.what == "stopped":
            stopped = time.monotonic()
        elif step.what == "started":
            away.append(time.monotonic() - stopped)
    assert max(away) < GRACE_S, "this machine is too slow for a normal restart"
    watch.await_all_answer()
    assert watch.suspected() == set()


@pytest.mark.usefixtures("zookeeper")
def test_an_election_of_the_controller_is_silent(cluster, watch):
    for wanted in (1, 2, 0):
        cluster.make_controller(wanted)
        time.sleep(6)
    watch.await_reading(lambda reading: reading["zookeeper"]["controller"] == 0, 5 * MINUTE)
    assert watch.suspected() == set()


@pytest.mark.usefixtures("kraft")
def test_a_rolling_restart_of_the_controllers_is_silent(cluster, watch):
    for node, server in sorted(cluster.controllers.items()):
        leader = watch.readings[-1].said["brokers"][0]["quorum_leader"]
        server.signal_stop()
        server.await_end()
        server.launch()
        if node == leader:
            watch.await_reading(
                lambda reading, was=leader: reading["brokers"][0]["quorum_leader"] not in {was, None, -1}, 5 * MINUTE
            )
        cluster.await_settled()
    watch.await_all_answer()
    assert watch.suspected() == set()


@pytest.mark.usefixtures("kraft")
def test_a_voter_that_is_killed_is_suspected_after_the_grace_and_not_when_it_is_back(cluster, watch):
    leader = watch.readings[-1].said["brokers"][0]["quorum_leader"]
    voter = next(server for node, server in cluster.controllers.items() if node != leader)

    def kill():
        voter.signal_stop(hard=True)
        voter.await_end()

    assert watch.seconds_until(kill, {"voters_lag"}, None) <= MINUTE + LATE_S
    voter.launch()
    watch.await_all_answer()


@pytest.mark.usefixtures("kraft")
def test_a_broker_that_applies_no_metadata_is_suspected_within_a_minute(bed, cluster, watch):
    server = cluster.brokers[2].server
    stopper = [sys.executable, "-I", str(rivals.HERE / "thread_stopper.py"), str(server.pid), "kafka-2-metadat"]
    try:
        assert watch.seconds_until(lambda: bed.stay(server.host, stopper), {"not_applied"}, 2) <= MINUTE
    finally:
        cluster.brokers[2].stop(hard=True)
        cluster.brokers[2].start()
    cluster.await_settled()
    watch.await_all_answer()


@pytest.mark.usefixtures("kraft")
def test_a_broker_cut_from_the_controllers_is_suspected_within_a_minute(bed, cluster, watch):
    hosts = [server.host for server in cluster.controllers.values()]

    def cut():
        for host in hosts:
            bed.cut(cluster.brokers[2].host, host)

    try:
        assert watch.seconds_until(cut, {"cut_from_quorum", "not_listed", "broker_lags", *DOWN}, 2) <= MINUTE
    finally:
        for host in hosts:
            bed.heal(cluster.brokers[2].host, host)
    cluster.await_settled()
    watch.await_all_answer(2 * MINUTE)

"""Replicas that are copied for minutes: neither a reassignment nor a catch-up after a restart is a fault of a broker."""

import time

import pytest

from scenarios.audits import Audits, failing
from testbed import Bed
from testbed.topics import await_reassigned, cancel_reassignment, configure_topic, reassign, throttle

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

LARGE = ("large", 0)
MEGABYTES = 60  # a throttle lets a megabyte through at a time, one every ten seconds
RANKS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")


@pytest.fixture(params=["3.9.1", "4.3.0"])
def bed_and_cluster(request, tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.cluster(request.param) if request.param < "4" else bed.kraft(request.param, controllers=1)
        # Broker 2 leads nothing else, so that none of its followers is in sync while they copy.
        cluster.create_topic("orders", {0: [0, 1, 2]})
        cluster.create_topic("large", {0: [2, 1]})
        configure_topic(cluster, "large", {"min.insync.replicas": "1", "follower.replication.throttled.replicas": "*"})
        for broker in (0, 1):
            throttle(cluster, broker)
        cluster.await_settled()
        yield bed, cluster


def in_sync(cluster, topic, partition):
    return set.intersection(*({*view.topics[topic][partition]["isr"]} for view in cluster.views().values()))


def alarms(audit):
    """Return what fails above INFO, with its severity, but for KA604: that replicas are out of sync is true."""
    found = {(severity, *one) for severity in RANKS for one in failing(audit.report, at_least=severity)}
    return {one for one in found if one[1] != "KA604"}


def assert_quiet_twice(cluster, audits, at_rest, brokers):
    """Audit twice; the second compares with the first."""
    for options in (("--baseline", "none"), ()):
        audit = audits.by_command("far", *options)
        assert alarms(audit) <= alarms(at_rest), audit.said
        incidents = audit.report["incidents"]
        assert not [incident for incident in incidents if "cut off" in incident["headline"]], audit.said
        assert not [step for incident in incidents for step in incident["remediation"] if "restart" in step["text"]], audit.said
    assert audit.report["previous_snapshot_id"], audit.said
    assert not in_sync(cluster, *LARGE) & brokers, "copied before the second audit"


def test_replicas_that_are_copied_are_no_fault(bed_and_cluster, tmp_path):
    bed, cluster = bed_and_cluster
    audits = Audits(bed, cluster, tmp_path / "audits")
    assert cluster.produce(*LARGE, MEGABYTES) is None
    at_rest = audits.by_command("far", "--baseline", "none")

    reassign(cluster, *LARGE, [2, 1, 0])
    assert_quiet_twice(cluster, audits, at_rest, {0})
    cancel_reassignment(cluster, *LARGE)
    await_reassigned(cluster)

    cluster.brokers[1].stop()
    assert cluster.produce(*LARGE, MEGABYTES) is None
    cluster.brokers[1].start()
    while 1 not in in_sync(cluster, "orders", 0):
        time.sleep(1)
    assert_quiet_twice(cluster, audits, at_rest, {1})

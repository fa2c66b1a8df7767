"""Kafka 4.4.0: a voter that hangs may go on at any moment, and a broker without a controller cannot hand over its leaders."""

import time
from contextlib import suppress

import pytest

from scenarios import beds
from scenarios.audits import Audits, finding_of
from scenarios.may_table import Table
from testbed.audit_files import controller_logs
from testbed.errors import BedError

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test


def test_a_voter_that_hangs_is_no_voter_to_remove(bed, tmp_path):
    """A leader ends by an answer of a voter that was removed a moment ago: a stopped process that goes on sends one."""
    cluster = bed.kraft("4.4.0", controllers=3, dynamic=True)
    cluster.create_topic("orders", {0: [0, 1, 2]})
    cluster.await_settled()
    table = Table(bed, cluster, tmp_path, "a voter that hangs")
    hung = int(cluster.ask_topics("quorum-leader"))
    server = cluster.controllers[hung]
    server.suspend()
    await_leader(cluster, lambda leader: leader not in {hung, -1})
    removal = table.may(f"remove-voter {hung}")
    assert removal.answer == "NOT_NOW", vars(removal)
    restart = table.may(f"restart controller:{hung}")
    assert "kill -9" in restart.command, vars(restart)

    server.signal_stop(hard=True)
    server.await_end()
    removal = table.may(f"remove-voter {hung}")
    assert removal.answer == "GO", vars(removal)  # the nearest: its process is gone
    table.done(removal)
    assert int(cluster.ask_topics("quorum-leader")) in cluster.controllers.keys() - {hung}


def test_a_broker_that_no_controller_hears_does_not_stop(bed, tmp_path):
    cluster = bed.kraft("4.4.0", controllers=1)
    cluster.create_topic("orders", {0: [1, 0, 2]})
    cluster.await_settled()
    audits, broker = Audits(bed, cluster, tmp_path / "audits"), cluster.brokers[1]
    logs = str(cluster.folder / "broker-{broker_id}" / "logs" / "server.log*")
    audits.describe("logged", logs={"paths": [logs, *controller_logs(cluster)]})
    table = Table(bed, cluster, tmp_path, "a broker cut from its controller")
    assert table.may("stop 1").answer == "GO"
    bed.cut(cluster.hosts()["1"], cluster.hosts()["200"])
    await_leader_of_orders(cluster, 0)
    asked = table.may("stop 1")
    assert asked.answer == "NOT_NOW", vars(asked)
    assert finding_of(audits.by_command("logged", "--all").report, "KA116", "broker/1")["status"] == "PASS"

    broker.server.signal_stop()
    time.sleep(30)
    assert broker.server.is_running, "it ended, so the stop had not to wait"
    audit = audits.by_command("logged", "--all")
    stopping = finding_of(audit.report, "KA116", "broker/1")
    assert (stopping["status"], stopping["evidence"]["state"]) == ("FAIL", "does not end"), audit.said

    bed.heal(cluster.hosts()["1"], cluster.hosts()["200"])
    broker.server.await_end(120)
    cluster.start_brokers([1])
    cluster.await_settled()
    healed = audits.by_command("logged", "--all")
    assert finding_of(healed.report, "KA116", "broker/1")["status"] == "PASS", healed.said


def await_leader(cluster, holds):
    deadline, leader = time.monotonic() + 120, None
    while leader is None or not holds(leader):
        assert time.monotonic() < deadline, leader
        with suppress(BedError):  # what is asked may wait for the leader that hangs
            leader = int(cluster.ask_topics("quorum-leader"))
        time.sleep(1)


def await_leader_of_orders(cluster, wanted):
    deadline = time.monotonic() + 120
    while (found := cluster.views([0])[0].topics["orders"][0]["leader"]) != wanted:
        assert time.monotonic() < deadline, found
        time.sleep(1)

"""A voter that follows and that no other reaches: named while the leader lives; then the leader stops, and none is elected.

Kafka 3.9.1 with the voters in files, and a firewall before one of them; 4.3.0 with the voters in the log, and one that advertises
an address where nothing listens.
"""

import time

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing, finding_of
from testbed.kraft import CONTROLLER_PORT
from testbed.topics import finalize_feature

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test
SETTLE_S = 15
ELECTIONS = ("KA203", "cluster")
"""Voters that do not reach each other elect again and again: 29 times in a minute, seen."""


def quorum(bed, release):
    cluster = bed.kraft(release, controllers=3)
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


def audits_of(bed, cluster, folder):
    """Return audits with and without vantages; no file names a controller, so that all is learnt from the quorum."""
    audits = Audits(bed, cluster, folder)
    command = cluster.vantage_command("controller")
    on_hosts = {"controllers": {"command": command, "role": "controller"}}
    audits.describe("worker", controllers=None)
    audits.describe("hosts", controllers=None, vantages=on_hosts)
    audits.describe("brokers", controllers=None, vantages={"brokers": {"command": cluster.vantage_command(), "role": "broker"}})
    return audits


def leader_of(report):
    return finding_of(report, "KA218", "cluster")["evidence"]["leader"]


def judged(report):
    found = finding_of(report, "KA218", "cluster")
    return found["status"], found["severity"], found["confidence"]


def healthy(audits, but=frozenset()):
    """Audit a whole quorum from each place; return its leader. `but`: what the history shows all the same."""
    whole = audits.by_command("hosts", "--all")
    assert judged(whole.report)[0] == "PASS", whole.said
    assert failing(whole.report, at_least="HIGH") <= but, whole.said
    for name in ("worker", "brokers"):
        run = audits.by_command(name, "--all")
        assert judged(run.report)[0] == "UNKNOWN", run.said
        assert failing(run.report, at_least="HIGH") <= but, run.said
    return leader_of(whole.report)


def named(audits, leader, hidden, address):
    """Audit the broken quorum from each place: the hosts of voters measure it, others suspect it."""
    for name, confidence in {"hosts": "measured", "brokers": "suspected", "worker": "suspected"}.items():
        run = audits.by_command(name)
        assert judged(run.report) == ("FAIL", "HIGH", confidence), run.said
        says = f"If leader {leader} stops, the election fails: controller {hidden} at {address} is not reached"
        assert finding_of(run.report, "KA218", "cluster")["message"].startswith(says)
        assert failing(run.report, at_least="HIGH") == {("KA218", "cluster")}, run.said
        assert run.code == 3, run.said


def proven(audits, cluster, leader):
    """Stop the leader: what the audit said comes true."""
    cluster.controllers[leader].signal_stop(hard=True)
    cluster.controllers[leader].await_end()
    time.sleep(SETTLE_S)
    lost = audits.by_command("worker")
    assert ("KA201", "cluster") in failing(lost.report, at_least="CRITICAL"), lost.said
    cluster.controllers[leader].launch()


def test_a_firewall_before_a_voter_of_a_static_quorum(bed, tmp_path):
    cluster = quorum(bed, "3.9.1")
    audits = audits_of(bed, cluster, tmp_path / "audits")
    leader = healthy(audits)
    hidden = next(node for node in cluster.controllers if node != leader)
    target = cluster.controllers[hidden].host
    sources = [host for node, host in cluster.hosts().items() if node != str(hidden)]
    for host in sources:
        bed.cut(host, target)
    # The worker is the bridge's own end, where nothing can be cut: from there the address answers, and decides nothing.
    run = audits.by_command("hosts")
    assert judged(run.report) == ("FAIL", "HIGH", "measured"), run.said
    assert failing(run.report, at_least="HIGH") == {("KA218", "cluster")}, run.said
    assert f"controller {hidden} at {target.address}:{CONTROLLER_PORT} is not reached" in run.said
    proven(audits, cluster, leader)
    for host in sources:
        bed.heal(host, target)
    cluster.await_settled()
    healthy(audits, but={ELECTIONS})


def test_a_voter_of_a_dynamic_quorum_advertises_an_address_where_nothing_listens(bed, tmp_path):
    cluster = quorum(bed, "4.3.0")
    finalize_feature(cluster, "kraft.version", 1, upgrade=True)
    audits = audits_of(bed, cluster, tmp_path / "audits")
    leader = healthy(audits)
    hidden = next(node for node in cluster.controllers if node != leader)
    server = cluster.controllers[hidden]
    right = dict(server.properties)

    def restart_with(properties):
        server.properties = properties
        # The other follower as well: its open connection to the earlier address would carry the next election (seen).
        for process in (server, *(own for node, own in cluster.controllers.items() if node not in {leader, hidden})):
            process.signal_stop()
            process.await_end(60)
            process.launch()
            time.sleep(SETTLE_S)

    wrong = f"{server.host.address}:{CONTROLLER_PORT + 1}"
    restart_with({**right, "advertised.listeners": f"CONTROLLER://{wrong}"})
    named(audits, leader, hidden, wrong)
    proven(audits, cluster, leader)
    restart_with(right)
    cluster.await_settled()
    healthy(audits, but={ELECTIONS})

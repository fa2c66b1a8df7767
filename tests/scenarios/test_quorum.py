"""KRaft 4.3.0: controllers of the metadata quorum fail one after the other, and come back."""

import re

import pytest

from scenarios import beds
from scenarios.audits import Audits, failing

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test
QUORUM = ("KA201", "KA202", "KA209", "KA210", "KA211", "KA212")


@pytest.fixture
def cluster(bed):
    cluster = bed.kraft("4.3.0", controllers=3)
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


def statuses(report):
    return {(f["code"], f["status"]) for f in report["findings"] if f["code"] in QUORUM}


def leader_of(report):
    (finding,) = [f for f in report["findings"] if f["code"] == "KA201"]
    return int(re.match(r"Controller (\d+) is the controller", finding["message"])[1])


def stop(server):
    server.signal_stop(hard=True)
    server.await_end()


def test_controllers_fail_one_after_the_other_and_come_back(bed, cluster, tmp_path):
    audits = Audits(bed, cluster, tmp_path / "audits")
    whole = audits.by_command("far", "--all")
    assert whole.code == 0, whole.said
    assert statuses(whole.report) == {(code, "PASS") for code in QUORUM}
    named = {f["resource"]["name"] for f in whole.report["findings"] if f["code"] in {"KA202", "KA211"}}
    addresses = {f"controller/{address}" for address in cluster.controller_addresses}
    leader = leader_of(whole.report)
    assert named == {f"broker/{broker}" for broker in range(3)} | {f"controller/{leader}"} | addresses

    first, second = (controller for controller in cluster.controllers if controller != leader)
    stop(cluster.controllers[first])
    one_down = audits.by_dag("far", "one-down.log")
    address = f"controller/{cluster.controllers[first].host.address}:9093"
    assert failing(one_down.report, at_least="HIGH") == {("KA001", address), ("KA209", "cluster"), ("KA211", address)}
    (incident,) = one_down.report["incidents"]
    assert incident["cause"] == "KA209"
    assert incident["headline"] == "The metadata quorum lacks 1 of its 3 controllers: losing another loses the quorum"

    stop(cluster.controllers[second])
    lost = audits.by_command("far")
    assert lost.code == 3, lost.said
    assert ("KA201", "cluster") in failing(lost.report, at_least="CRITICAL"), lost.said
    (incident,) = lost.report["incidents"]
    assert incident["headline"] == "The cluster has no controller: the metadata quorum has no leader"

    for node in (first, second):
        cluster.controllers[node].launch()
    cluster.await_settled()
    healed = audits.by_command("far", "--all")
    assert healed.code == 0, healed.said
    assert failing(healed.report, at_least="HIGH") == set()
    assert {found for found in statuses(healed.report) if found[1] != "PASS"} == set()

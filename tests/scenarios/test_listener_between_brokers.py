"""KRaft 4.3.0: the listener between brokers, which no address of the cluster file leads to."""

import pytest
import yaml

from scenarios.audits import assert_repaired, finding_of
from testbed import presets

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

QUICK = {"read_s": 3, "settle_s": 2}


@pytest.fixture(scope="module")
def cluster(bed):
    cluster = bed.kraft("4.3.0", controllers=1, **presets.split())
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


def test_the_listener_between_brokers_is_judged_though_no_bootstrap_address_leads_to_it(audits, bed, cluster):
    """What is asked on one listener lists no other: brokers' settings say where they reach each other."""
    entry = yaml.safe_load(cluster.clusters_yaml("any"))["clusters"]["any"]
    audits.describe("near", limits=QUICK, vantages=entry["vantages"], bootstrap=[cluster.brokers[0].address])
    where = "broker/2/listener/INTERNAL"
    whole = audits.by_command("near", "--all")
    assert whole.code == 0, whole.said
    assert finding_of(whole.report, "KA302", where)["status"] == "PASS"
    assert [
        finding
        for finding in whole.report["findings"]
        if finding["code"] == "KA301" and "INTERNAL" in finding["resource"]["name"]
    ] == []

    both = [cluster.brokers[0].address, f"{cluster.brokers[0].host.address}:9094"]
    audits.describe("near", limits=QUICK, vantages=entry["vantages"], bootstrap=both)
    of_both = audits.by_command("near", "--all")
    assert (of_both.code, "sample 2" in of_both.said) == (0, False), of_both.said
    assert finding_of(of_both.report, "KA302", where)["status"] == "PASS"

    audits.describe("near", limits=QUICK, vantages=entry["vantages"], bootstrap=both[:1])
    for follower in (0, 1):
        bed.cut(cluster.brokers[follower].host, cluster.brokers[2].host)
    broken = audits.by_command("near", "--all")
    assert broken.code == 3, broken.said
    assert finding_of(broken.report, "KA302", where)["status"] == "FAIL"
    (incident,) = broken.report["incidents"]
    assert (incident["cause"], incident["confidence"]) == ("KA302", "measured")

    for follower in (0, 1):
        bed.heal(cluster.brokers[follower].host, cluster.brokers[2].host)
    healed = audits.by_command("near", "--all")
    assert healed.code == 0, healed.said
    assert finding_of(healed.report, "KA302", where)["status"] == "PASS"
    assert_repaired(healed.report, "KA302")

"""KRaft 4.3.0, healthy, brokers that are controllers: vantages in an empty network namespace say nothing of the cluster."""

import pytest

from scenarios.audits import Audits, failing, finding_of
from testbed import Bed

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]
NOWHERE = ["sh", "-c", 'exec unshare -rn -- "$@"']


def test_a_vantage_in_another_namespace_is_not_the_clusters_fault(tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        cluster = bed.kraft("4.3.0", controllers=0)
        cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
        cluster.await_settled()
        audits = Audits(bed, cluster, tmp_path / "audits")

        audits.describe("far", vantages={"hosts": {"command": [*NOWHERE, "{broker_id}"], "role": "broker"}})
        of_brokers = audits.by_command("far", "--all")
        assert of_brokers.code == 0, of_brokers.said
        assert failing(of_brokers.report, at_least="HIGH") == set(), of_brokers.said
        for broker in cluster.brokers:
            found = finding_of(of_brokers.report, "KA216", f"broker/{broker}")
            assert found["status"] == "UNKNOWN"
            assert f"a vantage on the host of broker {broker}" in found["evidence"]["needs"]

        audits.describe("far", vantages={"dmz": {"command": [*NOWHERE, "dmz"], "role": "client"}})
        of_clients = audits.by_command("far")
        assert of_clients.code == 3, of_clients.said
        assert {code for code, _ in failing(of_clients.report, at_least="HIGH")} == {"KA301"}, of_clients.said
        assert {finding["severity"] for finding in of_clients.report["findings"] if finding["code"] == "KA301"} == {"HIGH"}
        assert "whether dmz is in the network of the clients" in str(of_clients.report["incidents"])

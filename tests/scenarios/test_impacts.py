"""Who is hurt: what real clients cannot do, and nothing else, is what the report lists."""

import json
import sys
from pathlib import Path

import pytest

from scenarios.audits import Audits
from testbed import Bed
from testbed.topics import configure_topic

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0]}, "single": {0: [2], 1: [0]}, "pair": {0: [1, 2], 1: [0, 1]}}
OF_PARTITIONS = ("produce_acks_all", "produce", "consume")


@pytest.fixture(params=["2.8.2", "3.9.1", "4.3.0"])
def audited(request, tmp_path):
    with Bed(tmp_path / "bed", keep_logs=tmp_path / "logs") as bed:
        zookeeper = request.param < "4"
        settings = {"properties": {"auto.leader.rebalance.enable": "false"}}
        cluster = bed.cluster(request.param, **settings) if zookeeper else bed.kraft(request.param, controllers=1, **settings)
        for name, assignment in TOPICS.items():
            cluster.create_topic(name, assignment)
            configure_topic(cluster, name, {"min.insync.replicas": "1" if name == "single" else "2"})
        if zookeeper:
            cluster.make_controller(0)
        cluster.await_settled()
        yield bed, cluster, Audits(bed, cluster, tmp_path)


def tried(bed, cluster):
    """Return by function where real clients fail."""
    script = Path(__file__).parent / "clients" / "functions.py"
    places = [(topic, number) for topic, assignment in TOPICS.items() for number in assignment]
    command = [sys.executable, str(script), ",".join(broker.address for broker in cluster.brokers.values())]
    completed = bed.worker.run(command, input=json.dumps(places))
    assert completed.returncode == 0, completed.stderr
    return {function: set(found) for function, found in json.loads(completed.stdout).items()}


def listed(report):
    """Return by function the partitions that the incidents of a report list."""
    impacts = [impact for incident in report["incidents"] for impact in incident["impacts"]]
    found = {function: set() for function in OF_PARTITIONS}
    for impact in impacts:
        if impact["function"] in found:
            own = (name for name in impact["partitions"] if name.rpartition("-")[0] in TOPICS)  # not what the test created
            found[impact["function"]].update(own)
    return found, {impact["function"] for impact in impacts}


def test_clients_fail_at_what_is_listed_and_at_nothing_else(audited):
    bed, cluster, audits = audited
    assert tried(bed, cluster) == {key: set() for key in (*OF_PARTITIONS, "create_topics")}
    assert listed(audits.by_command("near").report)[1] == set()
    cluster.brokers[2].stop(hard=True)
    broken = audits.by_command("near")
    found, functions = listed(broken.report)
    seen = tried(bed, cluster)
    assert found == {function: seen[function] for function in OF_PARTITIONS}
    assert found["produce"] == {"single-0"}
    assert {"single-0", "pair-0"} <= found["produce_acks_all"]
    assert seen["create_topics"] == set()
    assert "create_topics" not in functions
    cluster.brokers[2].start()
    cluster.await_settled()
    assert listed(audits.by_command("near").report)[1] == set()

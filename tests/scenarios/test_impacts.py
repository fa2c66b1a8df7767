"""Who is hurt: what real clients cannot do, and nothing else, is what the report lists."""

import json
import sys
import time
from pathlib import Path

import pytest

from scenarios import beds
from scenarios.audits import Audits
from testbed import presets
from testbed.topics import configure_topic

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test

TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0]}, "single": {0: [2], 1: [0]}, "pair": {0: [1, 2], 1: [0, 1]}}
OF_PARTITIONS = ("produce_acks_all", "produce", "consume")
OF_GROUPS, OF_PRODUCERS = "__consumer_offsets", "__transaction_state"
WHOLE = ("create_topics", "elect_leader")
NAMES = tuple(f"n{number}" for number in range(6))
SETTINGS = {
    "auto.leader.rebalance.enable": "false",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
PATIENCE_S = 15


def started(bed, version, **options):
    """Return a cluster with topics of one, two and three replicas."""
    options["properties"] = {**SETTINGS, **options.get("properties", {})}
    cluster = bed.cluster(version, **options) if version < "4" else bed.kraft(version, controllers=1, **options)
    for name, assignment in TOPICS.items():
        cluster.create_topic(name, assignment)
    return cluster


@pytest.fixture(params=["2.8.2", "3.9.1", "4.3.0"])
def audited(request, bed, tmp_path):
    cluster = started(bed, request.param)
    for name in TOPICS:
        configure_topic(cluster, name, {"min.insync.replicas": "1" if name == "single" else "2"})
    if request.param < "4":
        cluster.make_controller(0)
    cluster.await_settled()
    return bed, cluster, Audits(bed, cluster, tmp_path / "audits")


def tried(bed, cluster, at=(0, 1, 2)):
    """Return by function where real clients fail that begin at these brokers."""
    script = Path(__file__).parent / "clients" / "functions.py"
    asked = {
        "options": cluster.secured.client_options() if cluster.secured else {},
        "partitions": [(topic, number) for topic, assignment in TOPICS.items() for number in assignment],
        "groups": NAMES,
        "producers": NAMES,
    }
    command = [sys.executable, str(script), ",".join(cluster.brokers[broker].address for broker in at)]
    completed = bed.worker.run(command, input=json.dumps(asked))
    assert completed.returncode == 0, completed.stderr
    sys.stderr.write(completed.stderr)
    return {function: set(found) for function, found in json.loads(completed.stdout).items()}


def assert_all_works(bed, cluster):
    """Assert that clients can do everything; the first ones make Kafka's own topics, which takes a while."""
    failing = tried(bed, cluster)
    if any(failing.values()):
        failing = tried(bed, cluster)
    assert not any(failing.values()), failing


def impacts(report):
    """Return the impacts of the incidents by function."""
    return {impact["function"]: impact for incident in report["incidents"] for impact in incident["impacts"]}


def listed(report):
    """Return by function the partitions of `TOPICS` that the incidents of a report list."""
    found = impacts(report)
    places = {function: found.get(function, {}).get("partitions") or [] for function in OF_PARTITIONS}
    return {function: {name for name in names if name.rpartition("-")[0] in TOPICS} for function, names in places.items()}


def partitions_of(names):
    """Return the partitions whose leaders coordinate these groups or producers: Java's hash of n0 is 3458."""
    return {(ord(name[0]) * 31 + ord(name[1])) % 3 for name in names}


def ids_at(lost):
    """Return which of `NAMES` are coordinated by the leaders of these partitions."""
    return {name for name in NAMES if partitions_of([name]) <= lost}


def test_clients_fail_at_what_is_listed_and_at_nothing_else(audited):
    bed, cluster, audits = audited
    assert_all_works(bed, cluster)
    assert impacts(audits.by_command("near").report) == {}
    cluster.brokers[2].stop(hard=True)
    broken = audits.by_command("near")
    found, hurt = listed(broken.report), impacts(broken.report)
    seen = tried(bed, cluster)
    assert found == {function: seen[function] for function in OF_PARTITIONS}
    assert seen["replicate"] == set()  # of the brokers that answer
    assert found["produce"] == {"single-0"}
    assert {"single-0", "pair-0"} <= found["produce_acks_all"]
    for function, topic in (("commit_offsets", OF_GROUPS), ("transactions", OF_PRODUCERS)):
        lost = {int(name.rpartition("-")[2]) for name in hurt[function]["partitions"] if name.startswith(topic)}
        assert lost  # each of three brokers leads one of three
        assert seen[function] == ids_at(lost)
    assert [seen[function] for function in WHOLE] == [set(), set()]
    assert hurt.keys().isdisjoint(WHOLE)
    cluster.brokers[2].start()
    cluster.await_settled()
    assert impacts(audits.by_command("near").report) == {}
    assert_all_works(bed, cluster)


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
@pytest.mark.parametrize("end", ["cut", "stopped"])
def test_a_controller_that_no_broker_reaches_stops_changes_and_no_client(bed, tmp_path, version, end):
    cluster = bed.kraft(version, controllers=1, properties=SETTINGS)
    for name, assignment in TOPICS.items():
        cluster.create_topic(name, assignment)
    cluster.await_settled()
    audits = Audits(bed, cluster, tmp_path / "audits")
    assert_all_works(bed, cluster)
    (controller,) = cluster.controllers.values()
    ways = [
        pair for broker in cluster.brokers.values() for pair in ((broker.host, controller.host), (controller.host, broker.host))
    ]
    if end == "stopped":
        controller.signal_stop(hard=True)
        controller.await_end(PATIENCE_S)
    for way in ways if end == "cut" else ():
        bed.cut(*way)
    time.sleep(PATIENCE_S)  # until its brokers give it up
    hurt, seen = impacts(audits.by_command("near").report), tried(bed, cluster)
    assert {function for function, where in seen.items() if where} == {*WHOLE}
    assert hurt.keys() == {*WHOLE}
    if end == "stopped":
        controller.launch()
    for way in ways if end == "cut" else ():
        bed.heal(*way)
    cluster.await_settled()
    assert impacts(audits.by_command("near").report) == {}
    assert_all_works(bed, cluster)


def test_a_login_that_is_refused_hurts_who_is_listed(bed, tmp_path):
    """Broker 2 does not know the user that brokers log in as: the controller cannot tell it what it leads."""
    cluster = started(bed, "3.9.1", **presets.unknown_password(2))
    audits = Audits(bed, cluster, tmp_path / "audits")
    tried(bed, cluster, at=(0, 1))  # makes Kafka's own topics
    hurt, seen = impacts(audits.by_command("all").report), tried(bed, cluster, at=(0, 1))
    assert all(hurt[function]["leaders"] == [2] for function in hurt)
    assert {function: hurt[function]["number"] for function in OF_PARTITIONS} == dict.fromkeys(OF_PARTITIONS, 1)
    assert [seen[function] for function in OF_PARTITIONS] == [{"single-0"}] * 3
    for function in ("commit_offsets", "transactions"):
        assert len(partitions_of(seen[function])) == hurt[function]["number"]
        assert seen[function] == ids_at(partitions_of(seen[function]))
    assert [seen[function] for function in WHOLE] == [set(), set()]
    assert hurt.keys().isdisjoint(WHOLE)
    cluster.heal_security(2)
    assert impacts(audits.by_command("all").report) == {}
    assert_all_works(bed, cluster)


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
def test_followers_that_do_not_copy_are_those_that_are_listed(bed, tmp_path, version):
    """Brokers 1 and 2 do not reach each other; the second audit sees that what is missing does not come."""
    cluster = started(bed, version, properties={"replica.lag.time.max.ms": "5000"})
    cluster.await_settled()
    audits = Audits(bed, cluster, tmp_path / "audits")
    assert_all_works(bed, cluster)
    for one, other in ((1, 2), (2, 1)):
        bed.cut(cluster.brokers[one].host, cluster.brokers[other].host)
    tried(bed, cluster)
    time.sleep(PATIENCE_S)  # until their leaders take them out of the ISR
    assert "replicate" not in impacts(audits.by_command("near").report)  # a replica that copies is out of the ISR, too
    hurt, seen = impacts(audits.by_command("near").report), tried(bed, cluster)
    assert {*hurt["replicate"]["partitions"]} == seen["replicate"]
    assert seen["replicate"] > set()
    for one, other in ((1, 2), (2, 1)):
        bed.heal(cluster.brokers[one].host, cluster.brokers[other].host)
    cluster.await_settled()
    assert impacts(audits.by_command("near").report) == {}
    assert_all_works(bed, cluster)

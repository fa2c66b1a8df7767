"""Snapshots of real clusters in the test bed: ZooKeeper and three brokers, 3.9.1 and 2.8.2, whole and broken."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from testbed import Bed

pytestmark = pytest.mark.bed

HERE = Path(__file__).parent
PLUGINS = HERE.parents[1] / "plugins"
TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}, "payments": {0: [1, 0, 2]}}
MANY = {f"many-{number}": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]} for number in range(30)}


class Audited:
    """One cluster of a version, and snapshots of it."""

    def __init__(self, bed, version, chroot):
        self.bed = bed
        self.version = version
        self.cluster = bed.cluster(version, chroot=chroot, properties={"zookeeper.session.timeout.ms": "6000"})
        self.cluster.create_topics(TOPICS | MANY)
        self.cluster.await_settled()

    def start(self, **options):
        described = {"zookeeper": self.cluster.zookeeper_connect, "limits": {"read_s": 60.0, "settle_s": 1.0}, **options}
        command = [sys.executable, str(HERE / "take_snapshot.py"), json.dumps(described)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return self.bed.worker.popen(command, env={**os.environ, "PYTHONPATH": str(PLUGINS)}, **pipes)

    def run(self, **options):
        return ended(self.start(**options))

    def snapshot(self, **options):
        return told(self.run(**options))


def ended(process):
    stdout, stderr = process.communicate()
    return SimpleNamespace(returncode=process.returncode, stdout=stdout, stderr=stderr)


def told(completed):
    assert completed.returncode == 0, completed.stderr
    assert completed.stderr == ""
    content = json.loads(completed.stdout)
    return SimpleNamespace(**content, of=lambda table: content["rows"].get(table, []))


VERSIONS = [
    pytest.param(("3.9.1", ""), id="3.9.1"),
    pytest.param(("2.8.2", "/deep/kafka"), id="2.8.2", marks=pytest.mark.scenario),
]


@pytest.fixture(scope="module", params=VERSIONS)
def audited(request, tmp_path_factory):
    with Bed(tmp_path_factory.mktemp("bed")) as bed:
        yield Audited(bed, *request.param)


@pytest.fixture
def whole(audited):
    """The cluster, whole again at the end of a test."""
    yield audited
    for broker in audited.cluster.brokers.values():
        broker.resume()
    audited.cluster.start_brokers(audited.cluster.brokers)
    audited.cluster.await_settled()


def failed(snapshot):
    return [(row["observer"], row["operation"], row["error"]) for row in snapshot.of("SourceRead") if row["outcome"] == "failed"]


def by_target(snapshot):
    """Return the steps of all probes, those of a probe in their order; on a busy host probes end in any order."""
    return sorted(snapshot.of("Probe"), key=lambda row: (str(row["from_broker"]), row["broker_id"]))


def test_a_healthy_cluster_is_told_completely_in_one_look(audited):
    snapshot = audited.snapshot()
    assert failed(snapshot) == []
    assert len(snapshot.of("Sample")) == 1
    states = audited.cluster.partition_states()
    held = {
        f"{row['topic']}/{row['partition']}": (row["leader"], row["leader_epoch"], row["isr"], row["replicas"])
        for row in snapshot.of("RegisteredPartition")
    }
    assert {place: (leader, epoch, isr) for place, (leader, epoch, isr, _) in held.items()} == {
        place: (state["leader"], state["leader_epoch"], sorted(state["isr"])) for place, state in states.items()
    }
    assert len(held) == 4 + 3 * len(MANY)
    (registry,) = snapshot.of("Registry")
    assert registry["controller_id"] == audited.cluster.controller_id()
    assert snapshot.cluster_id == registry["kafka_cluster_id"]
    views = snapshot.of("BrokerView")
    assert {view["observer"] for view in views} == {"broker:0", "broker:1", "broker:2"}
    assert len({(view["brokers_digest"], view["topics_digest"], view["controller_id"]) for view in views}) == 1
    assert {view["controller_id"] for view in views} == {registry["controller_id"]}
    names = {row["topic_digest"]: row["topic"] for row in snapshot.of("ViewTopic")}
    shown = {
        f"{names[row['topic_digest']]}/{row['partition']}": (row["leader"], row["leader_epoch"], row["isr"], row["replicas"])
        for row in snapshot.of("ViewPartition")
    }
    assert shown == held
    ids = {row["topic"]: row["topic_id"] for row in snapshot.of("RegisteredTopic")}
    assert {row["topic"]: row["topic_id"] for row in snapshot.of("ViewTopic")} == ids
    assert all(ids.values())


def test_each_broker_tells_itself(audited):
    snapshot = audited.snapshot()
    assert {row["broker_id"]: row["answered_by"] for row in snapshot.of("BrokerIdentity")} == {0: 0, 1: 1, 2: 2}
    sessions = {
        row["broker_id"]: (row["value"], row["source"])
        for row in snapshot.of("BrokerConfig")
        if row["key"] == "zookeeper.session.timeout.ms"
    }
    assert sessions == dict.fromkeys((0, 1, 2), ("6000", 4))
    assert all(row["value"] is None for row in snapshot.of("BrokerConfig") if row["sensitive"])
    assert Counter(row["broker_id"] for row in snapshot.of("BrokerApi") if row["api_key"] == 3) == Counter([0, 1, 2])
    probes = [(row["broker_id"], row["layer"], row["outcome"]) for row in by_target(snapshot)]
    assert probes == [(broker, layer, "ok") for broker in (0, 1, 2) for layer in ("dns", "tcp", "api", "identity", "packets")]


def test_asking_writes_nothing(audited):
    before = audited.cluster.znodes()
    audited.snapshot(bootstrap=[broker.address for broker in audited.cluster.brokers.values()])
    assert audited.cluster.znodes() == before


def test_asking_leaves_no_warning_in_any_log(audited):
    logs = [*audited.cluster.folder.glob("*/logs/*.log")]
    assert logs
    before = {path: path.stat().st_size for path in logs}
    audited.snapshot()
    new = {path: path.read_text(errors="replace")[before[path] :] for path in logs}
    assert any("Unexpected broker id" in text for text in new.values()), "the identity question is told by INFO"
    assert [line for text in new.values() for line in text.splitlines() if " WARN " in line or " ERROR " in line] == []


def test_a_chroot_without_kafka_is_a_usage_error(audited):
    wrong = f"{audited.cluster.zookeeper_connect.partition('/')[0]}/nowhere"
    completed = audited.run(zookeeper=wrong)
    assert completed.returncode == 1
    assert "there is no /brokers/ids below the chroot /nowhere" in completed.stderr


def test_python_and_bash_see_the_same_from_each_broker(audited, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "getent", "sort"):
        (folder / name).symlink_to(shutil.which(name))
    there = audited.cluster.vantage_command()
    vantages = [
        {"name": "python", "role": "broker", "command": there},
        {"name": "bash", "role": "broker", "command": [*there, "env", f"PATH={folder}"]},
    ]
    snapshot = audited.snapshot(vantages=vantages)
    assert failed(snapshot) == []
    seen = {
        name: [
            {key: value for key, value in row.items() if key not in {"vantage", "elapsed_ms"}}
            for row in by_target(snapshot)
            if row["vantage"] == name
        ]
        for name in ("python", "bash")
    }
    large = [row for row in seen["python"] if row["layer"] == "packets"]  # bash sends no large request
    assert [(row["from_broker"], row["broker_id"], row["outcome"]) for row in large] == [
        (here, there, "ok") for here in (0, 1, 2) for there in (0, 1, 2)
    ]
    assert seen["bash"] == [row for row in seen["python"] if row not in large]
    assert [(row["from_broker"], row["broker_id"], row["detail"]) for row in seen["bash"] if row["layer"] == "identity"] == [
        (here, there, str(there)) for here in (0, 1, 2) for there in (0, 1, 2)
    ]
    (info,) = snapshot.of("SnapshotInfo")
    assert (info["broker_vantages"], info["client_vantages"]) == (1 + 1, 1)


def test_a_broker_that_hangs_costs_its_own_rows(whole):
    # Registered for longer than a busy host takes to ask.
    whole.cluster.brokers[1].restart({"zookeeper.session.timeout.ms": "30000"})
    whole.cluster.await_settled()
    whole.cluster.brokers[1].suspend()
    snapshot = whole.snapshot(limits={"read_s": 3.0, "settle_s": 0.5})
    asked = ("ApiVersions", "Metadata", "DescribeConfigs identity", "DescribeConfigs BROKER")
    # Of three samples (ISRs shrink while a busy host asks) the last two are kept.
    kept = [row["sample"] for row in snapshot.of("Sample")]
    first = [row for row in snapshot.of("SourceRead") if row["sample"] == kept[0] and row["outcome"] == "failed"]
    assert [(row["observer"], row["operation"], row["error"]) for row in first] == [
        ("broker:1", operation, "timeout") for operation in asked
    ]
    assert {row["observer"] for row in snapshot.of("BrokerView")} == {"broker:0", "broker:2"}
    assert [(row["sample"], row["error"]) for row in snapshot.of("Probe") if row["outcome"] == "failed"] == [
        (sample, "timeout") for sample in kept
    ]


def registered(snapshot):
    """Return the registered brokers of each look that was kept."""
    return [
        {row["broker_id"] for row in snapshot.of("RegisteredBroker") if row["sample"] == look["sample"]}
        for look in snapshot.of("Sample")
    ]


def test_a_broker_that_was_just_killed_is_gone_in_two_looks_that_agree(whole):
    whole.cluster.brokers[2].stop(hard=True)
    snapshot = whole.snapshot()
    assert registered(snapshot) == [{0, 1}, {0, 1}]
    assert len({row["brokers_pzxid"] for row in snapshot.of("Registry")}) == 1
    last = max(row["sample"] for row in snapshot.of("Sample"))
    assert [row for row in snapshot.of("SourceRead") if row["sample"] == last and row["outcome"] == "failed"] == []


def test_a_broker_that_was_stopped_is_gone_in_two_looks(whole):
    whole.cluster.brokers[2].stop()
    snapshot = whole.snapshot(bootstrap=[broker.address for broker in whole.cluster.brokers.values()])
    assert registered(snapshot) == [{0, 1}, {0, 1}]
    address = whole.cluster.brokers[2].address
    assert {row["observer"] for row in snapshot.of("SourceRead") if row["outcome"] == "failed"} == {f"broker@{address}"}
    assert "broker 2, not registered in ZooKeeper; a bootstrap address did not answer" in snapshot.of("Sample")[1]["reason"]


def test_a_broker_that_comes_back_between_two_looks_is_there_in_the_last(whole):
    """The nearest false positive: a restart. Where it takes longer than one pause, the looks go on while brokers come."""
    whole.cluster.brokers[2].stop()
    process = whole.start(limits={"read_s": 60.0, "settle_s": 12.0})
    whole.cluster.start_brokers([2])
    snapshot = told(ended(process))
    assert registered(snapshot)[-1] == {0, 1, 2}


def test_behind_the_forward_a_broker_shows_an_empty_view(whole):
    whole.cluster.advertise_through_forward([2])
    try:
        vantages = [{"name": "brokers", "role": "broker", "command": whole.cluster.vantage_command()}]
        bootstrap = [whole.cluster.brokers[2].address]
        snapshot = whole.snapshot(vantages=vantages, bootstrap=bootstrap)
    finally:
        whole.cluster.advertise_directly([2])
    assert [row["sample"] for row in snapshot.of("Sample")] == [1, 2]
    for sample in (1, 2):
        views = {
            row["observer"]: (row["brokers_listed"], row["topics_listed"], row["controller_id"] == -1)
            for row in snapshot.of("BrokerView")
            if row["sample"] == sample
        }
        empty, full = (0, 0, True), (3, len(TOPICS) + len(MANY), False)
        doubted = {"broker:2": empty, f"broker@{bootstrap[0]}": empty}
        assert doubted.items() <= views.items() <= (doubted | {"broker:0": full, "broker:1": full}).items()
        assert len(views) == 4 or sample == 2, "who is not in doubt is asked once"
    registered = {row["broker_id"]: row["host"] for row in snapshot.of("RegisteredEndpoint") if row["sample"] == 2}
    assert registered[2] == whole.cluster.forward_address(2)
    from_brokers = {
        (row["from_broker"], row["broker_id"], row["layer"], row["error"])
        for row in snapshot.of("Probe")
        if row["outcome"] == "failed" and row["sample"] == 2
    }
    assert from_brokers == {(here, 2, "tcp", "no route to host") for here in (0, 1, 2)}
    unknown = {row["answered_by"] for row in snapshot.of("BrokerIdentity") if row["broker_id"] == -1}
    assert unknown == {2}

"""What `may` says before a step, and what happens when the step is done: real clusters of KRaft and of ZooKeeper."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from scenarios import beds
from testbed.corpus.tools import Tools
from testbed.jars import kafka_jars
from testbed.topics import await_reassigned, configure_topic
from testbed.upgrades import upgraded

pytestmark = [pytest.mark.bed, pytest.mark.scenario]
bed = beds.of_one_test
QUICK = {"auto.leader.rebalance.enable": "false", "log.retention.check.interval.ms": "1000", "log.initial.task.delay.ms": "1000"}
TOPICS = {
    "orders": {0: [0, 1, 2], 1: [1, 2, 0]},
    "single": {0: [2]},
    "pair": {0: [0, 1]},
    "old": {0: [0, 1]},
    "busy": {0: [1, 0]},
}


class Steps:
    """Asks about steps, and does what was printed."""

    def __init__(self, bed, cluster, folder):
        self.bed, self.cluster, self.folder, self.tools = bed, cluster, folder, Tools(bed, cluster)
        self.entry = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"]

    def may(self, text):
        config = self.folder / "clusters.yaml"
        config.write_text(json.dumps({"clusters": {"prod": self.entry}}))
        where = ["--config", str(config), "--out", str(self.folder / "store"), "--format", "json", "--quiet"]
        process = self.bed.worker.popen(
            [sys.executable, "-m", "kafka_audit.cli", "may", "prod", *text.split(), *where],
            stdout=subprocess.PIPE,
            cwd=self.folder,
        )
        output, _ = process.communicate()
        answer = SimpleNamespace(**json.loads(output))
        assert process.returncode == {"GO": 0, "NOT_NOW": 3, "NEVER": 3, "UNKNOWN": 4}[answer.answer]
        return answer

    def go(self, text):
        """Demand a go and run its command."""
        answer = self.may(text)
        assert answer.answer == "GO", answer
        return self.tools.demand(answer.command)

    def refused(self, text, answer, command):
        """Demand an answer that is no go, and that Kafka refuses the command."""
        found = self.may(text)
        assert (found.answer, found.command) == (answer, None), found
        completed = self.tools.run(command)
        output = completed.stdout + completed.stderr
        assert completed.returncode or "Exception" in output or "Error" in output, output
        return found

    def plan(self, **replicas):
        path = self.folder / "plan.json"
        parts = [
            {"topic": name.rpartition("_")[0], "partition": int(name.rpartition("_")[2]), "replicas": ids}
            for name, ids in replicas.items()
        ]
        path.write_text(json.dumps({"version": 1, "partitions": parts}))
        return path

    def fails(self):
        """Return by function where real clients fail."""
        places = [(topic, number) for topic, assignment in TOPICS.items() for number in assignment if topic in self.topics()]
        script = Path(__file__).parent / "clients" / "functions.py"
        brokers = ",".join(broker.address for broker in self.cluster.brokers.values())
        completed = self.bed.worker.run([sys.executable, str(script), brokers], input=json.dumps(places))
        assert completed.returncode == 0, completed.stderr
        return {function: {*found} for function, found in json.loads(completed.stdout).items()}

    def topics(self):
        return {*self.tools.demand(f"kafka-topics.sh --bootstrap-server {self.tools.bootstrap} --list").split()}

    def described(self, topic):
        return self.tools.demand(f"kafka-topics.sh --bootstrap-server {self.tools.bootstrap} --describe --topic {topic}")


def steps_of(bed, cluster, folder):
    for name, assignment in TOPICS.items():
        cluster.create_topic(name, assignment)
    configure_topic(cluster, "orders", {"min.insync.replicas": "2"})
    for topic in ("single", "pair", "old"):
        assert cluster.produce(topic, 0, 1) is None
    cluster.await_settled()
    return Steps(bed, cluster, folder)


def reassignments(steps):
    address = steps.tools.bootstrap
    bad = steps.plan(orders_0=[0, 1, 9])
    run = f"kafka-reassign-partitions.sh --bootstrap-server {address} --reassignment-json-file {bad} --execute"
    assert "broker 9" in steps.refused(f"reassign {bad}", "NOT_NOW", run).waits_for
    fewer = steps.may(f"reassign {steps.plan(orders_0=[1])}")
    assert (fewer.answer, fewer.command) == ("NOT_NOW", None)
    steps.go(f"reassign {steps.plan(orders_0=[1, 0, 2], pair_0=[1, 0])}")
    await_reassigned(steps.cluster)
    assert "Replicas: 1,0,2" in steps.described("orders")


def settings(steps):
    address, alter = steps.tools.bootstrap, "--alter --entity-type"
    threads = f"kafka-configs.sh --bootstrap-server {address} {alter} brokers --entity-name 1 --add-config num.io.threads=64"
    steps.refused("set broker:1 num.io.threads=64", "NOT_NOW", threads)
    read_only = threads.replace("num.io.threads=64", "log.dirs=/x")
    steps.refused("set broker:1 log.dirs=/x", "NOT_NOW", read_only)
    wrong = f"kafka-configs.sh --bootstrap-server {address} {alter} topics --entity-name pair --add-config compression.type=zip"
    steps.refused("set topic:pair compression.type=zip", "NOT_NOW", wrong)
    steps.go("set topic:pair compression.type=gzip")
    steps.go("set brokers log.segment.bytes=100000000")
    steps.go("set topic:pair min.insync.replicas=2")
    assert steps.fails()["produce_acks_all"] == set()
    assert steps.may("set topic:old retention.ms=86400000000").answer == "GO"
    shorter = steps.may("set topic:old retention.ms=1000")
    assert (shorter.answer, "records of old" in shorter.loses) == ("NEVER", True)
    configure_topic(steps.cluster, "old", {"retention.ms": "1000"})
    deadline = time.monotonic() + 300
    while earliest(steps, "old") == 0:
        assert time.monotonic() < deadline, "nothing was lost"
        time.sleep(2)


def earliest(steps, topic):
    script = (
        "import sys; from kafka import KafkaConsumer, TopicPartition as P; c = KafkaConsumer(bootstrap_servers=sys.argv[1]);"
        "print(c.beginning_offsets([P(sys.argv[2], 0)])[P(sys.argv[2], 0)])"
    )
    completed = steps.bed.worker.run([sys.executable, "-c", script, steps.tools.bootstrap.split(",")[0], topic])
    assert completed.returncode == 0, completed.stderr
    return int(completed.stdout)


def deletions(steps):
    assert steps.may("delete-topic __consumer_offsets").answer == "NEVER"
    script = (
        "import sys, time, threading; from kafka import KafkaConsumer, KafkaProducer\n"
        "def read():\n"
        "    c = KafkaConsumer('busy', bootstrap_servers=sys.argv[1], group_id='readers')\n"
        "    while True: c.poll(200)\n"
        "threading.Thread(target=read, daemon=True).start()\n"
        "p = KafkaProducer(bootstrap_servers=sys.argv[1])\n"
        "while True:\n"
        "    p.send('busy', b'x').get(30); time.sleep(0.2)\n"
    )
    process = steps.bed.worker.popen([sys.executable, "-c", script, steps.tools.bootstrap.split(",")[0]])
    try:
        time.sleep(15)
        used = steps.may("delete-topic busy")
        assert used.answer == "NOT_NOW", used
        assert "readers" in used.waits_for
        assert "producers" in used.waits_for
        assert steps.may("delete-topic old").answer == "GO"
    finally:
        process.kill()
        process.wait()
    steps.go("delete-topic old")
    assert "old" not in steps.topics()


def stops(steps):
    cluster = steps.cluster
    harm = steps.may("stop 2")
    assert harm.answer == "NOT_NOW", harm
    cluster.brokers[2].stop(hard=True)
    failing = steps.fails()
    assert failing["produce"] == {"single-0"}
    missing = steps.may("set topic:orders min.insync.replicas=3")
    assert (missing.answer, "in-sync" in missing.waits_for) == ("NOT_NOW", True)
    configure_topic(cluster, "orders", {"min.insync.replicas": "3"})
    assert {"orders-0", "orders-1"} <= steps.fails()["produce_acks_all"]
    configure_topic(cluster, "orders", {"min.insync.replicas": "2"})
    lost = steps.may("format 2")
    assert (lost.answer, "single" in lost.loses) == ("NEVER", True)
    cluster.brokers[2].start()
    cluster.await_settled()


def removal(steps):
    """The last broker holds nothing: it is stopped and unregistered."""
    cluster, last = steps.cluster, max(steps.cluster.brokers)
    assert steps.may(f"stop {last}").answer == "GO"
    assert "kafka-server-start.sh" in steps.may(f"restart {last}").command
    assert steps.may(f"unregister {last}").answer == "NOT_NOW"
    cluster.brokers[last].stop()
    assert steps.may(f"format {last}").answer == "GO"
    steps.go(f"unregister {last}")
    again = f"kafka-cluster.sh unregister --bootstrap-server {steps.tools.bootstrap} --id {last}"
    steps.refused(f"unregister {last}", "NOT_NOW", again)
    cluster.brokers.pop(last)
    steps.entry["bootstrap"] = [broker.address for broker in cluster.brokers.values()]


def test_kraft(bed, tmp_path):
    cluster = bed.kraft("4.3.0", brokers=4, controllers=3, dynamic=True, metadata_release="4.2", properties=QUICK)
    steps = steps_of(bed, cluster, tmp_path)
    steps.entry["expect"] = {"brokers": 3}
    reassignments(steps)
    removal(steps)
    settings(steps)
    deletions(steps)
    raised = steps.may("finalize")
    assert raised.answer == "GO", raised
    for line in raised.command.splitlines():
        steps.tools.demand(line)
    features = steps.tools.demand(f"kafka-features.sh --bootstrap-server {steps.tools.bootstrap} describe")
    assert any("metadata.version" in line and "FinalizedVersionLevel: 4.3" in line for line in features.splitlines()), features
    stops(steps)
    assert steps.may("unregister 2").answer == "NOT_NOW"
    voters(steps)


def voters(steps):
    controllers = steps.cluster.controllers
    steps.go("remove-voter 202")
    controllers[202].signal_stop()
    controllers[202].await_end()
    steps.entry["controllers"] = [address for address in steps.entry["controllers"] if ".212:" not in address]
    controllers[201].signal_stop(hard=True)
    controllers[201].await_end()
    time.sleep(15)
    last = steps.may("remove-voter 200")
    assert last.answer in {"NOT_NOW", "UNKNOWN"}, last


def test_zookeeper(bed, tmp_path):
    cluster = bed.cluster("3.9.1", properties=QUICK)
    steps = steps_of(bed, cluster, tmp_path)
    reassignments(steps)
    settings(steps)
    deletions(steps)
    assert steps.may("unregister 1").answer == "NOT_NOW"
    assert steps.may("remove-voter 1").answer == "NOT_NOW"
    lost = steps.may("delete-znode /brokers/topics/pair")
    assert (lost.answer, lost.command) == ("NEVER", None)
    before = cluster.controller_id()
    assert "deleteall /controller" in steps.may("delete-znode /controller").command
    cluster.write_znodes({"/controller": None})
    deadline = time.monotonic() + 60
    while cluster.controller_id() is None:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert before is not None
    assert steps.fails()["produce_acks_all"] == set()
    other = next(broker for broker in (0, 1) if broker != cluster.controller_id())
    harm = steps.may(f"delete-znode /brokers/ids/{other}")
    assert (harm.answer, harm.command) == ("NEVER", None)
    cluster.write_znodes({f"/brokers/ids/{other}": None})
    time.sleep(20)
    listed = steps.tools.demand(f"kafka-topics.sh --bootstrap-server {cluster.brokers[2].address} --describe --topic orders")
    assert f"Leader: {other}" not in listed
    assert len([line for line in listed.splitlines() if "Isr: " in line and f"{other}" in line.partition("Isr: ")[2]]) == 0


def test_a_removed_controller_is_in_the_way_of_the_next_level(bed, tmp_path):
    """Its registration is of the release that it ran: Kafka refuses, and takes the level once it has registered anew."""
    cluster = bed.kraft("3.9.1", brokers=2, controllers=3, dynamic=True)
    steps = Steps(bed, cluster, tmp_path)
    steps.go("remove-voter 202")
    ghost = cluster.controllers.pop(202)
    ghost.signal_stop()
    ghost.await_end()
    assert upgraded(cluster, "4.3.0") is None
    steps.entry["controllers"] = [address for address in steps.entry["controllers"] if ".212:" not in address]
    found = steps.may("finalize")
    assert (found.answer, "KA225" in found.waits_for) == ("NOT_NOW", True), found
    cluster.plan = replace(cluster.plan, version="4.3.0")
    finalize = f"kafka-features.sh --bootstrap-server {steps.tools.bootstrap} upgrade --feature metadata.version=30"
    completed = steps.tools.run(finalize)
    assert "Controller 202 only supports versions" in completed.stdout + completed.stderr
    ghost.jars = kafka_jars("4.3.0")
    for path in ghost.properties["log.dirs"].split(","):
        shutil.rmtree(path)
    cluster.format_without_vote(ghost)
    ghost.launch()
    deadline = time.monotonic() + 200
    while (again := steps.may("finalize")).answer != "GO":
        assert time.monotonic() < deadline, again
        time.sleep(5)
    for line in again.command.splitlines():
        steps.tools.demand(line)

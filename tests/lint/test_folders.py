"""A folder of files is one cluster: what `lint` says of its controllers, of ids that two nodes have, and of names that differ."""

import json

import pytest

from kafka_audit.cli import main

CONTROLLER = """process.roles=controller
node.id={id}
controller.quorum.voters={voters}
controller.listener.names=CTRL
listeners=CTRL://c{id}.example.com:9093
listener.security.protocol.map=CTRL:PLAINTEXT
log.dirs=/data
default.replication.factor=3
"""
BROKER = """process.roles=broker
node.id={id}
controller.quorum.voters={voters}
controller.listener.names=CTRL
listeners=PLAINTEXT://:9092
advertised.listeners=PLAINTEXT://b{id}.example.com:9092
listener.security.protocol.map=CTRL:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=/data
"""
VOTERS = "101@c101.example.com:9093,102@c102.example.com:9093,103@c103.example.com:9093"
OLD = """broker.id={id}
listeners=PLAINTEXT://:{port}
advertised.listeners=PLAINTEXT://{host}:{port}
zookeeper.connect={zookeeper}
log.dirs={dirs}
"""


def old(host="b1.example.com", zookeeper="zk1:2181", dirs="/data", port=9092, **fields):
    return OLD.format(host=host, zookeeper=zookeeper, dirs=dirs, port=port, **fields)


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    """Return a function that writes files by path below a folder, lints it, and returns their findings that fail."""
    monkeypatch.chdir(tmp_path)

    def run(texts, *arguments):
        for path, text in texts.items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(text)
        main(["lint", ".", "--format", "json", *arguments])
        files = {file["path"]: file for file in json.loads(capsys.readouterr().out)["files"]}
        return {path: [finding for finding in file["findings"] if finding["status"] == "FAIL"] for path, file in files.items()}

    return run


def lines(findings, code):
    """Return resource and line of each finding of a check."""
    return [(finding["resource"]["name"], finding["evidence"].get("line")) for finding in findings if finding["code"] == code]


def quorum(**changed):
    """Return three controllers and three brokers, with other texts for some of them."""
    nodes = {f"c{node}.properties": CONTROLLER.format(id=node, voters=VOTERS) for node in (101, 102, 103)}
    nodes |= {f"b{node}.properties": BROKER.format(id=node, voters=VOTERS) for node in (1, 2, 3)}
    return nodes | {f"{name}.properties": text for name, text in changed.items()}


def test_controllers_are_judged_beside_their_brokers_at_their_lines(lint):
    careless = CONTROLLER.format(id=102, voters=VOTERS) + "unclean.leader.election.enable=true\nlog.retention.hour=2\n"
    found = lint(quorum(c102=careless), "--kafka-version", "3.9.1")
    assert lines(found["c102.properties"], "KA704") == [("controller/102", 9)]
    assert lines(found["c102.properties"], "KA719") == [("controller/102/config/log.retention.hour", 10)]
    assert not [path for path, failed in found.items() if path.startswith("c") and failed and path != "c102.properties"]


def test_a_sound_quorum_gives_nothing_new(lint):
    new = {"KA213", "KA217", *(f"KA{number}" for number in range(713, 726))}
    assert not new & {finding["code"] for failed in lint(quorum()).values() for finding in failed}


def test_voters_that_differ_and_a_port_that_no_controller_listens_on_are_named_at_their_lines(lint):
    elsewhere = CONTROLLER.format(id=103, voters=VOTERS).replace("com:9093\nlistener.", "com:9094\nlistener.")
    old_file = BROKER.format(id=2, voters=VOTERS.rpartition(",")[0])
    found = lint(quorum(c103=elsewhere, b2=old_file))
    assert lines(found["c103.properties"], "KA213") == [("controller/103", 3)]
    assert lines(found["b2.properties"], "KA213") == [("broker/2", 3)]


def test_controllers_without_any_broker_are_judged(lint):
    found = lint({f"{node}.properties": CONTROLLER.format(id=node, voters="1@c1:9093,2@c2:9093") for node in (1, 2)})
    assert [lines(failed, "KA217") for failed in found.values()] == [[("cluster", 3)], []]


def test_two_nodes_with_one_id_are_one_finding_and_the_others_are_still_one_cluster(lint):
    texts = {
        "b1.properties": old(id=1) + "broker.rack=a\n",
        "b2.properties": old(id=2, host="b2.example.com"),
        "b3.properties": old(id=2, host="b3.example.com"),
    }
    found = lint(texts)
    assert lines(found["b2.properties"], "KA715") == [("broker/2", 1)]
    (twice,) = [finding for finding in found["b2.properties"] if finding["code"] == "KA715"]
    assert "b2.properties and b3.properties" in twice["message"]
    assert not lines(found["b1.properties"] + found["b3.properties"], "KA715")
    assert lines(found["b2.properties"], "KA708"), "broker 2 is compared with broker 1"


ONE_NODE = {
    "variants of one file": {"plain.properties": old(id=1), "sasl.properties": old(id=1) + "num.io.threads=9\n"},
    "hosts with a ZooKeeper each": {
        "prod.properties": old(id=1, host="p.example.com", zookeeper="localhost:2181"),
        "test.properties": old(id=1, host="t.example.com", zookeeper="localhost:2181"),
    },
    "copies of a cluster": {
        f"{folder}/b{node}.properties": old(id=node, host=f"{folder}-{node}.example.com")
        for folder in ("a", "b")
        for node in (1, 2)
    },
}


@pytest.mark.parametrize("texts", ONE_NODE.values(), ids=ONE_NODE.keys())
def test_files_that_may_be_of_one_node_are_no_fault(lint, texts):
    assert not [lines(failed, "KA715") for failed in lint(texts).values() if lines(failed, "KA715")]


def test_a_folder_for_each_node_is_one_cluster(lint):
    texts = {f"b{number}/server.properties": old(id=min(number, 2), host=f"b{number}.example.com") for number in (1, 2, 3)}
    found = lint(texts)
    assert lines(found["b2/server.properties"], "KA715") == [("broker/2", 1)]


def test_two_nodes_of_one_host_have_nothing_in_common(lint):
    texts = {"a.properties": old(id=1, host="h", dirs="/a"), "b.properties": old(id=1, host="h", dirs="/b", port=9093)}
    assert lines(lint(texts)["a.properties"], "KA715") == [("broker/1", 1)]


def test_brokers_with_other_chroots_are_named_and_not_compared_otherwise(lint):
    texts = {
        "b1.properties": old(id=1, zookeeper="zk1:2181,zk2:2181/kafka") + "broker.rack=a\n",
        "b2.properties": old(id=2, zookeeper="zk1:2181,zk2:2181/kafka", host="b2.example.com") + "broker.rack=b\n",
        "b3.properties": old(id=3, zookeeper="zk2:2181", host="b3.example.com"),
    }
    found = lint(texts)
    assert lines(found["b3.properties"], "KA716") == [("broker/3", 4)]
    assert not lines(found["b1.properties"] + found["b2.properties"], "KA716")
    assert not lines(found["b3.properties"], "KA708"), "it has no rack, and is alone"


def test_two_clusters_that_share_an_ensemble_are_no_fault(lint):
    texts = {
        f"{folder}/b{node}.properties": old(id=node, zookeeper=f"zk1:2181/{folder}") for folder in ("a", "b") for node in (1, 2)
    }
    assert not [failed for failed in lint(texts).values() if lines(failed, "KA716")]

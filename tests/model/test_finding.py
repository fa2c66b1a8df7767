"""What findings are made of."""

import pytest

from kafka_audit.model.finding import Resource

PARTS = ("broker", "address", "controller", "listener", "log_dir", "key", "topic", "partition")


def parts(name):
    resource = Resource.of(name)
    return {part: value for part in PARTS if (value := getattr(resource, part)) is not None}


@pytest.mark.parametrize(
    ("name", "kind", "root", "expected"),
    [
        ("cluster", "cluster", "cluster", {}),
        ("broker/2", "broker", "broker/2", {"broker": 2}),
        ("broker/b9:9092", "broker", "broker/b9:9092", {"address": "b9:9092"}),
        ("broker/2/listener/PLAINTEXT", "listener", "broker/2", {"broker": 2, "listener": "PLAINTEXT"}),
        ("broker/0/logdir//data-1", "logdir", "broker/0", {"broker": 0, "log_dir": "/data-1"}),
        ("broker/0/config/log.dirs", "config", "broker/0", {"broker": 0, "key": "log.dirs"}),
        ("controller/[::1]:9093", "controller", "controller/[::1]:9093", {"controller": "[::1]:9093"}),
        ("topic/orders", "topic", "topic/orders", {"topic": "orders"}),
        ("topic/orders/partition/12", "partition", "topic/orders", {"topic": "orders", "partition": 12}),
        ("check/KA302", "check", "check/KA302", {}),
    ],
)
def test_a_resource_knows_its_parts(name, kind, root, expected):
    resource = Resource.of(name)
    assert (resource.type, resource.name, resource.root, parts(name)) == (kind, name, root, expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("topic/a/partition/x", {"topic": "a/partition/x"}),  # ZooKeeper lets any client name a topic so
        ("topic/a/partition/1/partition/2", {"topic": "a/partition/1", "partition": 2}),
        ("topic/a/partition/\u0663", {"topic": "a/partition/\u0663"}),
        (f"topic/a/partition/{'9' * 5000}", {"topic": f"a/partition/{'9' * 5000}"}),
        ("broker/\u0663", {"address": "\u0663"}),
        ("broker/-1", {"address": "-1"}),
        ("broker/2/listener/a/b", {"broker": 2, "listener": "a/b"}),
        ("", {}),
    ],
)
def test_a_malformed_name_gives_no_false_part(name, expected):
    assert parts(name) == expected


def test_a_statement_on_a_broker_concerns_its_listeners_and_on_the_cluster_all():
    cluster, broker, listener = (Resource.of(name) for name in ("cluster", "broker/2", "broker/2/listener/A"))
    assert cluster.concerns(listener)
    assert broker.concerns(listener)
    assert listener.concerns(broker)
    assert not listener.concerns(cluster)
    assert not broker.concerns(Resource.of("broker/21"))

"""What one party can choose any number of makes an audit's reading that many times the work, and no more."""

import json

import pytest

from collect.fakes import refused
from collect.taken import taken_of
from counted_work import counted_calls, counted_in_threads
from hostile_parties.cluster import BARE, HostileCluster
from hostile_parties.zookeeper import registration, topic_tree
from kafka_audit.collect.logs.lines import scan
from kafka_audit.model.cluster import Limits
from samples import sampled

SIZES = (250, 1_000)


def topics_of_zookeeper(cluster, count):
    for number in range(count):
        cluster.zookeeper.znodes.update(topic_tree(f"t{number}", {0: (1, [1], 0, [1])}))


def partitions_of_zookeeper(cluster, count):
    cluster.zookeeper.znodes.update(topic_tree("t", {number: (1, [1], 0, [1]) for number in range(count)}))


def brokers_of_zookeeper(cluster, count):
    where = refused()
    for broker in range(100, 100 + count // 10):  # each of them is dialled
        cluster.zookeeper.znodes[f"/brokers/ids/{broker}"] = registration(where)


def listeners_of_zookeeper(cluster, count):
    closed = {f"L{number}": ("PLAINTEXT", *refused()) for number in range(count // 10)}
    broker = cluster.brokers[2]
    cluster.zookeeper.znodes["/brokers/ids/2"] = registration({"PLAINTEXT": ("PLAINTEXT", broker.host, broker.port), **closed})


def settings_of_zookeeper(cluster, count):
    config = {f"made.up.{number}": f"{number}" for number in range(count)}
    cluster.zookeeper.znodes["/config/brokers/2"] = json.dumps({"version": 1, "config": config}).encode()


def users_of_zookeeper(cluster, count):
    for number in range(count):
        cluster.zookeeper.znodes[f"/config/users/u{number}"] = b'{"version":1,"config":{}}'


def topics_of_a_broker(cluster, count):
    cluster.brokers[2].topics = cluster.topics | {f"t{number}": {0: (1, [1])} for number in range(count)}


def partitions_of_a_broker(cluster, count):
    cluster.brokers[2].topics = cluster.topics | {"t": {number: (1, [1]) for number in range(count)}}


def brokers_of_a_broker(cluster, count):
    broker = cluster.brokers[2]
    broker.brokers = broker.brokers | {100 + number: refused() for number in range(count // 10)}


def settings_of_a_broker(cluster, count):
    cluster.brokers[2].configs |= {f"made.up.{number}": (f"{number}", False) for number in range(count)}


def acls_of_a_broker(cluster, count):
    broker = cluster.brokers[2]
    broker.configs |= {"authorizer.class.name": ("kafka.security.authorizer.AclAuthorizer", False)}
    broker.acls_error, broker.acls = 0, [(2, f"t{number}", 3, [(f"User:{number}", "*", 4, 3)]) for number in range(count)]


def groups_of_a_broker(cluster, count):
    cluster.create_topic("__consumer_offsets", {0: [2, 0, 1]})
    cluster.brokers[2].groups = {f"g{number}": (0, "consumer", []) for number in range(count)}


def disks_of_a_broker(cluster, count):
    cluster.brokers[2].log_dirs |= {f"/data{number}": (0, {"orders": [number]}) for number in range(count)}


CHOSEN = {
    chosen.__name__: chosen
    for chosen in (
        topics_of_zookeeper,
        partitions_of_zookeeper,
        brokers_of_zookeeper,
        listeners_of_zookeeper,
        settings_of_zookeeper,
        users_of_zookeeper,
        topics_of_a_broker,
        partitions_of_a_broker,
        brokers_of_a_broker,
        settings_of_a_broker,
        acls_of_a_broker,
        groups_of_a_broker,
        disks_of_a_broker,
    )
}


def collected(chosen, count):
    """Read a cluster of three brokers, one of whose parties chooses so many."""
    with HostileCluster(contents=BARE) as parties:
        CHOSEN[chosen](parties, count)
        limits = Limits(read_s=600.0, settle_s=0.0, audit_s=6_000.0)
        taken_of(parties, bootstrap=(parties.brokers[0].address,), limits=limits)


@pytest.mark.parametrize("chosen", sampled(CHOSEN, 13))
def test_reading_grows_with_what_a_party_chooses(chosen, exponent):
    """The parties are of this process, so what they do to answer is counted with it."""
    assert exponent(lambda count: collected(chosen, count), SIZES, count=counted_in_threads) <= 1.1


LINES = {
    "known": "[2026-11-22 01:02:03,456] WARN [Controller id=1, targetBrokerId=2] Connection to node {0} (h{0}/10.0.0.1:9092) "
    "could not be established. Node may not be available. (org.apache.kafka.clients.NetworkClient)\n",
    "unknown": "[2026-11-22 01:02:03,456] INFO made up {0} (kafka.Made)\n",
    "below one line": "\tat made.up.Class{0}(Class.java)\n",
    "without a time": "made up {0}\n",
}


@pytest.mark.parametrize("kind", sampled(LINES, 4))
def test_a_log_grows_with_its_lines(kind, exponent):
    def text(count):
        return "".join(LINES[kind].format(number) for number in range(count))

    assert exponent(lambda lines: scan(lines, 1), (500, 2_000), text, counted_calls) <= 1.1

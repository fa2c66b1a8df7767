"""Znodes that are larger, or more, than any cluster has: what each kind may be, and what is kept of a flood."""

import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from collect.columns import rows_of
from collect.fakes import FakeZookeeper
from hostile_parties.zookeeper import kafka_tree
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.zookeeper.session import Session
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper import znodes
from kafka_audit.collect.zookeeper.znode_reads import MOST_FAILED
from kafka_audit.collect.zookeeper.znode_sample import ZnodeSample
from kafka_audit.model.cluster import Cluster, Limits, ZookeeperAccess
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import DynamicConfig, RegisteredBroker, RegisteredTopic, Registry, SourceRead

TESTS = Path(__file__).parents[2]
ACCESS = ZookeeperAccess(connect="zk:2181")
EMPTY_OBJECTS = '{"brokerid":0,"x":[' + ",".join(["{}"] * 6_700_000) + "]}"
"""20 MB that Python's JSON makes 700 MB of."""


def sample(znodes_of, limits=None, **stats):
    client = FakeZookeeper({**kafka_tree({0: ("b0", 9092)}, {"orders": {0: (0, [0])}}), **znodes_of})
    client.stats.update(stats.get("stats", {}))
    budget = Budget(Cluster(name="c", limits=limits or Limits()))
    asking = Asking(sample=1, observer="zookeeper", target=ACCESS.connect)
    return ZnodeSample(Session(client=client, access=ACCESS), asking, 5.0, time.monotonic() + 3600, budget)


def rows(znodes_of, limits=None, **stats):
    return rows_of(sample(znodes_of, limits, **stats).take())


def failed(found):
    return {row.operation: (row.error, row.message) for row in found if isinstance(row, SourceRead) and row.outcome == "failed"}


CONTROL = ("/controller", "/controller_epoch", "/cluster/id", "/brokers/ids/0")


@pytest.mark.parametrize(
    ("path", "watch"),
    [*((path, watch) for path in CONTROL for watch in (False, True)), ("/brokers/topics/orders/partitions/0/state", False)],
)
def test_a_small_znode_of_many_bytes_is_a_failed_read_and_no_parser_sees_it(path, watch, monkeypatch):
    parsed = []
    loads = json.loads
    monkeypatch.setattr(json, "loads", lambda text, **options: (parsed.append(len(text)), loads(text, **options))[1])
    data = b'{"brokerid":0,"id":"a","x":[' + b"{}," * 30_000 + b"{}]}"
    taken = sample({path: data})
    found = taken.control() if watch else rows_of(taken.take())
    error, message = failed(found)[f"zookeeper {path}"]
    assert (error, f"{len(data)} bytes, more than {znodes.SMALL}" in message) == ("unreadable", path != "/controller_epoch")
    assert max(parsed) < 5000
    if not watch:
        assert {row.topic for row in found if isinstance(row, RegisteredTopic)} == {"orders"}, "all else is read"


@pytest.mark.parametrize("watch", [False, True])
def test_twenty_megabytes_of_empty_objects_take_no_memory(watch):
    """It took 706 MB, and no read failed."""
    program = f"""
    import resource, sys
    sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent / "plugins")!r}]
    from collect.zookeeper.test_znode_bounds import EMPTY_OBJECTS, failed, sample
    data = EMPTY_OBJECTS.encode()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = sample({{"/controller": data}})
    found = taken.control() if {watch} else taken.take().rows
    assert "zookeeper /controller" in failed(found), failed(found)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    completed = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr[-2000:]
    assert int(completed.stdout) < 60 * 1024


def test_what_large_clusters_have_is_read():
    """The largest znodes of real clusters: a topic that moves, its throttled replicas, ACLs of one resource."""
    replicas = {str(number): [1001, 1002, 1003, 1004, 1005] for number in range(50_000)}
    moving = {str(number): [1004, 1005] for number in range(10_000)}
    topic = json.dumps({"version": 3, "partitions": replicas, "adding_replicas": moving, "removing_replicas": {}}).encode()
    throttled = json.dumps({"config": {"leader.replication.throttled.replicas": ",".join(f"{n}:1001" for n in range(30_000))}})
    rules = [{"principal": f"User:{n}", "permissionType": "Allow", "operation": "Read", "host": "*"} for n in range(10_000)]
    found = rows({
        "/brokers/topics/large": topic,
        "/config/topics/large": throttled.encode(),
        "/kafka-acl/Topic/large": json.dumps({"version": 1, "acls": rules}).encode(),
        "/config/brokers/0": json.dumps({"config": {"ssl.truststore.certificates": "x" * 200_000}}).encode(),
    })  # fmt: skip
    assert failed(found) == {}
    assert {row.topic for row in found if isinstance(row, RegisteredTopic)} == {"large", "orders"}


def test_replicas_count_as_rows_however_few_partitions_have_them():
    endless = json.dumps({"partitions": {"0": [7] * 400_000}}).encode()
    found = rows({"/brokers/topics/endless": endless}, Limits(rows=10_000))
    assert failed(found)["zookeeper /brokers/topics"] == (
        ReadFailure.OVER_LIMIT.words,
        "the topics in ZooKeeper have more than 10000 partitions",
    )


def test_settings_of_brokers_count_as_rows():
    many = {f"/config/brokers/{n}": json.dumps({"config": {f"k{k}": "" for k in range(500)}}).encode() for n in range(50)}
    found = rows(many, Limits(rows=2000))
    assert failed(found)["zookeeper /config/brokers"][0] == ReadFailure.OVER_LIMIT.words
    assert sum(isinstance(row, DynamicConfig) for row in found) <= 2000
    assert failed(rows(many, Limits(rows=50_000))) == {}


def test_thousands_of_znodes_that_cannot_be_read_are_a_hundred_rows_and_one():
    many = {f"/brokers/topics/t{number}": b"{" for number in range(2000)}
    found = rows({**many, "/config/users/u": b"{"})
    broken = failed(found)
    assert broken.pop("zookeeper /config/users/u"), "a set has its own rows, whatever another one holds"
    assert broken.pop("zookeeper /brokers/topics (rest)") == ("unreadable", f"{2000 - MOST_FAILED} more znodes could not be read")
    assert len(broken) == MOST_FAILED


def test_of_a_flood_of_registrations_the_oldest_are_kept():
    """Of each, objects were made before any was left out."""
    flood = {f"/brokers/ids/{number}": b'{"endpoints":["PLAINTEXT://h:1"]}' for number in range(1, 3000)}
    old = {"/brokers/ids/2500": {"czxid": 1}, "/brokers/ids/2900": {"czxid": 2}}
    found = rows(flood, Limits(brokers=2), stats=old)
    # Broker 0 holds partitions.
    assert {row.broker_id for row in found if isinstance(row, RegisteredBroker)} <= {0, 2500, 2900}
    assert failed(found)["zookeeper /brokers/ids"] == (
        ReadFailure.OVER_LIMIT.words,
        "2998 of 3000 registered brokers are left out",
    )
    assert sum(isinstance(row, Registry) for row in found) == 1

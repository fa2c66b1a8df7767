"""What one party can choose any number of makes the statements do that many times the work, and no more.

Counted are rows that operators return and items of lists that functions read: quadratic work over a list is one row.
"""

import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import small_cluster
from counted_work import rows_returned
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.differences import files
from kafka_audit.differences.alike import without_equal_views
from kafka_audit.differences.arrow import modes
from kafka_audit.differences.tables import DIFFERENCES
from kafka_audit.embedded.measure import embedded_statement, shared_relation
from samples import sampled
from testbed.cluster_views import measure

HONEST = {0: {"replicas": [0, 1, 2]}, 1: {"replicas": [1, 2, 0]}}
COUNTING = "CREATE MACRO seen(items) AS CASE WHEN tick(len(items)) THEN items END;" + "".join(
    f"CREATE MACRO {name}(items, other) AS system.main.{name}(seen(items), {other});"
    for name, other in {
        "filter": "other",
        "list_filter": "other",
        "list_transform": "other",
        "list_contains": "other",
        "array_contains": "other",
        "list_has_any": "seen(other)",
    }.items()
)
COUNTING += "".join(
    f"CREATE MACRO {name}(items) AS system.main.{name}(seen(items));" for name in ("list_distinct", "array_distinct")
)
"""DuckDB's functions that read a list item by item, each of which calls `seen` on it first."""


def view(topics):
    """Return topics as one broker alone shows them."""
    shown = {"error": 0, "leader": 2, "leader_epoch": 9, "replicas": [2], "isr": [2], "offline_replicas": []}
    return {name: {"topic_id": name, "error": 0, "partitions": {0: shown | of}} for name, of in topics.items()}


def zookeeper(**parts):
    return lambda count: {name: part(count) for name, part in parts.items()}


def kraft(partition):
    return lambda count: {**small_cluster.KRAFT, "views": {2: {"topics": view({f"t{at}": partition(at) for at in range(count)})}}}


def host(number):
    return f"10.{number // 62500}.{number // 250 % 250}.{number % 250}:9092"


def brokers(rack=None):
    def made_up(count):
        made = {100 + at: {"listeners": {"PLAINTEXT": f"PLAINTEXT://{host(at)}"}} for at in range(count)}
        return made if rack is None else {broker: of | {"rack": rack(broker)} for broker, of in made.items()}

    return made_up


def topics(partition, **more):
    return lambda count: {f"t{at}": {"partitions": {0: partition(at)}} | more for at in range(count)}


def partitions(**of):
    return lambda count: {"t": {"partitions": dict.fromkeys(range(count), of)}}


CHOSEN = {
    "topics, each on another made-up broker": zookeeper(
        topics=topics(lambda at: {"replicas": [0, 1000 + at], "leader": 0, "isr": [0]})
    ),
    "topics without a leader": zookeeper(topics=topics(lambda at: {"replicas": [1000 + at], "leader": -1, "isr": [1000 + at]})),
    "topics that are deleted": zookeeper(topics=topics(lambda at: {"replicas": [1000 + at]}, deleting=True)),
    "partitions": zookeeper(topics=partitions(replicas=[0, 1], isr=[0])),
    "partitions under reassignment": zookeeper(
        topics=partitions(replicas=[0, 1]),
        reassigning=lambda count: [{"topic": "t", "partition": at, "adding": [1000 + at], "removing": []} for at in range(count)],
    ),
    "brokers": zookeeper(brokers=brokers()),
    "brokers of two racks": zookeeper(brokers=brokers(lambda broker: f"r{broker % 2}")),
    "brokers of a rack each": zookeeper(brokers=brokers(lambda broker: f"r{broker}")),
    "topics of one view": kraft(lambda _: {}),
    "offline replicas in one view": kraft(
        lambda at: {"replicas": [2, 1000 + at], "isr": [2, 1000 + at], "offline_replicas": [1000 + at]}
    ),
}


def world(choice, count):
    """Return a cluster of three honest brokers and two honest partitions, and what a party adds so many times."""
    made = choice(count)
    return made | {
        "brokers": {broker: f"10.200.0.{broker}:9092" for broker in range(3)} | made.get("brokers", {}),
        "topics": {"orders": {"partitions": HONEST}} | made.get("topics", {}),
    }


def work(snapshot):
    """Return how many rows and items of lists are read to compute all differences of a snapshot."""
    items = 0

    def tick(lengths):
        nonlocal items
        items += pc.sum(lengths).as_py() or 0
        return pa.array([True] * len(lengths))

    rows = {snapshot.snapshot_id: given(snapshot, None, ())}
    with tempfile.TemporaryDirectory() as folder:
        engine = measure([snapshot], Path(folder))
        if ages_needed(snapshot, None):
            rows = {snapshot.snapshot_id: given(snapshot, None, engine.ages(rows)[snapshot.snapshot_id])}
        same = without_equal_views(rows).given
        with engine._connected(same) as connection:
            connection.create_function(
                "tick", tick, ["BIGINT"], "BOOLEAN", type="arrow", side_effects=True, null_handling="special"
            )  # fmt: skip
            connection.execute(COUNTING)
            connection.execute("PRAGMA enable_profiling = 'no_output'")
            for name in files.shared_relations(DIFFERENCES):
                connection.execute(f"CREATE TABLE {name} AS {shared_relation(name, modes(same))}")
                items += rows_returned(json.loads(connection.get_profiling_information("json"))["operator"])
            for table in DIFFERENCES:
                connection.execute(embedded_statement(table)).fetchall()
                items += rows_returned(json.loads(connection.get_profiling_information("json"))["operator"])
    return items


@pytest.mark.parametrize("sizes", [(200, 800), pytest.param((500, 1000, 2000), marks=pytest.mark.large)])
@pytest.mark.parametrize("choice", sampled(CHOSEN, 10))
def test_work_grows_with_what_a_party_makes_up(choice, sizes, exponent):
    """Each partition was compared with all brokers that do not run: 16,000 topics needed more than the memory of all clusters."""

    def made(size):
        return small_cluster.snapshot(world(CHOSEN[choice], size))

    assert exponent(work, sizes, made, count=lambda counted, snapshot: counted(snapshot)) <= 1.1

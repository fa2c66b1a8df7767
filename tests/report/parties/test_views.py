"""The views side by side: who said the same shares a column, and a listener that was not asked differs from nothing."""

from dataclasses import replace

import small_cluster
from kafka_audit.model.report import report_json
from kafka_audit.model.tables import BrokerView, ViewBroker
from kafka_audit.report.parties import views

SPEC = {
    "brokers": {0: "a:9092", 1: "b:9092", 2: "c:9092"},
    "views": {2: "empty"},
    "topics": {"orders": {"partitions": {0: {"replicas": [0, 1]}}}},
}


def columns(snapshot):
    built = report_json(views.build_views(small_cluster.view(snapshot)))
    return built["rows"], {
        views.who(column["observers"]): dict(zip(built["rows"], column["values"], strict=True)) for column in built["columns"]
    }


def test_brokers_that_say_the_same_share_a_column():
    rows, said = columns(small_cluster.snapshot(SPEC))
    assert rows[:5] == ["brokers", "controller", "topics", "partitions with a leader", "cluster id"]
    assert said["brokers 0, 1 and zookeeper"]["partitions with a leader"] == "1 of 1"
    assert said["brokers 0, 1 and zookeeper"]["brokers"] == "0-2"
    assert (said["broker 2"]["brokers"], said["broker 2"]["controller"]) == ("none", "none")
    assert len(rows) == 5  # an empty view disputes no single address


def test_another_address_than_registered_is_a_row_of_its_own():
    snapshot = small_cluster.snapshot(SPEC | {"views": {1: {"answers": False}, 2: {"answers": False}}})
    moved = tuple(
        replace(row, host="old") if isinstance(row, ViewBroker) and row.broker_id == 1 else row for row in snapshot.rows
    )
    rows, said = columns(replace(snapshot, rows=moved))
    assert rows[5:] == ["address of broker 1, PLAINTEXT"]
    assert (said["zookeeper"][rows[5]], said["broker 0"][rows[5]]) == ("b:9092", "old:9092")


def test_another_spelling_of_an_address_is_no_row():
    brokers = {0: "Kafka-0.corp:9092", 1: "2001:db8::1:9092"}
    spec = {"brokers": brokers, "views": {0: {"brokers": {0: {"host": "kafka-0.corp."}, 1: {"host": "2001:DB8:0::1"}}}}}
    rows, _ = columns(small_cluster.snapshot(spec))
    assert len(rows) == 5
    rows, said = columns(small_cluster.snapshot(spec | {"views": {0: {"brokers": {1: {"host": "2001:db8::2"}}}}}))
    assert (rows[5:], said["broker 0"][rows[5]]) == (["address of broker 1, PLAINTEXT"], "[2001:db8::2]:9092")


def test_an_address_that_nobody_registered_is_asked_for_no_listener():
    snapshot = small_cluster.snapshot(SPEC)
    (empty,) = [row for row in snapshot.rows if isinstance(row, BrokerView) and row.broker_id == 2]
    more = replace(empty, observer="broker@x:1", broker_id=-1, listener="bootstrap", address="x:1")
    moved = tuple(
        replace(row, host="old") if isinstance(row, ViewBroker) and row.broker_id == 1 else row for row in snapshot.rows
    )
    rows, said = columns(replace(snapshot, rows=(*moved, more)))
    assert "brokers 0, 1" in said
    assert said["broker at x:1"][rows[5]] == views.NOT_ASKED


def test_where_all_agree_there_is_one_column():
    rows, said = columns(small_cluster.snapshot(SPEC | {"views": {}}))
    assert len(rows) == 5
    assert set(said) == {"brokers 0-2 and zookeeper"}


def test_in_kraft_nobody_is_the_registry_and_most_come_first():
    spec = {**small_cluster.KRAFT, "brokers": SPEC["brokers"], "views": {0: "empty"}}
    rows, said = columns(small_cluster.snapshot(spec))
    assert "controller" not in rows
    assert list(said) == ["brokers 1, 2", "broker 0"]


def test_who_names_brokers_by_ranges_and_others_by_name():
    assert views.who(["zookeeper", *(f"broker {n}" for n in range(20))]) == "brokers 0-19 and zookeeper"

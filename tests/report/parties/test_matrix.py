"""Observers by brokers, one character a cell."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import small_cluster
from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.model.report import Matrix, report_json
from kafka_audit.model.tables import BrokerView, QuorumReplica, QuorumView
from kafka_audit.report.parties import matrix
from reported import part_of


def drawn(**spec):
    return report_json(matrix.build_matrix(small_cluster.view(spec)))


def built(**spec):
    found = drawn(**spec)
    why = [
        SimpleNamespace(**one | {"observers": tuple(one["observers"]), "brokers": tuple(one["brokers"])}) for one in found["why"]
    ]
    return SimpleNamespace(observers=matrix.matrix_rows(part_of(Matrix, found)), why=tuple(why))


def rows(**spec):
    return {observer.name: matrix.worst_cells(observer) for observer in built(**spec).observers}


SILENT = {"answers": False}
THREE = {0: "b0:9092", 1: "b1:9092", 2: "b2:9092"}


def test_agreement_is_a_dot():
    found = rows(brokers=THREE, probes=[{"to": 0}, {"to": 1}, {"to": 2}])
    assert found == {"zookeeper": "...", "broker 0": "...", "broker 1": "...", "broker 2": "...", "worker": "..."}


def test_a_cell_is_the_first_layer_that_fails_and_failure_beats_the_view():
    probes = [{"to": 0, "from": 2}, {"to": 1, "from": 2, "layer": "tcp"}, {"to": 2, "from": 2, "layer": "dns"}]
    assert rows(brokers=THREE, views={2: "empty"}, probes=probes)["broker 2"] == "VTD"


def test_silence_is_a_question_mark_and_never_a_blank():
    found = rows(
        brokers=THREE,
        views={1: SILENT},
        probes=[{"to": [0, 2], "outcome": "none"}, {"to": 1, "layer": "dns", "outcome": "unknown"}],
    )
    assert (found["broker 1"], found["worker"]) == ("???", "-?-")


def test_a_zookeeper_that_was_not_read_keeps_its_row():
    assert rows(brokers=THREE, zookeeper="none")["zookeeper"] == "???"


def test_a_view_that_nothing_can_be_held_against_is_not_called_empty():
    matrix = built(zookeeper="none", brokers={0: "10.99.0.10:9092", 1: "10.99.0.11:9092"}, views={1: SILENT})
    assert {one.name: one.view for one in matrix.observers if one.broker is not None} == {"broker 0": "??", "broker 1": "??"}
    told = {one.observers: one.text for one in matrix.why if one.letter == "?"}
    assert told["zookeeper", "broker 0"] == "ZooKeeper was not read: connection refused"
    assert told[("broker 1",)] == "gave no view"


def test_a_registry_beside_controllers_of_kraft_has_a_cell_for_each():
    seen = small_cluster.snapshot({"brokers": THREE})
    usual = {"sample": max(row.sample for row in seen.of(BrokerView)), "observer": "controller@c:9093"}
    at = {"voter": True, "directory_id": None, "log_end_offset": 9, "last_fetch_ms": 1, "last_caught_up_ms": 1}
    leader = QuorumView(**usual, node_id=200, leader_id=200, leader_epoch=7, high_watermark=9)
    followers = (QuorumReplica(**usual, replica_id=node, **at) for node in (200, 201, 202))
    found = report_json(matrix.build_matrix(small_cluster.view(replace(seen, rows=(*seen.rows, leader, *followers)))))
    assert found["controllers"] == [200, 201, 202]
    assert matrix.matrix_rows(part_of(Matrix, found))[0].quorum == "------"


def test_kraft_has_no_registry():
    found = rows(**small_cluster.KRAFT, brokers=THREE, views={1: {"brokers": {2: "absent"}}})
    assert found == {"broker 0": "...", "broker 1": "..V", "broker 2": "...", "worker": "..."}


def test_a_broker_that_is_gone_keeps_its_column():
    found = rows(brokers={0: "b0:9092", 1: "b1:9092"}, topics={"t": {"partitions": {0: {"replicas": [0, 2], "isr": [0]}}}})
    assert (found["zookeeper"], found["broker 0"]) == ("..V", "..-")


@pytest.mark.parametrize(
    ("how", "cell"),
    [
        ({"reason": "TIMEOUT", "layer": "api"}, "A"),
        ({"reason": "REFUSED", "layer": "tcp"}, "T"),
        ({"reason": "OVER_LIMIT"}, "-"),  # the auditor's own limit says nothing about the way there
    ],
)
def test_a_broker_that_is_gone_and_was_asked_at_its_earlier_address_is_not_called_unasked(how, cell):
    read = {"observer": "broker@10.0.0.12:9092", "operation": "Metadata", "target": "10.0.0.12:9092", **how}
    case = {"now": {"brokers": {2: "absent"}, "reads": [read], "probes": [{"to": [0, 1]}]}, "previous": {"brokers": {2: {}}}}
    found = cluster_views({"20260914T180000Z-prod-0001": snapshots(base(), "20260914T180000Z-prod-0001", case)})
    drawn_now = report_json(matrix.build_matrix(*found.values()))
    (row,) = (row for row in matrix.matrix_rows(part_of(Matrix, drawn_now)) if row.name == "worker")
    assert matrix.worst_cells(row)[2] == cell


def test_a_broker_without_the_listener_that_was_asked_is_rightly_not_listed():
    brokers = {
        0: {"listeners": {"PLAINTEXT": "PLAINTEXT://b0:9092", "SSL": "SSL://b0:9093"}},
        1: {"listeners": {"SSL": "SSL://b1:9093"}},
    }
    assert rows(brokers=brokers, views={"0/SSL": SILENT})["broker 0"] == ".."


def test_reasons_are_listed_once_with_who_and_where():
    probes = [{"to": b, "from": a, "layer": "tcp", "error": "no route to host"} for a in (0, 1) for b in (1, 2)]
    (tcp, empty) = built(brokers=THREE, views={2: "empty"}, probes=probes).why
    assert (tcp.letter, tcp.text) == ("T", "tcp: no route to host")
    assert (tcp.observers, tcp.brokers) == (("broker 0", "broker 1"), (1, 2))
    assert (empty.letter, empty.observers, empty.text) == ("V", ("broker 2",), "lists no broker")


SPELT = {0: "Kafka-0.corp:9092", 1: "kafka-1.corp:9092"}


def test_another_spelling_of_a_host_is_no_difference():
    found = built(brokers=SPELT, views={1: {"brokers": {0: {"host": "kafka-0.corp."}}}})
    assert [row.view for row in found.observers] == ["..", "..", "..", "--"]
    assert found.why == ()


def test_a_view_with_other_addresses_is_not_called_empty():
    proxy = {0: {"host": "proxy", "port": 9001}, 1: {"host": "proxy", "port": 9002}}
    found = built(brokers=SPELT, views={1: {"brokers": proxy}})
    assert {row.name: row.view for row in found.observers} == {
        "zookeeper": "..",
        "broker 0": "..",
        "broker 1": "VV",
        "worker": "--",
    }
    (why,) = found.why
    assert (why.letter, why.observers, why.brokers) == ("V", ("broker 1",), (0, 1))
    assert why.text == "listed at another address than registered"


def test_each_difference_of_a_list_is_named_with_its_brokers():
    found = built(brokers=THREE, views={0: {"brokers": {2: {"host": "b9"}}}, 1: {"brokers": {2: "absent"}}, 2: "empty"})
    assert [(why.observers, why.brokers, why.text) for why in found.why] == [
        (("broker 2",), (), "lists no broker"),
        (("broker 1",), (2,), "not listed"),
        (("broker 0",), (2,), "listed at another address than registered"),
    ]


def test_equal_rows_and_columns_are_folded_above_twelve_brokers():
    many = {n: f"b{n}:9092" for n in range(60)}
    lines = matrix.matrix_lines(
        part_of(Matrix, drawn(brokers=many, views={7: "empty"}, probes=[{"to": [7, 8], "layer": "tcp"}])), 100
    )
    assert lines == [
        "                      broker  0-6, 9-59  7, 8",
        "brokers 0-6, 8-59, zookeeper  .          .         T  tcp: failed",
        "broker 7                      V          V         V  view: lists no broker",
        "worker                        .          T         .  agrees (brokers: what they list)",
    ]


def test_scattered_ids_are_spelt_out_below_a_table_that_fits_the_terminal():
    many = {n: f"b{n}:9092" for n in range(60)}
    views = {n: "empty" for n in many if n % 7 == 3 or n % 5 == 0}
    lines = matrix.matrix_lines(part_of(Matrix, drawn(brokers=many, views=views)), 80)
    assert max(map(len, lines)) <= 80
    assert lines[1].split("  ")[0] == "brokers 1 … 58 (41), zookeeper, worker"
    spelt = " ".join(line.strip() for line in lines)
    assert "0 … 59 (19): 0, 3, 5, 10, 15, 17, 20, 24, 25, 30, 31, 35, 38, 40, 45, 50, 52, 55, 59" in spelt


def test_a_long_reason_is_wrapped_in_the_legend():
    probes = [{"to": 1, "from": 0, "layer": "tcp", "error": "no route " * 15}]
    lines = matrix.matrix_lines(part_of(Matrix, drawn(brokers=THREE, probes=probes)), 60)
    assert max(map(len, lines)) <= 60


def test_twelve_brokers_are_not_folded():
    many = {n: f"b{n}:9092" for n in range(12)}
    lines = matrix.matrix_lines(part_of(Matrix, drawn(brokers=many)), 100)
    assert [line.split()[0] for line in lines] == ["broker", "zookeeper", *["broker"] * 12, "worker"]


def test_the_same_in_words():
    probes = [{"to": b, "from": 0, "layer": "tcp"} for b in (1, 2)]
    told = matrix.in_words(part_of(Matrix, drawn(brokers=THREE, views={2: "empty"}, probes=probes)))
    assert told == [
        ("T", "broker 0 (ctl): cannot connect to brokers 1 and 2 (tcp)."),
        ("V", "broker 2: differ on brokers 0, 1 and 2 (view)."),
    ]


def test_no_letter_is_without_words():
    row = {"name": "broker 9", "broker": 9, "controller": None, "note": ""}
    row |= {"reach": matrix.LADDER, "quorum": matrix.LADDER, "view": "V" * len(matrix.LADDER)}
    ids = list(range(len(matrix.LADDER)))
    told = matrix.in_words(
        part_of(Matrix, {"brokers": ids, "controllers": ids, "controller": None, "endpoints": {}, "observers": [row], "why": []})
    )
    assert [letter for letter, _ in told] == [*(letter for one in matrix.LADDER for letter in (one, one)), "V"]


def test_without_brokers_there_is_no_picture():
    assert matrix.matrix_lines(part_of(Matrix, drawn(brokers={})), 100) == []


@pytest.mark.parametrize(
    ("identity", "cells"),
    [({"answered_by": 0}, "???"), ({"asked": False}, "..."), ({"answered_by": None}, "...")],
)
def test_a_view_that_another_broker_gave_is_not_taken_as_agreement(identity, cells):
    case = {"now": {"identities": [{"to": 1, **identity}]}}
    (view,) = cluster_views({"one": snapshots(base(), "one", case)}).values()
    lines = {line.name: line.view for line in matrix.build_matrix(view).observers}
    assert (lines["broker 0"], lines["broker 1"]) == ("...", cells)

"""`diff --reports`: two stored reports are compared without Spark, and the changes of those between are added up."""

import re

import pytest
from msgspec import structs

import small_cluster
from audit_history import CLUSTER, History, cut_off
from kafka_audit.cli import engines, main
from kafka_audit.model.report import ReportedChange
from kafka_audit.report import digest
from kafka_audit.store import Store
from kafka_audit.store.history import DIGEST


@pytest.fixture
def reported(tmp_path, monkeypatch):
    """Return a store with three audits and the ids; no engine must start."""
    monkeypatch.setattr(engines, "engine_of", None)
    store, history = Store(tmp_path / "store"), History()
    documents = [
        history.audit(*cut_off(1)),
        structs.replace(history.audit(*cut_off(1, 2)), changes=(_moved("0", "1"), _moved("0", "1", partition=7))),
        structs.replace(history.audit(*cut_off(2)), changes=(_moved("1", "2"), _moved("1", "0", partition=7))),
    ]
    for document in documents:
        store.write(small_cluster.snapshot(CLUSTER, document.snapshot_id))
        store.write_report(document.snapshot_id, document)
    # One has a digest beside it, as each audit writes it; reports of earlier versions have none.
    text = digest.digest_text(documents[1])
    store.write_rendering(documents[1].snapshot_id, DIGEST, text, newest=False)
    return store, [document.snapshot_id for document in documents]


def _moved(before, after, partition=3):
    return ReportedChange(kind="leader_moved", resource=f"topic/orders/partition/{partition}", before=before, after=after)


def diff(store, *arguments):
    return main(["diff", *arguments, "--reports", "--out", store.root])


def test_changes_add_up_and_failures_are_compared(reported, capsys):
    store, ids = reported
    assert diff(store, ids[0], ids[2]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"prod: {ids[0]} -> {ids[2]}, by their reports"
    found = [line for line in lines if not line.startswith(" " * 4)]  # without what is wrapped
    assert [re.sub(r"(broker/.*?):( .*|$)", r"\1", line) for line in found] == [
        "",
        "1 change",
        "  leader moved: topic/orders/partition/3  0 -> 2",
        "",
        "New (2)",
        "  CRITICAL  KA105  broker/2",
        "  CRITICAL  KA302  broker/2/listener/PLAINTEXT",
        "",
        "Resolved (2)",
        "  was CRITICAL  KA105  broker/1",
        "  was CRITICAL  KA302  broker/1/listener/PLAINTEXT",
    ]


def test_two_in_a_row_have_the_changes_of_the_later_one(reported, capsys):
    store, ids = reported
    assert diff(store, ids[0], ids[1]) == 0
    printed = capsys.readouterr().out
    assert "2 changes" in printed
    assert "Ongoing (2)" in printed


def test_a_snapshot_without_a_report_is_named(reported, capsys):
    store, ids = reported
    later = "20260930T180000Z-prod-0009"
    assert diff(store, ids[0], later) == 2
    assert f"snapshot {later} has no report in {store.root}; without --reports the command creates it" in capsys.readouterr().err


def test_two_clusters_the_wrong_order_and_json_are_refused(reported, capsys):
    store, ids = reported
    assert diff(store, ids[0], "20260930T180000Z-stage-0009") == 2
    assert "are snapshots of two clusters" in capsys.readouterr().err
    assert diff(store, ids[1], ids[0]) == 2
    assert "name the earlier snapshot first" in capsys.readouterr().err
    assert diff(store, ids[0], ids[1], "--format", "json") == 2
    assert "--reports prints text only" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_word_that_is_no_id_is_named(reported, capsys, wrong):
    store, ids = reported
    named = [ids[0], ids[2]]
    named[wrong] = "prod"
    assert diff(store, *named) == 2
    assert "'prod' is not the id of a snapshot, such as 2026" in capsys.readouterr().err

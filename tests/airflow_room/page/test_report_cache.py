"""What pages over many snapshots read: the digest beside a report, and the report where there is none that fits."""

import json
import shutil

import pytest

from airflow_page import BROKEN
from kafka_audit.airflow.page.report_cache import RecentValues, ReportCache
from kafka_audit.model.report import report_json
from kafka_audit.report import digest
from kafka_audit.store.history import DIGEST, History
from reported import report_of


@pytest.fixture
def reports_read(monkeypatch):
    read, whole = [], History.report
    monkeypatch.setattr(History, "report", lambda self, key: (read.append(key), whole(self, key))[1])
    return read


def digests(store):
    return ReportCache().digests(store.root, [BROKEN[1]], 1, 1.0)


def test_a_digest_spares_the_report(store, reports_read):
    (expected,), _ = digests(store)
    assert reports_read == [BROKEN[1]]
    store.write_rendering(BROKEN[1], DIGEST, digest.digest_text(store.read_report(BROKEN[1])), newest=False)
    (found,), problems = digests(store)
    assert (found, problems) == (expected, [])
    assert reports_read == [BROKEN[1]]


def test_a_report_that_was_written_after_its_digest_is_read(store, reports_read):
    document = report_json(store.read_report(BROKEN[1]))
    store.write_rendering(BROKEN[1], DIGEST, digest.digest_text(report_of(document)), newest=False)
    document["incidents"][0]["headline"] = "Another headline"
    store.write_report(BROKEN[1], report_of(document))
    (found,), _ = digests(store)
    assert found.state.sentence == "Another headline"
    assert reports_read == [BROKEN[1]]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"version": 1}', "[" * 100_000])
def test_a_damaged_digest_is_passed_over(store, reports_read, content):
    store.write_rendering(BROKEN[1], DIGEST, content, newest=False)
    found, problems = digests(store)
    assert (len(found), problems, reports_read) == (1, [], [BROKEN[1]])


def test_what_the_store_forgot_is_forgotten(store, tmp_path):
    cache = ReportCache()
    cache.digests(store.root, BROKEN, 2, 1.0)
    assert len(cache._digests._kept) == 2
    shutil.rmtree(tmp_path / "store" / "snapshots" / BROKEN[0])
    assert cache.snapshots(store.root)["prod"] == [BROKEN[1]]
    assert [key[1] for key in cache._digests._kept] == [BROKEN[1]]


MEGABYTE = "x" * (1 << 20)


def test_large_reports_are_kept_up_to_so_many_bytes(store, monkeypatch, reports_read):
    """Eight reports of 42 MB took 1 GB in each process of the API server."""
    sizes, cache = {f"2026091{day}T180000Z-prod-0001": 42 for day in range(8)}, ReportCache()
    monkeypatch.setattr(History, "written", lambda *_: None)
    monkeypatch.setattr(
        History,
        "report",
        lambda _, key: (reports_read.append(key), report_of({"snapshot_id": key, "never_asked": [MEGABYTE] * sizes[key]}))[1],
    )
    for key in [*sizes, *sizes]:
        assert cache.document(store.root, key).snapshot_id == key
        kept = [document for document, _ in cache._documents._kept.values()]
        assert sum(len(json.dumps(report_json(document))) for document in kept) <= 64 << 20
    assert [document.snapshot_id for document in kept] == [key]
    sizes |= dict.fromkeys(sizes, 1)
    for key in (*sizes, *sizes):  # nearest: small ones are read once
        cache.document(store.root, key)
    assert len(reports_read) == 16 + 7
    sizes["one"] = 65
    cache.document(store.root, "one")
    assert len(cache._documents._kept) == 8, "one that fits nowhere displaces none"


def test_a_value_that_is_put_again_counts_once():
    values = RecentValues(9, 10)
    for value in range(3):
        values.put("a", value, 6)
    values.put("b", "b", 4)
    assert (values.get("a"), values.get("b")) == (2, "b")
    values.put("c", "c", 1)
    assert (values.get("a"), values.get("b"), values.get("c")) == (None, "b", "c")
    values.forget(lambda _: True)
    values.put("d", "d", 10)
    assert values.get("d") == "d"

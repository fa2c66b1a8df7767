"""What pages over many snapshots read: the digest beside a report, and the report where there is none that fits."""

import shutil

import pytest

from airflow_page import BROKEN
from kafka_audit.airflow.page.report_cache import ReportCache
from kafka_audit.report import digest
from kafka_audit.store.history import DIGEST, History


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
    document = store.read_report(BROKEN[1])
    store.write_rendering(BROKEN[1], DIGEST, digest.digest_text(document), newest=False)
    document["incidents"][0]["headline"] = "Another headline"
    store.write_report(BROKEN[1], document)
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

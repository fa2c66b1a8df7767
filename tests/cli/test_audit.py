"""The steps of an audit, without a cluster and without Spark: their hand-overs through the store, and the gate."""

import json
import re
from datetime import date

import pytest

from cluster_views import answer_with
from kafka_audit import audit
from kafka_audit.model.cluster import Cluster, Keep, Mute
from kafka_audit.model.errors import EngineError, SnapshotError, StoreError, UsageError
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.report import report_json
from kafka_audit.model.run import SnapshotPair
from kafka_audit.model.tables import Snapshot, SnapshotInfo, SourceRead
from kafka_audit.report import digest, gate
from kafka_audit.store import Store
from made_rows import made
from reported import report_of

FIRST, SECOND = "20260131T080000Z-prod-00aa", "20260131T090000Z-prod-00bb"
PROD = Cluster(name="prod", bootstrap=("127.0.0.1:1",))


def _snapshot(snapshot_id, cluster="prod", cluster_id="id-of-prod"):
    started = int(snapshot_id[9:13]) * 1_000
    info = made(SnapshotInfo, cluster=cluster, started_ms=started, finished_ms=started + 500)
    read = SourceRead(sample=1, observer="zookeeper", operation="zookeeper /brokers", target="z:1", outcome="answered")
    return Snapshot(snapshot_id=snapshot_id, cluster=cluster, cluster_id=cluster_id, rows=(info, read))


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    store.write(_snapshot(FIRST))
    store.write(_snapshot(SECOND))
    return store


def test_collect_publishes_what_the_collector_took_under_an_id_that_sorts_by_time(tmp_path, monkeypatch):
    taken = {}

    def take(cluster, *, snapshot_id, say, secrets, **_others):
        say("asking")
        taken.update(cluster=cluster, secrets=secrets)
        return _snapshot(snapshot_id)

    monkeypatch.setattr(audit.collector, "take_snapshot", take)
    lines = []
    store = Store(tmp_path)
    snapshot_id = audit.publish_snapshot(PROD, store, lines.append, secrets={"A": "b"})
    assert re.fullmatch(r"20\d{6}T\d{6}Z-prod-[0-9a-f]{4}", snapshot_id)
    assert taken == {"cluster": PROD, "secrets": {"A": "b"}}
    assert lines == ["asking"]
    assert [manifest.snapshot_id for manifest in store.manifests()] == [snapshot_id]


def test_request_pairs_with_the_previous_snapshot(store):
    asked = audit.prepare_request(store, [SECOND], None, "r1")
    assert asked.pairs == (SnapshotPair(snapshot_id=SECOND, previous_snapshot_id=FIRST),)
    assert store.read_request("r1") == asked


def test_request_takes_the_baseline_that_is_given(store):
    third = "20260131T100000Z-prod-00cc"
    store.write(_snapshot(third))
    baselines = {third: FIRST, SECOND: None}
    assert audit.prepare_request(store, [third, SECOND], baselines, "r1").pairs == (
        SnapshotPair(snapshot_id=third, previous_snapshot_id=FIRST),
        SnapshotPair(snapshot_id=SECOND, previous_snapshot_id=None),
    )


def test_request_refuses_a_baseline_of_another_cluster(store):
    other = "20260131T070000Z-other-00dd"
    store.write(_snapshot(other, "other", "id-of-other"))
    with pytest.raises(UsageError, match=r"is of cluster id id-of-other \(other\), .* of id-of-prod \(prod\)"):
        audit.prepare_request(store, [SECOND], {SECOND: other}, "r1")


def test_a_cluster_that_did_not_tell_its_id_is_compared_with_nothing_rather_than_refused(store):
    down = "20260131T100000Z-prod-00ee"
    store.write(_snapshot(down, cluster_id="unknown:prod"))
    asked = audit.prepare_request(store, [down], {down: FIRST}, "r1")
    assert asked.pairs == (SnapshotPair(snapshot_id=down, previous_snapshot_id=None),)


def test_request_refuses_a_damaged_or_missing_snapshot(tmp_path, store):
    with pytest.raises(SnapshotError, match="this store has no snapshot"):
        audit.prepare_request(store, [SECOND], {SECOND: "20260131T080000Z-prod-00ab"}, "r1")
    for damaged in (FIRST, SECOND):  # what it is compared with, then itself
        (tmp_path / "snapshots" / damaged / "sample.parquet").unlink()
        with pytest.raises(SnapshotError, match=rf"{damaged}/sample\.parquet: is missing"):
            audit.prepare_request(store, [SECOND], None, "r1")


def _no_manifest(folder):
    (folder / "manifest.json").write_text("{")


def _no_table(folder):
    (folder / "sample.parquet").unlink()


def _no_report(folder):
    (folder / "findings.json").write_text("{")


@pytest.mark.parametrize("damage", [_no_manifest, _no_table, _no_report])
def test_a_damaged_previous_snapshot_is_passed_over_for_its_own_cluster_only(tmp_path, store, damage):
    third, stage, stage_now = "20260131T100000Z-prod-00cc", "20260131T080000Z-stage-00dd", "20260131T100000Z-stage-00ee"
    store.write(_snapshot(third))
    for snapshot_id in (stage, stage_now):
        store.write(_snapshot(snapshot_id, "stage", "id-of-stage"))
    damage(tmp_path / "snapshots" / SECOND)
    messages = []
    asked = audit.prepare_request(store, [third, stage_now], None, "r1", damaged=messages.append)
    prod, other = asked.pairs
    assert (prod.previous_snapshot_id, other) == (FIRST, SnapshotPair(snapshot_id=stage_now, previous_snapshot_id=stage))
    assert str(messages[0]) == f"{tmp_path}/{prod.passed_over[0]}"
    assert prod.passed_over[0].startswith(f"snapshots/{SECOND}/")
    assert store.read_request("r1") == asked

    answer_with(store, "r1", [])
    documents = report_json(audit.write_reports(store, "r1", {}))
    assert SECOND in documents[0]["passed_over"][0]
    assert SECOND not in str(documents[1])
    assert report_json(store.read_report(third)) == documents[0]


def test_without_a_whole_predecessor_a_cluster_is_compared_with_nothing_and_its_report_says_so(tmp_path, store):
    _no_table(tmp_path / "snapshots" / FIRST)
    asked = audit.prepare_request(store, [SECOND], None, "r1", damaged=lambda _: None)
    assert asked.pairs[0].previous_snapshot_id is None
    answer_with(store, "r1", [])
    assert f"{FIRST}/sample.parquet: is missing" in audit.write_reports(store, "r1", {})[0].passed_over[0]


def test_a_damaged_baseline_that_was_asked_for_is_refused_all_the_same(tmp_path, store):
    _no_table(tmp_path / "snapshots" / FIRST)
    with pytest.raises(SnapshotError, match="is missing"):
        audit.prepare_request(store, [SECOND], {SECOND: FIRST}, "r1", damaged=lambda _: None)


def test_nothing_is_passed_over_where_all_is_whole(store):
    asked = audit.prepare_request(store, [SECOND], None, "r1", damaged=lambda error: pytest.fail(str(error)))
    assert asked.pairs == (SnapshotPair(snapshot_id=SECOND, previous_snapshot_id=FIRST),)


def _stale(snapshot_id):
    evidence = {"observer": "broker:2", "broker": "2", "count": "1", "partitions": "orders-0"}
    return Judgement(snapshot_id=snapshot_id, code="KA101", resource="broker/2", status=Status.FAIL, evidence=evidence)


def test_conclude_writes_a_report_for_each_snapshot_of_the_run_and_tells_ongoing_from_new(tmp_path, store):
    audit.prepare_request(store, [SECOND, FIRST], None, "r1")
    answer_with(store, "r1", [_stale(FIRST), _stale(SECOND)])
    documents = report_json(audit.write_reports(store, "r1", {"prod": PROD}))
    assert [document["snapshot_id"] for document in documents] == [SECOND, FIRST]
    lives = [finding["lifecycle"] for document in documents for finding in document["findings"] if finding["code"] == "KA101"]
    assert lives == ["ongoing", "new"]
    assert report_json(store.read_report(SECOND)) == documents[0]
    assert (tmp_path / "snapshots" / SECOND / "findings.digest.json").read_text() == digest.digest_text(report_of(documents[0]))
    assert json.loads((tmp_path / "findings.json").read_text())["snapshot_id"] == SECOND
    assert json.loads((tmp_path / "clusters" / "prod" / "findings.json").read_text())["snapshot_id"] == SECOND


def test_conclude_lists_what_passed_where_that_is_asked_for_and_counts_it_always(store):
    audit.prepare_request(store, [FIRST], None, "r1", show_all=True)
    passed = Judgement(snapshot_id=FIRST, code="KA303", resource="broker/1/listener/X", status=Status.PASS)
    answer_with(store, "r1", [_stale(FIRST), passed])
    (document,) = report_json(audit.write_reports(store, "r1", {}))
    assert [(finding["code"], finding["status"]) for finding in document["findings"]] == [("KA101", "FAIL"), ("KA303", "PASS")]
    audit.prepare_request(store, [FIRST], None, "r2")
    answer_with(store, "r2", [_stale(FIRST), passed])
    (document,) = report_json(audit.write_reports(store, "r2", {}))
    assert [finding["code"] for finding in document["findings"]] == ["KA101"]
    assert document["counts"]["PASS"] == 1


def test_conclude_mutes_what_the_cluster_file_mutes(store):
    mute = Mute(code="KA101", resource="broker/*", reason="r", owner="o", until=date(2999, 12, 31))
    audit.prepare_request(store, [FIRST], None, "r1", clusters={"prod": Cluster(name="prod", mute=(mute,))})
    answer_with(store, "r1", [_stale(FIRST)])
    (document,) = report_json(audit.write_reports(store, "r1", {}))
    assert [finding["muted"] for finding in document["findings"] if finding["code"] == "KA101"] == [True]
    assert gate.evaluate_gate(report_of(document), "high", 1.0)[0] == gate.CLEAN
    audit.prepare_request(store, [FIRST], None, "r2", clusters={})  # gone from the cluster file
    answer_with(store, "r2", [_stale(FIRST)])
    (document,) = report_json(audit.write_reports(store, "r2", {}))
    assert gate.evaluate_gate(report_of(document), "high", 1.0)[0] == gate.FAILED


def test_conclude_of_an_old_comparison_rewrites_no_history(tmp_path, store):
    earlier = report_of({"snapshot_id": SECOND})
    store.write_report(SECOND, earlier)
    audit.prepare_request(store, [SECOND, FIRST], None, "r1")
    answer_with(store, "r1", [])
    audit.write_reports(store, "r1", {}, newest=False)
    assert store.read_report(SECOND) == earlier
    assert json.loads((tmp_path / "findings.json").read_text()) == report_json(earlier)
    assert store.read_report(FIRST).snapshot_id == FIRST  # had none


def _concluded(store, **options):
    third = "20260131T100000Z-prod-00cc"
    store.write(_snapshot(third))
    audit.prepare_request(store, [third], None, "r1")
    answer_with(store, "r1", [])
    audit.write_reports(store, "r1", {"prod": Cluster(name="prod", keep=Keep(snapshots=1))}, **options)
    return [manifest.snapshot_id for manifest in store.manifests()][::-1], third


def test_conclude_lets_the_store_forget_what_the_cluster_file_does_not_keep(store):
    left, third = _concluded(store)
    assert left == [SECOND, third]  # with SECOND it was compared


def test_conclude_of_an_old_comparison_forgets_nothing(store):
    left, third = _concluded(store, newest=False)
    assert left == [FIRST, SECOND, third]


def test_conclude_forgets_nothing_of_a_cluster_that_left_the_cluster_file(store):
    audit.prepare_request(store, [SECOND], None, "r1")
    answer_with(store, "r1", [])
    audit.write_reports(store, "r1", {"other": Cluster(name="other", keep=Keep(snapshots=1))})
    assert [manifest.snapshot_id for manifest in store.manifests()] == [SECOND, FIRST]


def test_an_audit_is_not_lost_for_a_snapshot_that_cannot_be_deleted(store, monkeypatch, caplog):
    def refuse(path, **_):
        raise StoreError(path)

    monkeypatch.setattr(store._files, "remove_folder", refuse)
    _, third = _concluded(store)
    assert store.read_report(third) is not None
    assert f"old snapshots stay: snapshots/{FIRST}" in caplog.text


def test_conclude_needs_spark_s_whole_answer(tmp_path, store):
    audit.prepare_request(store, [FIRST], None, "r1")
    answer_with(store, "r1", [])
    (tmp_path / "runs" / "r1" / "answer.json").unlink()
    with pytest.raises(EngineError, match="the result of Spark is incomplete"):
        audit.write_reports(store, "r1", {})
    assert store.read_report(FIRST) is None


def _finding(severity, status="FAIL", **more):
    return {
        "severity": severity,
        "status": status,
        "fingerprint": "f1",
        "muted": False,
        "message": "m",
        "lifecycle": "new",
    } | more


def _document(*findings, incidents=(), asked=4, answered=4):
    unknown = [{"observer": "broker:2", "operation": "Metadata", "error": "timeout", "needs": None}] * (asked - answered)
    return {
        "findings": findings,
        "incidents": [{"headline": headline, "findings": prints} for headline, prints in incidents],
        "coverage": {"asked": asked, "answered": answered, "unknown": unknown},
    }


GATES = {
    "nothing found": (_document(), "high", 1.0, 0, "clean: no failure of severity HIGH or above, 4 of 4 reads answered"),
    "below the severity": (_document(_finding("MEDIUM")), "high", 1.0, 0, "clean: no failure of severity HIGH"),
    "at the severity": (_document(_finding("HIGH")), "high", 1.0, 3, "m"),
    "above it": (_document(_finding("CRITICAL")), "high", 1.0, 3, "m"),
    "in any case": (_document(_finding("MEDIUM")), "Medium", 1.0, 3, "m"),
    "muted": (_document(_finding("CRITICAL", muted=True)), "high", 1.0, 0, "clean"),
    "unknown": (_document(_finding("CRITICAL", "UNKNOWN")), "high", 1.0, 0, "clean"),
    "failed before, cannot be judged now": (
        _document(_finding("CRITICAL", "UNKNOWN", lifecycle="incomparable")), "high", 1.0, 0, "clean",
    ),
    "resolved": (_document(_finding("CRITICAL", "PASS", lifecycle="resolved")), "high", 1.0, 0, "clean"),
    "an incident speaks": (_document(_finding("HIGH"), incidents=[("broken", ["f1"])]), "high", 1.0, 3, "broken"),
    "two incidents": (
        _document(_finding("HIGH"), _finding("HIGH", fingerprint="f2"), incidents=[("worst", ["f1"]), ("next", ["f2"])]),
        "high", 1.0, 3, "worst; 1 more incident",
    ),
    "an incident below the severity is not counted": (
        _document(_finding("HIGH"), _finding("CRITICAL", fingerprint="f2"), incidents=[("worst", ["f2"]), ("next", ["f1"])]),
        "critical", 1.0, 3, "worst",
    ),
    "a muted incident is not the headline": (
        _document(
            _finding("CRITICAL", muted=True), _finding("HIGH", fingerprint="f2"), incidents=[("muted", ["f1"]), ("open", ["f2"])]
        ),
        "high", 1.0, 3, "open",
    ),
    "without incident the worst speaks": (
        _document(_finding("LOW", message="weak"), _finding("MEDIUM", fingerprint="f2", message="weaker")), "low", 1.0, 3,
        "weaker; 1 more finding",
    ),
    "too little answered": (
        _document(answered=3), "high", 1.0, 4,
        "only 3 of 4 reads were answered, first failed read: broker:2 Metadata; checks without data are unknown",
    ),
    "enough answered": (_document(answered=3), "high", 0.75, 0, "3 of 4 reads answered"),
    "failures come before coverage": (_document(_finding("HIGH"), answered=0), "high", 1.0, 3, "m"),
    "nothing asked is no health": (_document(asked=0, answered=0), "high", 0.5, 4, "only 0 of 0"),
    "nothing asked, nothing demanded": (_document(asked=0, answered=0), "high", 0.0, 0, "clean"),
    "hostile words": (_document(_finding("HIGH"), incidents=[("a\x1b[2Jb", ["f1"])]), "high", 1.0, 3, "a\\u001b[2Jb"),
}  # fmt: skip


@pytest.mark.parametrize("case", GATES.values(), ids=GATES)
def test_the_gate(case):
    document, *arguments, code, message = case
    verdict, sentence = gate.evaluate_gate(report_of(document), *arguments)
    assert verdict == code
    assert message in sentence
    assert sentence.isprintable()


def test_the_gate_knows_its_severities():
    with pytest.raises(UsageError, match="'urgent' is not a severity; choose one of critical, high, medium, low, info"):
        gate.evaluate_gate(report_of(_document()), "urgent", 1.0)


@pytest.mark.parametrize("killed", [1, 3])
def test_what_was_wrong_before_audits_that_were_killed_is_not_new_after_them(tmp_path, killed):
    store = Store(tmp_path)
    ids = [f"20260131T{8 + hour:02}0000Z-prod-00aa" for hour in range(killed + 2)]
    for snapshot_id in ids:
        store.write(_snapshot(snapshot_id))
    reports = {}
    for snapshot_id in (ids[0], ids[-1]):  # those between have no report
        asked = audit.prepare_request(store, [snapshot_id], None, f"run-{snapshot_id[9:11]}")
        broken = Judgement(snapshot_id=snapshot_id, code="KA303", resource="broker/1/listener/X", status=Status.FAIL)
        answer_with(store, asked.run_id, [broken])
        (reports[snapshot_id],) = audit.write_reports(store, asked.run_id, {"prod": PROD})
    lifecycles = {(f.code, f.lifecycle) for f in reports[ids[-1]].findings if f.status == "FAIL"}
    assert lifecycles == {("KA303", "ongoing")}
    assert reports[ids[-1]].previous_snapshot_id == ids[-2]

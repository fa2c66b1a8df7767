"""Bad input that needs no cluster, as whole runs: one line that names file, key or address and the way out, never a traceback."""

import hashlib
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from cluster_views import answer_with
from kafka_audit import audit
from kafka_audit.cli import main
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.report import report_json
from kafka_audit.model.tables import Sample, Snapshot, SnapshotInfo
from kafka_audit.store import Store
from made_rows import made
from reported import report_of

NOBODY = "127.0.0.1:9"
"""An address of which only the auditor is told that nobody listens there."""

DOWN = f"clusters:\n  prod:\n    zookeeper: {NOBODY}\n    limits: {{read_s: 2}}\n"
BEFORE, LATER = "20260131T080000Z-prod-00aa", "20260131T090000Z-prod-00bb"
OTHER, OTHER_LATER = "20260131T080000Z-stage-00cc", "20260131T090000Z-stage-00dd"


def snapshot(snapshot_id, cluster="prod", cluster_id=None):
    """Return a small snapshot; nobody told the cluster's id, as in an audit of `DOWN`, unless it is given."""
    started = int(snapshot_id[9:13]) * 1_000
    times = {"started_ms": started, "finished_ms": started + 1}
    info, look = made(SnapshotInfo, cluster=cluster, **times), made(Sample, **times)
    known = cluster_id or f"{Snapshot.UNKNOWN_ID}{cluster}"
    return Snapshot(snapshot_id=snapshot_id, cluster=cluster, cluster_id=known, rows=(info, look))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command in a folder with a cluster file, and a store of one judged snapshot of the same cluster."""
    (tmp_path / "clusters.yaml").write_text(DOWN)
    store = Store(tmp_path / "store")
    store.write(snapshot(BEFORE))
    store.write_report(BEFORE, report_of(report_on(BEFORE)))
    monkeypatch.chdir(tmp_path)
    for key in [key for key in os.environ if key.startswith("KAFKA_AUDIT_")]:
        monkeypatch.delenv(key)

    def run(*argv):
        code = main([*argv, "--out", str(tmp_path / "store")])
        shown = capsys.readouterr()
        return SimpleNamespace(code=code, out=shown.out, err=shown.err)

    return run


def report_on(snapshot_id, **more):
    return {"cluster": "prod", "snapshot_id": snapshot_id, "findings": [], "incidents": [], **more}


def says(result, *parts):
    """Assert that a run ended with 2 and said one line, and that the line has all parts."""
    assert (result.code, result.out) == (2, ""), result.err
    assert result.err.startswith("kafka-audit: ")
    assert result.err.count("\n") == 1, result.err
    for part in parts:
        assert part in result.err


FILES = {
    "unknown key": (DOWN.replace("read_s", "reed_s"), "clusters.yaml:4: clusters.prod.limits.reed_s: unknown key; did you mean"),
    "a password": (
        f"{DOWN}    security: {{password: hunter2}}\n",
        "clusters.yaml:5: clusters.prod.security.password: passwords are not allowed in this file; set the environment variable",
    ),
    "a mute without reason": (
        f"{DOWN}    mute: [{{code: KA101, resource: cluster, owner: me}}]\n",
        "clusters.yaml:5: clusters.prod.mute.0: requires reason: why the finding is accepted",
    ),
}


@pytest.mark.parametrize(("text", "message"), FILES.values(), ids=FILES)
def test_a_slip_in_the_cluster_file_is_told_with_file_line_and_key(run, tmp_path, text, message):
    (tmp_path / "clusters.yaml").write_text(text)
    result = run("run", "prod")
    says(result, message)
    assert "hunter2" not in result.err


def test_a_missing_cluster_file_tells_how_to_get_one(run, tmp_path):
    (tmp_path / "clusters.yaml").unlink()
    says(
        run("run", "prod"),
        "clusters.yaml: file not found; set --config, or copy clusters.example.yaml; `kafka-audit run --bootstrap",
    )


def _file(tmp_path, name, snapshot_id=BEFORE):
    return tmp_path / "store" / "snapshots" / snapshot_id / name


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def without_column(path):
    """Write a table as another schema has it, whole and with a manifest that fits."""
    pq.write_table(pq.read_table(path).drop_columns(["reason"]), path)
    _describe_anew(path)


def another_type(path):
    table = pq.read_table(path)
    number = table.schema.get_field_index("reason")
    pq.write_table(table.set_column(number, "reason", [[7]]), path)
    _describe_anew(path)


def _describe_anew(path):
    manifest, content = path.with_name("manifest.json"), path.read_bytes()
    raw = json.loads(manifest.read_text())
    raw["tables"][path.stem] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest.write_text(json.dumps(raw))


def of_the_future(path):
    path.write_text(path.read_text().replace('"schema_version": 2', '"schema_version": 3'))


def written(text):
    return lambda path: path.write_text(text)


DAMAGED, LOST = "the snapshot cannot be used: remove ", "remove it; only the history"
NO_REPORT = "is not a valid report (truncated or edited); remove it; only the history of findings is lost"
FOREIGN = "is not a report of this snapshot that this version can read; remove it; only the history"
DAMAGE = {
    "a table cut short": ("sample.parquet", cut, DAMAGED),
    "a table lost": ("sample.parquet", Path.unlink, DAMAGED),
    "a column lost": ("sample.parquet", without_column, f"(column reason is missing); {DAMAGED}"),
    "a column of another type": (
        "sample.parquet",
        another_type,
        "(column reason has type int64, but this version requires string); the",
    ),
    "manifest cut short": ("manifest.json", cut, "is not a valid manifest (truncated or edited); remove the file, or"),
    "another schema": ("manifest.json", of_the_future, "newer version (schema 3, this version supports 2); upgrade"),
    "report cut short": ("findings.json", written('{"cluster": '), NO_REPORT),
    "report without end": ("findings.json", written("[" * 200_000), NO_REPORT),
    "report that is none": ("findings.json", written("[]"), NO_REPORT),
    "report of another": ("findings.json", written(json.dumps(report_on(LATER))), FOREIGN),
    "report of other words": (
        "findings.json",
        written(json.dumps(report_on(BEFORE, findings=[{"code": "KA101", "status": "BROKEN"}]))),
        FOREIGN,
    ),
}  # fmt: skip


WHOLE_RUNS = ["a table cut short", "a column lost", "manifest cut short", "another schema", "report cut short"]


@pytest.mark.parametrize("case", WHOLE_RUNS)
def test_a_baseline_that_cannot_be_used_is_told_before_the_audit(run, tmp_path, case):
    name, damage, message = DAMAGE[case]
    damage(_file(tmp_path, name))
    says(run("run", "prod", "--baseline", BEFORE, "--quiet"), f"{_file(tmp_path, name)}: ", message)
    assert [path.name for path in (tmp_path / "store" / "snapshots").iterdir()] == [BEFORE]


@pytest.mark.parametrize("case", ["a column lost", "report of other words"])
def test_a_previous_snapshot_that_cannot_be_used_stops_the_run(run, tmp_path, case):
    name, damage, message = DAMAGE[case]
    damage(_file(tmp_path, name))
    says(run("run", "prod", "--quiet"), f"{_file(tmp_path, name)}: ", message)


def test_a_snapshot_to_compare_that_cannot_be_used_is_told(run, tmp_path):
    Store(tmp_path / "store").write(snapshot(LATER))
    cut(_file(tmp_path, "sample.parquet", LATER))
    says(run("diff", BEFORE, LATER, "--quiet"), f"{_file(tmp_path, 'sample.parquet', LATER)}: has ", DAMAGED)


@pytest.mark.scenario
def test_zookeeper_down_and_a_half_written_snapshot_are_a_finding_and_nothing(run, tmp_path):
    _file(tmp_path, "manifest.json").unlink()
    result = run("run", "prod")
    assert result.code == 3, result.err
    assert "comparing with no snapshot: there is no earlier one" in result.err
    headline = f"ZooKeeper is not readable: no answer from {NOBODY} (connection refused)"
    assert result.err.rstrip().splitlines()[-1].endswith(headline)
    document = json.loads((tmp_path / "store" / "findings.json").read_text())
    assert [incident["cause"] for incident in document["incidents"]] == ["KA001"]
    assert document["incidents"][0]["headline"] == headline
    assert f"a ZooKeeper server that answers at {NOBODY}" in result.out
    assert document["previous_snapshot_id"] is None


@pytest.mark.parametrize("case", DAMAGE)
def test_no_damage_of_one_cluster_stops_conclude_of_another(tmp_path, case):
    """What the DAG does between its tasks `collect` and `gate`, without Spark."""
    store = Store(tmp_path / "store")
    for snapshot_id, cluster in ((BEFORE, "prod"), (LATER, "prod"), (OTHER, "stage"), (OTHER_LATER, "stage")):
        store.write(snapshot(snapshot_id, cluster, f"id-of-{cluster}"))
    for snapshot_id in (BEFORE, OTHER):
        store.write_report(snapshot_id, report_of(report_on(snapshot_id)))
    name, damage, message = DAMAGE[case]
    damage(_file(tmp_path, name))
    messages = []
    audit.prepare_request(store, [LATER, OTHER_LATER], None, "r1", damaged=lambda error: messages.append(str(error)))
    answer_with(store, "r1", [_stale(LATER), _stale(OTHER_LATER)])
    prod, stage = report_json(audit.write_reports(store, "r1", {}))
    assert (prod["snapshot_id"], prod["previous_snapshot_id"]) == (LATER, None)
    assert (stage["snapshot_id"], stage["previous_snapshot_id"], stage["passed_over"]) == (OTHER_LATER, OTHER, [])
    assert [finding["code"] for document in (prod, stage) for finding in document["findings"]] == ["KA101", "KA101"]
    (line,) = messages
    assert line.startswith(f"{_file(tmp_path, name)}: ")
    assert message in line
    assert prod["passed_over"] == [line.removeprefix(f"{store.root}/")]


def _stale(snapshot_id):
    evidence = {"observer": "broker:2", "broker": "2", "count": "1", "partitions": "orders-0"}
    return Judgement(snapshot_id=snapshot_id, code="KA101", resource="broker/2", status=Status.FAIL, evidence=evidence)

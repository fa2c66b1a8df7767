"""The store: published whole or not at all, never changed afterwards, never trusted unread."""

import errno
import json
import logging
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pyarrow.parquet as pq
import pytest

from kafka_audit.model.errors import EngineError, SnapshotError, StoreBusyError, StoreError, UsageError
from kafka_audit.model.report import report_json
from kafka_audit.model.run import JobAnswer, JudgedSnapshot, Request, SnapshotPair
from kafka_audit.model.tables import KEY, LARGE, TABLES, RegisteredPartition, Sample, Snapshot, SnapshotInfo, columns
from kafka_audit.store import Store
from made_rows import made
from reported import put, report_of
from store.contents import contents

ID = "20260131T080000Z-prod-00aa"
LATER = "20260131T090000Z-prod-00ab"
_VALUES: Mapping[str, object] = MappingProxyType(
    {
        "bigint": 7,
        "double": 0.5,
        "string": "a\nb \u202e \U0001f512",
        "boolean": True,
        "array<bigint>": (2, 0, 1),
        "array<string>": ("b", "a"),
    }
)


def _info(cluster, started_ms):
    return made(SnapshotInfo, cluster=cluster, started_ms=started_ms, finished_ms=started_ms + 900)


def _snapshot(snapshot_id=ID, *, cluster="prod", cluster_id="id-of-prod", started_ms=1_000, rows=()):
    return Snapshot(snapshot_id=snapshot_id, cluster=cluster, cluster_id=cluster_id, rows=(_info(cluster, started_ms), *rows))


def _row_of(table, *, nulls):
    return table(**{c.name: None if nulls and c.nullable else _VALUES[c.sql_type] for c in columns(table)})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def _file(tmp_path, name, snapshot_id=ID):
    return tmp_path / "snapshots" / snapshot_id / name


@pytest.mark.parametrize("root", ["{tmp}", "file://{tmp}", "memory://{tmp}"])
def test_every_table_comes_back_as_it_went_in_full_with_nulls_and_empty(tmp_path, root):
    rows = [
        _row_of(table, nulls=nulls)
        for table in TABLES
        if table not in {SnapshotInfo, RegisteredPartition}  # one row exactly; none at all
        for nulls in (False, True)
    ]
    snapshot = _snapshot(rows=rows)
    store = Store(root.format(tmp=tmp_path))
    store.write(snapshot)
    read = Store(root.format(tmp=tmp_path)).read(ID)
    assert contents(read) == contents(snapshot)
    assert not any(isinstance(row, LARGE) for row in read.rows)
    assert Store(root.format(tmp=tmp_path)).read(ID) == read


def test_large_tables_are_left_unread_for_who_does_not_need_them(tmp_path, store):
    store.write(_snapshot(rows=[_row_of(table, nulls=False) for table in TABLES if table is not SnapshotInfo]))
    for table in LARGE:
        _file(tmp_path, f"{table.table()}.parquet").unlink()
    read = store.read(ID, large=False)
    assert [len(read.of(table)) for table in TABLES] == [0 if table in LARGE else 1 for table in TABLES]


def test_a_command_decodes_each_snapshot_once_for_all_its_steps(tmp_path, store):
    store.write(_snapshot())
    command = Store(tmp_path, keep=2)
    before = command.read(ID, large=False)
    _cut(_file(tmp_path, "sample.parquet"))
    assert command.read(ID, large=False) is before
    with pytest.raises(SnapshotError):
        store.read(ID, large=False)


def test_files_have_the_schema_that_spark_reads(tmp_path, store):
    store.write(_snapshot())
    for table in TABLES:
        schema = pq.read_schema(_file(tmp_path, f"{table.table()}.parquet"))
        assert schema.names == [c.name for c in (*KEY, *columns(table))]
    partitions = pq.read_schema(_file(tmp_path, "registered_partition.parquet"))
    assert str(partitions.field("isr").type) == "list<element: int64>"
    assert partitions.field("isr").nullable
    assert not partitions.field("replicas").nullable
    assert not partitions.field("cluster_id").nullable


def test_reading_starts_no_threads_of_arrow_that_could_outlive_python(tmp_path, store):
    store.write(_snapshot(rows=[_row_of(RegisteredPartition, nulls=False)] * 3))
    count = "len(os.listdir('/proc/self/task'))"
    program = f"import os, sys; from kafka_audit.store import Store; old = {count}; Store(sys.argv[1]).read(sys.argv[2]); "
    command = [sys.executable, "-c", program + f"print({count} - old)", str(tmp_path), ID]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "0\n"


def test_the_manifest_describes_the_files(tmp_path, store):
    store.write(_snapshot(rows=[Sample(sample=1, started_ms=1, finished_ms=2, reason="first")]))
    raw = json.loads(_file(tmp_path, "manifest.json").read_text())
    assert {key: value for key, value in raw.items() if key != "tables"} == {
        "schema_version": 2,
        "snapshot_id": ID,
        "cluster": "prod",
        "cluster_id": "id-of-prod",
        "started_ms": 1_000,
        "finished_ms": 1_900,
        "tool_version": "0.1.0",
    }
    assert raw["tables"].keys() == {table.table() for table in TABLES}
    assert raw["tables"]["sample"]["rows"] == 1
    assert raw["tables"]["registry"]["rows"] == 0
    assert raw["tables"]["sample"]["bytes"] == _file(tmp_path, "sample.parquet").stat().st_size


def test_a_root_is_made_absolute_because_spark_may_stand_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Store("here").root == str(tmp_path / "here")
    assert Store("memory://bucket/audit/").root == "memory://bucket/audit"


def test_a_write_that_did_not_end_is_not_there(tmp_path, store):
    store.write(_snapshot())
    _file(tmp_path, "manifest.json").unlink()
    assert store.manifests() == []
    with pytest.raises(SnapshotError, match="this store has no snapshot"):
        store.read(ID)


def test_what_an_interrupted_write_left_is_replaced(tmp_path, store):
    _file(tmp_path, "x").parent.mkdir(parents=True)
    _file(tmp_path, "sample.parquet").write_bytes(b"half of a fi")
    _file(tmp_path, ".sample.parquet.0011").write_bytes(b"hal")
    store.write(_snapshot())
    assert contents(store.read(ID)) == contents(_snapshot())
    assert not _file(tmp_path, ".sample.parquet.0011").exists()


def test_writing_twice_changes_nothing(tmp_path, store):
    store.write(_snapshot())
    before = {path.name: (path.read_bytes(), path.stat().st_ino) for path in _file(tmp_path, "x").parent.iterdir()}
    store.write(_snapshot())
    assert {path.name: (path.read_bytes(), path.stat().st_ino) for path in _file(tmp_path, "x").parent.iterdir()} == before


def test_a_published_snapshot_is_never_replaced_by_another(store):
    store.write(_snapshot())
    with pytest.raises(SnapshotError, match="is already published"):
        store.write(_snapshot(started_ms=2_000))
    assert contents(store.read(ID)) == contents(_snapshot())


class _FullDiskError(Exception):
    pass


def test_the_manifest_is_the_last_file_written(tmp_path, store, monkeypatch):
    written = []
    write = store._files.write

    def until_full(path, content):
        if path.endswith(f"{TABLES[-1].table()}.parquet"):
            raise _FullDiskError
        written.append(path)
        write(path, content)

    monkeypatch.setattr(store._files, "write", until_full)
    with pytest.raises(_FullDiskError):
        store.write(_snapshot())
    assert written == [f".staging/{ID}", *(f"snapshots/{ID}/{table.table()}.parquet" for table in TABLES[:-1])]
    assert Store(tmp_path).manifests() == []


def _cut(path: Path):
    path.write_bytes(path.read_bytes()[:-5])


def _flip(path: Path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))


def _other_schema(path: Path):
    table = pq.read_table(path).drop_columns(["reason"])
    pq.write_table(table, path)
    _adjust_manifest(path)


def _no_parquet(path: Path):
    path.write_bytes(b"PAR1 or so")
    _adjust_manifest(path)


def _adjust_manifest(path: Path):
    """Make the manifest agree with a file of another content."""
    import hashlib  # noqa: PLC0415 -- only here

    manifest = path.with_name("manifest.json")
    raw = json.loads(manifest.read_text())
    content = path.read_bytes()
    raw["tables"][path.stem] |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest.write_text(json.dumps(raw))


def _fewer_rows(path: Path):
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    _adjust_manifest(path)


DAMAGE = {
    "missing": (Path.unlink, "is missing"),
    "cut short": (_cut, "bytes, but the manifest has"),
    "a byte flipped": (_flip, "does not match the checksum of the manifest"),
    "a column lost": (_other_schema, "is not a table that this version can read (column reason is missing)"),
    "no Parquet": (_no_parquet, "is not a table that this version can read"),
    "rows lost": (_fewer_rows, "has 0 rows, but the manifest has 1"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_named_with_the_way_out(tmp_path, store, damage, message):
    store.write(_snapshot(rows=[Sample(sample=1, started_ms=1, finished_ms=2, reason="first")]))
    damage(_file(tmp_path, "sample.parquet"))
    with pytest.raises(SnapshotError) as error:
        store.read(ID)
    assert str(error.value).startswith(f"{tmp_path}/snapshots/{ID}/sample.parquet: ")
    assert message in str(error.value)
    assert f"remove {ID}/manifest.json, or select another baseline" in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize("damage", [Path.unlink, _cut, _flip])
def test_verifying_finds_damage_without_decoding(tmp_path, store, damage):
    store.write(_snapshot())
    store.verify(ID)
    damage(_file(tmp_path, "sample.parquet"))
    with pytest.raises(SnapshotError, match=r"sample\.parquet: .*; the snapshot cannot be used"):
        store.verify(ID)


def test_a_column_that_was_added_since_takes_its_default(tmp_path, store):
    store.write(_snapshot())
    info = _file(tmp_path, "snapshot_info.parquet")
    pq.write_table(pq.read_table(info).drop_columns(["client_vantages"]), info)
    _adjust_manifest(info)
    assert store.read(ID).of(SnapshotInfo)[0].client_vantages == 1


def test_a_table_that_was_added_since_is_empty(tmp_path, store):
    store.write(_snapshot())
    raw = json.loads(_file(tmp_path, "manifest.json").read_text())
    del raw["tables"]["probe"]
    _file(tmp_path, "manifest.json").write_text(json.dumps(raw))
    _file(tmp_path, "probe.parquet").unlink()
    assert contents(store.read(ID)) == contents(_snapshot())


MANIFESTS = {
    "cut short": (lambda raw: json.dumps(raw)[:-10], "is not a valid manifest (truncated or edited)"),
    "not JSON": (lambda _: "manifest", "is not a valid manifest"),
    "a list": (lambda _: "[]", "is not a valid manifest"),
    "binary": (lambda _: "\udcff\udcfe", "is not a valid manifest"),
    "no tables": (lambda raw: json.dumps({k: v for k, v in raw.items() if k != "tables"}), "is not a valid manifest"),
    "a key too much": (lambda raw: json.dumps(raw | {"x": 1}), "is not a valid manifest"),
    "another snapshot's": (lambda raw: json.dumps(raw | {"snapshot_id": LATER}), "belongs to snapshot"),
    "of the future": (
        lambda raw: json.dumps(raw | {"schema_version": 3}),
        "newer version (schema 3, this version supports 2); upgrade",
    ),
}


def _damage_manifest(tmp_path, change, snapshot_id=ID):
    path = _file(tmp_path, "manifest.json", snapshot_id)
    path.write_bytes(change(json.loads(path.read_text())).encode(errors="surrogateescape"))


@pytest.mark.parametrize(("change", "message"), MANIFESTS.values(), ids=MANIFESTS)
def test_a_damaged_manifest_is_named(tmp_path, store, change, message):
    store.write(_snapshot())
    _damage_manifest(tmp_path, change)
    for read in (store.manifests, lambda: store.read(ID)):
        with pytest.raises(SnapshotError) as error:
            read()
        assert f"{tmp_path}/snapshots/{ID}/manifest.json: " in str(error.value)
        assert message in str(error.value)


@pytest.mark.parametrize("wrong", ["", "latest", "../../etc", "20260131T080000Z-prod-00zz", "20260131T080000Z-../x-00aa"])
def test_an_id_that_is_none_is_refused(store, wrong):
    with pytest.raises(SnapshotError, match="this store has no snapshot"):
        store.read(wrong)


def test_a_mistyped_id_gets_the_nearest(store):
    store.write(_snapshot())
    with pytest.raises(SnapshotError, match=f"did you mean {ID}"):
        store.read(ID.replace("00aa", "00ae"))


def test_manifests_come_newest_first(store):
    for hour, started in ((8, 3_000), (10, 1_000), (9, 2_000)):
        store.write(_snapshot(f"20260131T{hour:02}0000Z-prod-0000", started_ms=started))
    assert [m.started_ms for m in store.manifests()] == [3_000, 2_000, 1_000]


def test_the_previous_snapshot_is_the_newest_older_one_of_the_same_cluster_id(store):
    for snapshot in (
        _snapshot("20260131T060000Z-prod-0001", started_ms=600),
        _snapshot("20260131T070000Z-prod-0002", started_ms=700),
        _snapshot("20260131T073000Z-alias-0003", cluster="alias", started_ms=730),
        _snapshot("20260131T074000Z-prod-0004", cluster_id="rebuilt", started_ms=740),
        _snapshot("20260131T090000Z-prod-0005", started_ms=900),
    ):
        store.write(snapshot)
    now = _snapshot("20260131T080000Z-prod-0006", started_ms=800)
    store.write(now)
    assert store.previous(now) == "20260131T073000Z-alias-0003"  # another name, the same cluster
    assert store.previous(store.manifest(now.snapshot_id)) == "20260131T073000Z-alias-0003"
    assert store.previous(_snapshot("20260131T080000Z-prod-0007", cluster_id="rebuilt", started_ms=800)) == (
        "20260131T074000Z-prod-0004"
    )
    assert store.previous(store.manifest("20260131T060000Z-prod-0001")) is None


def test_where_the_cluster_id_is_unknown_the_previous_snapshot_is_the_newest_of_the_name(store):
    """The nearest to it: a cluster that answers is compared with what answered, and never with another name."""
    for name, cluster, cluster_id, started in (
        ("20260131T060000Z-prod-0001", "prod", "unknown:prod", 600),
        ("20260131T070000Z-prod-0002", "prod", "an-id", 700),
        ("20260131T073000Z-stage-0003", "stage", "unknown:stage", 730),
    ):
        store.write(_snapshot(name, cluster=cluster, cluster_id=cluster_id, started_ms=started))
    for cluster_id in ("unknown:prod", "an-id"):
        now = _snapshot("20260131T080000Z-prod-0004", cluster_id=cluster_id, started_ms=800)
        assert store.previous(now) == "20260131T070000Z-prod-0002"


def test_snapshots_of_one_second_are_told_apart_by_their_start(store):
    for suffix, started in (("ffff", 100), ("0000", 200), ("8888", 300)):
        store.write(_snapshot(f"20260131T080000Z-prod-{suffix}", started_ms=started))
    assert store.previous(store.manifest("20260131T080000Z-prod-8888")) == "20260131T080000Z-prod-0000"
    assert store.previous(store.manifest("20260131T080000Z-prod-ffff")) is None


def test_looking_for_the_previous_reads_no_more_manifests_than_it_must(tmp_path, store):
    store.write(_snapshot("20260131T060000Z-prod-0001", started_ms=600))
    store.write(_snapshot("20260131T070000Z-prod-0002", started_ms=700))
    _damage_manifest(tmp_path, lambda _: "", "20260131T060000Z-prod-0001")
    assert store.previous(_snapshot(started_ms=800)) == "20260131T070000Z-prod-0002"


def test_a_damaged_manifest_of_this_cluster_is_not_passed_over(tmp_path, store):
    store.write(_snapshot("20260131T060000Z-prod-0001", started_ms=600))
    store.write(_snapshot("20260131T070000Z-prod-0002", started_ms=700))
    _damage_manifest(tmp_path, lambda _: "", "20260131T070000Z-prod-0002")
    with pytest.raises(SnapshotError, match=r"20260131T070000Z-prod-0002/manifest\.json"):
        store.previous(_snapshot(started_ms=800))


def test_a_damaged_manifest_of_another_cluster_is_passed_over_and_told(tmp_path, store, caplog):
    store.write(_snapshot("20260131T060000Z-prod-0001", started_ms=600))
    store.write(_snapshot("20260131T070000Z-other-0002", cluster="other", started_ms=700))
    _damage_manifest(tmp_path, lambda _: "", "20260131T070000Z-other-0002")
    with caplog.at_level(logging.WARNING):
        assert store.previous(_snapshot(started_ms=800)) == "20260131T060000Z-prod-0001"
    assert "20260131T070000Z-other-0002/manifest.json: is not a valid manifest" in caplog.text


def test_folders_of_others_are_left_alone(tmp_path, store):
    (tmp_path / "snapshots" / "lost+found").mkdir(parents=True)
    (tmp_path / "snapshots" / "README").write_text("x")
    store.write(_snapshot())
    assert [m.snapshot_id for m in store.manifests()] == [ID]
    assert store.previous(store.manifest(ID)) is None


def test_a_request_comes_back(store):
    request = Request(run_id="r1", pairs=(SnapshotPair(snapshot_id=ID, previous_snapshot_id=None),))
    store.write_request(request)
    assert store.read_request("r1") == request


def test_a_run_that_asked_nothing_is_told(store):
    with pytest.raises(EngineError, match=r"runs/r1/request\.json: does not exist"):
        store.read_request("r1")


JUDGED = JudgedSnapshot(
    snapshot_id=ID,
    document=report_of({"snapshot_id": ID, "findings": [{"code": "KA101", "evidence": {"count": 1}}]}),
    differences={"partition_count": [{"moment": "now", "topics": 1}]},
)


def test_an_answer_comes_back(store):
    answer = JobAnswer(judged=(ID,), failed=((LATER, "its checks did not finish"),))
    store.write_judged("r1", JUDGED)
    store.write_answer("r1", answer)
    assert store.read_answer("r1") == answer
    assert store.read_judged("r1", ID) == JUDGED


def test_an_answer_without_its_end_is_none(store):
    store.write_judged("r1", JUDGED)
    with pytest.raises(EngineError, match=r"runs/r1/answer\.json: is missing: the result of Spark is incomplete"):
        store.read_answer("r1")


def test_an_answer_whose_part_is_missing_is_none(store):
    store.write_answer("r1", JobAnswer(judged=(ID,), failed=()))
    with pytest.raises(EngineError, match=rf"runs/r1/judged/{ID}\.json: is missing: the result of Spark is incomplete"):
        store.read_judged("r1", ID)


@pytest.mark.parametrize("name", ["answer.json", f"judged/{ID}.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"judged": 7, "document": 7}'])
def test_an_answer_that_cannot_be_read_is_an_error_of_the_engine(tmp_path, store, name, text):
    place = tmp_path / "runs" / "r1" / name
    place.parent.mkdir(parents=True)
    place.write_text(text)
    with pytest.raises(EngineError, match=rf"{re.escape(name)}: the result of Spark cannot be read"):
        store.read_answer("r1") if name == "answer.json" else store.read_judged("r1", ID)


def test_a_report_becomes_the_current_one_of_cluster_and_store(tmp_path, store):
    report = report_of({"snapshot_id": ID, "never_asked": ["\u202e\x1b[2J"]})
    store.write_report(ID, report)
    for path in (_file(tmp_path, "findings.json"), tmp_path / "clusters" / "prod" / "findings.json", tmp_path / "findings.json"):
        assert json.loads(path.read_text()) == report_json(report)
        assert path.read_text().isascii()  # nothing in it can act on a terminal
    assert store.read_report(ID) == report


def test_a_report_on_an_old_snapshot_leaves_the_current_one(tmp_path, store):
    store.write_report(LATER, report_of({"snapshot_id": LATER}))
    store.write_report(ID, report_of({"snapshot_id": ID}), newest=False)
    assert json.loads((tmp_path / "findings.json").read_text())["snapshot_id"] == LATER
    assert store.read_report(ID) == report_of({"snapshot_id": ID})


def test_a_snapshot_without_report_has_none_and_a_damaged_report_is_told(tmp_path, store):
    assert store.read_report(ID) is None
    _file(tmp_path, "x").parent.mkdir(parents=True)
    _file(tmp_path, "findings.json").write_text('{"cluster": ')
    with pytest.raises(SnapshotError, match=r"findings\.json: is not a valid report"):
        store.read_report(ID)


@pytest.mark.parametrize("version", [1, 4, "\x1b[2J", None])
def test_a_report_of_another_schema_is_refused_with_both_versions(store, version):
    put(store, ID, {"cluster": "prod", "schema_version": version})
    with pytest.raises(SnapshotError, match=r"findings\.json: has schema_version \S+, this version reads 2 and 3; remove it"):
        store.read_report(ID)


def test_a_report_of_version_2_is_read_and_a_field_that_is_not_known_is_none(store):
    earlier = report_of({"snapshot_id": ID, "schema_version": 2, "findings": [{"evidence": {"brokers": [1, 2]}}]})
    put(store, ID, report_json(earlier) | {"of_a_later_version": 1})
    assert store.read_report(ID) == earlier
    assert store.read_report(ID).findings[0].evidence == {"brokers": (1, 2)}


@pytest.mark.parametrize("name", ["topic/\ud800", "topic/é\u2028\x7f\U0001f600", "topic/\x00\x1b[2J"])
def test_every_name_comes_back_and_is_ascii_in_the_file(tmp_path, store, name):
    report = report_of({"snapshot_id": ID, "findings": [{"resource": {"name": name}}]})
    store.write_report(ID, report)
    assert store.read_report(ID) == report
    text = _file(tmp_path, "findings.json").read_text()
    assert text.isascii()
    assert text == json.dumps(report_json(report), indent=2) + "\n"


def test_no_temporary_files_stay(tmp_path, store):
    store.write(_snapshot())
    store.write_report(ID, report_of({"cluster": "prod"}))
    assert list(tmp_path.glob(".staging/*")) == []
    assert [path for path in tmp_path.rglob("*") if path.name.startswith(".")] == [tmp_path / ".staging"]


def test_a_root_that_cannot_be_written_is_told_before_an_audit(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file/store: Not a directory; set another store with --out"):
        Store(tmp_path / "file" / "store").prepare()
    with pytest.raises(StoreError, match="file: File exists; set another store"):
        Store(tmp_path / "file").prepare()
    Store(tmp_path / "new" / "store").prepare()
    assert (tmp_path / "new" / "store").is_dir()


# what the file system says, what the line must say, whether another try may find it mended
REFUSALS = {
    "full": (OSError(errno.ENOSPC, "No space left on device"), "No space left on device; free disk space, or keep fewer", True),
    "over quota": (OSError(errno.EDQUOT, "Disk quota exceeded"), "Disk quota exceeded; free disk space", True),
    "no right": (
        PermissionError(errno.EACCES, "Permission denied"),
        "Permission denied; grant this user read and write access",
        False,
    ),
    "no right in a bucket": (PermissionError("Forbidden"), "Forbidden; grant this user read and write access", False),
    "read-only": (
        OSError(errno.EROFS, "Read-only file system"),
        "Read-only file system; grant this user read and write access",
        False,
    ),
    "broken disk": (
        OSError(errno.EIO, "Input/output error"),
        "Input/output error; check that the storage",
        True,
    ),
    "network": (TimeoutError(), "TimeoutError; check that the storage is reachable, then try again", True),
}


@pytest.mark.parametrize(("refusal", "message", "may_pass"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_names_the_path_and_the_way_out(store, monkeypatch, refusal, message, may_pass):
    def refuse(*_, **__):
        raise refusal

    files = store._files
    for name in ("mkdir", "write_bytes", "read_bytes", "unlink", "iterdir"):
        monkeypatch.setattr(type(files._held._root), name, refuse)
    monkeypatch.setattr("os.listdir", refuse)
    for call in (lambda: files.write("a/b", b"x"), lambda: files.read("a/b"), lambda: files.names("a/b")):
        with pytest.raises(StoreError) as error:
            call()
        assert str(error.value).startswith(f"{store.root}/a/b: {message}")
        assert isinstance(error.value, StoreBusyError) is may_pass
        assert error.value.exit_code == 2
        assert "\n" not in str(error.value)


def test_a_disk_that_fills_up_leaves_no_half_of_a_file(tmp_path, store, monkeypatch):
    def fill(path, content):
        with open(path, "wb") as file:  # noqa: PTH123 -- Path.open is what is replaced
            file.write(content[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(StoreBusyError, match="free disk space"):
        store.write(_snapshot())
    monkeypatch.undo()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    store.write(_snapshot())
    assert contents(store.read(ID)) == contents(_snapshot())


def test_a_snapshot_that_does_not_fit_takes_no_room(tmp_path, store, monkeypatch):
    """A retry comes with an id of its own: what the first try left would stay, and the disk would be full for good."""
    write = store._files.write

    def until_full(path, content):
        if path.endswith(f"{TABLES[-1].table()}.parquet"):
            raise StoreBusyError(path)
        write(path, content)

    monkeypatch.setattr(store._files, "write", until_full)
    with pytest.raises(StoreBusyError):
        store.write(_snapshot())
    assert list((tmp_path / "snapshots").iterdir()) == []


def test_a_root_that_spark_takes_for_a_pattern_is_refused(tmp_path):
    with pytest.raises(UsageError, match="Spark reads this path as a pattern"):
        Store(tmp_path / "a[1]")


def test_a_root_of_an_unknown_kind_is_refused():
    with pytest.raises(UsageError, match="nosuch://bucket"):
        Store("nosuch://bucket")


@pytest.mark.parametrize(
    "url",
    [
        "s3://AKIA123:s3cret@bucket/audit",
        "s3://AKIA123:s3/cr@et@bucket",
        "abfs://box@acc/x?sig=s3cret",
        "hdfs://u:s3cret@nn:8020/x",
    ],
)
def test_a_url_that_holds_a_login_is_refused_without_showing_it(url):
    with pytest.raises(UsageError, match=r"the URL of a store must not contain a (password|query)") as refused:
        Store(url)
    assert not [part for part in ("AKIA123", "s3cret", "s3/cr", "et@") if part in str(refused.value)]


@pytest.mark.parametrize("url", ["nosuch://box@acc.dfs.core.windows.net/audit", "nosuch://user@namenode:8020/audit"])
def test_a_container_or_a_user_in_a_url_is_no_login(url):
    with pytest.raises(UsageError, match="nosuch") as refused:  # by fsspec, which has no such file system
        Store(url)
    assert str(refused.value).startswith(url)


def test_what_a_file_system_says_shows_no_login(store, monkeypatch):
    def fail(*_):
        text = "403 of https://acc/x?comp=list&sig=s3cret by https://user:s3cret@proxy:3128"
        raise OSError(text)

    monkeypatch.setattr("os.listdir", fail)
    with pytest.raises(StoreBusyError, match=r"https://acc/x\?comp=list&sig=\*\*\* by https://\*\*\*@proxy:3128") as refused:
        store.manifests()
    assert "s3cret" not in str(refused.value)


def test_columns_of_many_values_have_no_dictionary(store, tmp_path):
    """Names and digests of 20,000 topics take less room one after the other, in encodings that Spark's fast reader takes."""
    rows = tuple(
        RegisteredPartition(**vars(_row_of(RegisteredPartition, nulls=False)) | {"topic": f"topic-{number:05}", "partition": 0})
        for number in range(5_000)
    )
    store.write(_snapshot(rows=rows))
    assert store.read(ID).of(RegisteredPartition) == rows
    path = _file(tmp_path, "registered_partition.parquet")
    group = pq.read_metadata(path).row_group(0)
    encodings = {group.column(at).path_in_schema: set(group.column(at).encodings) for at in range(group.num_columns)}
    assert "DELTA_BYTE_ARRAY" in encodings["topic"]
    assert "DELTA_BINARY_PACKED" in encodings["replicas.list.element"]
    assert "RLE_DICTIONARY" in encodings["leader"]
    assert "BYTE_STREAM_SPLIT" not in set().union(*encodings.values())


def test_of_two_audits_the_report_of_the_later_one_is_current_whichever_ends_last(tmp_path):
    store = Store(tmp_path)
    ids = {"scheduled": "20260131T080000Z-prod-00aa", "suspected": "20260131T080100Z-prod-00aa", "x": "20260131T090000Z-x-00aa"}
    for name in ("x", "suspected", "scheduled"):
        cluster = "x" if name == "x" else "prod"
        store.write_report(ids[name], report_of({"cluster": cluster, "snapshot_id": ids[name]}))
    for place in ("clusters/prod", "."):
        assert json.loads((tmp_path / place / "findings.json").read_text())["snapshot_id"] == ids["suspected"]
    assert (tmp_path / "snapshots" / ids["scheduled"] / "findings.json").exists()

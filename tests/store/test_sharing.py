"""Tables that are the same are stored once: which, how they are read, and when their files go."""

import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import small_cluster
from kafka_audit.model.cluster import Keep
from kafka_audit.model.errors import SnapshotError, StoreError
from kafka_audit.model.report import report_json
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.model.tables import TABLES, RegisteredPartition, Snapshot, SnapshotInfo
from kafka_audit.store import Store, pruning
from kafka_audit.store.history import DIGEST, History
from kafka_audit.store.reports import PACKED_FROM
from reported import report_of
from store.contents import contents

OF_THE_RUN = {"snapshot_info", "sample", "source_read"}
ALL = {table.table() for table in TABLES}
NOW = datetime(2026, 2, 1, tzinfo=UTC)


def snapshot_id(hour, cluster="prod"):
    return f"202601{1 + hour // 24:02}T{hour % 24:02}0000Z-{cluster}-{hour:04x}"


def snapshot(hour, *, usable=7, mzxid=210, cluster="prod", cluster_id=small_cluster.CLUSTER_ID) -> Snapshot:
    """Return the snapshot of an hour; other free bytes of a disk and another write to a partition change a table each."""
    spec = {
        "brokers": {n: f"10.99.0.1{n}:9092" for n in range(2)},
        "topics": {"orders": {"partitions": {0: {"replicas": [0, 1], "state_mzxid": mzxid}}}},
        "configs": {0: {"num.io.threads": "8"}},
        "log_dirs": {0: {"/d": {"usable": usable}}},
    }
    found = small_cluster.snapshot(spec, snapshot_id(hour, cluster))
    at = 1_767_225_600_000 + hour * 3_600_000
    rows = [replace(row, started_ms=at, finished_ms=at) if isinstance(row, SnapshotInfo) else row for row in found.rows]
    return replace(found, rows=tuple(rows), cluster=cluster, cluster_id=cluster_id)


@pytest.fixture(params=["{tmp}", "memory://sharing-{tmp}"])
def store(request, tmp_path):
    return Store(request.param.format(tmp=tmp_path))


@pytest.fixture
def local(tmp_path):
    return Store(tmp_path)


def tables_in(store, hour):
    names = store._files.names(f"snapshots/{snapshot_id(hour)}")
    return {name.removesuffix(".parquet") for name in names if name.endswith(".parquet")}


def holders(store, hour):
    manifest = store.manifest(snapshot_id(hour))
    return {table: manifest.holder(table) for table in manifest.tables}


def test_only_what_differs_is_stored_again_and_every_snapshot_reads_as_it_was_written(store):
    written = [snapshot(0), snapshot(1), snapshot(2, usable=6), snapshot(3, usable=6, mzxid=211)]
    for one in written:
        store.write(one)
    assert tables_in(store, 0) == ALL
    assert tables_in(store, 1) == OF_THE_RUN
    assert tables_in(store, 2) == {*OF_THE_RUN, "log_dir"}
    assert tables_in(store, 3) == {*OF_THE_RUN, "registered_partition"}
    assert holders(store, 3)["log_dir"] == snapshot_id(2)  # the one that has the file, not the one before
    assert holders(store, 3)["probe"] == snapshot_id(0)
    for one in written:
        assert contents(Store(store.root).read(one.snapshot_id)) == contents(one)
        store.verify(one.snapshot_id)


def test_the_same_rows_are_the_same_bytes_whatever_the_process_and_the_time(tmp_path):
    stores = [Store(tmp_path / name) for name in ("a", "b")]
    for one in stores:
        one.write(snapshot(0))
    assert stores[0].manifest(snapshot_id(0)) == stores[1].manifest(snapshot_id(0))


def test_writing_a_snapshot_again_that_shares_changes_nothing_and_another_one_is_refused(store):
    store.write(snapshot(0))
    store.write(snapshot(1))
    before = store.manifest(snapshot_id(1))
    store.write(snapshot(1))
    assert store.manifest(snapshot_id(1)) == before
    with pytest.raises(SnapshotError, match="is already published"):
        store.write(snapshot(1, usable=1))
    assert store._files.names(".staging") == []


@pytest.mark.parametrize("other", [{"cluster": "stage"}, {"cluster_id": "unknown:prod"}], ids=["cluster", "cluster id"])
def test_nothing_is_shared_with_another_cluster(local, other):
    local.write(snapshot(0, **other))
    local.write(snapshot(1))
    assert tables_in(local, 1) == ALL


def test_an_outage_without_a_cluster_id_does_not_end_the_sharing(local):
    local.write(snapshot(0))
    for hour in range(1, 4):
        local.write(snapshot(hour, cluster_id="unknown:prod"))
    local.write(snapshot(4))
    assert set(holders(local, 4).values()) == {snapshot_id(0), snapshot_id(4)}
    assert set(holders(local, 3).values()) == {snapshot_id(1), snapshot_id(3)}


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x")])
def test_a_damaged_file_is_not_shared_any_further(local, damage):
    local.write(snapshot(0))
    local.write(snapshot(1))
    damage(Path(local.root, "snapshots", snapshot_id(0), "log_dir.parquet"))
    local.write(snapshot(2))
    assert tables_in(local, 2) == {*OF_THE_RUN, "log_dir"}
    assert contents(local.read(snapshot_id(2))) == contents(snapshot(2))
    with pytest.raises(SnapshotError) as error:
        local.read(snapshot_id(1))
    assert str(error.value).startswith(f"{local.root}/snapshots/{snapshot_id(0)}/log_dir.parquet: ")
    assert f"snapshot {snapshot_id(1)}, which shares the file, cannot be used: remove {snapshot_id(1)}/manifest.json" in str(
        error.value
    )


def test_a_damaged_manifest_shares_nothing_and_stops_no_audit(local):
    local.write(snapshot(0))
    local._files.write(f"snapshots/{snapshot_id(0)}/manifest.json", b"{")
    local.write(snapshot(1))
    assert tables_in(local, 1) == ALL


def test_a_snapshot_of_the_first_version_is_read_and_shared(local):
    local.write(snapshot(0))
    path = f"snapshots/{snapshot_id(0)}/manifest.json"
    raw = json.loads(local._files.read(path))
    assert all("stored_in" not in file for file in raw["tables"].values())
    local._files.write(path, json.dumps(raw | {"schema_version": 1}).encode())
    assert contents(local.read(snapshot_id(0))) == contents(snapshot(0))
    local.write(snapshot(1))
    assert tables_in(local, 1) == OF_THE_RUN


HOSTILE = {
    "a folder above": {"log_dir": "../../../etc"},
    "an absolute path": {"log_dir": "/etc"},
    "another cluster": {"log_dir": snapshot_id(0, "stage")},
    "no text": {"log_dir": 7},
    "an empty text": {"log_dir": ""},
    "a file behind the id": {"log_dir": f"{snapshot_id(0)}/../../x"},
}


@pytest.mark.parametrize("stored_in", HOSTILE.values(), ids=HOSTILE)
def test_a_manifest_that_names_a_file_elsewhere_is_refused_and_reads_nothing(local, stored_in, monkeypatch):
    local.write(snapshot(0))
    path = f"snapshots/{snapshot_id(0)}/manifest.json"
    raw = json.loads(local._files.read(path))
    for table, holder in stored_in.items():
        raw["tables"][table]["stored_in"] = holder
    local._files.write(path, json.dumps(raw).encode())
    _is_refused(local, monkeypatch)


@pytest.mark.parametrize("table", ["../../outside", "/etc/passwd", "a/b", "Upper", ""])
def test_a_manifest_with_a_path_for_a_table_is_refused_and_reads_nothing(local, table, monkeypatch):
    local.write(snapshot(0))
    path = f"snapshots/{snapshot_id(0)}/manifest.json"
    raw = json.loads(local._files.read(path))
    raw["tables"][table] = raw["tables"]["log_dir"]
    local._files.write(path, json.dumps(raw).encode())
    _is_refused(local, monkeypatch)


def _is_refused(store, monkeypatch):
    read = store._files.read

    def inside(path):
        assert path.endswith("manifest.json"), path
        return read(path)

    monkeypatch.setattr(store._files, "read", inside)
    for use in (store.read, store.verify_tables, store.manifest):
        with pytest.raises(SnapshotError, match=r"manifest\.json: is not a valid manifest \(truncated or edited\)"):
            use(snapshot_id(0))


def test_retention_deletes_no_file_outside_the_folders_of_snapshots_whatever_a_manifest_names(tmp_path):
    store = Store(tmp_path / "store")
    outside = tmp_path / "log_dir.parquet"
    outside.write_bytes(b"mine")
    for hour in range(6):
        store.write(snapshot(hour))
    path = f"snapshots/{snapshot_id(1)}/manifest.json"
    raw = json.loads(store._files.read(path))
    raw["tables"]["log_dir"]["stored_in"] = "../.."
    store._files.write(path, json.dumps(raw).encode())
    store.prune("prod", Keep(snapshots=2), NOW)
    assert outside.read_bytes() == b"mine"
    assert [manifest.snapshot_id for manifest in store.manifests()] == [snapshot_id(5), snapshot_id(4)]


def _hours(store):
    return [int(manifest.snapshot_id[-4:], 16) for manifest in store.manifests()][::-1]


def test_a_file_stays_as_long_as_a_snapshot_names_it_and_no_longer(store):
    for hour in range(8):
        store.write(snapshot(hour, usable=hour // 3, mzxid=211 if hour > 5 else 210))
        store.write_report(snapshot_id(hour), report_of({"cluster": "prod"}))
    store.prune("prod", Keep(snapshots=3), NOW)
    assert _hours(store) == [5, 6, 7]
    assert store._files.names("snapshots") == [snapshot_id(hour) for hour in (0, 3, 5, 6, 7)]
    assert "findings.json" not in store._files.names(f"snapshots/{snapshot_id(0)}")  # of those that went nothing else stays
    assert tables_in(store, 3) == {"log_dir"}
    assert tables_in(store, 0) == ALL - OF_THE_RUN - {"log_dir"}
    for hour in (5, 6, 7):
        store.verify_tables(snapshot_id(hour))
    store.write(snapshot(8, usable=9, mzxid=211))
    store.write(snapshot(9, usable=9, mzxid=211))
    store.prune("prod", Keep(snapshots=2), NOW)
    assert _hours(store) == [8, 9]
    assert tables_in(store, 6) == {"registered_partition"}
    assert snapshot_id(3) not in store._files.names("snapshots")
    for hour in (8, 9):
        assert contents(store.read(snapshot_id(hour))) == contents(snapshot(hour, usable=9, mzxid=211))


def copied(store, folder):
    """Return a copy of a local store: made anew, the same snapshots take ten times as long."""
    shutil.copytree(store.root, folder)
    return Store(folder)


class Killed(BaseException):
    """What a process does not survive: it is caught nowhere."""


@pytest.mark.large
def test_a_kill_between_any_two_steps_of_retention_loses_no_file_and_leaves_none_for_good(tmp_path, monkeypatch):
    before = Store(tmp_path / "before")
    for hour in range(6):
        before.write(snapshot(hour, usable=hour // 2))
    step, done = 0, False
    while not done:
        store = copied(before, tmp_path / f"store-{step}")
        _kill_at(monkeypatch, store, step)
        try:
            store.prune("prod", Keep(snapshots=2), NOW)
            done = True
        except Killed:
            pass
        monkeypatch.undo()
        for manifest in store.manifests():  # whatever is still published is whole
            store.verify_tables(manifest.snapshot_id)
        store.write(snapshot(6, usable=2))
        store.remove_leftovers(NOW)
        store.prune("prod", Keep(snapshots=2), NOW)
        assert _hours(store) == [5, 6]
        assert store._files.names(".staging") == []
        assert store._files.names("snapshots") == [snapshot_id(hour) for hour in (0, 4, 5, 6)]
        assert tables_in(store, 4) == {"log_dir"}
        for hour in (5, 6):
            store.verify_tables(snapshot_id(hour))
        step += 1
    assert step > 10


def _kill_at(monkeypatch, store, step):
    left = [step]
    for name in ("write", "remove", "remove_folder"):
        method = getattr(store._files, name)

        def counted(*args, method=method, **kwargs):
            if not left[0]:
                raise Killed
            left[0] -= 1
            return method(*args, **kwargs)

        monkeypatch.setattr(store._files, name, counted)


def test_a_kill_between_any_two_steps_of_an_audit_leaves_no_snapshot_without_its_files(tmp_path, monkeypatch):
    before = Store(tmp_path / "before")
    before.write(snapshot(0))
    step, done = 0, False
    while not done:
        store = copied(before, tmp_path / f"store-{step}")
        _kill_at(monkeypatch, store, step)
        try:
            store.write(snapshot(1, usable=3))
            done = True
        except Killed:
            pass
        monkeypatch.undo()
        for manifest in store.manifests():
            store.verify_tables(manifest.snapshot_id)
        store.write(snapshot(2, usable=3))
        store.remove_leftovers(NOW)
        assert store._files.names(".staging") == []
        for manifest in store.manifests():
            store.verify_tables(manifest.snapshot_id)
        step += 1
    assert step > 5


@pytest.mark.large
def test_retention_at_any_step_of_an_audit_takes_no_file_that_the_audit_will_name(tmp_path):
    """The snapshot that it shares with goes by age at that moment: it is older than a day, and another one came since."""
    keep, hour_of_audit = Keep(days=1), 24 * 20
    before = Store(tmp_path / "before")
    before.write(snapshot(0))
    step, done = 0, False
    while not done:
        store = copied(before, tmp_path / f"store-{step}")
        left = [step]

        def between(*args, method, left=left, store=store, **kwargs):
            if left[0] == 0:
                other = Store(store.root)  # another audit, and its retention
                other.write(snapshot(hour_of_audit + 1, usable=5, mzxid=211))
                other.prune("prod", keep, datetime(2026, 1, 21, 12, tzinfo=UTC))
            left[0] -= 1
            return method(*args, **kwargs)

        with pytest.MonkeyPatch.context() as patch:
            for name in ("write", "remove", "read", "names"):
                method = getattr(store._files, name)
                patch.setattr(store._files, name, lambda *a, method=method, between=between, **k: between(*a, method=method, **k))
            store.write(snapshot(hour_of_audit, usable=5))
        done = left[0] >= 0
        store.verify_tables(snapshot_id(hour_of_audit))
        if not done:
            assert snapshot_id(0) not in [manifest.snapshot_id for manifest in store.manifests()]
        step += 1
    assert step > 20


def test_a_running_audit_that_retention_does_not_know_keeps_its_files(local):
    """What retention read before the audit began, and deletes after it."""
    local.write(snapshot(0))
    known = pruning._published(local._files, [])
    local._files.write(f".staging/{snapshot_id(9)}", f"{snapshot_id(0)}/probe\n".encode())
    local._files.remove(f"snapshots/{snapshot_id(0)}/manifest.json")
    pruning._remove_unnamed(local._files, [snapshot_id(0)], known)
    assert tables_in(local, 0) == {"probe"}
    local._files.remove(f".staging/{snapshot_id(9)}")
    pruning._remove_unnamed(local._files, [snapshot_id(0)], known)
    assert local._files.names("snapshots") == []


def test_what_a_manifest_of_a_newer_version_names_stays(local):
    for hour in range(6):
        local.write(snapshot(hour))
    path = f"snapshots/{snapshot_id(5)}/manifest.json"
    newer = json.loads(local._files.read(path)) | {"schema_version": 3, "more": {}}
    local._files.write(path, json.dumps(newer).encode())
    local.prune("prod", Keep(snapshots=2), NOW)
    assert tables_in(local, 0) == ALL - OF_THE_RUN


@pytest.mark.parametrize("day", [10, 20])
def test_snapshots_go_by_age_with_those_that_are_needed_kept(store, day):
    for hour in range(0, 24 * 20, 24):
        store.write(snapshot(hour))
    now = datetime(2026, 1, 20, 12, tzinfo=UTC)
    store.prune("prod", Keep(days=day), now)
    assert _hours(store) == list(range(24 * 20 - 24 * day, 24 * 20, 24))
    store.prune("prod", Keep(days=1), now + timedelta(days=400))
    assert _hours(store) == [24 * 19]  # the newest stays, however old


def test_age_and_number_are_limits_of_their_own(local):
    for hour in range(0, 24 * 20, 24):
        local.write(snapshot(hour))
    now = datetime(2026, 1, 20, 12, tzinfo=UTC)
    local.prune("prod", Keep(snapshots=15, days=18), now)
    assert len(_hours(local)) == 15
    local.prune("prod", Keep(snapshots=15, days=5), now + timedelta(days=1))
    assert _hours(local) == [24 * day for day in range(16, 20)]


def test_the_past_is_looked_through_for_age_once_a_day(local, monkeypatch):
    for hour in range(0, 24 * 20, 24):
        local.write(snapshot(hour))
    now = datetime(2026, 1, 20, 12, tzinfo=UTC)
    local.prune("prod", Keep(days=10), now)
    looked = []
    monkeypatch.setattr(pruning, "_runs", lambda *_: looked.append(1) or [])
    for hours, times in ((1, 0), (23, 0), (25, 1)):
        local.prune("prod", Keep(days=10), now + timedelta(hours=hours))
        assert len(looked) == times
    local._files.write("clusters/prod/pruned", b"no time")
    local.prune("prod", Keep(days=10), now + timedelta(hours=26))
    assert len(looked) == 2


def test_a_damaged_file_that_many_snapshots_share_is_reported_once(local):
    for hour in range(6):
        local.write(snapshot(hour))
    path = Path(local.root, "snapshots", snapshot_id(0), "probe.parquet")
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    found = []
    assert local.previous(local.manifest(snapshot_id(5)), damaged=found.append) is None
    assert [error.path for error in found] == [f"snapshots/{snapshot_id(0)}/probe.parquet"]


def test_a_baseline_whose_manifest_is_damaged_is_whole_again_when_it_is_restored(local):
    for hour in range(2):
        local.write(snapshot(hour, mzxid=211))
    for hour in range(2, 12):
        local.write(snapshot(hour))
    baseline = snapshot_id(1)
    local._files.write(f"baselines/{baseline}.json", b"{}")
    manifest = local._files.read(f"snapshots/{baseline}/manifest.json")
    local._files.write(f"snapshots/{baseline}/manifest.json", manifest[:200])
    local.prune("prod", Keep(snapshots=3), NOW)
    local._files.write(f"snapshots/{baseline}/manifest.json", manifest)
    local.verify_tables(baseline)
    assert _hours(local) == [1, 9, 10, 11]


def test_folders_that_must_stay_do_not_make_every_audit_search_the_past(local, monkeypatch):
    for hour in range(30):
        local.write(snapshot(hour, usable=hour))
    for hour in range(5):
        local._files.write(f"baselines/{snapshot_id(hour)}.json", b"{}")
    local.prune("prod", Keep(snapshots=10), NOW)
    local.write(snapshot(30))
    monkeypatch.setattr(pruning, "_runs", lambda *_: pytest.fail("searched"))
    local.prune("prod", Keep(snapshots=10), NOW)


def test_a_pruned_snapshot_is_not_suggested_for_itself(local):
    local._files.write(f"snapshots/{snapshot_id(0)}/probe.parquet", b"shared")
    with pytest.raises(SnapshotError, match="this store has no snapshot") as caught:
        local.manifest(snapshot_id(0))
    assert "did you mean" not in str(caught.value)


def test_files_of_a_store_that_shares_are_private(local):
    os.umask(0o000)
    try:
        for hour in range(4):
            local.write(snapshot(hour))
        local.prune("prod", Keep(snapshots=2), NOW)
    finally:
        os.umask(0o022)
    for path in Path(local.root).rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o750 if path.is_dir() else 0o640), path


def _concluded_run(store, name):
    store.write_report(name, report_of({"schema_version": 2, "never_asked": ["again and " * 500]}))
    store.write_rendering(name, DIGEST, '{"a": 1}', newest=False)
    store.write_request(Request(run_id="r1", pairs=(SnapshotPair(snapshot_id=name, previous_snapshot_id=None),)))
    store.write_for_job("r1", "kafka_audit.zip", b"PK")
    store._files.write(f"runs/r1/judged/{name}.json", b"{}")
    store.conclude_run("r1")


def test_a_day_after_a_run_its_reports_are_compressed_and_read_as_before(store):
    name = snapshot_id(0)
    store.write(snapshot(0))
    _concluded_run(store, name)
    before = store.read_report(name)
    store.remove_leftovers()
    assert "kafka_audit.zip" in store._files.names("runs/r1")
    store.remove_leftovers(datetime.now(UTC) + timedelta(days=2))
    assert store._files.names("runs/r1") == ["concluded", "request.json"]
    names = store._files.names(f"snapshots/{name}")
    assert ("findings.json.gz" in names, "findings.json" in names) == (True, False)
    assert store.read_report(name) == before
    history = History(store.root)
    written = history.written(name)
    assert written is not None
    assert history.digest(name, written) == {"a": 1}
    assert store._files.names("concluded") == []


def test_a_large_report_is_compressed_at_once_and_a_small_one_is_not(store):
    name = snapshot_id(0)
    store.write(snapshot(0))
    reports = {size: report_of({"schema_version": 2, "never_asked": ["x" * size]}) for size in (1_000, PACKED_FROM)}
    for size in (1_000, PACKED_FROM, 1_000):
        store.write_report(name, reports[size])
        assert store.read_report(name) == reports[size]
        assert ("findings.json" in store._files.names(f"snapshots/{name}")) == (size < PACKED_FROM)
        assert json.loads(store._files.read("findings.json")) == report_json(
            reports[size]
        )  # the newest stays as it can be read by anyone


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b", b"no gzip"])
def test_a_compressed_report_that_is_damaged_is_named(local, content):
    local.write(snapshot(0))
    local._files.write(f"snapshots/{snapshot_id(0)}/findings.json.gz", content)
    with pytest.raises(SnapshotError, match=r"findings\.json\.gz: is not a valid report.*; remove it"):
        local.read_report(snapshot_id(0))


def test_a_compressed_report_that_unpacks_to_more_than_a_report_has_is_named(local, monkeypatch):
    monkeypatch.setattr("kafka_audit.store.reports._MOST_BYTES", 100)
    local.write(snapshot(0))
    _concluded_run(local, snapshot_id(0))
    local.remove_leftovers(datetime.now(UTC) + timedelta(days=2))
    with pytest.raises(SnapshotError, match="is not a valid report"):
        local.read_report(snapshot_id(0))


def test_a_store_that_cannot_be_written_says_so_and_leaves_nothing(local, monkeypatch):
    local.write(snapshot(0))
    write = local._files.write

    def full(path, content):
        if path.endswith("manifest.json"):
            raise StoreError(path)
        write(path, content)

    monkeypatch.setattr(local._files, "write", full)
    with pytest.raises(StoreError):
        local.write(snapshot(1, mzxid=212))
    assert local._files.names("snapshots") == [snapshot_id(0)]
    assert RegisteredPartition.table() in tables_in(local, 0)

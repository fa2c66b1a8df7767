"""What the store forgets, and what it never does."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from kafka_audit.model.cluster import Keep
from kafka_audit.model.errors import StoreError
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.store import Store
from kafka_audit.store.manifest import Manifest

NOW = datetime(2026, 2, 1, tzinfo=UTC)


def snapshot_id(number, cluster="prod"):
    """Return the id of the snapshot of hour `number`; higher is newer."""
    return f"202601{1 + number // 24:02}T{number % 24:02}0000Z-{cluster}-{number:04x}"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def publish(store, name, cluster_id="id-of-prod"):
    head = {"cluster": name.split("-")[1], "cluster_id": cluster_id, "started_ms": 1, "finished_ms": 2}
    manifest = Manifest(snapshot_id=name, **head, tool_version="0", tables={})
    store._files.write(f"snapshots/{name}/sample.parquet", b"x")
    store._files.write(f"snapshots/{name}/findings.json", b"{}")
    store._files.write(f"snapshots/{name}/manifest.json", manifest.to_json().encode())


def ask(store, run, *pairs, concluded=True, age=timedelta(0)):
    """Leave a run: (judged, compared with) pairs, asked `age` ago."""
    asked = tuple(SnapshotPair(snapshot_id=pair, previous_snapshot_id=other) for pair, other in pairs)
    store.write_request(Request(run_id=run, pairs=asked))
    store.write_for_job(run, "kafka_audit.zip", b"zip")
    if concluded:
        store.conclude_run(run)
    if age:
        written = datetime.now(UTC).timestamp() - age.total_seconds()
        os.utime(f"{store.root}/runs/{run}/request.json", (written, written))


def audits(store, count, cluster="prod"):
    """Leave `count` audits, each compared with the one before, and return their ids, oldest first."""
    names = [snapshot_id(number, cluster) for number in range(count)]
    for number, name in enumerate(names):
        publish(store, name, f"id-of-{cluster}")
        ask(store, f"run-{cluster}-{number}", (name, names[number - 1] if number else None))
    return names


def snapshots(store):
    return store._files.names("snapshots")


def runs(store):
    return store._files.names("runs")


@pytest.mark.parametrize("root", ["{tmp}", "memory://{tmp}"])
def test_the_oldest_go_with_their_runs_and_the_newest_stay(tmp_path, root):
    store = Store(root.format(tmp=tmp_path))
    names = audits(store, 6)
    store.prune("prod", Keep(snapshots=3))
    assert snapshots(store) == names[2:]  # names[2] is what the oldest kept one was compared with
    assert runs(store) == ["run-prod-2", "run-prod-3", "run-prod-4", "run-prod-5"]
    store.prune("prod", Keep(snapshots=3))
    assert snapshots(store) == names[2:]


def test_the_store_of_a_scheduled_audit_stops_growing(store):
    names = []
    for number in range(40):
        name = snapshot_id(number)
        publish(store, name)
        ask(store, f"run-{number:02}", (name, names[-1] if names else None))
        names.append(name)
        store.prune("prod", Keep(snapshots=10))
        assert len(snapshots(store)) <= 12
        assert len(runs(store)) <= 12
        assert snapshots(store) == names[-len(snapshots(store)) :]


def test_a_tenth_too_many_is_not_worth_looking_through_the_past(store, monkeypatch):
    names = audits(store, 11)
    monkeypatch.setattr(store._files, "read", lambda path: pytest.fail(f"{path} was read"))
    store.prune("prod", Keep(snapshots=10))
    assert snapshots(store) == names


def test_a_baseline_that_a_kept_snapshot_was_compared_with_stays_with_its_run(store):
    names = audits(store, 8)
    ask(store, "by-hand", (names[7], names[1]))
    store.prune("prod", Keep(snapshots=2))
    assert snapshots(store) == [names[1], names[5], names[6], names[7]]
    assert "run-prod-1" in runs(store)
    assert "run-prod-3" not in runs(store)


@pytest.mark.parametrize(
    ("concluded", "age", "stays"),
    [
        (False, timedelta(0), True),
        (False, timedelta(hours=23), True),
        (False, timedelta(hours=25), False),
        (True, timedelta(0), False),
    ],
)
def test_a_run_in_progress_keeps_what_it_names_and_a_dead_one_does_not(store, concluded, age, stays):
    names = audits(store, 8)
    ask(store, "by-hand", (names[1], names[0]), concluded=concluded, age=age)
    store.prune("prod", Keep(snapshots=2))
    assert (names[0] in snapshots(store)) is stays
    assert (names[1] in snapshots(store)) is stays
    assert ("by-hand" in runs(store)) is stays
    assert names[2] not in snapshots(store)


def test_a_run_that_was_just_asked_stays_even_if_its_snapshot_is_gone(store):
    audits(store, 8)
    ask(store, "in-progress", ("20260101T000000Z-prod-ffff", None), concluded=False)
    ask(store, "dead", ("20260101T000000Z-prod-ffff", None), concluded=False, age=timedelta(days=2))
    store.prune("prod", Keep(snapshots=2))
    assert "in-progress" in runs(store)
    assert "dead" not in runs(store)


def test_a_long_outage_does_not_push_out_the_last_snapshot_of_the_cluster(store):
    names = audits(store, 4)
    silent = [snapshot_id(100 + number) for number in range(5)]
    for name in silent:
        publish(store, name, "unknown:prod")
    store.prune("prod", Keep(snapshots=2))
    assert snapshots(store) == [names[3], *silent[-2:]]


def test_a_run_over_several_clusters_goes_with_the_last_of_its_snapshots(store):
    names = audits(store, 4)
    stage = [snapshot_id(number, "stage") for number in range(4)]
    for name in stage:
        publish(store, name, "id-of-stage")
    ask(store, "both", (names[0], None), (stage[0], None))
    store.prune("prod", Keep(snapshots=2))
    assert "both" in runs(store)
    assert set(stage) < set(snapshots(store))
    store.prune("stage", Keep(snapshots=2))
    assert "both" not in runs(store)
    assert snapshots(store) == sorted([*names[1:], *stage[2:]])


def test_what_another_cluster_was_compared_with_stays(store):
    """The same Kafka cluster may have had another name in the cluster file."""
    names = audits(store, 6)
    renamed = snapshot_id(50, "renamed")
    publish(store, renamed)
    ask(store, "run-renamed", (renamed, names[0]))
    store.prune("prod", Keep(snapshots=2))
    assert snapshots(store) == [names[0], names[3], names[4], names[5], renamed]


def test_other_folders_and_requests_that_are_none_are_left_alone(tmp_path, store):
    audits(store, 6)
    (tmp_path / "snapshots" / "lost+found").mkdir()
    (tmp_path / "snapshots" / "99999999T999999Z-prod-0000").mkdir()
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / "notes" / "mine.txt").write_text("x")
    store.prune("prod", Keep(snapshots=2))
    assert (tmp_path / "snapshots" / "lost+found").is_dir()
    assert (tmp_path / "snapshots" / "99999999T999999Z-prod-0000").is_dir()
    assert (tmp_path / "runs" / "notes" / "mine.txt").exists()


def test_a_write_that_never_ended_goes_after_a_day(store):
    names = audits(store, 4)
    for unfinished in ("20260130T000000Z-prod-0aaa", "20260131T230000Z-prod-0bbb"):
        store._files.write(f"snapshots/{unfinished}/sample.parquet", b"x")
    store.prune("prod", Keep(snapshots=2), NOW)
    assert snapshots(store) == [*names[1:], "20260131T230000Z-prod-0bbb"]


@pytest.mark.parametrize("root", ["{tmp}", "memory://left-{tmp}"])
def test_what_a_killed_write_left_goes_after_a_day_however_few_snapshots_there_are(tmp_path, root):
    store = Store(root.format(tmp=tmp_path))
    names = audits(store, 2)
    for unfinished in ("20260130T000000Z-prod-0aaa", "20260131T230000Z-prod-0bbb"):
        store._files.write(f".staging/{unfinished}", f"{unfinished}/sample\n{names[0]}/registry\n".encode())
        store._files.write(f"snapshots/{unfinished}/sample.parquet", b"x")
    store._files.write(f".staging/{names[0]}", b"")  # killed between the manifest and the end
    store.remove_leftovers(NOW)
    assert snapshots(store) == [*names, "20260131T230000Z-prod-0bbb"]
    assert store._files.names(".staging") == ["20260131T230000Z-prod-0bbb"]


def test_a_file_that_a_killed_write_left_goes_after_a_day(store):
    publish(store, snapshot_id(1))
    for name, age in (("findings.json.0a1b2c3d", timedelta(days=2)), ("findings.json.9a1b2c3d", timedelta(hours=1))):
        store._files.write(f".staging/{name}", b"{")
        written = (datetime.now(UTC) - age).timestamp()
        os.utime(f"{store.root}/.staging/{name}", (written, written))
    store.remove_leftovers()
    assert store._files.names(".staging") == ["findings.json.9a1b2c3d"]


def test_unfinished_writes_do_not_count_as_the_newest(store):
    names = audits(store, 3)
    for number in range(4):
        store._files.write(f"snapshots/20260131T23000{number}Z-prod-0bbb/sample.parquet", b"x")
    store.prune("prod", Keep(snapshots=2), NOW)
    assert set(names) < set(snapshots(store))


def test_a_damaged_snapshot_grows_old_as_others_do(store):
    names = audits(store, 6)
    store._files.write(f"snapshots/{names[0]}/manifest.json", b"{")
    store._files.write("runs/run-prod-0/request.json", b"{")
    store.prune("prod", Keep(snapshots=2))
    assert snapshots(store) == names[3:]
    assert "run-prod-0" not in runs(store)


def test_a_deletion_that_is_cut_short_leaves_no_half_of_a_snapshot(store, monkeypatch):
    names = audits(store, 4)

    def refuse(*_, **__):
        msg = "full"
        raise StoreError(msg)

    monkeypatch.setattr(store._files, "remove_folder", refuse)
    with pytest.raises(StoreError):
        store.prune("prod", Keep(snapshots=2))
    monkeypatch.undo()
    assert [m.snapshot_id for m in store.manifests()] == names[:0:-1]
    store.remove_leftovers(NOW)
    assert snapshots(store) == names[1:]


def test_a_link_is_not_followed(tmp_path, store):
    names = audits(store, 4)
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "snapshots" / names[0]).rename(elsewhere)
    (tmp_path / "snapshots" / names[0]).symlink_to(elsewhere)
    with pytest.raises(StoreError, match="symbolic link"):
        store.prune("prod", Keep(snapshots=2))
    assert (elsewhere / "findings.json").exists()

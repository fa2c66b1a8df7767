"""A store in a bucket of a real S3 server: published whole or not at all without any rename, and listed as it is now."""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from s3fs import S3FileSystem

from kafka_audit.model.cluster import Keep
from kafka_audit.model.errors import StoreBusyError, StoreError
from kafka_audit.model.tables import RegisteredTopic, Sample, Snapshot, SnapshotInfo
from kafka_audit.store import Store
from kafka_audit.store.history import History
from made_rows import made
from store.contents import contents
from testbed.object_store import BUCKET, S3Server

PROGRAMS = Path(__file__).parent
ID, LATER = "20260131T080000Z-prod-00aa", "20260131T090000Z-prod-00ab"


def snapshot(snapshot_id=ID, *, topics=3):
    started = int(datetime.strptime(snapshot_id[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp() * 1000)
    info = made(SnapshotInfo, started_ms=started, finished_ms=started + 900)
    rows = [made(Sample, started_ms=started, finished_ms=started + 1)]
    rows += [made(RegisteredTopic, topic=f"t{number}") for number in range(topics)]
    return Snapshot(snapshot_id=snapshot_id, cluster="prod", cluster_id="c", rows=(info, *rows))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with S3Server(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture
def root(server, monkeypatch, request):
    """The URL of a folder of its own, and Amazon's variables for it."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()  # another test's, with its server and login
    return f"s3://{BUCKET}/{request.node.name.partition('[')[0]}"


def program(name, *arguments, **variables):
    """Run a program of this folder to its end."""
    environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, str(PROGRAMS / name), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def of(server, root):
    """Return the names of a store's objects."""
    prefix = root.removeprefix(f"s3://{BUCKET}/") + "/"
    return sorted(name.removeprefix(prefix) for name in server.objects() if name.startswith(prefix))


def test_a_snapshot_comes_back_as_it_went_and_is_not_changed(server, root):
    store = Store(root)
    store.prepare()
    assert of(server, root) == []
    store.write(snapshot())
    store.write(snapshot())
    assert contents(Store(root).read(ID)) == contents(snapshot())
    assert "snapshots/20260131T080000Z-prod-00aa/manifest.json" in of(server, root)
    assert [name for name in of(server, root) if name.startswith(".staging")] == []


def test_what_another_process_writes_is_in_the_next_listing(root):
    store, history = Store(root), History(root)
    store.write(snapshot())
    assert history.snapshots() == {"prod": [ID]}
    completed = program("write_snapshot.py", root, LATER)
    assert completed.returncode == 0, completed.stderr
    assert history.snapshots() == {"prod": [LATER, ID]}
    assert store.previous(store.manifest(LATER)) == ID


def test_files_that_are_not_there_are_none_and_can_be_removed(root):
    files = Store(root)._files
    files.write("a/b/c", b"1")
    assert (files.read("a/b/c"), files.read("a/b"), files.read("a/b/d")) == (b"1", None, None)
    assert (files.names("a"), files.names("a/b"), files.names("z")) == (["b"], ["c"], [])
    assert files.modified("a/b/d") is None
    assert abs(datetime.now(UTC) - files.modified("a/b/c")) < timedelta(minutes=5)
    files.remove("a/b/d")
    files.remove_folder("z")
    files.write("a/b/d", b"2")
    files.remove_folder("a/b", but={"d"})
    assert files.names("a/b") == ["d"]
    files.remove_folder("a")
    assert files.names("") == []


def test_a_file_is_created_once(root, tmp_path):
    for place in (root, tmp_path):
        files = Store(place)._files
        assert [files.create("a/turn", b"1"), files.create("a/turn", b"2")] == [True, False]
        assert files.read("a/turn") == b"1"
        files.remove("a/turn")
        assert files.create("a/turn", b"3")


def test_retention_deletes_snapshots_and_keeps_the_tables_that_others_share(server, root):
    store = Store(root)
    ids = [f"20260131T0{hour}0000Z-prod-00a{hour}" for hour in range(1, 7)]
    for snapshot_id in ids:
        store.write(snapshot(snapshot_id))
    store.prune("prod", Keep(snapshots=2), datetime(2026, 2, 1, tzinfo=UTC))
    assert [manifest.snapshot_id for manifest in store.manifests()] == ids[:-3:-1]
    left = of(server, root)
    assert f"snapshots/{ids[0]}/registered_topic.parquet" in left
    assert f"snapshots/{ids[0]}/sample.parquet" not in left
    assert f"snapshots/{ids[1]}/manifest.json" not in left
    for manifest in store.manifests():
        store.verify(manifest.snapshot_id)


NO_MACHINE = {"AWS_EC2_METADATA_DISABLED": "true"}
REFUSALS = {
    "wrong secret": ({"AWS_SECRET_ACCESS_KEY": "wr0ng-s3cret"}, "signature", StoreError),
    "no login": (dict.fromkeys(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"], "") | NO_MACHINE, "credentials", StoreError),
    "no server": ({"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1"}, "Could not connect", StoreBusyError),
}  # fmt: skip


@pytest.mark.parametrize(("variables", "message", "kind"), REFUSALS.values(), ids=REFUSALS)
def test_a_bucket_that_cannot_be_written_is_refused_before_an_audit(root, variables, message, kind):
    completed = program("write_snapshot.py", root, ID, **variables)
    assert completed.returncode == 2, completed.stderr
    assert completed.stdout.startswith(f"{kind.__name__} {root}/.staging/tried: ")
    assert message in completed.stdout
    assert "s3cret" not in completed.stdout + completed.stderr


@pytest.mark.usefixtures("root")
def test_a_bucket_that_does_not_exist_is_not_created(server):
    with pytest.raises(
        StoreError, match=r"s3://nosuch/a/\.staging/tried: The specified bucket does not exist; set another store"
    ):
        Store("s3://nosuch/a").prepare()
    assert [bucket["Name"] for bucket in server.client("s3").list_buckets()["Buckets"]] == [BUCKET]


@pytest.mark.large
def test_an_upload_that_is_killed_at_any_change_leaves_nothing_that_is_read(server, root):
    """The first process is killed when it sends its first object, the second one at the second; the last one ends."""
    store = Store(root)
    store.write(snapshot())
    completed = program("killed_uploads.py", root, "each")
    assert completed.returncode == 0, completed.stderr
    outcomes = json.loads(completed.stdout)
    killed = [name for name, code in outcomes if code == -signal.SIGKILL]
    assert len(killed) > 4  # the mark, at least two tables, the manifest; then the mark goes
    assert [code for _, code in outcomes[len(killed) :]] == [0]
    published = {manifest.snapshot_id for manifest in store.manifests()}
    # The manifest publishes; one process is killed after that, when it removes its mark.
    assert published == {ID, killed[-1], outcomes[-1][0]}
    for snapshot_id in published:
        store.verify(snapshot_id)
    left = {name.split("/")[1] for name in of(server, root) if name.startswith("snapshots/")}
    assert len(left) == len(killed)  # the first two sent no table: one was killed before its mark, one after it
    store.remove_leftovers(datetime.now(UTC) + timedelta(days=2))
    assert {name.split("/")[1] for name in of(server, root) if name.startswith("snapshots/")} == published
    assert [name for name in of(server, root) if name.startswith(".staging")] == []
    assert len(store.manifests()) == 3


@pytest.mark.large
def test_parts_of_a_killed_upload_are_no_file(server, root):
    completed = program("killed_uploads.py", root, "parts")
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout) == [["parts", -signal.SIGKILL]]
    assert server.uploads() == [f"{root.removeprefix(f's3://{BUCKET}/')}/large"]
    assert Store(root)._files.read("large") is None
    assert of(server, root) == []

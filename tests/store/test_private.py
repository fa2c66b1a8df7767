"""Files of the store are for the user who writes them and his group, whatever the umask, also below a folder that was there."""

import errno
import os
import stat
from pathlib import Path

import pytest

from kafka_audit.model.run import Request
from kafka_audit.model.tables import Sample, Snapshot, SnapshotInfo
from kafka_audit.store import Store
from kafka_audit.store.alerts import AlertFiles
from kafka_audit.store.baselines import Baselines
from made_rows import made
from reported import report_of
from store.contents import contents

ID = "20260131T080000Z-prod-00aa"
TIMES = {"started_ms": 1, "finished_ms": 2}
ROWS = (made(SnapshotInfo, **TIMES), made(Sample, **TIMES))
SNAPSHOT = Snapshot(snapshot_id=ID, cluster="prod", cluster_id="c", rows=ROWS)


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def write_everything(root):
    """Write what an audit, its gate and its alerts write."""
    store = Store(root)
    store.prepare()
    store.write(SNAPSHOT)
    store.write_request(Request(run_id="r1", pairs=()))
    store.write_for_job("r1", "kafka_audit.zip", b"PK")
    store.write_report(ID, report_of({"cluster": "prod", "snapshot_id": ID}))
    store.write_rendering(ID, "html", "<p>")
    store.conclude_run("r1")
    Baselines(root).keep({"snapshot_id": ID, "plan": {"kind": "x"}})
    AlertFiles(root, "slack").write("prod", b"{}")


def modes(root):
    return {str(path.relative_to(root)): mode(path) for path in root.rglob("*")}


@pytest.mark.usefixtures("umask")
def test_files_are_0640_and_folders_0750(tmp_path):
    root = tmp_path / "new" / "store"
    write_everything(root)
    assert mode(root) == mode(root.parent) == 0o750
    found = modes(root)
    assert len(found) > 20
    assert {name: oct(mode) for name, mode in found.items() if mode != (0o750 if (root / name).is_dir() else 0o640)} == {}


@pytest.mark.usefixtures("umask")
def test_a_folder_that_was_there_keeps_its_mode_and_what_is_ours_in_it_is_closed(tmp_path):
    root = tmp_path / "shared"
    for name in ("", "snapshots", f"snapshots/{ID}", "runs", "others"):
        (root / name).mkdir()
        (root / name).chmod(0o755)
    for name in ("findings.html", "findings.json", "notes.txt"):
        (root / name).touch()
        (root / name).chmod(0o644)
    write_everything(root)
    assert mode(root) == 0o755
    found = modes(root)
    assert (found.pop("others"), found.pop("notes.txt")) == (0o755, 0o644)  # not ours
    assert {name: oct(mode) for name, mode in found.items() if mode & stat.S_IRWXO} == {}


@pytest.mark.usefixtures("umask")
def test_a_folder_hands_its_group_down(tmp_path):
    root = tmp_path / "shared"
    root.mkdir()
    root.chmod(0o2770)
    Store(root).write(SNAPSHOT)
    assert {oct(mode(path)) for path in (root / "snapshots", root / "snapshots" / ID)} == {oct(0o2750)}
    assert {oct(mode(path)) for path in (root / "snapshots" / ID).iterdir()} == {oct(0o640)}


def test_a_file_system_without_modes_is_written_all_the_same(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    write_everything(tmp_path / "store")
    assert contents(Store(tmp_path / "store").read(ID)) == contents(SNAPSHOT)


def test_nobody_reads_a_file_while_it_is_written(tmp_path, monkeypatch):
    seen = []
    whole = Path.write_bytes

    def look(path, content):
        seen.append(mode(path) & stat.S_IRWXO if path.exists() else None)
        return whole(path, content)

    monkeypatch.setattr(Path, "write_bytes", look)
    before = os.umask(0)
    try:
        Store(tmp_path / "store").write(SNAPSHOT)
    finally:
        os.umask(before)
    assert set(seen) == {0}

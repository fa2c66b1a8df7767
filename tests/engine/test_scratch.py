"""The folder for what Spark keeps on disk: gone with the run, and with the next one where a run was killed."""

import fcntl
import os
import signal
import subprocess
import sys
import time

import pytest

from kafka_audit.bounds import scratch
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.spark.local_settings import driver_java_options

HOLD = "import time; from kafka_audit.bounds.scratch import Scratch; s = Scratch(); print(s.path, flush=True); time.sleep(1e6)"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def held(place):
    """A run in another process, and its folder."""
    environment = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen([sys.executable, "-c", HOLD], env=environment, stdout=subprocess.PIPE, text=True) as process:
        process.folder = process.stdout.readline().strip()
        yield process
        process.kill()


def test_it_goes_with_the_block(place):
    with Scratch() as scratch:
        (scratch.path / "blockmgr-1").mkdir()
        (scratch.path / "blockmgr-1" / "file").write_text("x")
        assert scratch.path.stat().st_mode & 0o777 == 0o700
    assert list(place.iterdir()) == []
    scratch.close()


def test_the_next_run_removes_what_a_killed_one_left_and_nothing_else(place, held):
    other = place / f"{scratch.PREFIX}young"
    other.mkdir()  # its run is about to lock it
    with Scratch() as one:
        assert {path.name for path in place.iterdir()} == {one.path.name, other.name, os.path.basename(held.folder)}  # noqa: PTH119
    held.send_signal(signal.SIGKILL)
    held.wait()
    hour_ago = time.time() - 3600
    os.utime(other, (hour_ago, hour_ago))
    with Scratch() as one:
        assert list(place.iterdir()) == [one.path]


def test_a_run_that_removes_leftovers_meanwhile_takes_no_folder_that_is_being_made(monkeypatch):
    lock = fcntl.flock

    def flock(*args):
        monkeypatch.setattr(fcntl, "flock", lock)
        scratch.remove_scratch_leftovers()
        lock(*args)

    monkeypatch.setattr(fcntl, "flock", flock)
    with Scratch() as one:
        assert one.path.is_dir()


def test_a_child_that_has_the_lock_keeps_the_folder(place):
    one = Scratch()
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[one.lock]) as child:
        os.close(one.lock)  # as the kernel does when the run is killed
        scratch.remove_scratch_leftovers()
        assert list(place.iterdir()) == [one.path]
        child.communicate()
    scratch.remove_scratch_leftovers()
    assert list(place.iterdir()) == []


def test_links_of_others_are_not_followed(place, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "file").write_text("x")
    (place / f"{scratch.PREFIX}link").symlink_to(elsewhere)
    locked = place / f"{scratch.PREFIX}lock-link"
    locked.mkdir()
    (locked / "lock").symlink_to(elsewhere / "file")
    scratch.remove_scratch_leftovers()
    assert (elsewhere / "file").read_text() == "x"
    assert locked.is_dir()


def test_logs_of_a_failed_spark_go_after_a_week(place):
    week_ago = time.time() - 8 * 24 * 3600
    for name in ("old", "new"):
        (place / f"{scratch.LOG_PREFIX}{name}.log").touch()
    os.utime(place / f"{scratch.LOG_PREFIX}old.log", (week_ago, week_ago))
    scratch.remove_scratch_leftovers()
    assert [path.name for path in place.iterdir()] == [f"{scratch.LOG_PREFIX}new.log"]


def test_the_lock_is_taken_by_nobody_else():
    with Scratch() as scratch:
        descriptor = os.open(scratch.path / "lock", os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)


def test_java_keeps_its_files_there(place):
    assert f'"-Djava.io.tmpdir={place}"' in driver_java_options()
    assert '"-Djava.io.tmpdir=/other place"' in driver_java_options("/other place")

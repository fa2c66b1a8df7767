"""What fuzzing finds: readers with planted faults, each found, named, kept, and shown again by the corpus test."""

import os
import signal
import subprocess
import sys
import time

import pytest

from airflow_environment import ROOT
from fuzz import readers, run, watch, worker
from fuzz.readers import READERS, Reader

_hog = []


def deep(data):
    """Fail behind four bytes that blind changes do not come by in so few tries."""
    if data[:1] == b"{" and data[1:2] == b"[" and data[2:3] == b"<" and data[3:4] == b"(":
        message = "four brackets"
        raise KeyError(message)


def slow(data):
    """Take a second for what is long."""
    end = time.thread_time() + (1.1 if len(data) > 1 << 16 else 0)
    while time.thread_time() < end:
        pass


def hanging(data):
    while b"\xff" in data:
        time.sleep(1)


def greedy(data):
    if b"\xff" in data:
        _hog.append(bytearray((int(watch.MOST_MB) + 100) << 20))


def dying(data):
    if b"\xff" in data:
        os.kill(os.getpid(), signal.SIGKILL)


def busy(size):
    """Return a function that takes so many lines."""

    def read(_data):
        for _ in range(size):
            pass

    return read


def honest(data):
    if not data.isascii():
        data.decode("ascii")


@pytest.fixture
def fuzz(monkeypatch, tmp_path, capsys):
    """Return a function that fuzzes a reader, and returns exit code, output and kept inputs."""
    monkeypatch.setattr(run, "HANG_SECONDS", 600.0)
    monkeypatch.setattr(run, "ATTEMPTS", 2)
    monkeypatch.setattr(run, "_load", lambda *, guided: run.bind(watch, readers, worker))  # noqa: ARG005 -- imported without coverage
    monkeypatch.setattr(watch, "REGRESSIONS", tmp_path)
    monkeypatch.setattr(watch, "ROOT", tmp_path)
    # The process of all tests is larger than that of one reader, and a child begins with its size.
    monkeypatch.setattr(watch, "MOST_MB", watch.peak_mb() + 200)
    monkeypatch.setattr(watch, "MOST_SECONDS", 600.0)

    def fuzzed(function, *errors, count=3000, longest=2048):
        monkeypatch.setitem(READERS, "planted", Reader(function, errors, longest=longest))
        code = run.main(["--reader", "planted", "--count", str(count), "--seed", "5", "--engine", "plain"])
        return code, capsys.readouterr().out, [path.read_bytes() for path in watch.inputs(tmp_path, "planted")]

    return fuzzed


def test_an_error_that_is_not_documented_is_found(fuzz):
    code, printed, kept = fuzz(honest)
    assert code == 1
    assert "UnicodeDecodeError at " in printed
    assert kept
    assert not any(data.isascii() for data in kept)
    assert watch.failure(READERS["planted"], kept[0]).kind.startswith("UnicodeDecodeError")


def test_one_that_is_documented_is_none(fuzz):
    code, printed, kept = fuzz(honest, ValueError)
    assert (code, kept) == (0, [])
    assert "3,000 inputs" in printed
    assert printed.rstrip().endswith("0 failures")


def test_an_input_that_takes_more_than_a_second_is_found_by_its_length(fuzz, monkeypatch):
    monkeypatch.setattr(watch, "MOST_SECONDS", 1.0)
    code, printed, kept = fuzz(slow, count=1300, longest=1 << 18)
    assert code == 1
    assert "  slow\n" in printed
    assert max(map(len, kept)) > 1 << 16


def test_a_test_counts_the_work_of_an_input():
    assert watch.counted_failure(Reader(busy(watch.MOST_WORK // 10)), b"") is None
    assert watch.counted_failure(Reader(busy(watch.MOST_WORK)), b"").kind == "slow"
    assert watch.counted_failure(Reader(honest), b"\xff").kind.startswith("UnicodeDecodeError")
    assert watch.counted_failure(Reader(honest, (ValueError,)), b"\xff") is None


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        pytest.param(hanging, "hang", id="hang"),
        pytest.param(greedy, "memory", id="memory", marks=pytest.mark.large),
        pytest.param(dying, "the process ended with -9", id="death"),
    ],
)
def test_what_ends_or_blocks_the_process_is_found_from_outside(fuzz, monkeypatch, function, kind):
    if kind == "hang":
        monkeypatch.setattr(run, "HANG_SECONDS", 5.0)  # an honest input takes less than a millisecond
    code, printed, kept = fuzz(function, count=250)
    assert code == 1
    assert kind in printed
    assert kept
    assert all(b"\xff" in data for data in kept), (printed, kept)


_PROGRAM = """
import sys
from pathlib import Path
from fuzz import readers, run, test_engine, watch, worker
if sys.argv[1] == "atheris":
    run.atheris.instrument_func(test_engine.deep)
watch.REGRESSIONS = watch.ROOT = Path(sys.argv[2])
run._load = lambda *, guided: run.bind(watch, readers, worker)
readers.READERS["planted"] = readers.Reader(test_engine.deep)
sys.exit(run.main(["--reader", "planted", "--count", "120000", "--seed", "5", "--engine", sys.argv[1]]))
"""


@pytest.mark.skipif(run.atheris is None, reason="atheris has no wheel for this machine")
@pytest.mark.large
@pytest.mark.parametrize(("engine", "finds"), [("atheris", 1), ("plain", 0)])
def test_coverage_leads_to_what_dice_alone_do_not_find(tmp_path, engine, finds):
    paths = {"PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("plugins", "tests"))}
    command = [sys.executable, "-c", _PROGRAM, engine, tmp_path]
    completed = subprocess.run(command, env=os.environ | paths, capture_output=True, text=True, check=False)
    assert completed.returncode == finds, completed.stdout + completed.stderr
    assert ("KeyError at test_engine.py" in completed.stdout) == finds


@pytest.mark.usefixtures("fuzz")
def test_seconds_end_it_early(monkeypatch):
    monkeypatch.setitem(READERS, "planted", Reader(hanging))
    assert run.main(["--reader", "planted", "--count", "1000000", "--seconds", "1", "--seed", "5", "--engine", "plain"]) == 0

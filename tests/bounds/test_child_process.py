"""What runs in a child process ends there, and its answer or error comes back."""

import contextlib
import gc
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafka_audit.bounds import child_process
from kafka_audit.bounds.child_process import ChildError
from kafka_audit.model.errors import UsageError


class Unpicklable(Exception):  # noqa: N818 -- stands for any
    def __init__(self, one, two):
        super().__init__(one + two)


def runs(process):
    """Return whether a process runs; one that has ended, and whose parent has not asked for it, has no command line."""
    try:
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except OSError:
        return False


def children():
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


@pytest.fixture(autouse=True)
def _nothing_is_left():
    gc.collect()  # files that an earlier test left to the collector would be closed at any time
    files, others = len(list(Path("/proc/self/fd").iterdir())), children()  # other tests' Spark may be a child of this process
    yield
    assert (len(list(Path("/proc/self/fd").iterdir())), children()) == (files, others)


def test_an_answer_comes_back_whole():
    assert child_process.run_in_child(lambda _: ("x" * 5_000_000, os.getpid()), seconds=600)[0] == "x" * 5_000_000
    assert child_process.run_in_child(lambda _: os.getpid(), seconds=600) != os.getpid()


def test_an_error_comes_back_as_it_is_with_where_it_was_raised():
    def fail(_):
        message = "clusters.yaml:3: wrong"
        raise UsageError(message)

    with pytest.raises(UsageError, match=re.escape("clusters.yaml:3: wrong")) as raised:
        child_process.run_in_child(fail, seconds=600)
    assert "in fail" in raised.value.__notes__[0]


def test_an_error_that_cannot_travel_comes_back_in_words():
    def fail(_):
        raise Unpicklable(*"ab")

    with pytest.raises(ChildError, match="Unpicklable: ab"):
        child_process.run_in_child(fail, seconds=600)


@pytest.mark.parametrize(
    "loop", ["while True: pass", "import re; re.fullmatch('(.|..)*#', 'a' * 400)", "import time; time.sleep(1e6)"]
)
def test_what_takes_longer_is_ended(loop):
    with pytest.raises(ChildError, match=re.escape("took longer than 0.5 s")):
        child_process.run_in_child(lambda _: exec(loop), seconds=0.5)  # noqa: S102 -- of the test


def test_each_note_gives_it_its_time_anew_and_the_last_one_is_told(monkeypatch, hanging):
    """The clock is held: each wait takes nine tenths of the limit."""
    clock, wait = SimpleNamespace(now=0.0), hanging.select
    monkeypatch.setattr(child_process, "time", SimpleNamespace(monotonic=lambda: clock.now))
    go, let_go = os.pipe()

    def slow(note):
        for number in range(6):
            os.read(go, 1)
            note(number)
        hanging.forever()

    def waited(*arguments):
        os.write(let_go, b"g")
        ready = wait(*arguments)
        clock.now += 0.9
        return ready

    monkeypatch.setattr(child_process.select, "select", waited)
    with pytest.raises(ChildError, match="took longer than 1 s") as raised:
        child_process.run_in_child(slow, seconds=1.0)
    assert (raised.value.at, hanging.waits) == (5, [pytest.approx(1.0)] * 7)
    os.close(go)
    os.close(let_go)


def test_memory_is_bounded():
    with pytest.raises(ChildError, match="needed more than 100 MB"):
        child_process.run_in_child(lambda _: len(bytearray(400_000_000)), seconds=600, megabytes=100)
    assert child_process.run_in_child(lambda _: len(bytearray(10_000_000)), seconds=600, megabytes=100) == 10_000_000


def test_a_child_that_dies_is_told():
    with pytest.raises(ChildError, match="ended unexpectedly"):
        child_process.run_in_child(lambda _: os.kill(os.getpid(), signal.SIGKILL), seconds=600)


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_a_killed_parent_leaves_no_child():
    code = (
        "import os, time\nfrom kafka_audit.bounds import child_process\n"
        "child_process.run_in_child(lambda _: (print(os.getpid(), flush=True), time.sleep(1e6)), seconds=1e6)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    while runs(child):
        time.sleep(0.05)


def test_functions_in_turn_share_a_process_and_what_it_has_loaded():
    ran = {name: lambda: (os.getpid(), next(counted)) for name in "abc"}
    counted = iter(range(3))
    found = [(name, outcome()) for name, outcome in child_process.run_each_in_child(ran, lambda: 600)]
    assert [(name, count) for name, (_, count) in found] == [("a", 0), ("b", 1), ("c", 2)]
    assert len({process for _, (process, _) in found} | {os.getpid()}) == 2


@pytest.mark.parametrize("place", range(3))
def test_one_that_does_not_end_dies_or_raises_costs_the_others_nothing(place, hanging):
    faults = {
        "endless": (hanging.forever, ChildError, "took longer than 600 s"),
        "dies": (lambda: os.kill(os.getpid(), signal.SIGKILL), ChildError, "ended unexpectedly"),
        "raises": (lambda: int("x"), ValueError, "invalid literal"),
    }
    functions = {name: function for name, (function, *_) in faults.items()}
    whole = {f"whole {number}": lambda number=number: number for number in range(3)}
    names = [*whole]
    names[place:place] = faults
    messages = []
    for name, outcome in child_process.run_each_in_child({name: (functions | whole)[name] for name in names}, lambda: 600.0):
        messages.append(name)
        if name in whole:
            assert f"whole {outcome()}" == name
        else:
            with pytest.raises(faults[name][1], match=faults[name][2]):
                outcome()
    assert messages == names


def test_a_child_ends_with_who_asked_it():
    with contextlib.closing(
        child_process.run_each_in_child({"a": os.getpid, "b": lambda: time.sleep(1e6)}, lambda: 600)
    ) as turns:
        _, outcome = next(turns)
    assert not Path(f"/proc/{outcome()}").exists()

"""The class archive as a command, and in the background of a first run. But for the last test no Spark starts here."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.stores import put
from kafka_audit.cli import archiving, console, main
from kafka_audit.job.spark_behind import SparkBehind
from kafka_audit.model.errors import EngineError
from kafka_audit.spark import class_archive

# What starts in the background, by a program that notes how it was started, and stays for a while.
STAYS = """#!{python}
import json, os, sys, time
files = [os.readlink(f"/proc/self/fd/{{number}}") for number in (0, 1, 2)]
others = len([number for number in os.listdir("/proc/self/fd") if int(number) > 3])
told = {{"argv": sys.argv[1:], "files": files, "others": others, "session": os.getsid(0), "parent": os.getppid(),
        "cache": os.environ.get("KAFKA_AUDIT_CACHE"), "folder": os.getcwd()}}
with open({note!r} + ".new", "w") as file:
    json.dump(told, file)
os.rename({note!r} + ".new", {note!r})
time.sleep(60)
"""
BEGINS = "import sys; sys.executable = sys.argv[1]; from kafka_audit.cli import archiving; archiving.begin(print)"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("KAFKA_AUDIT_CACHE", str(folder))
    return folder


def begin(tmp_path, **environ):
    """Let a process begin one in the background; return what it printed, how long it took, and where the other notes itself."""
    note, program = tmp_path / "note", tmp_path / "python"
    program.write_text(STAYS.format(python=sys.executable, note=str(note)))
    program.chmod(0o755)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", BEGINS, str(program)],
        env={**os.environ, "PYTHONPATH": str(Path(class_archive.__file__).parents[2]), **environ},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    return done, time.monotonic() - began, note


def awaited(note):
    until = time.monotonic() + 20
    while not note.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return json.loads(note.read_text())


def end(program):
    """End the process that runs a program."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(program).encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


def test_a_first_run_neither_waits_for_it_nor_shares_anything_with_it(tmp_path):
    try:
        done, seconds, note = begin(tmp_path, KAFKA_AUDIT_CACHE="cache")
        told = awaited(note)
    finally:
        end(tmp_path / "python")
    assert seconds < 40  # it stays for a minute; whoever reads our output would wait for a process that holds it open
    assert done.stdout.startswith("creating a class archive in the background")
    assert done.stderr == ""
    assert told["argv"] == ["-m", "kafka_audit.cli", "class-archive", "--background"]
    assert (told["files"], told["others"]) == ([os.devnull] * 3, 0)
    assert told["session"] != os.getsid(0)
    assert told["parent"] != os.getpid()
    assert (told["cache"], told["folder"]) == (str(tmp_path / "cache"), "/")


UNWANTED = {"none is wanted": {"KAFKA_AUDIT_CACHE": "none"}, "there is no Java": {"JAVA_HOME": "/nowhere"}}


@pytest.mark.parametrize("environ", UNWANTED.values(), ids=UNWANTED)
def test_none_is_begun_where(tmp_path, environ):
    done, _, note = begin(tmp_path, **{"KAFKA_AUDIT_CACHE": str(tmp_path / "cache"), **environ})
    time.sleep(0.3)
    assert (done.stdout, done.stderr) == ("", "")
    assert not note.exists()


def test_a_place_that_takes_no_file_is_no_error_in_the_background(capfd, cache):
    cache.touch()
    assert main(["class-archive", "--background"]) == 0
    assert capfd.readouterr() == ("", "")
    archiving.begin(console.Progress(quiet=True))


def test_the_command_says_in_a_line_why_there_is_none(capfd, cache, monkeypatch):
    cache.touch()
    monkeypatch.setenv("KAFKA_AUDIT_CACHE", f"{cache}/below")
    assert main(["class-archive"]) == 1
    assert capfd.readouterr() == (
        "",
        f"kafka-audit: {cache}/below/spark-classes: cannot keep a class archive: Not a directory\n",
    )


def test_the_command_prints_where_it_is(capfd, cache, monkeypatch):
    monkeypatch.setattr(archiving, "build_archive", lambda path: path.write_bytes(b"classes"))
    monkeypatch.setattr(class_archive, "verify_archive", lambda *_: None)
    assert main(["class-archive"]) == 0
    (path,) = (cache / "spark-classes").glob("*.jsa")
    assert capfd.readouterr() == (f"{path}\n", "")


def worker(monkeypatch, tmp_path, text):
    """Let a module of ours stand for the process that starts Spark."""
    (tmp_path / "stands_in.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(archiving, "_WORKER", "stands_in")


def test_a_spark_that_fails_is_quoted(monkeypatch, tmp_path):
    worker(monkeypatch, tmp_path, "import sys; print('something'); sys.exit('no space for blocks')")
    with pytest.raises(EngineError, match="Spark wrote no class archive: no space for blocks"):
        archiving.build_archive(tmp_path / "new")


def test_one_that_does_not_end_is_ended(monkeypatch, tmp_path):
    worker(monkeypatch, tmp_path, "import time; time.sleep(60)")
    monkeypatch.setattr(archiving, "_LONGEST_S", 1.0)
    with pytest.raises(EngineError, match="no exit within 1 s"):
        archiving.build_archive(tmp_path / "new")


def test_what_it_archives_with_finds_no_folder_on_the_classpath(monkeypatch, tmp_path):
    text = "import os, sys, json; json.dump([*os.environ], open(sys.argv[1], 'w'))"
    worker(monkeypatch, tmp_path, text)
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    archiving.build_archive(tmp_path / "new")
    assert "HADOOP_CONF_DIR" not in json.loads((tmp_path / "new").read_text())


@pytest.mark.spark
@pytest.mark.scenario  # two minutes
def test_a_run_uses_what_the_command_made(cache, tmp_path):
    assert main(["class-archive"]) == 0
    (path,) = (cache / "spark-classes").glob("*.jsa")
    put(tmp_path / "store", "r1", {"whole": {"previous": {}}})
    with SparkBehind() as spark:
        spark.answer(str(tmp_path / "store"), "r1")
        mapped = [one for one in Path("/proc").glob("[0-9]*/maps") if _maps(one, path)]
    assert mapped != []
    assert (tmp_path / "store/runs/r1/answer.json").is_file()


def _maps(maps, path):
    try:
        return str(path) in maps.read_text()
    except OSError:
        return False

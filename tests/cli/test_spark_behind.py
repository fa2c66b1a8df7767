"""Spark in the background: heard, heard out when it fails, and gone afterwards. The workers here are small scripts."""

import contextlib
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from engine.stores import put
from kafka_audit.job.spark_behind import SparkBehind, require_java
from kafka_audit.model.errors import EngineError

# What every script starts with: a child that holds stderr open, as the JVM does, and ends when its stdin ends.
_JVM = """
import json, subprocess, sys
jvm = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
open(sys.argv[1], "w").write(str(jvm.pid))
"""


@pytest.fixture
def worker(tmp_path):
    def command(script):
        return [sys.executable, "-c", _JVM + script, str(tmp_path / "jvm")]

    return command


def _await_gone(tmp_path):
    """Return when the child of the worker has ended; a zombie has. It closes its files a moment before."""
    stat = Path("/proc", (tmp_path / "jvm").read_text(), "stat")
    with contextlib.suppress(OSError):  # it has ended since
        while stat.read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.01)


def test_a_request_is_answered_and_everything_ends(tmp_path, worker):
    asked = {"store": "/s", "run": "r"}
    script = f"asked = json.loads(sys.stdin.readline()); assert asked == {asked}, asked; print(json.dumps({{'done': True}}))"
    with SparkBehind(worker(script)) as spark:
        spark.answer("/s", "r")
    _await_gone(tmp_path)


def test_it_starts_while_the_caller_goes_on(tmp_path, worker):
    """The worker starts for as long as the caller has not gone on."""
    on = tmp_path / "on"
    script = f"import os, time\nwhile not os.path.exists({str(on)!r}): time.sleep(0.01)\n"
    with SparkBehind(worker(script + "sys.stdin.readline(); print('{\"done\": true}')")) as spark:
        on.touch()
        spark.answer("/s", "r")
    _await_gone(tmp_path)


def test_what_spark_prints_on_its_stderr_stays_off_ours(capfd, worker):
    with SparkBehind(worker("print('WARN', file=sys.stderr); sys.stdin.readline(); print('{\"done\": true}')")) as spark:
        spark.answer("/s", "r")
    assert capfd.readouterr() == ("", "")


def test_its_own_error_is_told_in_its_words(worker):
    script = "sys.stdin.readline(); print(json.dumps({'error': 'KA101 cannot run'}))"
    with (
        pytest.raises(EngineError, match="Spark ended without a result: KA101 cannot run"),
        SparkBehind(worker(script)) as spark,
    ):
        spark.answer("/s", "r")


FAILURES = {
    "before the request": "raise RuntimeError('no space for blocks')",
    "after the request": "sys.stdin.readline(); raise RuntimeError('no space for blocks')",
    "with words after the cause": (
        "print('Caused by: java.io.IOException: no space for blocks\\n\\tat org.SomeErrorUtils.x(y)\\n', file=sys.stderr);"
        "jvm.kill(); sys.exit(1)"
    ),
}


@pytest.mark.parametrize("script", FAILURES.values(), ids=FAILURES)
def test_a_death_is_told_with_its_cause_and_the_log_is_kept(tmp_path, worker, script):
    with pytest.raises(EngineError) as error, SparkBehind(worker(script)) as spark:
        spark.answer("/s", "r")
    assert re.search(r"a result: (RuntimeError|java\.io\.IOException): no space for blocks \(its log: ", str(error.value))
    log = Path(str(error.value).rpartition("its log: ")[2].rstrip(")"))
    assert "no space for blocks" in log.read_text()
    log.unlink()
    _await_gone(tmp_path)


class _CollectError(Exception):
    pass


def _fail_beside(command):
    """Fail in the block once the worker is up."""
    spark = SparkBehind(command)
    with contextlib.suppress(_CollectError), spark:
        spark._results.readline()
        raise _CollectError
    return spark


def test_a_failure_beside_it_does_not_wait_for_it(tmp_path, worker, monkeypatch):
    monkeypatch.setattr("kafka_audit.job.spark_behind._PATIENCE_S", 1e6)  # that a wait before the end would take
    _fail_beside(worker("print('up', flush=True); import time; time.sleep(1e6)"))
    _await_gone(tmp_path)


def test_one_that_ignores_sigterm_is_killed(tmp_path, worker, monkeypatch):
    monkeypatch.setattr("kafka_audit.job.spark_behind._PATIENCE_S", 0.3)
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(1e6)"
    spark = _fail_beside(worker(script))
    assert spark._process.returncode == -signal.SIGKILL
    _await_gone(tmp_path)


def _java(tmp_path, version):
    home = tmp_path / f"java-{version}"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch(mode=0o755)
    if version:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.mark.parametrize("version", ["17.0.15", "21", ""])
def test_a_java_that_spark_can_use_is_fine(tmp_path, version):
    home = _java(tmp_path, version)
    require_java({"JAVA_HOME": str(home), "PATH": ""})
    require_java({"PATH": str(home / "bin")})


def test_a_java_behind_links_is_judged_by_its_real_home(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(_java(tmp_path, "1.8.0_392") / "bin" / "java")
    with pytest.raises(EngineError, match="is Java 8; install Java 17 or newer"):
        require_java({"PATH": str(tmp_path / "bin")})


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"PATH": "/nowhere"}, "`java` is not on PATH, and JAVA_HOME is not set; install Java 17 or newer, e.g. apt-get install"),
        (
            {"PATH": os.environ["PATH"], "JAVA_HOME": "/nowhere"},
            "JAVA_HOME is /nowhere, and bin/java does not exist there; install",
        ),
    ],
)
def test_no_java_is_told_with_what_to_install(environ, message):
    with pytest.raises(EngineError) as error:
        require_java(environ)
    assert message in str(error.value)


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
def test_what_it_writes_is_closed_to_others(tmp_path, worker, umask):
    before = os.umask(umask)
    try:
        with SparkBehind(worker(f"open({str(tmp_path / 'answer')!r}, 'w'); sys.stdin.readline(); print('{{}}')")) as spark:
            spark.answer("/s", "r")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert oct((tmp_path / "answer").stat().st_mode & 0o777) == oct(0o640)


@pytest.mark.spark
@pytest.mark.scenario  # a minute
def test_what_a_real_spark_writes_is_closed_to_others(tmp_path):
    put(tmp_path / "store", "r1", {"whole": {"previous": {}}})
    before = os.umask(0)
    try:
        with SparkBehind() as spark:
            spark.answer(str(tmp_path / "store"), "r1")
    finally:
        os.umask(before)
    written = [path for path in (tmp_path / "store/runs/r1").rglob("*") if path.is_file()]
    assert "answer.json" in {path.name for path in written}
    assert {path.name: oct(path.stat().st_mode) for path in (*written, written[0].parent) if path.stat().st_mode & 0o007} == {}

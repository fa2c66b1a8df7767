"""A submission without Airflow: heard out when it fails, and gone afterwards. `spark-submit` is a small script in most tests."""

import json
import os
import re
import signal
import stat
import sys
import threading
import time
from pathlib import Path

import pytest

from engine.stores import put
from kafka_audit.model.errors import EngineError
from kafka_audit.spark import submission
from kafka_audit.spark.submission import require_java, submit_and_wait

# What every script starts with: a child, as the driver is one of the JVM.
_HEAD = """#!{python}
import json, os, subprocess, sys, time
driver = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
open({file!r}, "w").write(str(driver.pid))
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Return a function that lets a script stand for `spark-submit`."""

    def stand_in(text, end="driver.kill()\n"):
        file = tmp_path / "spark-submit"
        file.write_text(f"{_HEAD.format(python=sys.executable, file=str(tmp_path / 'driver'))}{text}\n{end}")
        file.chmod(0o755)
        monkeypatch.setattr(submission, "own_spark_submit", lambda: file)

    return stand_in


def _await_gone(tmp_path):
    """Return when the child of the script has ended; a zombie has."""
    state = Path("/proc", (tmp_path / "driver").read_text(), "stat")
    while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)


@pytest.fixture
def noted(tmp_path, script):
    """Return a function that submits and returns the arguments and the environment of `spark-submit`."""

    def submit():
        note = tmp_path / "note.json"
        script(f"json.dump([sys.argv[1:], dict(os.environ)], open({str(note)!r}, 'w'))")
        submit_and_wait("/s", "r")
        return json.loads(note.read_text())

    return submit


def test_it_runs_the_job_of_the_dag_on_this_machine(noted):
    arguments, environment = noted()
    assert arguments[:2] == ["--master", "local[*]"]
    assert "spark.driver.bindAddress=127.0.0.1" in arguments
    assert arguments[-5:] == [str(submission.spark_job()), "--store", "/s", "--run", "r"]
    assert environment["KAFKA_AUDIT_TASK_PID"] == str(os.getpid())
    assert "/kafka-audit-scratch-" in environment["TMPDIR"]


def test_spark_s_process_has_no_password(noted, monkeypatch):
    for name in ("PROD_KAFKA_PASSWORD", "SPARK_OF_KAFKA_PASSWORD", "AIRFLOW__CORE__FERNET_KEY"):
        monkeypatch.setenv(name, "hunter2")
    assert "hunter2" not in str(noted())


def test_what_it_prints_stays_off_our_output(capfd, script):
    script("print('a'); print('WARN', file=sys.stderr)")
    submit_and_wait("/s", "r")
    assert capfd.readouterr() == ("", "")


FAILURES = {
    "of the package": (
        "raise type('EngineError', (Exception,), {'__module__': 'kafka_audit.model.errors'})('KA101 cannot run')",
        "",
    ),
    "of another one": ("raise RuntimeError('no space for blocks')", "RuntimeError: "),
    "with words after the cause": (
        "print('Caused by: java.io.IOException: no space for blocks\\n\\tat org.SomeErrorUtils.x(y)\\n'); sys.exit(1)",
        "java.io.IOException: ",
    ),
}


@pytest.mark.parametrize(("text", "kind"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_reported_with_its_cause_and_the_log_is_kept(script, text, kind):
    script(f"driver.kill()\n{text}")
    with pytest.raises(EngineError) as error:
        submit_and_wait("/s", "r")
    assert re.match(rf"Spark ended without a result: {kind}(KA101 cannot run|no space for blocks) \(its log: ", str(error.value))
    log = Path(str(error.value).rpartition("its log: ")[2].rstrip(")"))
    assert re.search("cannot run|no space for blocks", log.read_text())
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    log.unlink()


@pytest.mark.parametrize("ignores", [False, True], ids=["ends at SIGTERM", "ignores SIGTERM"])
def test_it_ends_with_a_run_that_is_interrupted(tmp_path, script, monkeypatch, ignores):
    monkeypatch.setattr(submission, "_PATIENCE_S", 0.3)
    up = tmp_path / "up"
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if ignores else ""
    script(f"{ignore}open({str(up)!r}, 'w')\ntime.sleep(1e6)")

    def interrupt():
        while not up.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            submit_and_wait("/s", "r")
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    _await_gone(tmp_path)


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
def test_what_it_writes_is_closed_to_others(tmp_path, script, umask):
    before = os.umask(umask)
    try:
        script(f"open({str(tmp_path / 'answer')!r}, 'w')")
        submit_and_wait("/s", "r")
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
        submit_and_wait(str(tmp_path / "store"), "r1")
    finally:
        os.umask(before)
    written = [path for path in (tmp_path / "store/runs/r1").rglob("*") if path.is_file()]
    assert "answer.json" in {path.name for path in written}
    assert {path.name: oct(path.stat().st_mode) for path in (*written, written[0].parent) if path.stat().st_mode & 0o007} == {}


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

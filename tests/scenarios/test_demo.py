"""The demonstration: what a newcomer sees first."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DEMO = [sys.executable, "-m", "kafka_audit.cli", "demo"]

pytestmark = [pytest.mark.bed, pytest.mark.airflow, pytest.mark.spark]


def processes_that_know(text):
    """Return the command lines of all processes, other than this one, in which a text stands."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        if text in command and entry.name != str(os.getpid()):
            found.append(command)
    return found


@pytest.mark.scenario
def test_both_audits_report_what_is_expected(tmp_path):
    completed = subprocess.run(DEMO, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    steps = re.findall(r"^\[ *\d+ s\] (.*)$", completed.stdout, re.MULTILINE)
    text = "\n".join(steps)
    assert "the gate failed, as expected" in text
    assert re.search(r"the gate passed; resolved since the last audit: .*KA302", text)
    for task in ("clusters", "collect", "compare", "report", "gate"):
        assert sum(step.strip().startswith(f"task {task}") for step in steps) == 2
    reports = list((tmp_path / ".work" / "demo" / "store" / "snapshots").glob("*/findings.json"))
    assert len(reports) == 2
    assert all(str(report.relative_to(tmp_path)) in completed.stdout for report in reports)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing_behind(tmp_path, number):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so would what it starts
    with subprocess.Popen(
        DEMO, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(scratch)}
    ) as demo:
        for line in demo.stdout:
            if "starting ZooKeeper" in line:
                break
        time.sleep(1)  # now ZooKeeper, brokers and the database migration run
        assert processes_that_know(str(scratch))
        demo.send_signal(number)
        rest = demo.stdout.read()
        assert demo.wait() == 130, rest
    assert "interrupted" in rest
    assert processes_that_know(str(scratch)) == []
    assert list(scratch.iterdir()) == []

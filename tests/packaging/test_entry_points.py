"""`make` and `.ci/run`: what people and machines type first."""

import os
import shutil
import subprocess
import sys

import pytest

from airflow_environment import ROOT

TARGETS = ["demo", "audit", "test", "scenarios", "fuzz", "lint", "docs", "lock", "sbom", "bench", "clean"]


def make(*arguments, **environment):
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        # A make inside `make test` would name its level in what it says.
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")} | environment,
    )


def test_help_lists_every_target_with_what_it_does():
    listed = [line.split() for line in make("help").stdout.splitlines()]
    assert {words[1] for words in listed if len(words) > 3} >= set(TARGETS)


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["needs-java"], {"JAVA_HOME": "/nowhere"}, "kafka-audit requires Java 17 or newer, found none"),
        (["needs-python", "PYTHON=/bin/false"], {}, "kafka-audit requires Python 3.11 or newer"),
        (["needs-namespaces", "PATH=/nowhere", "SHELL=/bin/bash"], {}, "the test bed requires ip"),
    ],
)
def test_what_is_missing_is_told_in_one_line(arguments, environment, message):
    completed = make(*arguments, **environment)
    assert completed.returncode != 0
    (line, *rest) = completed.stderr.splitlines()
    assert line.startswith(message)
    assert all(other.startswith("make: ***") for other in rest)


FAKE_PYTEST = """#!/bin/sh
case "$*" in
  *--collect-only*) printf 'tests/scenarios/test_a.py::test_1\\ntests/scenarios/test_b.py::test_2\\n' ;;
  *) echo "pytest $*"; exit {code} ;;
esac
"""


@pytest.fixture
def checkout(tmp_path):
    """A copy of `.ci` and of what it checks, with a `make` and a `pytest` that only say how it went. It installs nothing."""
    for folder in (".ci", "requirements"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for name in ("Dockerfile", "Makefile", "docker-compose.yaml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)

    def run(scenarios, *, make_fails="", code=0):
        (tmp_path / ".ci" / "scenarios").write_text(scenarios)
        (tmp_path / "bin" / "make").write_text(f'#!/bin/sh\n[ "$1" != "{make_fails}" ]\n')
        (tmp_path / "bin" / "apt-get").write_text("#!/bin/sh\n")
        (tmp_path / "bin" / "id").write_text("#!/bin/sh\necho 0\n")
        (tmp_path / ".venv" / "bin" / "python").write_text("#!/bin/sh\n")
        (tmp_path / ".venv" / "bin" / "pytest").write_text(FAKE_PYTEST.format(code=code))
        for program in ("bin/make", "bin/apt-get", "bin/id", ".venv/bin/pytest", ".venv/bin/python"):
            (tmp_path / program).chmod(0o755)
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [str(tmp_path / ".ci" / "run")], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )

    return run


def pytest_calls(completed):
    return [line.split() for line in completed.stdout.splitlines() if line.startswith("pytest ")]


def test_nothing_runs_where_something_is_not_pinned(checkout, tmp_path):
    (tmp_path / "requirements.txt").write_text("kazoo==2.11.0\n")
    completed = checkout("")
    assert completed.returncode == 1
    assert "requirements.txt:1: not a version with its sha256: kazoo==2.11.0" in completed.stderr
    assert "make lint" not in completed.stdout


def test_scenarios_run_in_the_order_of_the_list_and_none_is_forgotten(checkout):
    completed = checkout("tests/scenarios/test_b.py  # first\n")
    (call,) = pytest_calls(completed)
    assert call[-2:] == ["tests/scenarios/test_b.py", "tests/scenarios/test_a.py"]
    assert completed.returncode == 0


def test_what_does_not_fit_into_the_time_is_told_and_not_passed():
    command = [sys.executable, "-m", "pytest", "-q", "--no-fold-skipped", "--begin-none-after", "-1", "tests/report/test_text.py"]
    completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "NOT RUN, so not passed" in completed.stdout
    assert "passed" not in completed.stdout.splitlines()[-1]


def test_failed_lint_ends_it(checkout):
    completed = checkout("", make_fails="lint")
    assert completed.returncode != 0
    assert "pytest" not in completed.stdout


def test_failed_tests_fail_the_whole_and_the_scenarios_run_once_all_the_same(checkout):
    completed = checkout("", make_fails="test")
    assert completed.returncode == 1
    assert completed.stdout.rstrip().endswith("failed: make test")
    assert len(pytest_calls(completed)) == 1


def test_scenarios_that_fail_are_not_repeated(checkout):
    completed = checkout("", code=1)
    assert completed.returncode == 1
    assert completed.stdout.rstrip().endswith("failed: scenarios")
    assert len(pytest_calls(completed)) == 1

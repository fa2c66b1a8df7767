"""A test that hangs costs itself: the run counts all others, and says where it hung."""

import re
import subprocess
import sys

import pytest

from airflow_environment import ROOT

HANGS = {
    "sleeps_in_c": """
import ctypes

def test_it_sleeps_in_c():
    ctypes.PyDLL(None).sleep(100_000)  # holds the interpreter's lock
""",
    "catches_all": """
import time

def test_it_catches_what_would_end_it():
    while True:
        try:
            time.sleep(100_000)
        except BaseException:
            pass
""",
}
OTHERS = "import pytest\n\n@pytest.mark.parametrize('number', range(20))\ndef test_another(number):\n    assert number >= 0\n"
GUARD_S = 10
"""How long the tests of this run may take: those that do not hang take a thousandth of it."""


@pytest.mark.parametrize("dist", ["-n 2 --dist loadfile", "-n 1 --dist load"])  # of `make test`, and of scenarios
def test_a_hang_is_one_failed_test_and_all_others_run(tmp_path, dist):
    for name, source in HANGS.items():
        between = "\n\ndef test_before():\n    pass\n", "\n\ndef test_behind():\n    pass\n"
        (tmp_path / f"test_{name}.py").write_text(between[0] + source + between[1])
    (tmp_path / "test_others.py").write_text(OTHERS)
    (tmp_path / "conftest.py").write_text("from scheduling import pytest_xdist_make_scheduler\n")
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {ROOT / 'tests'}\nfaulthandler_timeout = {GUARD_S}\nfaulthandler_exit_on_timeout = true\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rf", *dist.split(), str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    failed = {line.split()[1].rpartition("::")[2] for line in run.stdout.splitlines() if line.startswith("FAILED")}
    assert failed == {"test_it_sleeps_in_c", "test_it_catches_what_would_end_it"}, run.stdout + run.stderr
    assert re.search(r"\b2 failed, 24 passed\b", run.stdout)
    assert run.returncode == 1
    assert run.stderr.count("Timeout (0:00:10)!") == 2
    assert "in test_it_sleeps_in_c" in run.stderr
    assert "in test_it_catches_what_would_end_it" in run.stderr


def test_every_test_has_that_guard_and_the_same(pytestconfig):
    assert pytestconfig.getini("faulthandler_exit_on_timeout")
    assert float(pytestconfig.getini("faulthandler_timeout")) == 3600
    assert not [file for file in (".ci/run", "Makefile") if "faulthandler" in (ROOT / file).read_text(encoding="utf-8")]

"""Where lint runs in the tests of this folder."""

import pytest

from kafka_audit.bounds import child_process


@pytest.fixture(autouse=True)
def in_this_process(request, monkeypatch):
    """Judge in the process of the tests, as where there is no `fork`.

    Three forks of a process that holds all tests, each of which loads its tables anew, took a quarter of the time of all tests.
    `test_hostile_files`, `test_growth` and `tests/cli/test_lint.py` run in the child processes that a lint has otherwise.
    """
    if request.path.stem not in {"test_hostile_files", "test_growth"}:
        monkeypatch.setattr(child_process, "is_possible", lambda: False)

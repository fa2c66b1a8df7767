"""An end to long runs that leaves no test half done: from a time on, no further one begins. Scenarios may take longer.

No test makes or uses a class archive of this user's, unless it names a folder for one: what starts in the background outlives it.
"""

import os
import time

import pytest

os.environ["KAFKA_AUDIT_CACHE"] = "none"
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it: texts would break elsewhere with it than without

SCENARIO_SECONDS = 1200

_BEGAN = time.monotonic()


def pytest_addoption(parser):
    parser.addoption("--begin-none-after", type=float, metavar="SECONDS", help="skip, and name, tests that would begin later")
    parser.addoption("--kills", type=int, default=50, metavar="COUNT", help="how often scenarios/test_kills.py kills")
    parser.addoption("--kills-seed", type=int, default=7, metavar="SEED", help="where it kills")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("scenario") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SCENARIO_SECONDS))


def pytest_runtest_setup(item):
    limit = item.config.getoption("--begin-none-after")
    if limit is not None and time.monotonic() - _BEGAN > limit:
        pytest.skip("NOT RUN, so not passed: no time was left")

"""An end to long runs that leaves no test half done: from a time on, no further one begins. Scenarios may take longer.

Hypothesis tries the same few examples in every run, and many others where `make fuzz` asks for them.

No test makes or uses a class archive of this user's, unless it names a folder for one: what starts in the background outlives it.
"""

import os
import time

import pytest
from hypothesis import HealthCheck, settings

os.environ["KAFKA_AUDIT_CACHE"] = "none"
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it: texts would break elsewhere with it than without

SCENARIO_SECONDS = 1200

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ordinary", max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW
)
settings.register_profile("fuzz", max_examples=500, deadline=None, database=None, print_blob=True, suppress_health_check=_SLOW)
settings.load_profile("ordinary")

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

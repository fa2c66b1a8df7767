"""An end to long runs that leaves no test half done: from a time on, no further one begins.

`make integration` runs the tests that start Kafka, Spark or Airflow, and the large runs of properties. Of each integration one
test, its `smoke`, is among those of `make test`.

Hypothesis tries the same few examples in every run, and many others where `make fuzz` asks for them.
"""

import gc
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import airflow_environment
import counted_work
import scheduling
from hanging_child import HangingChild
from warm_python import WarmPython

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it: texts would break elsewhere with it than without

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ordinary", max_examples=20, derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW
)
settings.register_profile("fuzz", max_examples=500, deadline=None, database=None, print_blob=True, suppress_health_check=_SLOW)
settings.load_profile("ordinary")

pytest_xdist_make_scheduler = scheduling.pytest_xdist_make_scheduler

_BEGAN = "KAFKA_AUDIT_TESTS_BEGAN"
_NEW_OBJECTS = 20_000
"""How many more containers there are when the garbage collector looks at the new ones; Python's own number is 700."""
_STARTS = ("bed", "spark", "airflow", "large")
"""Markers of tests that `make integration` runs."""


def pytest_addoption(parser):
    parser.addoption("--begin-none-after", type=float, metavar="SECONDS", help="skip, and name, tests that would begin later")
    parser.addoption("--kills", type=int, default=50, metavar="COUNT", help="how often scenarios/test_kills.py kills")
    parser.addoption("--kills-seed", type=int, default=7, metavar="SEED", help="where it kills")


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        os.environ["KAFKA_AUDIT_TESTS_FOLDER"] = str(Path(config.option.basetemp).parent)
    os.environ.setdefault(_BEGAN, str(time.monotonic()))  # for all workers: one that replaces another begins later


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    for item in items:
        if any(map(item.get_closest_marker, _STARTS)) and not any(map(item.get_closest_marker, ("scenario", "smoke"))):
            item.add_marker(pytest.mark.integration)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep what is there before the first test out of garbage collections: it is never garbage, and a million objects.

    Collections are rarer than usual, too: tests that judge thousands of clusters spent a quarter of their time in them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Keep what a file leaves, such as cached cases, out of collections, too: each audit ends with one, which took a second."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path != item.path:
            gc.collect()
            gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config):
    """Have two processes compile the tests of a new checkout: each worker would compile all of them, at the same time."""
    files = [file for file in (config.rootpath / "tests").rglob("test_*.py") if not _is_compiled(file)]
    if config.option.file_or_dir or sys.dont_write_bytecode or len(files) < 50:
        return
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider", "-p", "no:xdist"]
    halves = [
        subprocess.Popen([*collect, *map(str, half)], cwd=config.rootpath, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for half in (files[::2], files[1::2])
    ]
    for process in halves:
        process.wait()  # what goes wrong here, workers say


def _is_compiled(file):
    return any(Path(importlib.util.cache_from_source(file)).parent.glob(f"{file.stem}.*-pytest-*.pyc"))


@pytest.fixture(scope="session")
def bed(tmp_path_factory):
    """A bed for all tests that make none of their own; pytest keeps the folder with the logs."""
    from testbed import Bed  # noqa: PLC0415 -- most tests need none

    with Bed(tmp_path_factory.mktemp("bed")) as bed:
        yield bed


@pytest.fixture(scope="session")
def cluster(bed):
    """Three brokers of 3.9.1 for all tests that leave them as they found them."""
    cluster = bed.cluster("3.9.1", properties={"zookeeper.session.timeout.ms": "3000"})
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


@pytest.fixture(scope="session")
def airflow_database(tmp_path_factory):
    """A migrated database of Airflow, to be copied into the homes of tests: a migration costs as much as most of these tests."""
    home = tmp_path_factory.mktemp("airflow")
    environment = {**os.environ, **airflow_environment.variables(home)}
    subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], env=environment, check=True, capture_output=True)
    return home / "airflow.db"


@pytest.fixture(scope="session")
def airflow_python():
    """A Python that has imported Airflow, for programs whose point is another: the import costs more than they do."""
    airflow_environment.apply()
    with WarmPython("airflow.dag_processing.dagbag") as python:
        yield python


@pytest.fixture
def hanging(monkeypatch):
    child = HangingChild(monkeypatch)
    yield child
    child.close()


@pytest.fixture
def exponent(record_property):
    """`counted_work.exponent`, whose result the run prints at its end."""

    def measured(*arguments, **options):
        found = counted_work.exponent(*arguments, **options)
        record_property("exponent", found)
        return found

    return measured


def pytest_terminal_summary(terminalreporter):
    found = {
        report.nodeid: value
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for name, value in report.user_properties
        if name == "exponent"
    }
    if found:
        terminalreporter.section("exponents of counted work over what one party chooses")
        for test, value in sorted(found.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(f"{value:5.2f}  {test}")


def pytest_runtest_setup(item):
    limit = item.config.getoption("--begin-none-after")
    if limit is not None and time.monotonic() - float(os.environ[_BEGAN]) > limit:
        pytest.skip("NOT RUN, so not passed: no time was left")

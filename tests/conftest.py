"""An end to long runs that leaves no test half done: from a time on, no further one begins. Scenarios may take longer.

Hypothesis tries the same few examples in every run, and many others where `make fuzz` asks for them.

No test uses a class archive of this user's, unless it names a folder for one.

With several workers, the tests that start servers are two groups, which begin first and run beside all others. A group stays on
one worker: one Kafka cluster and one Spark at a time are enough for two cores, and a session fixture is made once.
"""

import ast
import functools
import gc
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

import airflow_environment
from warm_python import WarmPython

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
_NEW_OBJECTS = 20_000
"""How many more containers there are when the garbage collector looks at the new ones; Python's own number is 700."""
_GROUP = {"bed": "kafka", "spark": "spark", "airflow": "spark"}
"""The group of a test, by the first of these markers that it has."""


def pytest_addoption(parser):
    parser.addoption("--begin-none-after", type=float, metavar="SECONDS", help="skip, and name, tests that would begin later")
    parser.addoption("--kills", type=int, default=50, metavar="COUNT", help="how often scenarios/test_kills.py kills")
    parser.addoption("--kills-seed", type=int, default=7, metavar="SEED", help="where it kills")


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        os.environ["KAFKA_AUDIT_TESTS_FOLDER"] = str(Path(config.option.basetemp).parent)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("scenario") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SCENARIO_SECONDS))


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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log)


_LONG = (
    *("tests/incidents/test_printed_commands.py", "tests/watch/test_audit_requests.py", "tests/watch/test_reader.py"),
    *("tests/checks", "tests/diagnosis/test_properties.py"),
)
"""What keeps one worker busy for more than a minute: begun late, it would keep the others waiting at the end."""


_OF_VERDICTS = ("tests/testbed/corpus/test_words.py", "tests/diagnosis/test_confusion.py")
"""What reads `diagnosis.subjects.verdicts`."""


class Groups(LoadFileScheduling):
    """The tests of a file stay on one worker, and so do those of all files that need the same servers; these begin first.

    All cases of checks are judged once, for all files of `checks`, and recorded clusters for those that read verdicts on them.
    """

    def _split_scope(self, nodeid):
        file, _, test = nodeid.partition("::")
        if file.startswith("tests/checks/"):
            return "tests/checks"
        if file in _OF_VERDICTS:
            return _OF_VERDICTS[0]
        return _groups(self.config.rootpath / file).get(test.partition("[")[0]) or file

    def _assign_work_unit(self, node):
        for group in (*_LONG, *set(_GROUP.values())):
            if group in self.workqueue:
                self.workqueue.move_to_end(group, last=False)
        super()._assign_work_unit(node)


@functools.cache
def _groups(file):
    """Return the group of each test in a file that starts servers; only workers have the tests themselves, with their marks."""
    source = file.read_text(encoding="utf-8")
    if not any(f"mark.{marker}" in source for marker in _GROUP):
        return {}
    found = {}
    of_all = set()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            of_all = _attributes(statement.value)
        if isinstance(statement, ast.FunctionDef):
            marks = of_all.union(*map(_attributes, statement.decorator_list))
            found[statement.name] = next((group for marker, group in _GROUP.items() if marker in marks), None)
    return found


def _attributes(tree):
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


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


def pytest_runtest_setup(item):
    limit = item.config.getoption("--begin-none-after")
    if limit is not None and time.monotonic() - _BEGAN > limit:
        pytest.skip("NOT RUN, so not passed: no time was left")

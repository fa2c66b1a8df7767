"""Which tests share a worker of pytest-xdist, in which order they begin, and what is left when a worker ends.

The tests that start servers are two groups, which begin first and run beside all others. A group stays on one worker: one Kafka
cluster and one Spark at a time are enough for two cores, and a session fixture is made once.

A worker ends, with the traceback of each thread, where one test takes longer than `faulthandler_timeout`. That test has failed,
and another worker runs what is left.
"""

import ast
import functools
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

_GROUP = {"bed": "kafka", "spark": "spark", "airflow": "spark"}
"""The group of a test, by the first of these markers that it has."""

_LONG = ("tests/incidents/test_printed_commands.py", "tests/checks", "tests/faults/test_properties.py")
"""What keeps one worker busy for longer than all others: begun late, it would keep them waiting at the end."""

_FEW = 2
"""A worker with so few tests left is given more."""

_OF_VERDICTS = ("tests/testbed/corpus/test_words.py", "tests/faults/test_confusion.py")
"""What reads `faults.subjects.verdicts`."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log) if config.option.dist == "loadfile" else None


class Groups(LoadFileScheduling):
    """The tests of a file stay on one worker, and so do those of all files that need the same servers; these begin first.

    All cases of checks are judged once, for all files of `checks`, and recorded clusters for those that read verdicts on them.
    """

    def remove_node(self, node):
        """Give back what an ended worker has not run. The test that ended it is not run again: it would end each worker."""
        left = {scope: tests for scope, tests in self.assigned_work.pop(node).items() if not all(tests.values())}
        if not left:
            return None
        scope, tests = next(iter(left.items()))
        ended_by = next(test for test, done in tests.items() if not done)
        tests[ended_by] = True
        self.workqueue.update(left if not all(tests.values()) else {name: left[name] for name in left if name != scope})
        for other in self.assigned_work:
            self._reschedule(other)
        return ended_by

    def _reschedule(self, node):
        """Give a worker work until it has enough: with one test left it waits for another, or to hear that there is none."""
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) <= _FEW:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()

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
def _groups(file: Path):
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

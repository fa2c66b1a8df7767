"""Jobs side by side do not wait for each other."""

import re
import threading
import time

import pytest

from kafka_audit.clients.parallel import Running, side_by_side
from kafka_audit.clients.read_error import ReadError
from kafka_audit.model.errors import UsageError
from kafka_audit.model.read_failure import ReadFailure


def test_results_come_in_order_and_late_ones_are_none():
    hold = threading.Event()
    jobs = [lambda: time.sleep(0.1) or "slow", hold.wait, lambda: "quick"]
    assert side_by_side(jobs, 3, time.monotonic() + 5) == ["slow", None, "quick"]
    hold.set()


def test_no_more_than_the_width_at_a_time():
    running, most, three = [], [], threading.Barrier(3)

    def job():
        running.append(1)
        three.wait()  # never ends where fewer run at a time
        most.append(len(running))
        three.wait()
        running.pop()
        three.wait()

    side_by_side([job] * 12, 3, time.monotonic() + 600)
    assert max(most) == 3
    assert len(most) == 12


def fail(error):
    raise error


def test_what_a_job_did_not_expect_is_its_own_failure_alone(caplog):
    """One odd answer must not end the audit, and must not be lost either: the place of it is told, not its text."""
    failed, fine = side_by_side([lambda: fail(KeyError("hunter2")), lambda: "fine"], 1, time.monotonic() + 600)
    assert fine == "fine"
    assert isinstance(failed, ReadError)
    assert failed.error == ReadFailure.MALFORMED_ANSWER.words
    assert re.fullmatch(r"KeyError at clients/parallel.py:\d+", failed.message)
    assert [record.getMessage() for record in caplog.records] == [f"an answer cannot be read: {failed.message}"]


def test_what_is_to_end_the_audit_is_raised_here():
    with pytest.raises(UsageError, match="no such file"):
        side_by_side([lambda: fail(UsageError("no such file"))], 1, time.monotonic() + 600)


def test_the_rest_gets_a_moment_once_one_result_is_enough():
    hold = threading.Event()
    running = Running(
        [lambda: "", hold.wait, lambda: time.sleep(0.1) or "few", lambda: time.sleep(0.3) or "many"], 4, time.monotonic() + 600
    )
    assert running.results_soon(bool, 5.0) == ["", None, "few", "many"]
    hold.set()
    assert running.results() == ["", True, "few", "many"]


def test_all_are_waited_for_while_no_result_is_enough():
    running = Running([lambda: "", lambda: time.sleep(0.2) or ""], 2, time.monotonic() + 600)
    assert running.results_soon(bool, 0.0) == ["", ""]


def test_nothing_to_do():
    assert side_by_side([], 4, time.monotonic()) == []

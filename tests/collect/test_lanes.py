"""Jobs side by side do not wait for each other."""

import time

import pytest

from kafka_audit.collect.lanes import side_by_side


def test_results_come_in_order_and_late_ones_are_none():
    started = time.monotonic()
    jobs = [lambda: time.sleep(0.1) or "slow", lambda: time.sleep(30), lambda: "quick"]
    assert side_by_side(jobs, 3, started + 0.6) == ["slow", None, "quick"]
    assert time.monotonic() - started < 1.5


def test_no_more_than_the_width_at_a_time():
    running, most = [], []

    def job():
        running.append(1)
        most.append(len(running))
        time.sleep(0.02)
        running.pop()

    side_by_side([job] * 12, 3, time.monotonic() + 5)
    assert max(most) == 3
    assert len(most) == 12


def test_a_bug_in_a_job_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1 / 0], 1, time.monotonic() + 5)


def test_nothing_to_do():
    assert side_by_side([], 4, time.monotonic()) == []

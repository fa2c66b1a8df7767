"""What runs checks: one that takes too long is UNKNOWN, and the others stand. The timer is the test's; no clock ends a check."""

import contextlib
import signal
import threading
from dataclasses import replace

import pytest

import small_cluster
from kafka_audit.checks import run
from kafka_audit.model.errors import EngineError
from kafka_audit.model.finding import Status


def judged(*functions):
    """Return what these checks say of a small cluster, by code."""
    checks = {}
    for number, function in enumerate(functions):
        code = f"KA99{number}"
        checks[code] = replace(small_cluster.check(code), function=function, kind="audit")
    view = small_cluster.view({"brokers": {0: "a:9092"}})
    return [(judgement.code, judgement.resource, judgement.status) for judgement in run.judge(view, checks)]


def endless(view):
    yield view.judge("broker/0", Status.FAIL, broker=0)
    yield view.judge("broker/1", Status.PASS, broker=1)
    with contextlib.suppress(Exception):  # as a check that takes any error for one of its own
        signal.raise_signal(signal.SIGVTALRM)
        while True:
            pass


def honest(view):
    return [view.judge("broker/0", Status.PASS, broker=0)]


def test_what_it_found_stays_and_the_others_stand():
    assert judged(honest, endless, honest) == [
        ("KA990", "broker/0", Status.PASS),
        ("KA991", "broker/0", Status.FAIL),
        ("KA991", "cluster", Status.UNKNOWN),
        ("KA992", "broker/0", Status.PASS),
    ]
    assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0


def test_each_check_has_its_time_and_all_have_theirs(monkeypatch):
    given, left = [], iter([0.0, 0.0, 110.0, 500.0])
    monkeypatch.setattr(run.signal, "setitimer", lambda _, seconds: given.append(seconds))
    monkeypatch.setattr(run.time, "process_time", lambda: next(left))
    judged(honest, honest, honest)
    assert [seconds for seconds in given if seconds] == [20.0, 10.0, 0.5]


def test_another_thread_and_another_s_timer_have_no_limit():
    """The limit is one of the process that judges."""
    found = []
    thread = threading.Thread(target=lambda: found.extend(judged(honest)))
    thread.start()
    thread.join()
    signal.signal(signal.SIGVTALRM, signal.SIG_IGN)
    try:
        found += judged(honest)
        assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    assert found == [("KA990", "broker/0", Status.PASS)] * 2


def test_a_judgement_of_another_snapshot_is_a_bug_that_is_named():
    def mistaken(view):
        yield replace(view.judge("broker/0", Status.PASS, broker=0), snapshot_id="another")

    with pytest.raises(EngineError, match="check KA990 judged snapshot another"):
        judged(mistaken)

"""How often a login is tried where it is refused, and who waits for whom."""

import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

from kafka_audit.clients import login_attempts
from kafka_audit.clients.login_attempts import MATCHED_REFUSALS, NAMED_REFUSALS, PATIENCE_S, PAUSE_S, Attempts, LoginTarget
from kafka_audit.clients.read_error import ReadError
from kafka_audit.model.read_failure import ReadFailure

SECONDS = 600.0
"""How long attempts at other addresses are waited for, at most: no test waits so long."""


def named(number, listener="L"):
    return LoginTarget(address=f"named{number}:9092", listener=listener)


def matched(number, listener="L", port=9092):
    return LoginTarget(address=f"host{number}:{port}", listener=listener, host=f"host{number}")


@pytest.fixture
def clock(monkeypatch):
    """The clock of the attempts, which the test turns on."""
    held = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(login_attempts, "time", SimpleNamespace(monotonic=lambda: held.now))
    return held


@pytest.fixture
def _patient(monkeypatch):
    """A busy machine does not make a test wait for longer than attempts hold up others."""
    monkeypatch.setattr(login_attempts, "PATIENCE_S", SECONDS)


def refused(attempts, place, error=ReadFailure.LOGIN_REFUSED):
    """Try, and be refused; return whether it was tried."""
    tried = False
    with suppress(ReadError), attempts.at(place, SECONDS):
        tried = True
        raise ReadError(error, "no", "a login that is right")
    return tried


def accepted(attempts, place):
    try:
        with attempts.at(place, SECONDS):
            return True
    except ReadError:
        return False


def test_one_that_refuses_the_right_login_keeps_no_other_from_being_asked():
    attempts = Attempts()
    assert refused(attempts, named(0))
    assert refused(attempts, named(1))
    assert accepted(attempts, named(2))
    assert all(refused(attempts, named(number)) for number in range(3, 20)), "it is right: each of these has its own fault"
    assert not accepted(attempts, named(0)), "an address is tried once"


def error_of(attempts, place):
    with pytest.raises(ReadError) as caught, attempts.at(place, SECONDS):
        pass
    return caught.value


def test_three_refusals_in_a_row_pause_a_login_at_its_listener():
    attempts = Attempts()
    assert [refused(attempts, named(number)) for number in range(5)] == [True] * NAMED_REFUSALS + [False] * 2
    error = error_of(attempts, named(7))
    assert (error.error, error.needs) == (ReadFailure.LOGIN_PAUSED.words, "a login that is right")
    assert "3 refused the login and none accepted it (named0:9092, named1:9092, named2:9092)" in error.message
    assert error_of(attempts, named(0)).error == ReadFailure.LOGIN_REFUSED.words, "that one did refuse it"
    assert not accepted(attempts, matched(1))


def test_each_further_listener_has_one_attempt_while_nobody_accepted_the_login():
    """Brokers keep users by listener; an account that locks is one for all of them."""
    attempts = Attempts()
    assert all(refused(attempts, named(number, "A")) for number in range(3))
    assert [refused(attempts, named(number, "B")) for number in range(10, 13)] == [True, False, False]
    assert accepted(attempts, named(20, "C"))
    assert all(accepted(attempts, named(number, "C")) for number in range(21, 24))
    assert [refused(attempts, named(number, "D")) for number in range(30, 34)] == [True] * 3 + [False]


def test_after_a_pause_one_more_is_tried_at_a_time(clock):
    attempts = Attempts()
    assert all(refused(attempts, named(number)) for number in range(3))
    clock.now += PAUSE_S - 1
    assert not refused(attempts, named(3))
    clock.now += 2
    assert [refused(attempts, named(number)) for number in range(3, 6)] == [True, False, False]
    clock.now += PAUSE_S + 1
    assert accepted(attempts, named(6))
    assert accepted(attempts, named(4))


def test_refusals_elsewhere_end_no_attempt_at_a_named_address_and_few_elsewhere():
    attempts = Attempts()
    tried = [refused(attempts, matched(number)) for number in range(100)]
    assert tried.count(True) == MATCHED_REFUSALS == 5
    assert accepted(attempts, named(0))
    assert accepted(attempts, matched(99))  # once the login is known to be right, all are tried
    assert not accepted(attempts, matched(0))  # but for those that refused it


def test_refusals_of_named_addresses_count_elsewhere():
    attempts = Attempts()
    assert all(refused(attempts, named(number)) for number in range(2))
    assert [refused(attempts, matched(number)) for number in range(10)].count(True) == MATCHED_REFUSALS - 2


def test_one_host_counts_once_whatever_ports_and_listeners_are_listed_for_it():
    attempts = Attempts()
    assert all(refused(attempts, matched(1, port=port)) for port in range(1, 50))
    assert accepted(attempts, matched(2))


def test_an_address_that_refused_is_not_tried_under_another_listener_s_name():
    attempts = Attempts()
    assert refused(attempts, matched(1, "A"))
    assert not refused(attempts, matched(1, "B"))
    assert refused(attempts, named(1, "A"))
    assert not refused(attempts, named(1, "B"))


def test_other_failures_than_refusals_count_for_nothing():
    attempts = Attempts()
    assert all(refused(attempts, named(number), ReadFailure.TIMEOUT) for number in range(20))
    assert all(refused(attempts, matched(number), ReadFailure.SCRAM_WEAK) for number in range(20))


def test_a_yes_of_a_host_that_is_not_named_says_nothing_to_named_ones():
    attempts = Attempts()
    assert accepted(attempts, matched(1))
    assert [refused(attempts, named(number)) for number in range(5)] == [True] * 3 + [False] * 2


@pytest.mark.usefixtures("_patient")
@pytest.mark.parametrize(("place", "most"), [(named, NAMED_REFUSALS), (matched, MATCHED_REFUSALS)])
def test_until_a_login_was_accepted_so_few_are_under_way_that_refusals_stay_few(place, most):
    attempts, tried, gate = Attempts(), [], threading.Event()

    def attempt(number):
        with suppress(ReadError), attempts.at(place(number), SECONDS):
            tried.append(number)
            gate.wait()
            raise ReadError(ReadFailure.LOGIN_REFUSED, "no")

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    while len(tried) < most:
        time.sleep(0.01)
    time.sleep(0.2)  # the others come to their turn, if they have one
    gate.set()
    for thread in threads:
        thread.join()
    assert len(tried) == most


def hang(attempts, place, gate):
    begun = threading.Event()

    def attempt():
        with suppress(ReadError), attempts.at(place, SECONDS):
            begun.set()
            gate.wait()
            raise ReadError(ReadFailure.TIMEOUT, "no")

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    begun.wait()
    return thread


def test_named_addresses_never_wait_for_others(monkeypatch):
    attempts, gate = Attempts(), threading.Event()
    for number in range(MATCHED_REFUSALS):
        hang(attempts, matched(number), gate)
    monkeypatch.setattr(attempts._changed, "wait", lambda _: pytest.fail("it waits"))
    assert accepted(attempts, named(0))
    gate.set()


@pytest.mark.parametrize("place", [named, matched])
def test_an_address_that_hangs_holds_others_up_for_moments(place, clock, monkeypatch):
    attempts, gate, waits = Attempts(), threading.Event(), []

    def wait(seconds):
        waits.append(seconds)
        clock.now += seconds

    for number in range(NAMED_REFUSALS if place is named else MATCHED_REFUSALS):
        hang(attempts, place(number), gate)
    monkeypatch.setattr(attempts._changed, "wait", wait)
    with attempts.at(place(99), SECONDS):
        assert PATIENCE_S <= sum(waits) <= 1.5 * PATIENCE_S, "not as long as it may take"
    gate.set()


@pytest.mark.usefixtures("_patient")
def test_what_is_not_named_waits_for_a_named_one_that_is_being_tried():
    attempts, begun, gate, tried = Attempts(), threading.Event(), threading.Event(), []

    def at_a_named_one():
        with suppress(ReadError), attempts.at(named(0), SECONDS):
            begun.set()
            gate.wait()
            raise ReadError(ReadFailure.LOGIN_REFUSED, "no")

    first = threading.Thread(target=at_a_named_one)
    first.start()
    begun.wait()
    second = threading.Thread(target=lambda: tried.append(refused(attempts, matched(1))))
    second.start()
    time.sleep(0.1)
    assert tried == []
    gate.set()
    first.join()
    second.join()
    assert tried == [True]  # a single refusal says little

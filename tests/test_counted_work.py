"""The counts of `counted_work` tell linear work from quadratic work, and are the same each time."""

import gc
import sys

import pytest

from counted_work import counted_calls, counted_copies, exponent

SIZES = (50, 100, 400)


def linear(size):
    total = 0
    for number in range(size):
        total += abs(number)
    return total


def quadratic(size):
    return sum(1 for left in range(size) for right in range(size) if left < right)


def quadratic_in_c(size):
    """Look up each number in a list: one call of a C function for each, which compares with every item."""
    numbers = [*range(size)]
    return [numbers.index(number) for number in numbers]


def test_linear_and_quadratic_work_differ():
    assert 0.9 < exponent(linear, SIZES) < 1.1
    assert 1.8 < exponent(quadratic, SIZES) < 2.1


def test_the_work_of_a_c_function_is_not_counted():
    assert exponent(quadratic_in_c, SIZES) < 1.1, "then the docstring of the module is wrong"


def test_one_jump_between_two_sizes_is_enough():
    assert exponent(lambda size: linear(size) if size < 200 else quadratic(size), SIZES) > 3


def test_a_text_that_grows_is_copied_in_each_round():
    def grows(size):
        text = ""
        for _ in range(size):
            text = "ab" + text
        return text

    def joins(size):
        parts = []
        for _ in range(size):
            part = "ab" * 3
            parts.append(part)
        return "".join(parts)

    assert exponent(grows, SIZES, count=counted_copies) > 1.8
    assert exponent(joins, SIZES, count=counted_copies) < 1.1
    assert counted_copies(len, "an argument") == 0


def test_what_prepares_the_work_is_not_counted():
    assert exponent(linear, SIZES, prepare=lambda size: (quadratic(size), size)[1]) < 1.1


def test_a_first_run_that_fills_a_cache_is_not_counted():
    filled = set()

    def cached(size):
        if not filled:
            filled.add(quadratic(300))
        linear(size)

    assert 0.9 < exponent(cached, SIZES) < 1.1


@pytest.mark.parametrize("function", [linear, quadratic, quadratic_in_c])
def test_each_count_is_the_same(function):
    assert len({counted_calls(function, 70) for _ in range(5)}) == 1


def test_calls_of_c_functions_and_rounds_of_a_comprehension_are_counted():
    assert counted_calls(lambda: [abs(number) for number in range(100)]) >= 200


@pytest.mark.parametrize("collects", [True, False])
def test_what_traced_before_traces_again_and_garbage_is_collected_again(collects):
    def own(_frame, _event, _argument):
        return None

    def broken():
        raise KeyError

    tracer, profiler, collected = sys.gettrace(), sys.getprofile(), gc.isenabled()
    (gc.enable if collects else gc.disable)()
    sys.settrace(own)
    sys.setprofile(own)
    try:
        counted_calls(linear, 3)
        after = [(sys.gettrace(), sys.getprofile(), gc.isenabled())]
        with pytest.raises(KeyError):
            counted_calls(broken)
        after.append((sys.gettrace(), sys.getprofile(), gc.isenabled()))
    finally:
        sys.setprofile(profiler)
        sys.settrace(tracer)
        (gc.enable if collected else gc.disable)()
    assert after == [(own, own, collects)] * 2

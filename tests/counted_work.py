"""Work as a count, which is the same on each machine: a slow or busy one changes seconds, and no count.

A count sees what Python runs: lines, calls, and how often C functions are called. It does not see how much one call of a C
function does: `text.count(part)`, a regular expression, arithmetic of large integers and a copy of bytes are one call, whatever
their size. A test of these counts something else: bytes that were read or copied, or which engine matches a pattern.
"""

import gc
import math
import sys
import threading
from itertools import pairwise


def counted_calls(function, *args) -> int:
    """Return how many lines and calls of Python, and calls of C functions, this thread ran for function(*args).

    A comprehension counts a line for each of its rounds. Threads and processes that the function starts are not counted. What
    the function raises is raised. Tracers and profilers, such as those of coverage, are put back.
    """
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "line"}
        return trace

    def profile(_frame, event, _argument):
        nonlocal count
        count += event == "c_call"

    tracer, profiler, collects = sys.gettrace(), sys.getprofile(), gc.isenabled()
    gc.disable()  # a collection runs finalizers, at a moment that depends on what ran before
    sys.settrace(trace)
    sys.setprofile(profile)
    try:
        function(*args)
    finally:
        sys.setprofile(profiler)
        sys.settrace(tracer)
        if collects:
            gc.enable()
    return count


def counted_copies(function, *args) -> int:
    """Return how many characters and bytes the texts have that local variables came to hold while function(*args) ran.

    A text that grows by a part in each round is copied in each, which is one step of Python, and quadratic. The text that a
    function gets as an argument is no copy.
    """
    copied = 0

    def trace(frame, _event, _argument):
        held = dict(frame.f_locals)

        def changed(frame, _event, _argument):
            nonlocal copied, held
            now = dict(frame.f_locals)
            copied += sum(
                len(value) for name, value in now.items() if isinstance(value, str | bytes) and held.get(name) is not value
            )
            held = now
            return changed

        return changed

    tracer = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(tracer)
    return copied


def rows_returned(operators) -> int:
    """Return how many rows operators of a query of DuckDB's, by its profile, and those below them returned."""
    return sum(operator["intermediate_rows"] + rows_returned(operator.get("children", ())) for operator in operators)


def exponent(function_of_size, sizes, prepare=None, count=counted_calls) -> float:
    """Return by which power of the size the work grows that `count` counts: about 1 if it is linear, 2 if it is quadratic.

    It is the largest one between two neighbours in `sizes`. Work that does not depend on the size lowers it: the smallest size
    is one that costs far more than that. The function takes the size, or what `prepare` makes of it, which is not counted. It
    runs once without being counted, because the first run may import modules and fill caches.

    The exponent of quadratic work inside one call of a C function is that of the calls: 1, or 0.
    """
    prepare = prepare or (lambda size: size)
    function_of_size(prepare(sizes[0]))
    counts = [count(function_of_size, prepare(size)) for size in sizes]
    return max(
        math.log(max(more, 1) / max(less, 1)) / math.log(larger / smaller)
        for (smaller, larger), (less, more) in zip(pairwise(sizes), pairwise(counts), strict=True)
    )


def counted_in_threads(function, *args) -> int:
    """Return the same, with what the threads run that function(*args) starts; a round of waiting counts, too."""
    started, lock = 0, threading.Lock()

    def note(_frame, event, _argument):
        nonlocal started
        if event in {"call", "line", "c_call"}:
            with lock:
                started += 1
        return note

    threading.settrace(note)
    threading.setprofile(note)
    try:
        return counted_calls(function, *args) + started
    finally:
        threading.settrace(None)
        threading.setprofile(None)

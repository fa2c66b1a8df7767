"""Which inputs are worth keeping: those that reach lines of a reader, one after the other, that smaller ones do not."""

import sys

from fuzz import watch

MOST_BYTES = 400
"""Of one input; what reaches new code only by its length is not for the repository."""

MOST_KEPT = 24


def chosen(reader, known, candidates):
    """Return the candidates that go where neither the known inputs nor smaller candidates went."""
    covered = set().union(*(_steps(reader, data) for data in known))
    found = []
    for smallest in sorted(
        (candidate for candidate in candidates if len(candidate) <= MOST_BYTES), key=lambda data: (len(data), data)
    ):
        steps = _steps(reader, smallest) - covered
        if steps and len(found) < MOST_KEPT:
            covered |= steps
            found.append(smallest)
    return found


def _steps(reader, data):
    """Return the steps from line to line of our modules that an input leads to."""
    steps = set()

    def local(frame, event, _argument):
        if event == "line":
            steps.add((frame.f_code, last.get(frame), frame.f_lineno))
            last[frame] = frame.f_lineno
        return local

    last = {}
    sys.settrace(lambda frame, *_: local if "kafka_audit" in frame.f_code.co_filename else None)
    try:
        watch.failure(reader, data)
    finally:
        sys.settrace(None)
    return steps

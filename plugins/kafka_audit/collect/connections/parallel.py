"""Jobs side by side, bounded, none of which can hold up the others or the end of the process."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from kafka_audit.bounds.memory import return_memory, share_arenas
from kafka_audit.collect.rows.source_reads import ReadError, any_answer

_T = TypeVar("_T")


def side_by_side(jobs: Sequence[Callable[[], _T]], width: int, deadline: float) -> list[_T | ReadError | None]:
    """Run jobs on threads and return their results in order, None for a job that was not done by the deadline.

    A job that raised has its `ReadError` as the result: jobs turn failures of a source into rows, and what they did not expect is
    the failure of only that party.

    Threads are daemons: a name lookup that hangs cannot be interrupted, but need not be waited for either.

    Args:
        jobs: what to run.
        width: how many at a time.
        deadline: seconds of `time.monotonic()`.

    Raises:
        AuditError: a job raised it, e.g. UsageError: the audit cannot go on.
    """
    share_arenas()
    results: list[_T | ReadError | None] = [None] * len(jobs)
    raised: list[BaseException] = []
    waiting = list(enumerate(jobs))[::-1]
    lock = threading.Lock()

    def work() -> None:
        while time.monotonic() < deadline:
            with lock:
                if not waiting or raised:
                    return
                index, job = waiting.pop()
            try:
                with any_answer():
                    results[index] = job()
            except ReadError as error:
                results[index] = error
            except BaseException as error:  # noqa: BLE001 -- carried to the caller's thread and raised there
                raised.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(width, len(jobs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return_memory()
    if raised:
        raise raised[0]
    return list(results)

"""Jobs side by side, bounded, none of which can hold up the others or the end of the process."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from kafka_audit.bounds.memory import return_memory, share_arenas
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.model.read_failure import ReadFailure

_T = TypeVar("_T")


def side_by_side(jobs: Sequence[Callable[[], _T]], width: int, deadline: float) -> list[_T | ReadError | None]:
    """Run jobs on threads and return their results in order, None for a job that was not done by the deadline.

    Arguments, results and errors are those of `Running`.
    """
    return Running(jobs, width, deadline).results()


class Running(Generic[_T]):
    """Jobs that run on threads, as many as the width at a time, and start none after the deadline.

    A job that raised has its `ReadError` as the result: jobs turn failures of a source into rows, and what they did not expect is
    the failure of only that party.

    Threads are daemons: a name lookup that hangs cannot be interrupted, but need not be waited for either.
    """

    def __init__(self, jobs: Sequence[Callable[[], _T]], width: int, deadline: float) -> None:
        """Start.

        Args:
            jobs: what to run.
            width: how many at a time.
            deadline: seconds of `time.monotonic()`.
        """
        share_arenas()
        self._results: list[_T | ReadError | None] = [None] * len(jobs)
        self._raised: list[BaseException] = []
        self._waiting = list(enumerate(jobs))[::-1]
        self._left = len(jobs)
        self._deadline = deadline
        self._changed = threading.Condition()
        for _ in range(min(width, len(jobs))):
            threading.Thread(target=self._work, daemon=True).start()

    def results(self) -> list[_T | ReadError | None]:
        """Wait for all jobs, until the deadline at most; return their results in order, None for a job that is not done.

        Raises:
            AuditError: a job raised it, e.g. UsageError: the audit cannot go on.
        """
        return self._wait(lambda _: False, 0.0)

    def results_soon(self, is_enough: Callable[[_T], bool], grace_s: float) -> list[_T | ReadError | None]:
        """Return the results as `results` does, but wait no longer than `grace_s` once one of them is enough."""
        return self._wait(is_enough, grace_s)

    def _wait(self, is_enough: Callable[[_T], bool], grace_s: float) -> list[_T | ReadError | None]:
        until, enough = self._deadline, False
        with self._changed:
            while self._left and not self._raised and time.monotonic() < until:
                if not enough and any(not isinstance(result, ReadError | None) and is_enough(result) for result in self._results):
                    until, enough = min(until, time.monotonic() + grace_s), True
                self._changed.wait(max(0.0, until - time.monotonic()))
            found = list(self._results)
        return_memory()
        if self._raised:
            raise self._raised[0]
        return found

    def _work(self) -> None:
        while time.monotonic() < self._deadline:
            with self._changed:
                if not self._waiting or self._raised:
                    return
                index, job = self._waiting.pop()
            try:
                with any_answer():
                    self._results[index] = job()
            except ReadError as error:
                self._results[index] = error
            except BaseException as error:  # noqa: BLE001 -- carried to the caller's thread and raised there
                self._raised.append(error)
            with self._changed:
                self._left -= 1
                self._changed.notify_all()


async def in_thread(job: Callable[[], _T], seconds: float) -> _T:
    """Return what a job that blocks returns, or raise what it raises; ReadError `timeout` after so many seconds.

    The thread is a daemon and belongs to no pool: one that hangs keeps neither asyncio nor the process from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def hand_over(result: _T | None, error: BaseException | None) -> None:
        if done.done():  # no caller waits any longer
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type] # None only where it is the job's result

    def work() -> None:
        result: _T | None = None
        problem: BaseException | None = None
        try:
            with any_answer():
                result = job()
        except BaseException as error:  # noqa: BLE001 -- carried to the caller and raised there
            problem = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(hand_over, result, problem)

    threading.Thread(target=work, daemon=True).start()
    try:
        # Not wait_for: before Python 3.12 it returns a result that came at the same moment as a cancellation, which is lost then.
        async with asyncio.timeout(seconds):
            return await done
    except TimeoutError:
        raise ReadError(ReadFailure.TIMEOUT, f"no answer for {seconds:.1f} s") from None

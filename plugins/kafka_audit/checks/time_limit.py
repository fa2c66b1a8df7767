"""How long a check may run: user time of this process, so that a busy machine ends none."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

CHECK_S = 20.0
"""Seconds of one check: on 1,000 brokers with 1,000,000 partitions each takes less than one."""

ALL_S = 120.0
"""Seconds of all checks of a snapshot; after that each has `_LEAST_S`."""

_LEAST_S = 0.5


class TooLong(BaseException):  # no part of a check handles it as an error of its own
    """A check ran for longer than it may."""


class TimeLimit:
    """The time of all checks of one snapshot."""

    def __init__(self) -> None:
        """Begin it."""
        self._until = time.process_time() + ALL_S

    @contextmanager
    def of_one(self) -> Iterator[None]:
        """Raise TooLong inside when one check's time is over.

        There is no limit where no signal of the timer can arrive: outside of the main thread, on a system that has none, or where
        another part of the process uses it.
        """
        in_main = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if not in_main or signal.getsignal(signal.SIGVTALRM) is not signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGVTALRM, _end)
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, max(_LEAST_S, min(CHECK_S, self._until - time.process_time())))
            yield
        finally:
            signal.signal(signal.SIGVTALRM, signal.SIG_IGN)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL)


def _end(*_: object) -> None:
    raise TooLong

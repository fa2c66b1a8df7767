"""Requests of which a library logs nothing: its lines may repeat a URL with a key in it, or an answer with a secret."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _OurRequests(threading.local):
    """How many of `silenced` this thread is in."""

    depth = 0


_here = _OurRequests()


class _NotOurs(logging.Filter):
    """Drops what is logged on a thread that makes a request of ours."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 -- whatever it says
        return not _here.depth


_FILTER = _NotOurs()


def filter_loggers(*libraries: str) -> None:
    """Let `silenced` count for libraries, which are imported already."""
    names = [name for name in [*logging.root.manager.loggerDict] if name.partition(".")[0] in libraries]
    for name in (*libraries, *names):  # a filter counts for the lines of its own logger only
        logging.getLogger(name).addFilter(_FILTER)


@contextmanager
def silenced(*libraries: str) -> Iterator[None]:
    """Let libraries log nothing on this thread, regardless of the levels of their loggers.

    Other threads of the process, which may use the same libraries for their own purposes, log as before.

    Args:
        libraries: those that are imported late; `filter_loggers` was called for others once, because each call goes through all
            loggers of the process.
    """
    if libraries:
        filter_loggers(*libraries)
    _here.depth += 1
    try:
        yield
    finally:
        _here.depth -= 1

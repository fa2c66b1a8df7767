"""Requests of which a library logs nothing: its lines may repeat a URL with a key in it, or an answer with a secret."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _OurRequests(logging.Filter):
    """Drops what is logged on a thread that makes a request of ours."""

    here = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 -- whatever it says
        return not getattr(self.here, "active", False)


_FILTER = _OurRequests()


@contextmanager
def silenced(*libraries: str) -> Iterator[None]:
    """Let libraries, which are imported already, log nothing on this thread.

    Other threads of the process, which may use the same libraries for their own purposes, log as before.
    """
    names = [name for name in [*logging.root.manager.loggerDict] if name.partition(".")[0] in libraries]
    for name in (*libraries, *names):  # a filter counts for the lines of its own logger only
        logging.getLogger(name).addFilter(_FILTER)
    _FILTER.here.active = True
    try:
        yield
    finally:
        _FILTER.here.active = False

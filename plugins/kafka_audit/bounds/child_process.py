"""Run a function in a child process that ends by a deadline, whatever the function does.

What judges text that is not ours is pure Python. A loop in it, or in a C function that holds the interpreter's lock, cannot be
ended from within its own process, and a thread cannot be killed. The child is a fork: it starts in milliseconds and needs no copy
of what it works on. Threads are not forked; a lock that one of them holds at that moment stays locked in the child, whose time
ends that, too.
"""

import contextlib
import ctypes
import gc
import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from kafka_audit.model.errors import AuditError

_K = TypeVar("_K")
_T = TypeVar("_T")
Note = Callable[[Any], None]
"""A progress note of a child; its time starts again."""

_LENGTH = struct.Struct("!Q")
_CHUNK = 1 << 20
_MEGABYTE = 1 << 20
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
_NOTED, _ANSWERED, _RAISED = range(3)
_COLLECTIONS = (100_000, 20, 20)
"""Most of what a child makes, it keeps for its answer: to look through it as often as Python does takes a fifth of a lint."""


class ChildError(AuditError):
    """The child came to no answer, and the message says why; `at` is its last note, None where there was none."""

    def __init__(self, message: str, at: object = None) -> None:
        """Keep both."""
        super().__init__(message)
        self.at = at


class ChildSlowError(ChildError):
    """The child did not come to an answer in its time."""


def unpickled(data: bytes) -> Any:  # noqa: ANN401 -- whatever it was
    """Return what this process or its child has pickled."""
    return pickle.loads(data)  # noqa: S301 -- our own


def is_possible() -> bool:
    """Return whether this system has `fork`."""
    return hasattr(os, "fork")


def run_in_child(function: Callable[[Note], _T], *, seconds: float, megabytes: int | None = None) -> _T:
    """Return what a function returns, run in a child process.

    Args:
        function: what to run. Its answer, or what it raises, is pickled. It may call its argument with what it is at.
        seconds: the time limit, which starts again with each note.
        megabytes: how much more memory than now it may use, None for no limit; only if /proc shows its current use.

    Raises:
        ChildError: it took longer, needed more memory, or its process died.
        Exception: what the function raised, with the child's traceback as a note.
    """
    at: object = None
    with contextlib.closing(_messages(function, lambda: seconds, megabytes)) as messages:
        for kind, value in messages:
            if kind == _ANSWERED:
                answer: _T = value
                return answer
            if kind == _RAISED:
                if isinstance(value, ChildError):
                    value.at = at
                raise value
            at = value
    raise AssertionError  # the last message is an answer or an error


def run_each_in_child(
    functions: Mapping[_K, Callable[[], _T]], seconds: Callable[[], float], megabytes: int | None = None
) -> Iterator[tuple[_K, Callable[[], _T]]]:
    """Run functions in one child process, in turn: what one of them loads or compiles, the others need not.

    Args:
        functions: what to run, by name. What each returns or raises is pickled.
        seconds: returns the time limit of the next one.
        megabytes: how much more memory than now they may use at a time; see `run_in_child`.

    Yields:
        Each name, and a function that returns or raises what that one did; it raises ChildError where that one took longer, or
        the process died in it. The rest then run in a new process.
    """
    left = dict(functions)

    def run_left(note: Note) -> None:
        for function in left.values():
            note(_became(function, megabytes))

    while left:
        with contextlib.closing(_messages(run_left, seconds, megabytes)) as messages:
            for kind, value in messages:
                name = next(iter(left))
                del left[name]
                became = unpickled(value) if kind == _NOTED else (kind, value)
                yield name, partial(_outcome, *became)
                if not left:
                    break


def _outcome(kind: int, value: Any) -> Any:  # noqa: ANN401 -- whatever a function returns
    if kind == _RAISED:
        raise value
    return value


def _messages(
    function: Callable[[Note], object], seconds: Callable[[], float], megabytes: int | None
) -> Generator[tuple[int, Any]]:
    """Run a function in a child; yield its notes, then its answer or error, which may be that it came to none."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12 and later, where there are threads: see above
        child = os.fork()
    if not child:
        os.close(reading)
        _child(function, writing, megabytes)
    os.close(writing)
    try:
        yield from _received(reading, seconds)
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _received(reading: int, seconds: Callable[[], float]) -> Iterator[tuple[int, Any]]:
    held, kind = bytearray(), _NOTED
    while kind == _NOTED:
        limit = seconds()
        until = time.monotonic() + limit
        while len(held) < _LENGTH.size or len(held) < (whole := _LENGTH.size + _LENGTH.unpack_from(held)[0]):
            left = until - time.monotonic()
            if left <= 0 or not select.select([reading], [], [], left)[0]:
                yield _RAISED, ChildSlowError(f"took longer than {limit:g} s")
                return
            chunk = os.read(reading, _CHUNK)
            if not chunk:
                yield _RAISED, ChildError("ended unexpectedly")
                return
            held += chunk
        kind, value = unpickled(bytes(held[_LENGTH.size : whole]))
        del held[:whole]
        yield kind, value


def _child(function: Callable[[Note], object], writing: int, megabytes: int | None) -> NoReturn:
    """Run the function, send what becomes of it, and end this process without what the parent does at its end."""
    status = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if sys.platform == "linux":  # a killed parent cannot kill
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        _limit(megabytes)
        gc.freeze()  # a collection would write to the pages that are shared with the parent, which copies them
        gc.set_threshold(*_COLLECTIONS)

        def send(data: bytes) -> None:
            with os.fdopen(os.dup(writing), "wb") as stream:
                stream.write(_LENGTH.pack(len(data)) + data)

        send(_became(partial(function, lambda at: send(pickle.dumps((_NOTED, at)))), megabytes))
        status = 0
    finally:
        os._exit(status)


def _became(function: Callable[[], object], megabytes: int | None) -> bytes:
    try:
        return pickle.dumps((_ANSWERED, function()))
    except MemoryError:
        return pickle.dumps((_RAISED, ChildError(f"needed more than {megabytes} MB of memory")))
    except Exception as error:  # noqa: BLE001 -- it is raised again in the parent
        error.add_note("".join(traceback.format_exception(error)))
        return _pickled(error)


def _pickled(error: Exception) -> bytes:
    """Return an error as the parent can read it."""
    error.__cause__ = error.__context__ = None
    try:
        data = pickle.dumps((_RAISED, error))
        unpickled(data)
    except Exception:  # noqa: BLE001 -- whatever an error's own class does
        return pickle.dumps((_RAISED, ChildError(f"{type(error).__name__}: {error}")))
    return data


def _limit(megabytes: int | None) -> None:
    import resource  # noqa: PLC0415 -- not where there is no fork

    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:
        return
    if megabytes is not None:
        most = pages * resource.getpagesize() + megabytes * _MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))

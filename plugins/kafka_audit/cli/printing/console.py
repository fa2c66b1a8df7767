"""What the commands write: the result to stdout, everything else to stderr."""

import logging
import os
import shutil
import sys
import time
from typing import TextIO

from kafka_audit.model.text import inert, our_line, without_logins

_LONGEST_LINE = 500
_LONGEST_ERROR = 2000
_WIDEST_PAGE = 140  # longer lines are hard to read, however wide the window


class Progress:
    """Says each step on stderr with the seconds since the start; nothing when quiet.

    Attributes:
        began: when the command began, of `time.monotonic()`; None: it begins with each object.
    """

    began: float | None = None

    def __init__(self, *, quiet: bool, stream: TextIO | None = None) -> None:
        """Start the clock."""
        self._start = time.monotonic() if self.began is None else self.began
        self._quiet = quiet
        self._stream = sys.stderr if stream is None else stream

    def __call__(self, text: str) -> None:
        """Write one line; `text` may hold what a cluster said."""
        if not self._quiet:
            line = inert(our_line(without_logins(text), _LONGEST_LINE))
            print(f"{time.monotonic() - self._start:6.1f} s  {line}", file=self._stream, flush=True)


class OneLine(logging.Formatter):
    """What a library logs while no program set logging up: one line, and nothing of what a cluster said acts on the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; tracebacks are left out."""
        return inert(our_line(without_logins(f"kafka-audit: {record.name}: {record.getMessage()}"), _LONGEST_LINE))


def hint(text: str) -> None:
    """Write lines to stderr that can be copied as they are."""
    sys.stderr.write(f"\n{inert(without_logins(text))}\n\n")


def complain(text: str) -> None:
    """Write one line about what went wrong to stderr; `text` may hold what a file or a cluster said."""
    sys.stderr.write(f"kafka-audit: {inert(our_line(without_logins(text), _LONGEST_ERROR))}\n")


def write_result(text: str, *, commands: bool = False) -> bool:
    """Write a result to stdout, and return whether anyone still reads: a reader that stops (`| head`) is no failure of the audit.

    Args:
        text: the result.
        commands: the result is commands for a build server, each of which was made here. Otherwise none of its lines is one.
    """
    shown = text if commands else inert(text)
    try:
        sys.stdout.write(shown if shown.endswith("\n") else f"{shown}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout once more when it exits, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def width() -> int:
    """Return the columns of a page; COLUMNS overrides the terminal's own."""
    return min(shutil.get_terminal_size((100, 24)).columns, _WIDEST_PAGE)


def has_color() -> bool:
    """Return whether stdout shows colours (no-color.org: a NO_COLOR that is not empty forbids them)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

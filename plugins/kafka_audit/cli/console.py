"""What the commands write: the result to stdout, everything else to stderr."""

import os
import shutil
import sys
import time
from typing import TextIO

from kafka_audit.model.text import clean

_LONGEST_LINE = 500
_WIDEST_PAGE = 140  # longer lines are hard to read, however wide the window


class Progress:
    """Says each step on stderr with the seconds since the start; nothing when quiet."""

    def __init__(self, *, quiet: bool, stream: TextIO | None = None) -> None:
        """Start the clock."""
        self._start = time.monotonic()
        self._quiet = quiet
        self._stream = sys.stderr if stream is None else stream

    def __call__(self, text: str) -> None:
        """Write one line; `text` may hold what a cluster said."""
        if not self._quiet:
            print(f"{time.monotonic() - self._start:6.1f} s  {clean(text, _LONGEST_LINE)}", file=self._stream, flush=True)


def emit(text: str) -> None:
    """Write a result to stdout. A reader that stops reading (`| head`) is no failure of the audit."""
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes stdout once more when it exits, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def width() -> int:
    """Return the columns of a page; COLUMNS overrides the terminal's own."""
    return min(shutil.get_terminal_size((100, 24)).columns, _WIDEST_PAGE)


def has_color() -> bool:
    """Tell whether stdout shows colours (no-color.org: a NO_COLOR that is not empty forbids them)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

"""What any input must keep to: the reader's own errors alone leave it, within a second, and in 300 MB.

Tests count the work of an input instead of its seconds, which depend on the machine.
"""

import resource
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from airflow_environment import ROOT
from counted_work import counted_calls

MOST_SECONDS = 1.0
"""Of the processor, so that a busy machine counts for nothing."""

MOST_WORK = 5_000_000
"""Lines and calls of Python, and calls of C functions: a second on a fast machine. The kept inputs take up to 1,500,000."""

MOST_MB = 300
CORPUS, REGRESSIONS = ROOT / "tests" / "fuzz" / "corpus", ROOT / "tests" / "fuzz" / "regressions"
"""Inputs by reader: what fuzzing begins with, and what once went wrong."""


@dataclass(frozen=True)
class Failure:
    """What an input did; inputs of one `kind` fail alike."""

    kind: str
    text: str


def failure(reader, data):
    """Give an input to a reader; return what is wrong, None where nothing is."""
    return _failure(reader, data, _seconds, MOST_SECONDS, "s")


def counted_failure(reader, data):
    """Return the same, with counted work in place of seconds."""
    return _failure(reader, data, counted_calls, MOST_WORK, "lines and calls")


def _failure(reader, data, measure, most, unit):
    try:
        measured = measure(_read, reader, data)
    except Exception as error:  # noqa: BLE001 -- whatever leaves it is the finding
        return Failure(f"{type(error).__name__} at {_place(error)}", "".join(traceback.format_exception(error, limit=-8)))
    return Failure("slow", f"{measured:.1f} {unit} for {len(data)} bytes") if measured > most else None


def _seconds(function, *arguments):
    started = time.thread_time()
    function(*arguments)
    return time.thread_time() - started


def _read(reader, data):
    with suppress(reader.errors):
        reader.read(data)


def main(reader, path):
    """Give an input to a reader, without coverage: `python -m fuzz.watch READER FILE`; return 1 where it fails."""
    from fuzz.readers import READERS  # noqa: PLC0415 -- it imports all that is read by

    found = failure(READERS[reader], Path(path).read_bytes())
    print(found.text if found else "as documented")
    return int(found is not None)


def peak_mb():
    """Return the most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def inputs(folder, reader):
    """Return the inputs of a reader in a folder, in the order of their names."""
    return [path for path in sorted((folder / reader).glob("*")) if path.suffix != ".txt"]


def _place(error):
    """Return the innermost line of ours, and the innermost one of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "kafka_audit" in frame.filename]
    places = dict.fromkeys(f"{Path(frame.filename).name}:{frame.lineno}" for frame in (*own[-1:], *frames[-1:]))
    return " in ".join(places)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""The console script `kafka-audit`: the steps of the DAG in one process, no Airflow needed.

stdout carries only the result; progress and errors go to stderr.
"""

import contextlib
import logging
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence

from kafka_audit.cli import arguments
from kafka_audit.cli.printing import console
from kafka_audit.model.errors import AuditError

INTERRUPTED = 130  # 128 + SIGINT, as shells say it
_AGAIN_S = 0.05


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `--help` and `--version` end the process as argparse does.

    Errors meant for the user are one line; any other exception is a bug and passes through with its traceback.
    """
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(console.OneLine())
    console.Progress.began = time.monotonic()
    try:
        with _no_interruption_is_lost():
            return arguments.parse_arguments(sys.argv[1:] if argv is None else argv)()
    except AuditError as error:
        console.complain(" ".join(str(error).split()))
        return error.exit_code
    except KeyboardInterrupt:
        ended = "\n" if sys.stderr.isatty() else ""  # the terminal echoes ^C in the line that is being written
        sys.stderr.write(f"{ended}kafka-audit: interrupted\n")
        return INTERRUPTED


@contextlib.contextmanager
def _no_interruption_is_lost() -> Iterator[None]:
    """Interrupt again where Python has dropped an interruption, because it came while a finalizer ran."""
    before = sys.unraisablehook

    def hook(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # Not at once: what this hook raises is dropped, too. As a signal, so that a wait of the main thread ends.
            again = (threading.main_thread().ident or 0, signal.SIGINT)
            threading.Timer(_AGAIN_S, signal.pthread_kill, again).start()
        else:
            before(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before

"""The console script `kafka-audit`: the steps of the DAG in one process, no Airflow needed.

stdout carries only the result; progress and errors go to stderr.
"""

import logging
import sys
from collections.abc import Sequence

from kafka_audit.cli import arguments, console
from kafka_audit.model.errors import AuditError

INTERRUPTED = 130  # 128 + SIGINT, as shells say it


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `--help` and `--version` end the process as argparse does.

    Errors meant for the user are one line; any other exception is a bug and passes through with its traceback.
    """
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(console.OneLine())
    try:
        return arguments.parse_arguments(sys.argv[1:] if argv is None else argv)()
    except AuditError as error:
        console.complain(" ".join(str(error).split()))
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("kafka-audit: interrupted\n")
        return INTERRUPTED

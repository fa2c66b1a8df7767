"""The console script `kafka-audit`: the steps of the DAG in one process, no Airflow needed.

stdout carries only the result; progress and errors go to stderr.
"""

import sys
from collections.abc import Sequence

from kafka_audit.cli import arguments
from kafka_audit.model.errors import AuditError
from kafka_audit.model.text import clean

INTERRUPTED = 130  # 128 + SIGINT, as shells say it
_LONGEST_ERROR = 2000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; `--help` and `--version` end the process as argparse does.

    Errors meant for the user are one line; any other exception is a bug and passes through with its traceback.
    """
    try:
        return arguments.parse(sys.argv[1:] if argv is None else argv)()
    except AuditError as error:
        sys.stderr.write(f"kafka-audit: {clean(' '.join(str(error).split()), _LONGEST_ERROR)}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("kafka-audit: interrupted\n")
        return INTERRUPTED

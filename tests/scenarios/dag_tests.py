"""`airflow dags test kafka_audit` for each line of standard input, which names the log: one process imports Airflow once.

Says the exit code of each, which is 0 if every task succeeded; ends with its standard input.
"""

import os
import sys

from airflow.__main__ import main

COMMAND = ["airflow", "dags", "test", "kafka_audit"]


def exit_code():
    """Run the command as the console script does."""
    sys.argv = [*COMMAND]
    try:
        main()
    except SystemExit as end:
        return 1 if isinstance(end.code, str) else end.code or 0
    return 0


def main_loop():
    """Serve until stdin ends; what Airflow and its tasks write goes to the log, to whichever stream they write."""
    stdout = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        with open(line.strip(), "wb") as log:  # noqa: PTH123 -- nothing but its descriptor is wanted
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            code = exit_code()
            sys.stdout.flush()
            sys.stderr.flush()
        stdout.write(f"{code}\n")
        stdout.flush()


if __name__ == "__main__":
    main_loop()

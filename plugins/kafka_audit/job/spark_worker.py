"""The process behind `job.spark_behind.SparkBehind`: starts Spark, reads one request from stdin, writes the result to stdout.

stdin `{"store": …, "run": …}`; stdout `{"done": true}` or `{"error": …}`, one line each. The end of stdin ends the
process.
"""

import json
import os
import select
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from kafka_audit.model.errors import AuditError
from kafka_audit.spark import class_archive, session


def main() -> int:
    """Serve one request."""
    reported = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the JVM inherits stdout, and may print there
    threading.Thread(target=_end_with_parent, daemon=True).start()
    session.without_pandas()
    with ThreadPoolExecutor(1) as thread:
        starting = thread.submit(session.start, "local[*]", class_archive.archive_java_options())
        from kafka_audit.job import spark_job  # noqa: PLC0415 -- loaded while the JVM starts
    spark = starting.result()
    line = sys.stdin.readline()
    if not line:
        spark.stop()
        return 0
    asked = json.loads(line)
    answer: dict[str, object] = {"done": True}
    try:
        spark_job.answer(spark, asked["store"], asked["run"])
    except AuditError as error:
        answer = {"error": str(error)}
    reported.write(json.dumps(answer) + "\n")
    reported.close()
    spark.stop()
    _end_group(signal.SIGKILL)  # the JVM would tidy up for half a second, in a scratch folder that is removed now
    return 0


def _end_with_parent() -> None:
    """Leave when the audit has gone, even while Spark starts, and take the JVM along.

    A JVM that has started follows by itself, since it reads our end of a pipe. One that is starting hangs for good if the next
    audit has removed our scratch folder before it could write into it.
    """
    poll = select.poll()
    poll.register(sys.stdin.fileno(), 0)  # a closed pipe is always told; reading here would take the request away
    poll.poll()
    _end_group(signal.SIGTERM)
    os._exit(1)


def _end_group(how: signal.Signals) -> None:
    """Send a signal to this process and the JVM, if no other process is in the group, as `spark_behind` starts it."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, how)


if __name__ == "__main__":
    sys.exit(main())

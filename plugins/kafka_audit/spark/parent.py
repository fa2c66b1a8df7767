"""The end of a Spark job whose task was killed: no task waits for its result, and the next attempt starts again."""

import os
import threading
import time

from kafka_audit.model.processes import lives

TASK = "KAFKA_AUDIT_TASK_PID"
"""Variable that holds the process id of the task that started a driver on this machine."""

_EVERY_S = 1.0


def end_with_task() -> None:
    """End this process soon after the task that started it, as `TASK` names it; without that, do nothing.

    The JVM around a driver in Python ends with it.
    """
    pid = os.environ.get(TASK, "")
    if pid.isdecimal():
        threading.Thread(target=_watch, args=(int(pid),), daemon=True).start()


def _watch(pid: int) -> None:
    while lives(pid):
        time.sleep(_EVERY_S)
    os._exit(1)

"""The end of a Spark job whose task was killed: no task waits for its result, and the next attempt starts again."""

import os
import threading
import time
from pathlib import Path

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
    while _lives(pid):
        time.sleep(_EVERY_S)
    os._exit(1)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Return whether a process is dead and not yet collected by its parent; False where there is no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False

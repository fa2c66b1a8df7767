"""Stop some threads of a process and leave the others alone: ``thread_stopper.py PID NAME``, NAME as /proc begins it.

Run as a script; imports nothing of the package. Prints ``ready`` once they stand still; they go on when it ends.
"""

import ctypes
import os
import sys
from pathlib import Path

SEIZE, INTERRUPT = 0x4206, 0x4207  # of ptrace(2), which stops a single thread


def stop(thread: int) -> None:
    """Stop a thread; raises OSError where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    for request in (SEIZE, INTERRUPT):
        if libc.ptrace(request, thread, None, None):
            raise OSError(ctypes.get_errno(), f"ptrace of thread {thread}")


if __name__ == "__main__":
    tasks = Path("/proc", sys.argv[1], "task").iterdir()
    stopped = [int(task.name) for task in tasks if (task / "comm").read_text().startswith(sys.argv[2])]
    if not stopped:
        sys.exit(f"process {sys.argv[1]} has no thread {sys.argv[2]}")
    for number in stopped:
        stop(number)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:  # a traced thread that gets a signal stops again until its tracer lets it go on
        os.waitpid(-1, 0x40000000)  # __WALL

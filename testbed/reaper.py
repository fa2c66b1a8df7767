"""Keep the worker host's namespaces alive and end every process in the bed when its owner is gone.

Run as a script inside the worker host, with the owner's own network namespace as argument, which is never swept;
imports nothing of the package. Standard input is a pipe that only the owner holds open: each line names a network
namespace (``net:[4026532281]``) of the bed, end of file means close. That works when the owner gets SIGKILL too, for
grandchildren, and whichever thread started a process; PR_SET_PDEATHSIG covers neither of the last two.
"""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

SWEEP_PAUSE_S = 0.02
GIVE_UP_S = 100
EMPTY_LOOKS = 2  # one look may race with a fork


def members(namespaces: set[str]) -> list[int]:
    """Return the processes, other than this one, whose network namespace is one of those given."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if str((entry / "ns" / "net").readlink()) in namespaces:
                found.append(int(entry.name))
    return found


def sweep(namespaces: set[str]) -> None:
    """End all members, until looking finds none."""
    empty_looks = 0
    deadline = time.monotonic() + GIVE_UP_S
    while empty_looks < EMPTY_LOOKS and time.monotonic() < deadline:
        pids = members(namespaces)
        empty_looks = 0 if pids else empty_looks + 1
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(SWEEP_PAUSE_S)


def main() -> None:
    """Say ready, gather namespaces until the owner is gone, then sweep."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    spared = sys.argv[1]
    namespaces = {str(Path("/proc/self/ns/net").readlink())}
    if spared in namespaces:
        sys.exit("the worker host got no network namespace of its own")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        namespaces.add(line.strip())
    sweep(namespaces - {spared})


if __name__ == "__main__":
    main()

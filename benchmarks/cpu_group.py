"""Groups of processes that leave the CPU to others, as if they were on other hosts. Needs Linux and root."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CGROUP_V1, CGROUP_V2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
"""Where groups are made: versions 1 and 2 of cgroups."""

IDLE = {"cpu.idle": "1"}
"""Run only while no other process wants to."""

LITTLE = {"cpu.shares": "102", "cpu.weight": "10"}
"""Have a tenth of the share of others where all want to run: servers that starve would look broken. A name for each version."""

LAST_PROCESS_S = 10.0
"""Seconds that processes of the group have to end: nothing waits for Spark's JVM."""


class CpuGroup:
    """A group of processes."""

    def __init__(self, folder: Path) -> None:
        """Take its folder."""
        self._folder = folder

    def add(self, pid: int) -> None:
        """Put a process into the group, and so the children that it starts from now on."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Let what this process starts in the block be outside of the group; the process is in it afterwards."""
        (self._folder.parent / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield
        finally:
            self.add(os.getpid())


@contextmanager
def cpu_group(name: str, settings: dict[str, str]) -> Iterator[CpuGroup]:
    """Make a group of that name; processes other than this one must have ended before the block does."""
    root = CGROUP_V1 if CGROUP_V1.is_dir() else CGROUP_V2
    if os.geteuid() != 0:
        sys.exit("this benchmark needs root: it divides the CPU by cgroups")
    if root == CGROUP_V2:
        (root / "cgroup.subtree_control").write_text("+cpu")
    folder = root / f"{name}-{os.getpid()}"
    folder.mkdir()
    try:
        known = {key: value for key, value in settings.items() if (folder / key).is_file()}
        if not known:
            sys.exit(f"{folder} has none of {', '.join(settings)}: this kernel cannot divide the CPU so")
        for key, value in known.items():
            (folder / key).write_text(value)
        yield CpuGroup(folder)
    finally:
        (root / "cgroup.procs").write_text(str(os.getpid()))
        until = time.monotonic() + LAST_PROCESS_S
        while (folder / "cgroup.procs").read_text() and time.monotonic() < until:
            time.sleep(0.2)
        folder.rmdir()

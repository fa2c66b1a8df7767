"""Groups of processes that leave the CPU to others, as if they were on other hosts. Needs Linux and root."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FIRST, SECOND = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
"""Where groups are made: versions 1 and 2 of cgroups."""

IDLE = {"cpu.idle": "1"}
"""Run only while no other process wants to."""

LITTLE = {"cpu.shares": "102", "cpu.weight": "10"}
"""Have a tenth of the share of others where all want to run: servers that starve would look broken. A name for each version."""


class CpuGroup:
    """A group of processes."""

    def __init__(self, folder: Path) -> None:
        """Take its folder."""
        self._folder = folder

    def add(self, pid: int) -> None:
        """Put a process into the group, and so the children that it starts from now on."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    @contextmanager
    def left(self) -> Iterator[None]:
        """Let what this process starts in the block be outside of the group; the process is in it afterwards."""
        (self._folder.parent / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield
        finally:
            self.add(os.getpid())


@contextmanager
def cpu_group(name: str, settings: dict[str, str]) -> Iterator[CpuGroup]:
    """Make a group of that name; processes other than this one must have ended before the block does."""
    root = FIRST if FIRST.is_dir() else SECOND
    if root == SECOND:
        (root / "cgroup.subtree_control").write_text("+cpu")
    folder = root / name
    folder.mkdir(exist_ok=True)
    for key, value in settings.items():
        if (folder / key).is_file():
            (folder / key).write_text(value)
    try:
        yield CpuGroup(folder)
    finally:
        (root / "cgroup.procs").write_text(str(os.getpid()))
        folder.rmdir()

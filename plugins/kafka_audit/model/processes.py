"""Other processes of this machine, by the ids that they left in files and variables."""

import os
from pathlib import Path


def lives(pid: int) -> bool:
    """Return whether a process of any user lives; one that is dead and not yet collected by its parent does not."""
    try:
        os.kill(pid, 0)
    except PermissionError:  # another user's
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):  # there is no /proc, or it has just ended
        return False

"""Memory that is no longer used goes back to the system: an audit goes on for minutes after the largest answers came."""

import ctypes
import functools
import gc
from contextlib import suppress

import pyarrow as pa

_M_ARENA_MAX, _ARENAS = -8, 2  # malloc.h of glibc
_NO_GLIBC = (AttributeError, OSError, TypeError)


@functools.cache
def share_arenas() -> None:
    """Let threads allocate from the same memory: glibc gives each its own, which keeps what the largest answer took there."""
    with suppress(*_NO_GLIBC):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def return_memory() -> None:
    """Return what was freed."""
    with suppress(*_NO_GLIBC):
        ctypes.CDLL(None).malloc_trim(0)


def release_memory() -> None:
    """Free what nothing refers to any longer, cycles and Arrow's buffers included, and return it."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    return_memory()

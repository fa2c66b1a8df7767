"""The order in which Java's HashMap holds its keys: where several are wrong, it decides which one Kafka tells."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def hash_order(keys: Iterable[str], count: int) -> list[str]:
    """Return texts in the order in which a HashMap of Java's, with `count` keys in all, holds them."""
    size = 16
    while count > size * 3 // 4:
        size *= 2
    return sorted(keys, key=lambda key: _hash(key) & (size - 1))


def _hash(text: str) -> int:
    found = 0
    for unit in struct.iter_unpack("<H", text.encode("utf-16-le", "surrogatepass")):
        found = (31 * found + unit[0]) & 0xFFFFFFFF
    return found ^ found >> 16

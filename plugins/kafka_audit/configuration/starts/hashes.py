"""The order in which Java's and Scala's maps hold their keys.

Of several wrong keys it decides which one Kafka reports, and of two keys that mean the same which one counts.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SMALL = 4  # Scala keeps the order of insertion up to here
_BITS = 5  # of a hash for each level of Scala's trie
_HASH_BITS = 32


def hash_order(keys: Iterable[str], count: int) -> list[str]:
    """Return texts in the order in which a HashMap of Java's, with `count` keys in all, holds them."""
    size = 16
    while count > size * 3 // 4:
        size *= 2
    return sorted(keys, key=lambda key: _spread(java_hash(key)) & (size - 1))


def scala_order(keys: Iterable[str], *, keys_first: bool) -> list[str]:
    """Return texts in the order in which an immutable Map of Scala's holds them.

    Args:
        keys: in the order of insertion.
        keys_first: as `_trie` has it.
    """
    held = list(keys)
    if len(held) <= _SMALL:
        return held
    return list(_trie([(_improved(java_hash(key)), key) for key in held], keys_first=keys_first))


def _trie(held: Sequence[tuple[int, str]], *, keys_first: bool, depth: int = 0) -> Iterator[str]:
    """Yield keys by the lowest bits of their hashes; those that share these bits are in a separate node, by the next bits.

    Args:
        held: hashes and keys of one node.
        keys_first: whether a node's own keys come before those of the nodes below it (Scala 2.13).
        depth: of the node.
    """
    if len(held) == 1 or depth * _BITS >= _HASH_BITS:
        yield from (key for _, key in held)
        return
    below: dict[int, list[tuple[int, str]]] = {}
    for number, key in held:
        below.setdefault(number >> depth * _BITS & (1 << _BITS) - 1, []).append((number, key))
    for place in sorted(below, key=lambda place: (keys_first and len(below[place]) > 1, place)):
        yield from _trie(below[place], keys_first=keys_first, depth=depth + 1)


def _improved(number: int) -> int:
    """Return a hash as `improve` of Scala's HashMap mixes it."""
    number = number + ~(number << 9) & 0xFFFFFFFF
    number ^= number >> 14
    number = number + (number << 4) & 0xFFFFFFFF
    return number ^ number >> 10


def _spread(number: int) -> int:
    """Return a hash as Java's HashMap mixes it."""
    return number ^ number >> 16


def java_hash(text: str) -> int:
    """Return `String.hashCode`, as an unsigned number of 32 bits."""
    found = 0
    for unit in struct.iter_unpack("<H", text.encode("utf-16-le", "surrogatepass")):
        found = (31 * found + unit[0]) & 0xFFFFFFFF
    return found

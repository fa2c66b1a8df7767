"""The types of Kafka's protocol, read from bytes one after the other; reading past the end raises struct.error or IndexError."""

import struct

MOST_TEXT = 32767
"""Bytes of a string of Kafka's: its length is an int16, and Java takes no longer one where the length is compact either."""

_VARINT_BITS = 28  # a length needs at most 28 bits; more is no length
_int16, _int32 = struct.Struct("!h").unpack_from, struct.Struct("!i").unpack_from


class WireError(ValueError):
    """The bytes are no such answer."""


class Cursor:
    """A place in a body; `flexible` ones have compact lengths and tags."""

    def __init__(self, data: bytes, *, flexible: bool) -> None:
        """Start at the first byte."""
        self.data = data
        self.flexible = flexible
        self.at = 0

    def int8(self) -> int:
        """Return a signed byte."""
        value = self.data[self.at]
        self.at += 1
        return value - 256 if value >= 0x80 else value  # noqa: PLR2004 -- the sign

    def int16(self) -> int:
        """Return two bytes, signed."""
        (value,) = _int16(self.data, self.at)
        self.at += 2
        return int(value)

    def int32(self) -> int:
        """Return four bytes, signed."""
        (value,) = _int32(self.data, self.at)
        self.at += 4
        return int(value)

    def varint(self) -> int:
        """Return a number of one to five bytes."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 -- the continuation bit
                return value
            shift += 7
            if shift > _VARINT_BITS:
                msg = "a length is too long"
                raise WireError(msg)

    def length(self) -> int:
        """Return the length of an array; raises WireError for null, which no array that is read here may be."""
        size = self.varint() - 1 if self.flexible else self.int32()
        if size < 0:
            msg = "null instead of a list"
            raise WireError(msg)
        return size

    def text(self) -> str | None:
        """Return a string, None for null."""
        size = self.varint() - 1 if self.flexible else self.int16()
        if size < 0:
            return None
        if size > MOST_TEXT:
            msg = f"a text of {size} bytes"
            raise WireError(msg)
        return self.take(size).decode()

    def name(self) -> str:
        """Return a string that is not null; raises WireError."""
        found = self.text()
        if found is None:
            msg = "null instead of a name"
            raise WireError(msg)
        return found

    def take(self, size: int) -> bytes:
        """Return that many bytes."""
        data = self.data[self.at : self.at + size]
        if len(data) != size:
            msg = "the answer ends early"
            raise WireError(msg)
        self.at += size
        return data

    def skip(self, size: int) -> None:
        """Pass over that many bytes."""
        if size > len(self.data) - self.at:
            msg = "the answer ends early"
            raise WireError(msg)
        self.at += size

    def ints(self) -> tuple[int, ...]:
        """Return an array of int32."""
        size = self.length()
        return struct.unpack(f"!{size}i", self.take(4 * size))

    def tags(self) -> None:
        """Pass over tagged fields, of which we know none."""
        if self.flexible:
            for _ in range(self.varint()):
                self.varint()
                self.take(self.varint())

"""Numbers of variable length in answers that kafka-python decodes: five bytes at most, as Kafka's protocol has it.

The decoders that kafka-python generates read on for as long as bytes say that more follow, and add each to an ever longer number:
time grows with the square of the answer, minutes for a few megabytes, and no deadline interrupts it.
"""

from typing import Any

from kafka.protocol.schemas.fields.codecs.types import UnsignedVarInt32

_LAST_SHIFT = 28


def bound() -> None:
    """Let decoders that are generated from now on refuse a longer number by ValueError."""
    UnsignedVarInt32.emit_decode_from = classmethod(_emit)


def _emit(_: type, context: Any, name: str, indent: str) -> None:  # noqa: ANN401 -- kafka-python's generator is untyped
    """Emit what reads one number at `pos` of `data` into the variable `name`."""
    byte, shift = context.next_var("b"), context.next_var("sh")
    for line in (
        f"{name} = {shift} = 0",
        "while True:",
        f"    {byte} = data[pos]",
        "    pos += 1",
        f"    {name} |= ({byte} & 0x7f) << {shift}",
        f"    if {byte} < 0x80: break",
        f"    {shift} += 7",
        f"    if {shift} > {_LAST_SHIFT}: raise ValueError('a number of more than five bytes')",
    ):
        context.emit(indent, line)

"""What is not known, and what would tell it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NotKnown:
    """Something that was not measured.

    `decides`: the loss may be unsafe for it, so that it cannot be called safe.
    """

    what: str
    needs: str
    decides: bool = True

"""The base of all tables."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Annotated, ClassVar, dataclass_transform

Long = Annotated[int, "long"]
"""A whole number of Java's type: times, offsets, sizes, zxids. Any other `int` is Java's int, as ids, epochs and counts are."""

ZOOKEEPER = "zookeeper "
"""Beginning of the operations that ZooKeeper answers."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class Row:
    """Base of all tables, each a frozen dataclass by this base; `table()` is the table's name in store and SQL.

    `filled_by` has the beginnings of the operations of `SourceRead` that fill it; what another party answers instead is second.
    It is empty for a table that no read fills. `stored`: whether a snapshot has the table.
    """

    filled_by: ClassVar[tuple[str, ...]] = ()
    stored: ClassVar[bool] = True

    def __init_subclass__(cls, *, filled_by: tuple[str, ...] = (), stored: bool = True) -> None:
        """Make a table a dataclass; note the reads that fill it, which its definition names, and whether it is stored."""
        super().__init_subclass__()
        cls.filled_by = filled_by
        cls.stored = stored
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def table(cls) -> str:
        """Return the snake_case table name, e.g. `broker_view`."""
        return _snake_case(cls.__name__)


@cache
def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()

"""The base of all tables."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """Base of all tables; `table()` is the table's name in store and SQL."""

    @classmethod
    def table(cls) -> str:
        """Return the snake_case table name, e.g. `broker_view`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

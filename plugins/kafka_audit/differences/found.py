"""What the difference tables of one judged snapshot hold, without Spark: small, and all that Python ever sees of partitions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from kafka_audit.differences.tables import DIFFERENCES, ListAge
from kafka_audit.model.tables import Row

_R = TypeVar("_R", bound=Row)


@dataclass(frozen=True, kw_only=True)
class Differences:
    """Rows by table; a table without rows is empty, one that was not computed raises."""

    rows: dict[type[Row], tuple[Row, ...]] = field(default_factory=dict)

    def of(self, table: type[_R]) -> tuple[_R, ...]:
        """Return the rows of a difference table."""
        return self.rows[table]  # type: ignore[return-value] # by construction

    def with_rows(self, table: type[_R], rows: Sequence[_R]) -> "Differences":
        """Return these differences with the rows of one more table, sorted, for engines return them in any order."""
        return Differences(rows={**self.rows, table: tuple(sorted(rows, key=repr))})

    @classmethod
    def from_rows(cls, tables: Iterable[type[Row]], rows: Iterable[Row]) -> "Differences":
        """Sort rows by table, and within a table, for engines return them in any order.

        Each of `tables` is there, with or without rows.
        """
        found: dict[type[Row], list[Row]] = {table: [] for table in tables}
        for row in rows:
            found[type(row)].append(row)
        return cls(rows={table: tuple(sorted(of, key=repr)) for table, of in found.items()})

    def to_plain(self) -> dict[str, list[dict[str, Any]]]:
        """Return rows by table name as data that JSON holds."""
        return {table.table(): [asdict(row) for row in rows] for table, rows in self.rows.items()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Sequence[Mapping[str, Any]]]) -> "Differences":
        """Read what `to_plain` returned; raises KeyError or TypeError for tables or columns of another version."""
        tables: tuple[type[Row], ...] = (*DIFFERENCES, ListAge)
        found: dict[type[Row], tuple[Row, ...]] = {
            table: tuple(table(**{key: _tuple(value) for key, value in row.items()}) for row in plain[table.table()])
            for table in tables
        }
        return cls(rows=found)


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value

"""A snapshot in which one read was refused: its rows are not there, and the read says so, as an audit without the right has it.

Logs, files and vantages are inputs of the cluster file; `faults.inputs` takes these away.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache

from kafka_audit.model.cluster import WORKER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import TABLES, BrokerIdentity, Probe, Row, Snapshot, SourceRead

_IDENTITY = "DescribeConfigs identity"
_NEVER_REFUSED = ("ApiVersions", "probe", "logs", "properties")


def each_refused(snapshot: Snapshot) -> Iterator[tuple[str, Snapshot]]:
    """Yield each read by its name, and the snapshot without it: refused by every party that was asked, and by one of them."""
    asked: dict[str, list[str]] = {}
    for read in snapshot.of(SourceRead):
        if read.outcome == "answered" and not read.operation.startswith(_NEVER_REFUSED):
            asked.setdefault(read.operation, []).append(read.observer)
    for operation, observers in sorted((operation, sorted({*found})) for operation, found in asked.items()):
        yield operation, _without(snapshot, operation, observers)
        if len(observers) > 1:
            yield from ((f"{operation} of {one}", _without(snapshot, operation, [one])) for one in observers)


def _without(snapshot: Snapshot, operation: str, observers: Collection[str]) -> Snapshot:
    return replace(snapshot, rows=tuple(_left(snapshot, operation, frozenset(observers))))


def _left(snapshot: Snapshot, operation: str, observers: frozenset[str]) -> Iterator[Row]:
    asked = {read.observer for read in snapshot.of(SourceRead) if read.operation == operation}
    for row in snapshot.rows:
        if isinstance(row, SourceRead) and row.operation == operation and row.observer in observers:
            error = "NoAuthError" if row.observer == "zookeeper" else "CLUSTER_AUTHORIZATION_FAILED"
            yield replace(
                row, outcome="failed", error=error, reason=ReadFailure.NOT_AUTHORIZED, needs=f"the right to {operation}"
            )
        elif not _is_told(row, operation, observers, asked):
            yield row


@cache
def _tables(operation: str) -> frozenset[type[Row]]:
    return frozenset(table for table in TABLES if any(operation.startswith(one) for one in table.filled_by))


def _is_told(row: Row, operation: str, observers: frozenset[str], asked: Collection[str]) -> bool:
    """Return whether a row came from these parties by this read.

    One that names no party, such as a list that several brokers hold, is of all that were asked.
    """
    if operation == _IDENTITY and (isinstance(row, BrokerIdentity) or (isinstance(row, Probe) and row.layer == "identity")):
        here = isinstance(row, BrokerIdentity) or row.vantage == WORKER
        return here and f"broker:{row.broker_id}" in observers
    if type(row) not in _tables(operation):
        return False
    observer = getattr(row, "observer", None)
    return observers >= {*asked} if observer is None else observer in observers

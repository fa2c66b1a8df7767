"""What a look at the metadata quorum shows that must be seen twice. Pure."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Protocol, TypeVar

from kafka_audit.collect.rows.source_reads import clean_line
from kafka_audit.model.quorum import late
from kafka_audit.model.tables import ControllerProbe, FencedBroker, QuorumReplica, QuorumView, Row
from kafka_audit.model.text import brokers, listing

_T = TypeVar("_T", bound=Row)


class RowsByTable(Protocol):
    """Rows by table."""

    def of(self, table: type[_T]) -> Iterable[_T]:
        """Return the rows of one table."""
        ...


def find_quorum_differences(tables: RowsByTable, reasons: list[str]) -> set[tuple[Hashable, ...]]:
    """Return what a quorum at rest does not show: no leader or several, late replicas, fenced brokers, silent controllers."""
    views = tuple(tables.of(QuorumView))
    found: set[tuple[Hashable, ...]] = set()
    leaders = {one.leader_id for one in views}
    if views and (len(leaders) > 1 or min(leaders) < 0):
        found |= {("quorum leader", one.observer, one.leader_id) for one in views}
        reasons.append("the metadata quorum has no leader, or observers report several")
    replicas: defaultdict[str, list[QuorumReplica]] = defaultdict(list)
    for row in tables.of(QuorumReplica):
        replicas[row.observer].append(row)
    behind = {one for rows in replicas.values() for one in late(rows)}
    if behind:
        found |= {("quorum replica", one) for one in behind}
        reasons.append(f"{listing((f'node {one}' for one in sorted(behind)), 3)} lag behind the metadata log")
    fenced = {one.fenced_id for one in tables.of(FencedBroker)}
    if fenced:
        found |= {("fenced", one) for one in fenced}
        reasons.append(f"{brokers(fenced, 3)} fenced by the controllers")
    for one in tables.of(ControllerProbe):
        if one.outcome == "failed":
            found.add(("controller", one.address, one.layer))
            reasons.append(f"{one.layer} to the controller at {clean_line(one.address, 80)} failed ({one.error})")
    return found

"""Faults of the metadata quorum that two samples must show. Pure."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Protocol, TypeVar

from kafka_audit.collect.rows.source_reads import clean_line
from kafka_audit.model.quorum import late
from kafka_audit.model.tables import ControllerProbe, ControllerProbeFromBroker, FencedBroker, QuorumReplica, QuorumView, Row
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
    leaders = {view.leader_id for view in views}
    if views and (len(leaders) > 1 or min(leaders) < 0):
        found |= {("quorum leader", view.observer, view.leader_id) for view in views}
        reasons.append("the metadata quorum has no leader, or observers report several")
    replicas: defaultdict[str, list[QuorumReplica]] = defaultdict(list)
    for row in tables.of(QuorumReplica):
        replicas[row.observer].append(row)
    behind = {number for rows in replicas.values() for number in late(rows)}
    if behind:
        found |= {("quorum replica", number) for number in behind}
        reasons.append(f"{listing((f'node {number}' for number in sorted(behind)), 3)} lag behind the metadata log")
    fenced = {broker.fenced_id for broker in tables.of(FencedBroker)}
    if fenced:
        found |= {("fenced", number) for number in fenced}
        reasons.append(f"{brokers(fenced, 3)} fenced by the controllers")
    for probe in tables.of(ControllerProbe):
        if probe.outcome == "failed":
            found.add(("controller", probe.address, probe.layer))
            reasons.append(f"{probe.layer} to the controller at {clean_line(probe.address, 80)} failed ({probe.error})")
    for path in tables.of(ControllerProbeFromBroker):
        if path.outcome == "failed":
            found.add(("controller", path.vantage, path.from_broker, path.address, path.layer))
            place = f"from broker {path.from_broker} to the controller at {clean_line(path.address, 80)}"
            reasons.append(f"{path.layer} {place} failed ({path.error})")
    return found

"""The tables that a check needs, as its cases show: those without which it says something else. `make accept` writes them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from checks.cases import cases
from kafka_audit.checks import Check
from kafka_audit.checks.run import judge
from kafka_audit.cluster.samples import Samples
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences import files
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import (
    DIFFERENCES,
    FormerLeaderState,
    KeptTopic,
    ListCount,
    ReassignedState,
    ReplicaFault,
    ReplicaGap,
    ReplicaState,
    TopicIdDifference,
    ViewDifference,
)
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerIdentity,
    BrokerProperty,
    BrokerView,
    LeadershipAnswer,
    Probe,
    Reassignment,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    TopicConfig,
    ViewBroker,
    ViewPartition,
    ViewTopic,
)

Tables = frozenset[type[Row]]

COMMON: Tables = frozenset({SnapshotInfo, Sample, SourceRead})
"""What every view is made of, and cannot be taken away."""
INNOCENT: dict[type[Row], dict[str, Any]] = {
    SourceRead: {"outcome": "answered", "elapsed_ms": 0},
    Sample: {"started_ms": 0, "finished_ms": 0},
}
"""Values with which rows of these tables show no fault: a check needs those without which a failure ends."""

REGISTERED: Tables = frozenset({RegisteredBroker, RegisteredEndpoint, RegisteredTopic, RegisteredPartition})
OF_VIEWS: Tables = frozenset({ViewTopic, ViewPartition})

OF_KRAFT: Tables = frozenset({BrokerView, ViewBroker})
"""What stands in for the registry in KRaft mode, and what more for the addresses in it (`failed_inputs` knows it)."""
OF_KRAFT_ADDRESSES: Tables = frozenset({BrokerIdentity, BrokerConfig, BrokerProperty, Probe})

GIVEN: dict[type[Row], Tables] = {
    FormerLeaderState: frozenset({LeadershipAnswer}),
    ReassignedState: frozenset({Reassignment}),
    ReplicaState: frozenset({BrokerConfig}),
    ReplicaFault: frozenset({BrokerConfig}),
}
"""Small tables that a difference table rests on, by way of `cluster.given`."""


def judgements(check: Check, view: ClusterView) -> tuple[Judgement, ...]:
    """Return what a check says of a case's view, which is a fresh one: nothing is known of it yet."""
    return judge(view, {check.code: check}, kind=check.kind)


def fresh(view: ClusterView, rows: Iterable[Row] | None = None, without: Iterable[type[Row]] = ()) -> ClusterView:
    """Return a view of the same cluster, with other rows in its small tables or without those of difference tables."""
    snapshot = view.snapshot if rows is None else replace(view.snapshot, rows=tuple(rows))
    left = {table: () if table in set(without) else found for table, found in view.differences.rows.items()}
    return ClusterView(snapshot, view.previous, Differences(rows=left))


@dataclass(frozen=True, kw_only=True)
class Dependence:
    """A table without which a check says something else in a case."""

    table: type[Row]
    kraft: bool


def needed(check: Check, views: Mapping[str, ClusterView]) -> tuple[type[Row], ...]:
    """Return the tables that a check needs, by name; `views` are those of all cases, by code and name."""
    found: set[Dependence] = set()
    for name in cases(check.code):
        view = views[f"{check.code}-{name}"]
        with recorded() as tables:
            judged = judgements(check, fresh(view))
        for table in tables - COMMON - {dependence.table for dependence in found if dependence.kraft == view.kraft}:
            if judgements(check, without(view, table)) != judged:
                found.add(Dependence(table=table, kraft=view.kraft))
        found |= {Dependence(table=table, kraft=view.kraft) for table in INNOCENT if _fails_by(table, check, view, judged)}
    registered = REGISTERED & {table for dependence in found if not dependence.kraft for table in required(dependence, Tables())}
    needs = {table for dependence in found for table in required(dependence, registered)}
    return tuple(sorted(needs, key=lambda table: table.__name__))


def _fails_by(table: type[Row], check: Check, view: ClusterView, found: Iterable[Judgement]) -> bool:
    rows = [replace(row, **INNOCENT[table]) if type(row) is table else row for row in view.snapshot.rows]
    return _failures(found) != _failures(judgements(check, fresh(view, rows)))


def _failures(found: Iterable[Judgement]) -> set[str]:
    return {judgement.resource for judgement in found if judgement.status is Status.FAIL}


@contextmanager
def recorded() -> Iterator[set[type[Row]]]:
    """Yield the tables that are read inside, of snapshots and of differences."""
    tables: set[type[Row]] = set()

    def noting(plain):
        def read(own, table, *rest):
            tables.add(table)
            return plain(own, table, *rest)

        return read

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((Snapshot, "of"), (Samples, "at"), (Differences, "of")):
            patch.setattr(owner, name, noting(getattr(owner, name)))
        yield tables


def stored_tables(table: type[Row]) -> Tables:
    """Return the tables of a snapshot that a table is, or is computed from."""
    return files.large_tables(table, order=False) | GIVEN.get(table, frozenset()) if table in DIFFERENCES else frozenset({table})


def without(view: ClusterView, table: type[Row]) -> ClusterView:
    if table in DIFFERENCES:
        return fresh(view, without=(table,))
    return fresh(view, [row for row in view.snapshot.rows if type(row) is not table])


def required(found: Dependence, registered: Tables) -> Iterator[type[Row]]:
    """Yield what a dependence adds to `needs`, which stays silent of what stands in for the registered tables among them."""
    stand_ins = OF_KRAFT | (OF_KRAFT_ADDRESSES if RegisteredEndpoint in registered else frozenset())
    compared = {ViewDifference, ListCount, KeptTopic, TopicIdDifference}
    table, kraft = found.table, found.kraft
    tables = stored_tables(table)
    if table in {ReplicaState, ReplicaFault, ReplicaGap}:
        tables -= {TopicConfig, BrokerConfig}  # min.insync.replicas, which not every check looks at; and which replicas observe
    for name in tables:
        if name is Registry and registered:
            continue
        if kraft and registered and name in stand_ins | OF_VIEWS:
            continue
        if table in DIFFERENCES and name in (REGISTERED if kraft else OF_VIEWS) and table not in compared:
            continue  # the SQL of the other mode
        yield name

"""Cluster views of snapshots that a test made, without Java: the difference tables are computed by the same SQL in DuckDB."""

from collections.abc import Mapping

from kafka_audit.bounds import isolation
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, ListAge
from kafka_audit.job import judging
from kafka_audit.model.run import JobAnswer, JudgedSnapshot
from kafka_audit.model.tables import Snapshot
from testbed import in_duckdb
from testbed.corpus.auditing import DuckMeasure


def cluster_views(pairs: Mapping[str, tuple[Snapshot, Snapshot | None]]) -> dict[str, ClusterView]:
    """Return the view of each pair of a snapshot and its previous one, by the snapshot's id."""
    stored = [one for pair in pairs.values() for one in pair if one is not None]
    rows = {name: given(*pair, ()) for name, pair in pairs.items()}
    ages = in_duckdb.list_ages(stored, {name: told for name, told in rows.items() if ages_needed(*pairs[name])})
    rows |= {name: given(*pairs[name], found) for name, found in ages.items()}
    differences = in_duckdb.measure(stored, rows)
    return {name: ClusterView(*pair, differences[name].with_rows(ListAge, ages.get(name, ()))) for name, pair in pairs.items()}


def cluster_view(snapshot: Snapshot, previous: Snapshot | None = None) -> ClusterView:
    """Return the view of one snapshot."""
    return cluster_views({snapshot.snapshot_id: (snapshot, previous)})[snapshot.snapshot_id]


def answer(store, run_id, apart=isolation.here):
    """Answer the request of a run as the Spark job does."""
    judging.judge_run(store, run_id, lambda ids: DuckMeasure(store, ids), apart)


def answer_with(store, run_id, judgements=()):
    """Answer the request of a run with these judgements, as if nothing differed."""
    nothing = Differences.from_rows((*DIFFERENCES, ListAge), ()).to_plain()
    ids = tuple(pair.snapshot_id for pair in store.read_request(run_id).pairs)
    for snapshot_id in ids:
        own = tuple(one for one in judgements if one.snapshot_id == snapshot_id)
        store.write_judged(run_id, JudgedSnapshot(snapshot_id=snapshot_id, judgements=own, changes=(), differences=nothing))
    store.write_answer(run_id, JobAnswer(judged=ids, failed=()))

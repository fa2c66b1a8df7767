"""What the Spark job does, the same behind spark-submit and behind `kafka-audit run`: measure with Spark, judge in the driver."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NoReturn

from pyspark.sql import SparkSession

from kafka_audit.bounds import isolation
from kafka_audit.cluster.view import ClusterView
from kafka_audit.job.judging import DISAGREEMENTS, Pairs, Views, judge_run, measured_views
from kafka_audit.model.run import run_path
from kafka_audit.model.tables import LARGE
from kafka_audit.spark.measure import SparkMeasure, jobs_ended_after
from kafka_audit.store import Store
from kafka_audit.store.manifest import Manifest

log = logging.getLogger(__name__)

_LARGE = tuple(table.table() for table in LARGE)


def answer(spark: SparkSession, store_root: str, run_id: str) -> None:
    """Answer the request of a run.

    Args:
        spark: session to run on.
        store_root: the store's local path or URL, which this driver and Spark both reach.
        run_id: whose `request.json` to read.

    Raises:
        EngineError: there is no request, or a query failed.
        StoreError: the store could not be read or written.
    """
    store = Store(store_root)
    turns = isolation.InTurn(len(store.read_request(run_id).pairs))
    judge_run(store, run_id, partial(_measured, spark, store, f"{store.root}/{run_path(run_id, DISAGREEMENTS)}", turns), turns)


def _measured(spark: SparkSession, store: Store, everything: str, turns: isolation.InTurn, snapshots: Pairs) -> Views:
    """Measure all snapshots together, which costs a fraction; where that fails or takes too long, each apart.

    One that fails then costs no other one its report.
    """

    def views(pairs: Pairs, disagreements: str, seconds: float) -> Mapping[str, ClusterView]:
        def measure(ids: Collection[str]) -> SparkMeasure:
            manifests = [store.manifest(snapshot_id) for snapshot_id in ids]
            return SparkMeasure(spark, store.root, _holders(manifests), rows=_rows(manifests), disagreements=disagreements)

        with jobs_ended_after(spark, seconds):
            return measured_views(pairs, measure)

    def apart(name: str, seconds: float) -> Callable[[], ClusterView]:
        try:
            return partial(_returned, views({name: snapshots[name]}, f"{everything}/{name}", seconds)[name])
        except Exception as error:  # raised where the snapshot is judged, which keeps why it has no report
            log.exception("%s cannot be compared", name)
            return partial(_raised, error)

    if len(snapshots) > 1:
        try:
            return {name: partial(_returned, view) for name, view in views(snapshots, everything, turns.before(2)).items()}
        except Exception:  # whatever one of them made it raise
            log.exception("%s snapshots are compared apart, because together it failed", len(snapshots))
    return {name: apart(name, turns.before(len(snapshots) - done)) for done, name in enumerate(snapshots)}


def _returned(view: ClusterView) -> ClusterView:
    return view


def _raised(error: Exception) -> NoReturn:
    raise error


def _holders(manifests: Sequence[Manifest]) -> dict[str, dict[str, str]]:
    """Return by large table, by snapshot, the snapshot whose folder has its file, if that has any row."""
    return {
        name: {
            manifest.snapshot_id: manifest.holder(name)
            for manifest in manifests
            if name in manifest.tables and manifest.tables[name].rows
        }
        for name in _LARGE
    }


def _rows(manifests: Sequence[Manifest]) -> int:
    """Return how many rows there are for Spark to read."""
    return sum(manifest.tables[name].rows for manifest in manifests for name in _LARGE if name in manifest.tables)

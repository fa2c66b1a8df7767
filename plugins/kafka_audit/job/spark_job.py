"""What the Spark job does, the same behind spark-submit and behind `kafka-audit run`: measure with Spark, judge in the driver."""

from collections.abc import Collection, Sequence

from pyspark.sql import SparkSession

from kafka_audit.bounds import isolation
from kafka_audit.job.judging import DISAGREEMENTS, judge_run
from kafka_audit.model.run import run_path
from kafka_audit.model.tables import LARGE
from kafka_audit.spark.measure import SparkMeasure
from kafka_audit.store import Store
from kafka_audit.store.manifest import Manifest

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
    count = len(store.read_request(run_id).pairs)
    everything = f"{store.root}/{run_path(run_id, DISAGREEMENTS)}"

    def measure(ids: Collection[str]) -> SparkMeasure:
        manifests = [store.manifest(snapshot_id) for snapshot_id in ids]
        return SparkMeasure(spark, store.root, _holders(manifests), rows=_rows(manifests), disagreements=everything)

    judge_run(store, run_id, measure, isolation.InTurn(count))


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

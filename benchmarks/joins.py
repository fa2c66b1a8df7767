"""Comparing views by digests, and by joins of raw rows: `python benchmarks/joins.py [--sizes 10x20000 100x20000 100x200000]`.

The views of `views.py` (a broker of twenty is stale, with old leaders for a topic in a hundred), stored in two ways:

- by digest, as the audit does: each distinct content of a topic once, in the tables of a snapshot
- raw: a Parquet file for each broker, with a row for each partition: topic, partition, leader, leader epoch, replicas, ISR

Each way counts for each broker the partitions for which it reports an older leader than the newest that any broker reports:

- Spark raw, Polars raw: a join of the raw rows with their newest epoch by topic and partition
- Spark digest, Polars digest: the same join, only of topics whose digest is not the same in all views
- audit: `SparkMeasure`, the whole of what an audit computes in Spark. This count is one of its eighteen difference tables; the
  others answer what the joins do not (replicas, ISRs, epochs, racks, topic ids, …).

Checks that all find the same. Runs each once without counting it, then `--rounds` times in turn, and prints the medians of the
wall time, ratios, and by which power of the number of brokers and of partitions each grows. What makes the digests is measured by
`views.py`. All of Spark is one session of kafka-audit, with Java's compiler for long work, which the audit turns off. Polars
reads lazily and collects with its streaming engine.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from growth import print_growth
from large_stores import write
from pyarrow import parquet
from pyspark.sql import SparkSession
from views import answers

from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.differences.tables import ViewDifference
from kafka_audit.model.tables import LARGE, BrokerView, Row, ViewPartition, ViewTopic
from kafka_audit.spark import session
from kafka_audit.spark.measure import SparkMeasure
from kafka_audit.store import Store

SNAPSHOT = "20260914T180000Z-prod-0001"
RAW = ("topic", "partition", "leader", "leader_epoch", "replicas", "isr")
JOIN = """
SELECT raw.observer, count(*) FROM raw
JOIN (SELECT topic, partition, max(leader_epoch) AS newest FROM raw GROUP BY topic, partition) USING (topic, partition)
WHERE leader_epoch < newest GROUP BY raw.observer
"""
DIGEST_JOIN = """
WITH differing AS (SELECT topic FROM topics GROUP BY topic HAVING count(DISTINCT topic_digest) > 1),
shown AS (
  SELECT t.topics_digest, p.topic, p.partition, p.leader_epoch FROM topics AS t JOIN differing AS d ON d.topic = t.topic
  JOIN contents AS p ON p.topic = t.topic AND p.topic_digest = t.topic_digest
),
newest AS (SELECT topic, partition, max(leader_epoch) AS newest FROM shown GROUP BY topic, partition),
older AS (
  SELECT topics_digest, count(*) AS partitions FROM shown JOIN newest USING (topic, partition)
  WHERE leader_epoch < newest GROUP BY topics_digest
)
SELECT observer, partitions FROM held JOIN older USING (topics_digest)
"""
WAYS = ("audit", "Spark digest", "Spark raw", "Polars digest", "Polars raw")
Found = dict[int, int]


def stored(brokers: int, partitions: int, folder: Path) -> Store:
    """Write the views of all brokers in both ways; return the store."""
    store = Store(folder / "store")
    views, large = write(store, SNAPSHOT, answers(brokers, partitions))
    raw = folder / "raw"
    raw.mkdir()
    tables = {digest: raw_rows(large, digest) for digest in {view.topics_digest for view in views}}
    for broker, view in enumerate(views):
        table = tables[view.topics_digest]
        observer = pa.array([broker], pa.int32()).take(pa.array([0] * table.num_rows, pa.int32()))
        parquet.write_table(table.append_column("observer", observer), raw / f"{broker}.parquet")
    return store


def raw_rows(large: dict[type[Row], pa.Table], topics_digest: str) -> pa.Table:
    """Return the partitions of a list of topics."""
    topics = large[ViewTopic]
    listed = topics.filter(pc.equal(topics.column("topics_digest"), topics_digest)).column("topic_digest")
    partitions = large[ViewPartition]
    return partitions.filter(pc.is_in(partitions.column("topic_digest"), value_set=listed.combine_chunks())).select(RAW)


def audit(spark: SparkSession, store: Store) -> Found:
    """Compare by digest, as the job does."""
    snapshot, manifest = store.read(SNAPSHOT, large=False), store.manifest(SNAPSHOT)
    names = [table.table() for table in LARGE if table.table() in manifest.tables]
    count = sum(manifest.tables[name].rows for name in names)
    measure = SparkMeasure(spark, store.root, {name: {SNAPSHOT: SNAPSHOT} for name in names}, rows=count)
    rows = {SNAPSHOT: given(snapshot, None, ())}
    if ages_needed(snapshot, None):
        rows = {SNAPSHOT: given(snapshot, None, measure.ages(rows)[SNAPSHOT])}
    found = measure.differences(rows)[SNAPSHOT]
    return {int(row.name): row.partitions for row in found.of(ViewDifference) if row.kind == "leader"}


def spark_join(spark: SparkSession, raw: Path) -> Found:
    """Join the raw rows in Spark."""
    spark.read.parquet(f"file://{raw}").createOrReplaceTempView("raw")
    return dict(map(tuple, spark.sql(JOIN).collect()))


def polars_join(raw: Path) -> Found:
    """Join them in Polars."""
    rows = pl.scan_parquet(raw / "*.parquet").select("observer", "topic", "partition", "leader_epoch")
    newest = rows.group_by("topic", "partition").agg(pl.col("leader_epoch").max().alias("newest"))
    older = rows.join(newest, on=["topic", "partition"]).filter(pl.col("leader_epoch") < pl.col("newest"))
    return dict(older.group_by("observer").len().collect(engine="streaming").iter_rows())


def held_views(store: Store) -> pa.Table:
    """Return which list of topics each broker holds; it is as small as the number of brokers."""
    views = store.read(SNAPSHOT, large=False).of(BrokerView)
    return pa.table({"observer": [view.broker_id for view in views], "topics_digest": [view.topics_digest for view in views]})


def file_of(store: Store, table: type[Row]) -> str:
    """Return the path of a table of the snapshot."""
    return f"{store.root}/snapshots/{SNAPSHOT}/{table.table()}.parquet"


def spark_digest(spark: SparkSession, store: Store) -> Found:
    """Join in Spark what differs by digest."""
    for name, table in (("topics", ViewTopic), ("contents", ViewPartition)):
        spark.read.parquet(f"file://{file_of(store, table)}").createOrReplaceTempView(name)
    spark.createDataFrame(held_views(store)).createOrReplaceTempView("held")
    return dict(map(tuple, spark.sql(DIGEST_JOIN).collect()))


def polars_digest(store: Store) -> Found:
    """Join in Polars what differs by digest."""
    topics, contents = (pl.scan_parquet(file_of(store, table)) for table in (ViewTopic, ViewPartition))
    kinds = topics.group_by("topic").agg(pl.col("topic_digest").n_unique().alias("contents"))
    differing = kinds.filter(pl.col("contents") > 1)
    shown = topics.join(differing, on="topic", how="semi").join(contents, on=["topic", "topic_digest"])
    newest = shown.group_by("topic", "partition").agg(pl.col("leader_epoch").max().alias("newest"))
    older = shown.join(newest, on=["topic", "partition"]).filter(pl.col("leader_epoch") < pl.col("newest"))
    held = pl.LazyFrame(held_views(store))
    found = held.join(older.group_by("topics_digest").len(), on="topics_digest").select("observer", "len")
    return dict(found.collect(engine="streaming").iter_rows())


def megabytes(folder: Path) -> float:
    """Return the size of the Parquet files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 1e6


def measured(ways: dict[str, Callable[[], Found]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each way; ends the program where they do not find the same."""
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        results = {}
        for way, work in ways.items():
            began = time.perf_counter()
            results[way] = work()
            seconds[way] += [time.perf_counter() - began] if number else []
        if len({tuple(sorted(result.items())) for result in results.values()}) > 1 or not all(results.values()):
            sys.exit(f"not the same, or nothing: {results}")
    return {way: statistics.median(of) for way, of in seconds.items()}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["20x20000", "100x20000", "100x200000"], metavar="BROKERSxPARTITIONS")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    took: dict[tuple[int, ...], dict[str, float]] = {}
    spark = session.start("local[*]", "-XX:TieredStopAtLevel=4")
    ratios = (("Spark raw", "Spark digest"), ("Polars raw", "Polars digest"), ("Spark raw", "audit"), ("Polars raw", "audit"))
    heads = ["brokers", "partitions", "MB digest", "MB raw", *WAYS, *(f"{one} / {other}" for one, other in ratios)]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for brokers, partitions in (tuple(map(int, size.split("x"))) for size in arguments.sizes):
        with tempfile.TemporaryDirectory(prefix="kafka-audit-benchmark-") as name:
            folder = Path(name)
            store = stored(brokers, partitions, folder)
            ways: dict[str, Callable[[], Found]] = {
                "audit": lambda store=store: audit(spark, store),
                "Spark digest": lambda store=store: spark_digest(spark, store),
                "Spark raw": lambda folder=folder: spark_join(spark, folder / "raw"),
                "Polars digest": lambda store=store: polars_digest(store),
                "Polars raw": lambda folder=folder: polars_join(folder / "raw"),
            }
            of = took[brokers, partitions] = measured(ways, arguments.rounds)
            sizes = f"{megabytes(folder / 'store'):.1f} | {megabytes(folder / 'raw'):.0f}"
        times = " | ".join(f"{of[way]:.2f} s" for way in WAYS)
        shares = " | ".join(f"{of[one] / of[other]:.2f}" for one, other in ratios)
        print(f"| {brokers} | {partitions:,} | {sizes} | {times} | {shares} |", flush=True)
    session.end(spark)
    print_growth(took)
    return 0


if __name__ == "__main__":
    sys.exit(main())

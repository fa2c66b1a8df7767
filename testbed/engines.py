"""Hold both engines against each other over stores that scenarios left: ``python -m testbed.engines .work/scenarios``.

Every snapshot is judged twice, with Spark and with DuckDB, compared with the snapshot before it, as an audit does. The answers
have to be the same byte for byte, and so do the rows of each partition that views show differently.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyarrow import dataset
from pyspark.sql import SparkSession

from kafka_audit import audit
from kafka_audit.job import embedded_job, spark_job
from kafka_audit.job.judging import DISAGREEMENTS
from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.run import run_path
from kafka_audit.spark import session
from kafka_audit.store import Store

_ENGINES = ("duckdb", "spark")
_AT_ONCE = 100  # snapshots in one run


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(prog="python -m testbed.engines", description=__doc__)
    parser.add_argument("folder", nargs="+", type=Path, help="where stores are, at any depth")
    stores = sorted({path.parent for folder in parser.parse_args(arguments).folder for path in folder.rglob("snapshots")})
    spark = session.start("local[*]")
    compared, wrong = 0, 0
    try:
        with tempfile.TemporaryDirectory(prefix="kafka-audit-engines-") as scratch:
            for number, pairs in enumerate(_gathered(stores, Path(scratch))):
                found = _differing(spark, Store(str(Path(scratch) / str(number))), pairs)
                compared += len(pairs)
                wrong += len(found)
                sys.stdout.writelines(f"  {result}\n" for result in found)
                sys.stdout.write(f"{compared} snapshots, {wrong} differ\n")
    finally:
        session.end(spark)
    if not compared:
        sys.stderr.write("no snapshot there\n")
    return int(not compared or wrong > 0)


def _gathered(stores: Sequence[Path], scratch: Path) -> Iterator[dict[str, str | None]]:
    """Copy the snapshots of as many stores as fit into one run into a store below `scratch`; yield what each is compared with."""
    number, pairs = 0, dict[str, str | None]()
    for root in stores:
        own = _pairs(Store(str(root)))
        if pairs and (len(pairs) + len(own) > _AT_ONCE or own.keys() & pairs.keys()):
            yield pairs
            number, pairs = number + 1, {}
        for snapshot_id in own:
            shutil.copytree(root / "snapshots" / snapshot_id, scratch / str(number) / "snapshots" / snapshot_id)
        pairs |= own
    if pairs:
        yield pairs


def _pairs(store: Store) -> dict[str, str | None]:
    """Return the snapshots of a store that are whole, each with the one before it."""
    found: dict[str, str | None] = {}
    for manifest in store.manifests():
        try:
            store.verify(manifest.snapshot_id)
            found[manifest.snapshot_id] = store.previous(manifest, damaged=lambda _: None)
        except SnapshotError:  # a scenario damaged it
            continue
    return found


def _differing(spark: SparkSession, store: Store, pairs: dict[str, str | None]) -> list[str]:
    """Return the snapshots on which the engines differ."""
    answers = {}
    for engine in _ENGINES:
        run = f"{engine}-{time.time_ns()}"
        audit.prepare_request(store, pairs, pairs, run)
        began = time.perf_counter()
        if engine == "spark":
            spark_job.answer(spark, str(store.root), run)
        else:
            embedded_job.answer(store, run)
        sys.stdout.write(f"{engine}: {len(pairs)} snapshots in {time.perf_counter() - began:.1f} s\n")
        answer = store.read_answer(run)
        judged = {name: store.read_judged(run, name).to_json() for name in answer.judged}
        answers[engine] = judged | dict(answer.failed), _rows(Path(store.root) / run_path(run, DISAGREEMENTS))
    (one, rows), (other, others) = answers.values()
    differing = [name for name in pairs if one.get(name) != other.get(name)]
    return differing + ([f"the rows of {DISAGREEMENTS}"] if rows != others else [])


def _rows(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(map(repr, dataset.dataset(folder, format="parquet").to_table().to_pylist()))


if __name__ == "__main__":
    sys.exit(main())

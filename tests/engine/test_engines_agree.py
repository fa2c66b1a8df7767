"""Spark and DuckDB measure the very same in every case of every check, with an earlier audit and without."""

import pytest

import cluster_views
from checks import cases, world
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.differences.arrow import modes
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, OF_LOSSES, ListAge
from kafka_audit.model.tables import LARGE
from kafka_audit.spark.local_settings import FEW_ROWS, ONE_TASK_ROWS
from kafka_audit.spark.measure import SparkMeasure

pytestmark = pytest.mark.spark
ALL = "20260914T180000Z-all-0001"


@pytest.mark.parametrize("every", [1, pytest.param(40, marks=pytest.mark.smoke)])
def test_the_same_in_every_case(spark, tmp_path, every):
    # One case more in which lists have ages.
    chosen = [*[*cases.every_case()][::every], ("KA101", "kraft_one_against_two_that_are_stale")]
    written = {f"{code} {name}": cases.cases(code)[name] for code, name in chosen}
    pairs = [world.snapshots(cases.base(), name, case) for name, case in written.items() if not case.get("files_alone")]
    assert len(pairs) > 500 / every
    folder = tmp_path / "snapshots" / ALL
    folder.mkdir(parents=True)
    embedded = cluster_views.measure([snapshot for pair in pairs for snapshot in pair if snapshot is not None], folder)
    rows = {pair[0].snapshot_id: given(*pair, ()) for pair in pairs}
    in_spark = SparkMeasure(
        spark, str(tmp_path), {table.table(): {ALL: ALL} for table in LARGE}, rows=None if every == 1 else FEW_ROWS
    )

    undecided = {pair[0].snapshot_id: rows[pair[0].snapshot_id] for pair in pairs if ages_needed(*pair)}
    ages = embedded.ages(undecided)
    of_none = Differences(rows={})
    assert {name: of_none.with_rows(ListAge, found) for name, found in ages.items()} == {
        name: of_none.with_rows(ListAge, found) for name, found in in_spark.ages(undecided).items()
    }
    assert any(ages.values())

    rows |= {pair[0].snapshot_id: given(*pair, ages[pair[0].snapshot_id]) for pair in pairs if pair[0].snapshot_id in ages}
    tables = (*DIFFERENCES, *OF_LOSSES)[:: 1 if every == 1 else 6]
    expected, found = embedded.differences(rows, tables), in_spark.differences(rows, tables)
    assert {name for name in rows if expected[name].rows != found[name].rows} == set()
    filled = {table for of in found.values() for table, rows in of.rows.items() if rows}
    assert every > 1 or {table for table in tables if table is not ListAge} - filled == set(), "a table that no case fills"


@pytest.mark.parametrize("kraft", [True, False])
@pytest.mark.parametrize("count", [None, ONE_TASK_ROWS, FEW_ROWS])
def test_one_cluster_by_each_way_to_use_spark(spark, tmp_path, kraft, count):
    """Spark plans a request by how many rows it reads, and other relations are empty than where all cases are judged at once."""
    written = ((name, cases.cases(code)[name]) for code, name in cases.every_case())
    pairs = (world.snapshots(cases.base(), name, case) for name, case in written if not case.get("files_alone"))
    pair = next(pair for pair in pairs if modes({ALL: given(*pair, ())}) == {kraft} and pair[1] is not None)
    folder = tmp_path / "snapshots" / ALL
    folder.mkdir(parents=True)
    embedded = cluster_views.measure([snapshot for snapshot in pair if snapshot is not None], folder)
    rows = {pair[0].snapshot_id: given(*pair, ())}
    in_spark = SparkMeasure(spark, str(tmp_path), {table.table(): {ALL: ALL} for table in LARGE}, rows=count)
    expected, found = embedded.differences(rows), in_spark.differences(rows)
    assert {name: of.rows for name, of in found.items()} == {name: of.rows for name, of in expected.items()}

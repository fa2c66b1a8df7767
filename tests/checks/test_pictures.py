"""Faults that look alike from outside, judged by every check and told as incidents: the right cause, or "not decided"."""

from datetime import date
from functools import cache
from typing import Any

import pytest
import yaml

from checks.conftest import HERE, base, write_tables
from checks.world import snapshots
from engine.test_causes import text_of
from kafka_audit.checks import catalogue
from kafka_audit.engine import rows, run, views
from kafka_audit.engine.causes import incidents
from kafka_audit.engine.findings import conclude
from kafka_audit.model.run import Pair, judgement_from_dict
from kafka_audit.model.tables import SQL_TABLES, ddl

pytestmark = pytest.mark.spark


@cache
def pictures() -> dict[str, Any]:
    raw = yaml.safe_load((HERE.parent / "causes" / "pictures.yml").read_text())
    return {name: {"world": raw["world"]} | case for name, case in raw["cases"].items()}


@pytest.fixture(scope="module")
def told(spark, tmp_path_factory):
    """The incidents of each picture, all judged in one job."""
    folder = tmp_path_factory.mktemp("pictures")
    found = {name: snapshots(base(), name, case)[0] for name, case in pictures().items()}
    write_tables(folder, list(found.values()))
    tables = {
        table.table(): spark.read.schema(ddl(table)).parquet(str(folder / f"{table.table()}.parquet")) for table in SQL_TABLES
    }
    judgements = [one for snapshot in found.values() for one in rows.judge_rows(snapshot)]
    views.register(spark, tables, [Pair(snapshot_id=name, previous_snapshot_id=None) for name in found], judgements)
    sql = [check for check in catalogue().values() if check.kind == "sql"]
    judgements += [judgement_from_dict(row.asDict(recursive=True)) for row in run.judge(spark, sql).collect()]
    return {name: _incidents(snapshot, judgements) for name, snapshot in found.items()}


def _incidents(snapshot, judgements):
    findings = conclude(snapshot, None, judgements, mutes=(), previous_report=None, today=date(2026, 1, 1))
    return incidents(snapshot, findings, ())


@pytest.mark.parametrize("name", pictures())
def test_a_picture_is_told_by_its_cause_or_not_decided(told, name):
    expected = pictures()[name]["incidents"]
    seen = [{"headline": one.headline, "cause": one.cause, "confidence": one.confidence.value} for one in told[name]]
    assert seen == [{key: one[key] for key in ("headline", "cause", "confidence")} for one in expected]
    for incident, one in zip(told[name], expected, strict=True):
        text = text_of(incident)
        assert [words for words in one.get("says", []) if words not in text] == []
        assert [words for words in one.get("never_says", []) if words in text] == []

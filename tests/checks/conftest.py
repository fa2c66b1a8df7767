"""All cases of all checks at once: one Spark job for the SQL checks, plain calls for the others."""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from checks.world import World, fields_of, row_judgements, snapshots
from kafka_audit.checks import Check, catalogue
from kafka_audit.engine import rows, run, session, views
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.run import Pair, judgement_from_dict
from kafka_audit.model.tables import KEY, SQL_TABLES, Snapshot, columns, ddl

HERE = Path(__file__).parent
ARROW = {
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "array<bigint>": pa.list_(pa.int64()),
}


@cache
def base() -> World:
    return yaml.safe_load((HERE / "base.yaml").read_text())


@cache
def case_files() -> dict[str, Path]:
    """Return the case file of each check by its code."""
    return {yaml.safe_load(path.read_text())["check"]: path for path in sorted(HERE.glob("*/*.yaml"))}


@cache
def cases(code: str) -> dict[str, World]:
    """Return the cases of a check, each with the `world` of its file."""
    raw = yaml.safe_load(case_files()[code].read_text())
    return {name: {"world": raw.get("world", {})} | case for name, case in raw["cases"].items()}


def every_case() -> list[tuple[str, str]]:
    return [(code, name) for code in case_files() for name in cases(code)]


BLIND = {
    # What is taken away, and which tables a check needs for that to keep it from passing.
    "healthy": {},
    "no_zookeeper": {"now": {"zookeeper": "none"}},
    "no_controller_znode": {
        "now": {
            "zookeeper": {"controller_id": None},
            "reads": [{"observer": "zookeeper", "operation": "zookeeper /controller", "error": "timeout"}],
        }
    },
    "no_ids": {"now": {"reads": [{"observer": "zookeeper", "operation": "zookeeper /brokers/ids", "error": "NoAuthError"}]}},
    "no_topics": {
        "now": {"reads": [{"observer": "zookeeper", "operation": "zookeeper /brokers/topics", "error": "NoAuthError"}]}
    },
    "one_topic_unread": {
        "now": {
            "topics": {"payments": "absent"},
            "reads": [{"observer": "zookeeper", "operation": "zookeeper /brokers/topics/payments", "error": "NoAuthError"}],
            "views": {one: {"topics": {"payments": "absent"}} for one in range(3)},
        },
    },
    "no_views": {
        "now": {
            "views": {one: {"answers": False} for one in range(3)},
            "identities": [{"to": one, "asked": False} for one in range(3)],
            "probes": [{"to": [0, 1, 2], "layer": "api", "outcome": "unknown", "error": "timeout"}],
        }
    },
    "no_probes": {
        "now": {"probes": [{"to": [0, 1, 2], "outcome": "none"}], "identities": [{"to": one, "asked": False} for one in range(3)]}
    },
    "kraft": {"now": {"info": {"mode": "kraft"}, "zookeeper": "none"}},
    "kraft_one_view": {
        "now": {"info": {"mode": "kraft"}, "zookeeper": "none", "views": {one: {"answers": False} for one in (1, 2)}}
    },
}
"""Worlds in which something was not read, judged by every check."""


@dataclass
class Judged:
    """What every check said of every case, by (snapshot, code)."""

    told: dict[tuple[str, str], list[Judgement]] = field(default_factory=lambda: defaultdict(list))

    def of(self, code: str, name: str) -> list[Judgement]:
        return sorted(self.told[name, code], key=lambda one: (one.resource, one.status))


def write_tables(folder: Path, found: list[Snapshot]) -> None:
    """Write one Parquet file a table over all snapshots."""
    for table in SQL_TABLES:
        data = defaultdict(list)
        for snapshot in found:
            for row in snapshot.of(table):
                data["snapshot_id"].append(snapshot.snapshot_id)
                data["cluster_id"].append(snapshot.cluster_id)
                for key, value in fields_of(row).items():
                    data[key].append(value)
        schema = pa.schema([pa.field(c.name, ARROW[c.sql_type]) for c in (*KEY, *columns(table))])
        pq.write_table(pa.table({name: data[name] for name in schema.names}, schema=schema), folder / f"{table.table()}.parquet")


@pytest.fixture(scope="session")
def spark():
    spark = session.start("local[2]")
    # A few rows a table: compiling Java for each query costs more than interpreting it.
    spark.conf.set("spark.sql.codegen.wholeStage", value=False)
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield spark
    spark.stop()


def _codes(items: list[pytest.Item]) -> set[str]:
    found = set()
    for item in items:
        told = getattr(getattr(item, "callspec", None), "params", {})
        found |= {told.get("code"), getattr(told.get("check"), "code", None)}
    return found - {None}


@pytest.fixture(scope="session")
def judged_in_spark(request, spark, tmp_path_factory) -> Judged:
    """Every SQL check that selected tests are about (`-k KA101`), on its cases and every blind world, in one job."""
    folder = tmp_path_factory.mktemp("tables")
    wanted = _codes(request.session.items)
    checks = {code: check for code, check in catalogue().items() if check.kind == "sql" and code in wanted}
    worlds = {f"{code}-{name}": cases(code)[name] for code, name in every_case() if code in checks} | BLIND
    found, pairs, judgements = [], [], []
    for name, case in worlds.items():
        now, previous = snapshots(base(), name, case)
        found += [one for one in (now, previous) if one is not None]
        pairs.append(Pair(snapshot_id=name, previous_snapshot_id=None if previous is None else previous.snapshot_id))
        judgements += row_judgements(base(), name, case)
    write_tables(folder, found)
    tables = {
        table.table(): spark.read.schema(ddl(table)).parquet(str(folder / f"{table.table()}.parquet")) for table in SQL_TABLES
    }
    views.register(spark, tables, pairs, judgements)
    judged = Judged()
    for row in run.judge(spark, [*checks.values()]).collect() if checks else ():
        one = judgement_from_dict(row.asDict(recursive=True))
        judged.told[one.snapshot_id, one.code].append(one)
    return judged


@pytest.fixture(scope="session")
def judged_in_python() -> Judged:
    """Every row check on its own cases and on every blind world; those of the gate too."""
    judged = Judged()
    checks = {code: check for code, check in catalogue().items() if check.kind != "sql"}
    worlds = {f"{code}-{name}": (checks[code], cases(code)[name]) for code, name in every_case() if code in checks}
    for name, (check, case) in worlds.items():
        now, _ = snapshots(base(), name, case)
        for one in rows.judge_rows(now, {check.code: check}, kind=check.kind):
            judged.told[name, one.code].append(one)
    for name, case in BLIND.items():
        now = snapshots(base(), name, case)[0]
        for one in (*rows.judge_rows(now, checks), *rows.judge_rows(now, checks, kind="gate")):
            judged.told[name, one.code].append(one)
    return judged


def severity(check: Check, judgement: Judgement) -> Severity:
    return check.severity if judgement.severity is None else judgement.severity


def told(check: Check, judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as a case file writes it."""
    plain: dict[str, Any] = {"status": judgement.status.value, "resource": judgement.resource}
    if judgement.status is Status.FAIL:
        plain |= {"severity": severity(check, judgement).name, "confidence": judgement.confidence.value}
    return plain | {"evidence": dict(judgement.evidence)}

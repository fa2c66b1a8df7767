"""Write the files of `differences` in DuckDB's words, and the columns of shared relations: `python -m testbed.duckdb_sql`."""

import json
import sys
from pathlib import Path

import sqlglot

from kafka_audit import differences, embedded
from kafka_audit.differences import files
from kafka_audit.embedded.measure import EmbeddedMeasure

FOLDER = Path(embedded.__path__[0], "sql")
COLUMNS = Path(differences.__path__[0], "relations.json")
_SPARK_TYPES = {"BIGINT": "bigint", "HUGEINT": "bigint", "VARCHAR": "string", "BOOLEAN": "boolean", "DOUBLE": "double"}
_NOTE = "-- Generated from differences/{name}.sql by `make docs`.\n"


def translations() -> dict[str, str]:
    """Return each file's text in DuckDB's words, by its path below `differences` without `.sql`."""
    return {name: f"{_NOTE.format(name=name)}{_in_duckdb(files.query_text(name))}\n" for name in files.all_files()}


def _in_duckdb(text: str) -> str:
    return sqlglot.transpile(text, read="spark", write="duckdb", pretty=True, comments=False)[0]


def columns_of_relations() -> dict[str, str]:
    """Return the columns of each shared relation with Spark's types."""
    return {
        name: ", ".join(f"{column} {_in_spark(duckdb_type)}" for column, duckdb_type in columns)
        for name, columns in EmbeddedMeasure("", {}).relation_types().items()
    }


def _in_spark(duckdb_type: str) -> str:
    item = duckdb_type.removesuffix("[]")
    return _SPARK_TYPES[item] if item == duckdb_type else f"array<{_SPARK_TYPES[item]}>"


def main() -> int:
    """Write them."""
    for name, text in translations().items():
        path = FOLDER / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    COLUMNS.write_text(json.dumps(columns_of_relations(), indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

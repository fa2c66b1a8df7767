"""Write the files of `differences` in DuckDB's words: `python -m testbed.duckdb_sql`."""

import sys
from pathlib import Path

import sqlglot

from kafka_audit import embedded
from kafka_audit.differences import files

FOLDER = Path(embedded.__path__[0], "sql")
_NOTE = "-- Generated from differences/{name}.sql by `make docs`.\n"


def translations() -> dict[str, str]:
    """Return each file's text in DuckDB's words, by its path below `differences` without `.sql`."""
    return {name: f"{_NOTE.format(name=name)}{_in_duckdb(files.query_text(name))}\n" for name in files.all_files()}


def _in_duckdb(text: str) -> str:
    return sqlglot.transpile(text, read="spark", write="duckdb", pretty=True, comments=False)[0]


def main() -> int:
    """Write them."""
    for name, text in translations().items():
        path = FOLDER / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Write the columns of shared relations, as Spark names their types: `python -m testbed.relation_columns`."""

import json
import sys
from pathlib import Path

from kafka_audit import differences
from kafka_audit.embedded.measure import EmbeddedMeasure

PATH = Path(differences.__path__[0], "relations.json")
_SPARK_TYPES = {"BIGINT": "bigint", "HUGEINT": "bigint", "VARCHAR": "string", "BOOLEAN": "boolean", "DOUBLE": "double"}


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
    PATH.write_text(json.dumps(columns_of_relations(), indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

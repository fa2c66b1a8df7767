"""The record of the corpus: one result a line, appended; of several for one fault and version the newest counts."""

import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from testbed import records

Result = dict[str, Any]
_BED = re.compile(f"{re.escape(tempfile.gettempdir())}/kafka-audit-corpus-\\w+")  # differs from run to run
RECORD = records.RECORDS / "corpus.json.xz"


def read(path: Path = RECORD) -> list[Result]:
    """Return all results, oldest first."""
    return records.read(path)


def without_bed(text: str) -> str:
    """Return a text without the folder of the bed, which differs from run to run."""
    return _BED.sub("<bed>", text)


def append(result: Result, path: Path = RECORD) -> None:
    """Add a result."""
    records.write([*read(path), json.loads(without_bed(json.dumps(result)))], path)


def newest(results: Iterable[Result]) -> dict[tuple[str, str, str], Result]:
    """Return the newest result by (kind, id, version)."""
    return {(result["kind"], result["id"], result["version"]): result for result in results}

"""The record of the corpus: one result a line, appended; of several for one fault and version the newest counts."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Result = dict[str, Any]
_BED = re.compile(f"{re.escape(tempfile.gettempdir())}/kafka-audit-corpus-\\w+")  # differs from run to run
RECORD = Path(__file__).parents[2] / "docs" / "corpus.json"


def read(path: Path = RECORD) -> list[Result]:
    """Return all results, oldest first."""
    return json.loads(path.read_text()) if path.is_file() else []


def without_bed(text: str) -> str:
    """Return a text without the folder of the bed, which differs from run to run."""
    return _BED.sub("<bed>", text)


def append(result: Result, path: Path = RECORD) -> None:
    """Add a result; the file is replaced whole, so a runner that is killed leaves the last complete one."""
    lines = (json.dumps(run, sort_keys=True, ensure_ascii=False) for run in [*read(path), result])
    text = ",\n".join(map(without_bed, lines))
    beside = path.with_suffix(".new")
    beside.write_text(f"[\n{text}\n]\n")
    os.replace(beside, path)  # noqa: PTH105 - the name says what it does


def newest(results: Iterable[Result]) -> dict[tuple[str, str, str], Result]:
    """Return the newest result by (kind, id, version)."""
    return {(result["kind"], result["id"], result["version"]): result for result in results}

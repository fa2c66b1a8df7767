"""Records of runs: rows of JSON, one a line, compressed where the file's name ends with `.xz`."""

import json
import lzma
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).parent


def read(path: Path) -> list[dict[str, Any]]:
    """Return all rows, oldest first; none where there is no file."""
    if not path.is_file():
        return []
    content = path.read_bytes()
    rows: list[dict[str, Any]] = json.loads(lzma.decompress(content) if path.suffix == ".xz" else content)
    return rows


def write(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write rows; the file is replaced whole, so a runner that is killed leaves the last complete one."""
    lines = ",\n".join(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows)
    content = f"[\n{lines}\n]\n".encode()
    beside = path.with_suffix(".new")
    beside.write_bytes(lzma.compress(content, preset=9) if path.suffix == ".xz" else content)
    os.replace(beside, path)  # noqa: PTH105 - the name says what it does

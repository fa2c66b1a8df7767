"""The cases of `tests/incidents/cases`: findings and a small snapshot in, incidents out. One YAML file a family of causes."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "cases"


@cache
def case_files() -> dict[tuple[str, str], dict[str, Any]]:
    """Return each case by its family and name. It belongs to all tests, so no test changes it."""
    return {
        (path.stem, name): case
        for path in sorted(FOLDER.glob("*.yaml"))
        for name, case in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader).items()
    }

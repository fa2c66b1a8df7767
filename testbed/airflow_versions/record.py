"""The record, docs/airflow-versions.json, and the table that docs/airflow.md has of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from testbed.airflow_home import ROOT
from testbed.airflow_versions.checks import CHECKS, DAGS
from testbed.airflow_versions.environments import TARGETS, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

RECORD = ROOT / "docs" / "airflow-versions.json"
PAGE = ROOT / "docs" / "airflow.md"
BEGIN = "<!-- written by python -m testbed.airflow_versions -->"
END = "<!-- end -->"


def read() -> dict[str, Any]:
    """Return the record; without a file, an empty one."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.is_file() else {"dags": [], "runs": {}}


def add(target: Target, run: Mapping[str, Any]) -> None:
    """Write what was seen in an environment; runs of other targets stay."""
    known = read()["runs"] | {target.name: dict(run)}
    runs = {target.name: known[target.name] for target in TARGETS if target.name in known}
    text = json.dumps({"dags": list(DAGS), "runs": runs}, indent=1, sort_keys=False)
    RECORD.write_text(text + "\n", encoding="utf-8")


def write_page() -> None:
    """Replace the table in the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(read())}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def table(record: Mapping[str, Any]) -> str:
    """Return the table of a record, and below it what did not pass and what the installation replaced."""
    runs = record["runs"]
    lines = [f"| | {' | '.join(runs)} |", f"|---|{'---|' * len(runs)}"]
    for name, check in CHECKS.items():
        subject = (check.__doc__ or "").strip().removesuffix(".")
        cells = ["passed" if run["checks"].get(name) == "" else "failed" for run in runs.values()]
        lines.append(f"| {subject} | {' | '.join(cells)} |")
    lines.append("")
    for name, run in runs.items():
        lines += [f"- Airflow {name}, {CHECKS[check].__name__}: {why}" for check, why in run["checks"].items() if why]
        replaced = ", ".join(f"`{package}` {was} → {now}" for package, (was, now) in run["replaced"].items())
        lines.append(f"- Airflow {name}: the installation replaced {replaced or 'no package of Airflow'}.")
    return "\n".join([*lines, ""])

"""Pages of the catalogue: `python -m kafka_audit.docs FOLDER` writes a Markdown page for each check and an index."""

import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_audit import explain
from kafka_audit.checks import Check, catalogue


def page(check: Check) -> str:
    """Return the page of one check: its docstring, what it is judged from, and the first failing case of its tests."""
    parts = [
        f"# {check.code} {check.name}",
        f"{check.severity.name} · {check.family.replace('_', ' ')} · since {check.since}",
        inspect.cleandoc(check.doc),
        "## Judged from",
        ", ".join(f"`{table.table()}`" for table in check.needs),
    ]
    terms = explain.words(parts[2])
    if terms:
        parts += ["## Words", "\n".join(f"- {term}" for term in terms)]
    example = explain.first_failing_case(check)
    if example:
        parts += ["## Example that fails", f"```yaml\n{example}\n```"]
    return "\n\n".join(parts) + "\n"


def index(checks: Mapping[str, Check]) -> str:
    """Return the table of all checks."""
    rows = []
    for check in checks.values():
        fault = explain.summary(check).replace("|", "\\|")
        rows.append(f"| [{check.code}]({check.code}.md) | {check.name} | {check.severity.name} | {fault} |")
    return "\n".join(["# Checks", "", "| Code | Name | Severity | Fault |", "|---|---|---|---|", *rows]) + "\n"


def write(folder: Path) -> int:
    """Write all pages into a folder, where those of checks that are gone vanish; return how many checks there are."""
    checks = catalogue()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("KA*.md"):
        old.unlink()
    for check in checks.values():
        (folder / f"{check.code}.md").write_text(page(check), encoding="utf-8")
    (folder / "index.md").write_text(index(checks), encoding="utf-8")
    return len(checks)


def main(argv: Sequence[str]) -> int:
    """Write the pages into the folder that is named."""
    if len(argv) != 1:
        sys.stderr.write("usage: python -m kafka_audit.docs FOLDER\n")
        return 2
    sys.stdout.write(f"{write(Path(argv[0]))} checks in {argv[0]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

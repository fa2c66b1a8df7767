"""Pages that the code writes itself: `python -m kafka_audit.report.docs FOLDER`.

FOLDER/checks gets a Markdown page for each check and each family, and an index, FOLDER/symptoms one for each message that people
type. FOLDER/tables.md says what a snapshot holds, FOLDER/logs.md which lines of brokers' logs are known, and
FOLDER/findings.schema.json is the schema of `findings.json`.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kafka_audit.checks import Check, catalogue
from kafka_audit.model import tables
from kafka_audit.model.commands import named_placeholders
from kafka_audit.model.tables import TABLES, Row
from kafka_audit.report.plain_text import explain
from kafka_audit.report.schema import schema_text
from kafka_audit.report.symptoms import symptom_pages
from kafka_audit.report.symptoms.markdown import index_markdown
from kafka_audit.says import signs
from kafka_audit.says.signs import SIGNS, ZOOKEEPER_CLIENT

HOW_LINES_COUNT = """`logs` in the cluster file sets where the logs are: paths, or a command that prints them.
An audit reads the end of each log (2 MiB of a file, 4 MiB of a command) and keeps only these lines, with secrets masked.
Of other errors, that may be the sign of a fault or that no release is known to write, it keeps the first 20 different ones.
Nothing is judged by them: an incident that no known fault explains quotes them.

A line counts if it is newer than the registration of the broker that wrote it and of the broker that it is about. In KRaft mode
the log of a broker shows when it registered. If the part of `server.log` that was read does not contain that, the broker
registered before, and lines in this part count. A line that
Kafka repeats while the fault lasts must still be written when the log is read, because a normal start logs dozens of them. A line
that counts turns an inferred cause into a measured one, and the finding quotes it. The time zone of a host comes from the line
about its registration, from the modification time of the file, or from a line that is written between two reads. If the time zone
is unknown, the line is shown and decides nothing. Clocks of brokers and of the auditor may differ by ten seconds.

KRaft controllers write these lines, too: `{node_id}` in `logs` stands for each broker and each controller, `{controller_id}` for
each controller that is no broker. A controller registers nowhere, so its lines count since its last start."""


def check_markdown(check: Check) -> str:
    """Return the page of one check: its docstring, what it is judged from, and the first of its cases that fails."""
    parts = [
        f"# {check.code} {check.name}",
        f"{check.severity.name} · {check.family.replace('_', ' ')} · since {check.since}",
        named_placeholders(check.doc),
        "## Judged from",
        ", ".join(f"`{table.table()}`" for table in check.needs),
    ]
    terms = explain.explained_words(parts[2])
    if terms:
        parts += ["## Words", "\n".join(f"- {term}" for term in terms)]
    example = explain.first_failing_case(check)
    if example:
        parts += ["## Example that fails", f"```yaml\n{example}\n```"]
    return "\n\n".join(parts) + "\n"


def families(checks: Mapping[str, Check]) -> Mapping[str, Sequence[Check]]:
    """Return the checks by the family whose range has their code: KA3xx is `listeners`."""
    ranges = {family_subject(check.family)[:3]: check.family for check in checks.values()}
    found: dict[str, list[Check]] = {}
    for check in checks.values():
        found.setdefault(ranges[check.code[:3]], []).append(check)
    return found


def family_subject(family: str) -> str:
    """Return the codes of a family and what they are about: the docstring of its folder."""
    return inspect.cleandoc(importlib.import_module(f"kafka_audit.checks.{family}").__doc__ or "").rstrip(".")


def index(checks: Mapping[str, Check]) -> str:
    """Return the list of families and the table of all checks."""
    links = "\n".join(f"- [{family_subject(family)}]({family}.md)" for family in families(checks))
    return "\n\n".join(["# Checks", links, _checks_table(checks.values())]) + "\n"


def family_page(family: str, checks: Iterable[Check]) -> str:
    """Return the table of the checks of a family."""
    return f"# {family_subject(family)}\n\n{_checks_table(checks)}\n"


def _checks_table(checks: Iterable[Check]) -> str:
    rows = []
    for check in checks:
        fault = _cell(check.summary)
        rows.append(f"| [{check.code}]({check.code}.md) | {check.name} | {check.severity.name} | {fault} |")
    return "\n".join(["| Code | Name | Severity | Fault |", "|---|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def tables_page() -> str:
    """Return the page of all snapshot tables, from their docstrings and the comments of their columns."""
    how = inspect.cleandoc(tables.__doc__ or "").partition("\n\n")[2]
    run = (
        "A run adds one table, `runs/<run id>/disagreements/*.parquet`: each partition that a view shows differently from"
        " the reference (ZooKeeper, or in KRaft the newest list), one row for each observer. Findings list the first ten of them."
    )
    parts = ["# Tables of a snapshot", f"`snapshots/<id>/<table>.parquet`. {how}", run, *map(_table, TABLES)]
    return "\n\n".join(parts) + "\n"


def _table(table: type[Row]) -> str:
    comments = dict(re.findall(r"^    (\w+): [^#\n]*# (.*)$", inspect.getsource(table), re.MULTILINE))
    rows = [
        f"| `{c.name}` | {c.sql_type}{' or null' if c.nullable else ''} | {_cell(comments.get(c.name, ''))} |"
        for c in tables.columns(table)
    ]
    head = [f"## {table.table()}", "", inspect.cleandoc(table.__doc__ or ""), "", "| column | type | meaning |", "|---|---|---|"]
    return "\n".join([*head, *rows])


def logs_page() -> str:
    """Return the page of all lines of brokers' logs that an audit knows."""
    parts = ["# Lines of brokers' logs", inspect.cleandoc(signs.__doc__ or ""), HOW_LINES_COUNT]
    rows = []
    for sign in SIGNS.values():
        by_part = (code for _, code in (*sign.by_reason, *sign.by_detail))
        codes = dict.fromkeys([*([sign.supports] if sign.supports else []), *by_part])
        if sign.part == ZOOKEEPER_CLIENT:  # what keeps a broker from ZooKeeper shows in its registration
            codes = {"KA113": None}
        ends = "while it lasts" if sign.repeats else "once"
        cells = (f"`{sign.marker.strip()}`", sign.log, sign.means, ends, ", ".join(codes))
        rows.append(f"| {' | '.join(map(_cell, cells))} |")
    head = ["| text | log | meaning | written | shows |", "|---|---|---|---|---|"]
    return "\n\n".join([*parts, "\n".join([*head, *rows])]) + "\n"


def write_docs(folder: Path) -> int:
    """Write all pages into a folder, where those of checks that are gone vanish; return how many checks there are."""
    found, checks, symptoms = catalogue(), folder / "checks", folder / "symptoms"
    for written in (checks, symptoms):
        written.mkdir(parents=True, exist_ok=True)
        for old in written.glob("*.md"):
            old.unlink()
    for check in found.values():
        (checks / f"{check.code}.md").write_text(check_markdown(check), encoding="utf-8")
    for family, members in families(found).items():
        (checks / f"{family}.md").write_text(family_page(family, members), encoding="utf-8")
    (checks / "index.md").write_text(index(found), encoding="utf-8")
    for page in symptom_pages().values():
        (symptoms / f"{page.slug}.md").write_text(explain.symptom_markdown(found, page), encoding="utf-8")
    (folder / "symptoms.md").write_text(index_markdown(symptom_pages().values()), encoding="utf-8")
    (folder / "tables.md").write_text(tables_page(), encoding="utf-8")
    (folder / "logs.md").write_text(logs_page(), encoding="utf-8")
    (folder / "findings.schema.json").write_text(schema_text(), encoding="utf-8")
    return len(found)


def main(argv: Sequence[str]) -> int:
    """Write the pages into the folder that is named."""
    if len(argv) != 1:
        sys.stderr.write("usage: python -m kafka_audit.report.docs FOLDER\n")
        return 2
    sys.stdout.write(f"{write_docs(Path(argv[0]))} checks in {argv[0]}/checks, {len(TABLES)} tables in {argv[0]}/tables.md\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The page docs/versions.md of the record: which check was seen to fail on which release."""

from collections.abc import Iterable, Sequence

from kafka_audit.checks import catalogue
from testbed.corpus import record
from testbed.corpus.catalogue import GROUPS, by_scenario, faults, of_release, unbreakable
from testbed.corpus.record import Result

_HEAD = """# Checks by Kafka release

Written by `python -m testbed.corpus docs` from the record of the [fault corpus](corpus.md), with a row for each
check. `failed`: the check was seen to fail on a real broken cluster of this release. `healed`: it passed again after the
repair. An empty cell says that nothing was broken on that release for this check, not that the check does not work there;
`kafka-audit explain CODE` says when a check does not apply. Releases 1.1.1 and 4.4.0 are audited by scenario tests, without the
faults of the corpus.
"""
VERSIONS = GROUPS["all"]
"""Columns of the page."""


def page(results: Iterable[Result]) -> str:
    """Return the page of a record."""
    broken = [run for (kind, name, _), run in record.newest(results).items() if kind == "fault" and name in faults()]
    seen, scenarios = statuses(broken), by_scenario()
    lines = [f"| Check | {' | '.join(VERSIONS)} | elsewhere |", f"|---|{'---|' * len(VERSIONS)}---|"]
    for code, check in sorted(catalogue().items()):
        cells = [", ".join(seen[version].get(code, ())) for version in VERSIONS]
        elsewhere = f"broken and healed by `{scenarios[code]}`" if code in scenarios else _reason(code) if not any(cells) else ""
        lines.append(f"| [{code}](checks/{code}.md) {check.name} | {' | '.join([*cells, elsewhere])} |")
    return "\n".join([_HEAD, *lines, ""])


def _reason(code: str) -> str:
    """Return why a check was not seen to fail."""
    expected = {want.code for fault in faults().values() for want in fault.report}
    return unbreakable().get(code) or ("its fault was not run yet" if code in expected else "no fault yet")


def statuses(broken: Sequence[Result]) -> dict[str, dict[str, list[str]]]:
    """Return, by version and code, ``failed`` and ``healed`` where that was seen."""
    seen: dict[str, dict[str, list[str]]] = {version: {} for version in VERSIONS}
    columns = [(run, seen[of_release(run["version"])]) for run in broken if of_release(run["version"]) in seen]
    for run, column in columns:
        for code in {found.split()[0] for found in run["failing"]}:
            column.setdefault(code, ["failed"])
    for run, column in columns:
        for code in run["passing"]:
            if "healed" not in column.get(code, ["healed"]):
                column[code].append("healed")
    return seen

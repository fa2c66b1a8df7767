"""Show how the expected results of cases differ from what the code says today, and accept them: `make accept`.

Expected are the judgements and printed texts in the cases of checks, the incidents in those of incidents and pictures, the tables
that checks need, and two whole terminal pages. `make accept` writes the generated pages after it. Read the differences: what is
accepted here is what tests demand from then on.
"""

import argparse
import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from airflow_environment import ROOT
from checks import needs, pictures
from checks.cases import base, case_files, cases
from checks.expected import TEXTS, expected_incidents, expected_judgements
from checks.test_cases import findings_of
from checks.world import snapshots
from cluster_views import cluster_views
from incidents import test_causes
from incidents.case_files import FOLDER
from incidents.case_files import case_files as incident_cases
from kafka_audit.checks import Check, catalogue
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Status
from report.whole_pages import WRITTEN, page_of
from yaml_edits import Place, differing, replaced

Edit = tuple[Path, Place, Any]
"""A file, the place of a value in it, and the value of now."""


def edits_of_check(check: Check, views: Mapping[str, ClusterView]) -> Iterator[Edit]:
    """Yield what changed in the cases of a check, and the tables that they show it to need."""
    path, _ = case_files()[check.code]
    for name, case in cases(check.code).items():
        view = views[f"{check.code}-{name}"]
        found = judge(view, {check.code: check}, kind=check.kind)
        before = case.get("expect", [])
        printed = {}
        if any(TEXTS.keys() & expected.keys() for expected in before):
            printed = {finding.resource.name: finding.remediation for finding in findings_of(view, found)}
        now = expected_judgements(check, before, found, printed)
        if now != [{key: value for key, value in expected.items() if value} for expected in before]:
            yield path, ("cases", name, "expect"), now
        passed = sorted(judgement.resource for judgement in found if judgement.status is Status.PASS)
        if sorted(case.get("pass", passed)) != passed:
            yield path, ("cases", name, "pass"), passed
    needed = needs.needed(check, views)
    if needed != check.needs:
        yield path, ("needs",), [table.__name__ for table in needed]


def edits_of_pictures(views: Mapping[str, ClusterView]) -> Iterator[Edit]:
    """Yield what changed in the incidents of whole clusters: those of `pictures.yml`, and of cases of checks that name some."""
    for name, picture in pictures.pictures().items():
        if name in views:
            found = pictures.incidents_of(views[name])
            now = expected_incidents(picture.expected, found, [test_causes.text_of(incident) for incident in found], {})
            for place, value in differing(("cases", picture.case, "incidents"), picture.expected, now):
                yield picture.path, place, value


def edits_of_incidents() -> Iterator[Edit]:
    """Yield what changed in the cases of `tests/incidents/cases`."""
    for (family, name), case in incident_cases().items():
        findings, found = test_causes.told(f"{family}-{name}")
        names = {finding.fingerprint: f"{finding.code} {finding.resource.name}" for finding in findings}
        now = expected_incidents(case["incidents"], found, [test_causes.text_of(incident) for incident in found], names)
        for place, value in differing(("cases", name, "incidents"), case["incidents"], now):
            yield FOLDER / f"{family}.yaml", place, value


def accepted(codes: Sequence[str]) -> tuple[dict[Path, str], list[str]]:
    """Return the text of each file that changes, and what a person has to change.

    Args:
        codes: only the cases of these checks; none for all, with those of incidents.
    """
    checks = {code: check for code, check in catalogue().items() if not codes or code in codes}
    worlds = {f"{code}-{name}": cases(code)[name] for code in checks for name in cases(code)}
    worlds |= {name: picture.world for name, picture in pictures.pictures().items() if not codes or picture.code in codes}
    views = cluster_views({name: snapshots(base(), name, world) for name, world in worlds.items()})
    edits = [edit for check in checks.values() for edit in edits_of_check(check, views)]
    edits += [*edits_of_pictures(views), *(() if codes else edits_of_incidents())]
    texts: dict[Path, str] = {}
    by_hand = []
    for path, place, value in edits:
        try:
            texts[path] = replaced(texts.get(path) or path.read_text(encoding="utf-8"), place, value)
        except LookupError as error:
            by_hand.append(f"{path.relative_to(ROOT)}: {error}; change it by hand to {value}")
    texts |= {path: page_of(*case) for case, path in WRITTEN.items()}
    return texts, by_hand


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the differences, and write them unless they shall only be shown; 1 if something has to be changed by hand."""
    parser = argparse.ArgumentParser(prog="make accept", description=__doc__)
    parser.add_argument("codes", nargs="*", metavar="CODE", help="only the cases of these checks")
    parser.add_argument("--show", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    texts, by_hand = accepted(options.codes)
    changed = 0
    for path, text in texts.items():
        before = path.read_text(encoding="utf-8")
        name = str(path.relative_to(ROOT))
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(keepends=True), text.splitlines(keepends=True), name, name))
        changed += before != text
        if before != text and not options.show:
            path.write_text(text, encoding="utf-8")
    sys.stdout.writelines(f"{line}\n" for line in by_hand)
    verb = "differ" if options.show else "written; read the differences above before you commit them"
    sys.stdout.write(f"{changed} files {verb}\n")
    return 1 if by_hand else 0


if __name__ == "__main__":
    sys.exit(main())

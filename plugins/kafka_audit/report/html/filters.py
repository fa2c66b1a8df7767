"""Which findings a page lists: the filter in the URL, and the rows of findings that pass it, a page at a time.

Findings that say the same of several brokers or topics are one row, which opens.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from kafka_audit.model.finding import Lifecycle, Resource, Severity, Status
from kafka_audit.model.report import Report, ReportedFinding
from kafka_audit.model.text import clean, counted, listing, ranges

PER_PAGE = 100
_LONGEST_WORDS = 200
_NAMES = 3
_PLACES = frozenset({"address", "addresses", "host", "target", "topic", "who"})
"""Evidence that names where a finding is."""

CHOICES: Mapping[str, Mapping[str, str]] = {
    "status": {
        "open": "failed or unknown",
        Status.FAIL: "failed",
        Status.UNKNOWN: "unknown",
        Status.NOT_APPLICABLE: "does not apply",
        Status.PASS: "passed",
        "all": "every result",
    },
    "severity": {"": "any", **{severity.name: severity.name for severity in reversed(Severity)}},
    "lifecycle": {"": "any", **{lifecycle.value: lifecycle.value for lifecycle in Lifecycle}},
    "muted": {"": "muted or not", "no": "not muted", "yes": "muted"},
    "rows": {"": "equal findings together", "each": "one finding each"},
}
"""Values that a filter takes, with their names in a form; `code`, `broker` and `words` take what the report has."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A filter; the default selects the open failures."""

    status: str = "open"
    code: str = ""
    severity: str = ""
    broker: str = ""
    lifecycle: str = ""
    muted: str = ""
    rows: str = ""
    words: str = ""
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Wanted":
        """Read an address; a value that no form offers counts as not given."""
        chosen = {key: query[key] for key, offered in CHOICES.items() if query.get(key) in offered}
        free = {key: query[key][:_LONGEST_WORDS] for key in ("code", "broker", "words") if query.get(key)}
        page = query.get("page", "")
        return cls(**chosen, **free, page=int(page) if page.isascii() and page.isdecimal() and 0 < len(page) < 6 else 1)  # noqa: PLR2004

    def query(self, kept: Mapping[str, str] | None = None, **changes: Any) -> str:  # noqa: ANN401 -- the fields' own types
        """Return the address of this filter with some values changed; a changed filter starts at its first page.

        `kept` are further parts of the address.
        """
        changed = replace(self, **({"page": 1} | changes))
        default = asdict(Wanted())
        changes = {key: value for key, value in asdict(changed).items() if value != default[key]}
        return urlencode({**(kept or {}), **changes})

    @property
    def is_default(self) -> bool:
        """Whether nothing but the page was chosen."""
        return not self.query()


@dataclass(frozen=True, kw_only=True)
class FindingRow:
    """One row: findings, the first of which is shown, where they are in a few words, and the incident they are in."""

    findings: tuple[ReportedFinding, ...]
    where: str
    incident: int | None


@dataclass(frozen=True, kw_only=True)
class FindingGroup:
    """Rows of a page under one title: of an incident, or beside all; `findings` are those of the group on all pages."""

    incident: int | None
    title: str
    findings: int
    rows: tuple[FindingRow, ...]


@dataclass(frozen=True, kw_only=True)
class FindingsPage:
    """A page of rows: `of` rows with `findings` findings pass, on `pages` pages, this one from row `first` to `last`."""

    groups: tuple[FindingGroup, ...]
    of: int
    findings: int
    all_of: int
    number: int
    pages: int
    first: int
    last: int

    @property
    def rows(self) -> list[FindingRow]:
        """The rows of all groups."""
        return [row for group in self.groups for row in group.rows]


def findings_page(document: Report, wanted: Wanted, per_page: int = PER_PAGE) -> FindingsPage:
    """Return the requested page, or the last page: what incidents explain first, in their order."""
    inside = document.incident_numbers
    passed = [finding for finding in document.findings if _passes(finding, wanted)]
    found = sorted(_finding_rows(passed, inside, together=wanted.rows != "each"), key=_in_order)
    pages = max(-(-len(found) // per_page), 1)
    number = min(wanted.page, pages)
    start = (number - 1) * per_page
    rows = found[start : start + per_page]
    numbers: Counter[tuple[int, str]] = Counter()
    for row in found:
        numbers[_group_of(row)] += len(row.findings)
    return FindingsPage(
        groups=tuple(
            FindingGroup(incident=of[0] or None, title=_title(document, of), findings=numbers[of], rows=tuple(group))
            for of, group in groupby(rows, _group_of)
        ),
        of=len(found),
        findings=len(passed),
        all_of=len(document.findings),
        number=number,
        pages=pages,
        first=start + 1 if rows else 0,
        last=start + len(rows),
    )


_BESIDE: Mapping[str, str] = {
    Status.FAIL: "Failures beside incidents",
    Status.UNKNOWN: "Not known",
    Status.NOT_APPLICABLE: "Does not apply",
    Status.PASS: "Passes",
}


def _group_of(row: FindingRow) -> tuple[int, str]:
    """Return the number of the incident that a row is inside; for others 0 and the status."""
    return (row.incident, "") if row.incident else (0, row.findings[0].status)


def _in_order(row: FindingRow) -> tuple[bool, int, int]:
    """Return what sorts rows: incidents in their order, then what is beside them by status."""
    incident, status = _group_of(row)
    return not incident, incident, 0 if incident else [*_BESIDE].index(status)


def _title(document: Report, group: tuple[int, str]) -> str:
    incident, status = group
    if incident:
        return f"Incident {incident}: {document.incidents[incident - 1].headline}"
    return _BESIDE[status] if document.incidents or status != Status.FAIL else "Failures"


def filter_choices(findings: Iterable[ReportedFinding]) -> tuple[list[tuple[str, str]], list[int]]:
    """Return codes with names and numbers, and brokers, that the findings of a report name."""
    findings = list(findings)
    codes = Counter((finding.code, finding.name) for finding in findings)
    reported = [(code, f"{code} {name.replace('_', ' ')} ({number})") for (code, name), number in sorted(codes.items())]
    brokers = {Resource.of(finding.resource.name).broker for finding in findings}
    return reported, sorted(broker for broker in brokers if broker is not None)


def _passes(finding: ReportedFinding, wanted: Wanted) -> bool:
    return all(_tests(finding, wanted))


def _tests(finding: ReportedFinding, wanted: Wanted) -> Iterator[bool]:
    if wanted.status == "open":
        yield finding.status in {Status.FAIL, Status.UNKNOWN}
    elif wanted.status != "all":
        yield finding.status == wanted.status
    yield wanted.code in {"", finding.code}
    yield wanted.severity in {"", finding.severity}
    yield wanted.lifecycle in {"", finding.lifecycle}
    yield wanted.muted in {"", "yes" if finding.muted else "no"}
    if wanted.broker:
        yield str(Resource.of(finding.resource.name).broker) == wanted.broker
    if wanted.words:
        yield _says(finding, wanted.words.lower().split())


def _says(finding: ReportedFinding, texts: Sequence[str]) -> bool:
    text = f"{finding.code} {finding.name} {clean(finding.resource.name, 1000)} {finding.message}".lower()
    return all(word in text for word in texts)


def _finding_rows(
    findings: Sequence[ReportedFinding], incidents: Mapping[str, int], *, together: bool = True
) -> list[FindingRow]:
    """Return rows in the order of their first findings; with `together`, equal findings of one incident share one.

    `incidents` has the number of the incident by the fingerprint of each finding inside one.
    """
    found: dict[object, list[ReportedFinding]] = {}
    for finding in findings:
        incident = incidents.get(finding.fingerprint)
        found.setdefault((incident, _likeness(finding)) if together else finding.fingerprint, []).append(finding)
    return [_row(group, incidents.get(group[0].fingerprint)) for group in found.values()]


def _likeness(finding: ReportedFinding) -> object:
    """Return what equal findings have in common: the state, the kind of resource, its setting, and the words of the evidence."""
    resource = Resource.of(finding.resource.name)
    state = (finding.code, finding.status, finding.severity, finding.confidence, finding.lifecycle, finding.muted)
    places = (resource.type, resource.listener, resource.key, resource.log_dir)
    return state, places, frozenset(_words(finding.evidence))


def _words(evidence: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield what says why: such as an error; not where or how much, which are numbers, names and addresses."""
    for key, value in evidence.items():
        if isinstance(value, str) and key not in _PLACES and not any(map(str.isdigit, value)):
            yield key, value


def _row(findings: Sequence[ReportedFinding], incident: int | None) -> FindingRow:
    if len(findings) == 1:
        return FindingRow(findings=tuple(findings), incident=incident, where=clean(findings[0].resource.name, 160))
    resources = [Resource.of(finding.resource.name) for finding in findings]
    topics = dict.fromkeys(resource.topic for resource in resources if resource.topic is not None)
    ids = {resource.broker for resource in resources if resource.broker is not None}
    if ids:
        where = f"{'Broker' if len(ids) == 1 else 'Brokers'} {ranges(ids)}"
    elif topics:
        where = f"{counted(len(topics), 'topic')}: {listing((clean(name, 60) for name in topics), _NAMES)}"
    else:
        where = listing((clean(resource.name, 60) for resource in resources), _NAMES)
    return FindingRow(findings=tuple(findings), incident=incident, where=where)

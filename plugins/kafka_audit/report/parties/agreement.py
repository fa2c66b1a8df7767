"""What was asked and agrees, beside what is not known: the two halves of a report without an incident.

Everything here is counted from the finished document. Nothing is judged again: a fact that is not in it is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_audit.checks import catalogue
from kafka_audit.model.report import QuorumState, Report
from kafka_audit.model.text import brokers, counted, listing, start_upper
from kafka_audit.report.parties.matrix import matrix_rows
from kafka_audit.report.parties.quorum import CAUGHT_UP
from kafka_audit.report.parties.views import NOT_ASKED, NOTHING, UNREPORTED, who

_MOST_VANTAGES = 6


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """One fact: `text` is a sentence without its full stop, `source` says how it is known, and `more` lists details."""

    title: str
    text: str
    source: str = ""
    more: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Unanswered:
    """Something that was asked and is not known, and the section of the page with the reasons."""

    text: str
    section: str


def agreed(document: Report) -> list[Agreed]:
    """Return what parties agree on and what works, as far as a report shows it; empty where nothing was answered."""
    parts = (_views, _between_brokers, _quorum, _from_vantages, _checks)
    return [fact for part in parts for fact in part(document)]


def without_answer(document: Report) -> list[Unanswered]:
    """Return what was asked and has no answer."""
    coverage, unknown = document.coverage, document.counts.UNKNOWN
    found = []
    if coverage.answered < coverage.asked:
        missing = coverage.asked - coverage.answered
        found.append(Unanswered(text=f"{missing} of {counted(coverage.asked, 'read')} without an answer.", section="coverage"))
    if unknown:
        found.append(Unanswered(text=f"{counted(unknown, 'result')} of checks, for lack of data.", section="findings"))
    for key, target in (("reach", "brokers"), ("quorum", "controllers")):
        cells = _between_nodes(document, key)
        if "?" in cells:
            text = f"{cells.count('?')} of {len(cells)} connections between nodes and {target}."
            found.append(Unanswered(text=text, section="matrix"))
    from_vantages = [row for row in document.reach if row.role == "client"]
    stops = [stop for row in from_vantages for stop in row.stops if stop.outcome != "failed"]
    if stops:
        tried = sum(len(row.brokers) for row in from_vantages)
        text = f"{sum(len(stop.brokers) for stop in stops)} of {counted(tried, 'connection')} from vantages to brokers."
        found.append(Unanswered(text=text, section="matrix"))
    return found


def _views(document: Report) -> Iterator[Agreed]:
    """Yield what all parties say, if at least two said it; a view of another listener was not asked for its addresses."""
    views = document.views
    equal, observers = [], [name for column in views.columns for name in column.observers]
    for number, question in enumerate(views.rows):
        said = [column for column in views.columns if column.values[number] != NOT_ASKED]
        values = {column.values[number] for column in said}
        if len(values) == 1 and not values & {NOTHING, UNREPORTED} and sum(len(column.observers) for column in said) > 1:
            equal.append(f"{question} {values.pop()}")
    if equal:
        yield Agreed(title="Views", text=f"{start_upper(who(observers))} report the same: {'; '.join(equal)}")


def _between_nodes(document: Report, key: str) -> str:
    """Return the cells of the edges between brokers and controllers that were asked about."""
    nodes = (row for row in matrix_rows(document.matrix) if row.broker is not None or row.controller is not None)
    return "".join(getattr(row, key) for row in nodes).replace("-", "")


def _between_brokers(document: Report) -> Iterator[Agreed]:
    cells = _between_nodes(document, "reach")
    hosts = {row.broker for row in document.reach if row.broker is not None and row.open}
    probes = f"probes from the {'host' if len(hosts) == 1 else 'hosts'} of {brokers(hosts)}, and" if hosts else "no probe; by"
    if "." in cells:
        yield Agreed(title="Between brokers", text=f"{_share(cells)} work", source=f"{probes} what brokers received")


def _share(cells: str) -> str:
    return f"{cells.count('.')} of {len(cells)} connections"


def _quorum(document: Report) -> Iterator[Agreed]:
    quorum = document.quorum or QuorumState()
    cells = _between_nodes(document, "quorum")
    facts = [] if quorum.leader is None else [f"leader {quorum.leader}, epoch {quorum.epoch}"]
    for role, is_voter in (("voter", True), ("observer", False)) if facts else ():
        states = [row.state for row in quorum.replicas if row.voter is is_voter]
        facts += [f"{states.count(CAUGHT_UP)} of {counted(len(states), role)} caught up"] if CAUGHT_UP in states else []
    facts += [f"{_share(cells)} to controllers work"] if "." in cells else []
    if facts:
        yield Agreed(title="Metadata quorum", text=f"{start_upper('; '.join(facts))}")


def _from_vantages(document: Report) -> Iterator[Agreed]:
    """Yield how far vantages outside of the brokers' hosts get: to the end at k of n brokers."""
    rows = [row for row in document.reach if row.role == "client" and row.open]
    layers = dict.fromkeys(layer for row in rows for layer, (passed, tried) in row.layers.items() if passed == tried)
    places: dict[str, list[str]] = {}
    for row in rows:
        share = f"{row.open} of {counted(len(row.brokers), 'broker')}"
        places.setdefault(row.source, []).append(f"{share} at {row.listener}")
    shown = [f"{vantage} reaches {listing(where)}" for vantage, where in places.items()]
    if shown:
        more = f"; and {len(shown) - _MOST_VANTAGES} more" if len(shown) > _MOST_VANTAGES else ""
        yield Agreed(title="From vantages", text=f"{'; '.join(shown[:_MOST_VANTAGES])}{more}", source=", ".join(layers))


def _checks(document: Report) -> Iterator[Agreed]:
    """Yield the checks that pass wherever they judged, by family: each is named by the fault that it looked for."""
    passed = document.passed_checks or ()
    if not passed:
        return
    others = {finding.code for finding in document.findings if finding.status in {"FAIL", "UNKNOWN"}}
    number = f"{len(passed)} of {counted(len({*passed} | others), 'check')}"
    yield Agreed(title="Checks", text=f"{number} found no fault", more=tuple(_by_family(passed)))


def _by_family(codes: Sequence[str]) -> Iterator[str]:
    known = catalogue()
    families: dict[str, list[str]] = {}
    for code in codes:
        if code in known:
            families.setdefault(known[code].family, []).append(f"{known[code].name.replace('_', ' ')} ({code})")
    yield from (f"{family.replace('_', ' ')}: {', '.join(names)}" for family, names in families.items())

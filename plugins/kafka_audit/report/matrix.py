"""The matrix of edges and views: observers by brokers, one character in each cell.

`reach` holds the first failing layer of an edge, `view` whether the observer lists the broker as the registry does. The same
grouping serves terminal, mail and page; agreement is a dot, ink belongs to disagreement.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.broker_lists import ListDifference
from kafka_audit.diagnosis.edge_states import edge_states
from kafka_audit.model.finding import Status
from kafka_audit.report.text import brokers, clean, ranges, wrap

_LAYERS = ("dns", "tcp", "tls", "sasl", "api", "rights", "identity", "packets", "effect")
LADDER = "DTLSARIPE"
"""Letters from the layer that fails first to the one that fails last."""
LETTERS: Mapping[str, str] = MappingProxyType(dict(zip(_LAYERS, LADDER, strict=True)))

MEANING: Mapping[str, str] = MappingProxyType(
    {**{letter: layer for layer, letter in LETTERS.items()}, "V": "view", "?": "not known", ".": "agrees", "-": "not asked"}
)

_NO_VIEW, _DISPUTED = "gave no view", "broker_disputed"
_VIEWS: Mapping[str, str] = MappingProxyType(
    {
        "empty_view": ListDifference.NOTHING.value,
        "broker_missing": ListDifference.MISSING.value,
        "endpoint": ListDifference.ELSEWHERE.value,
        "unregistered": ListDifference.UNREGISTERED.value,
        _DISPUTED: "views differ, and it is unknown which one is newer",
    }
)
"""What a view lists otherwise, the worst first."""

_ORDER = f"{LADDER}?.-"
"""Cells, the worst first."""

FOLD_ABOVE = 12
"""Number of brokers above which equal rows and equal columns are put together."""


_WIDEST_IDS = 24
"""Characters of a list of ids that a head of the table may take; a longer one is spelt out below."""


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """One row: `reach` and `view` hold a character for each broker, in the order of `brokers` of the matrix."""

    name: str
    broker: int | None
    note: str
    reach: str
    view: str

    def worst(self) -> str:
        """Return the row as it is shown: failure beats not known beats agreement."""
        return "".join(_worst(r, v) for r, v in zip(self.reach, self.view, strict=True))


def _worst(reach: str, view: str) -> str:
    if reach in LADDER:
        return reach
    for letter in ("V", "?"):
        if letter in {reach, view}:
            return letter
    return "-" if reach == view == "-" else "."


def build_matrix(view: ClusterView) -> dict[str, Any]:
    """Return the matrix of a snapshot's newest sample, JSON-ready: rows are observers, columns are brokers."""
    columns, why = view.named_brokers, _Reasons()
    reached: dict[str | int, dict[int, str]] = defaultdict(dict)
    for state in edge_states(view):
        letter = {"works": ".", "unknown": "?"}.get(state.state) or LETTERS[state.layer]
        cells, name = reached[state.source], f"broker {state.source}" if isinstance(state.source, int) else state.source
        # What a probe between two brokers shows is quoted of it, and not of the diagnosis again.
        if letter != "." and state.target in columns and not (state.source in columns and letter == cells.get(state.target)):
            text = clean(state.text)
            why.add(letter, text if letter == "?" else f"{state.layer}: {text}", name, [state.target])
        cells[state.target] = min(letter, cells.get(state.target, "-"), key=_ORDER.index)
    names: list[tuple[str, int | None, str]] = [(f"broker {broker}", broker, _note(view, broker)) for broker in columns]
    names += [(source, None, "vantage") for source in reached if isinstance(source, str)]
    rows, views = [] if view.kraft else [_registry(view, columns, why)], _views(view, columns, why)
    for name, broker, note in names:
        cells = reached[name if broker is None else broker]
        listed = "-" * len(columns) if broker is None else views[broker]
        reach = "".join(cells.get(column, "-") for column in columns)
        rows.append(MatrixRow(name=name, broker=broker, note=note, reach=reach, view=listed))
    endpoints = {b: ", ".join(f"{clean(e.listener)}://{clean(e.address)}" for e in view.endpoints.of(b)) for b in columns}
    return {
        "brokers": list(columns),
        "controller": view.controller,
        "endpoints": {str(broker): text for broker, text in endpoints.items()},
        "observers": [dict(vars(row)) for row in rows],
        "why": why.worst_first(),
    }


class _Reasons:
    """Why cells are what they are: each reason once, with its observers and brokers."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[dict[str, None], set[int]]] = {}

    def add(self, letter: str, text: str, observer: str, brokers_of: Iterable[int] = ()) -> None:
        observers, columns = self._found.setdefault((letter, text), ({}, set()))
        observers[observer] = None
        columns.update(brokers_of)

    def worst_first(self) -> list[dict[str, Any]]:
        """Return the letter, text, observers and brokers of each; no broker stands for all."""
        views = list(_VIEWS.values())
        found = sorted(self._found.items(), key=lambda item: views.index(item[0][1]) + 1 if item[0][0] == "V" else 0)
        return [
            {"letter": letter, "observers": list(observers), "brokers": sorted(columns), "text": text}
            for (letter, text), (observers, columns) in found
        ]


def _note(view: ClusterView, broker: int) -> str:
    return "controller" if broker == view.controller else ""


def _registry(view: ClusterView, columns: Sequence[int], why: _Reasons) -> MatrixRow:
    """Return the row of ZooKeeper."""
    cells = "".join("." if broker in view.in_zookeeper else "V" for broker in columns)
    if view.in_zookeeper and "V" in cells:
        why.add("V", _VIEWS["broker_missing"], "zookeeper", (broker for broker in columns if broker not in view.in_zookeeper))
    elif columns and not view.in_zookeeper:
        cells = ("V" if view.zookeeper_read else "?") * len(columns)
        why.add(*(("V", _VIEWS["empty_view"]) if view.zookeeper_read else ("?", _NO_VIEW)), "zookeeper")
    return MatrixRow(name="zookeeper", broker=None, note="registry", reach="-" * len(columns), view=cells)


def _views(view: ClusterView, columns: Sequence[int], why: _Reasons) -> Mapping[int, str]:
    """Return how each broker's views list the brokers; of several views the worst."""
    observers, gap = {one.name: one for one in view.observers}, view.gap("brokers")
    unread = gap.error if gap is not None and gap.status is Status.UNKNOWN else None
    unsure = set() if gap is None else {"unregistered"} if not gap.whole else {*_VIEWS}
    claims = {broker: [claim for claim in view.claims_of(str(broker)) if claim.kind not in unsure] for broker in columns}
    fenced = {broker for broker, own in claims.items() if any(claim.kind == "unlisted" for claim in own)}
    rows = {}
    for broker in columns:
        worst: dict[int, str] = {}
        for claim in claims[broker]:
            if claim.kind in _VIEWS and claim.subject is not None:
                worst[claim.subject] = min(claim.kind, worst.get(claim.subject, claim.kind), key=list(_VIEWS).index)
        listed = {row.broker_id for held in view.views_of(broker) for row in view.listed.get(held.brokers_digest, ())}
        worst |= dict.fromkeys(fenced - listed if listed else (), "broker_missing")
        for column, kind in worst.items():
            why.add("?" if kind == _DISPUTED else "V", _VIEWS[kind], f"broker {broker}", () if kind == "empty_view" else [column])
        observer = observers.get(str(broker))
        agrees = "." if observer is not None and observer.error is None and unread is None else "?"
        if agrees == "?":
            known = unread if view.views_of(broker) else None
            why.add("?", known or (observer.error if observer and observer.foreign else None) or _NO_VIEW, f"broker {broker}")
        rows[broker] = "".join(("?" if worst[c] == _DISPUTED else "V") if c in worst else agrees for c in columns)
    return rows


def broker_count(matrix: Mapping[str, Any]) -> int:
    """Return how many brokers are registered; where ZooKeeper has none or was not read, how many are known."""
    registry = next((observer["view"] for observer in matrix["observers"] if observer["note"] == "registry"), "")
    return registry.count(".") or len(matrix["brokers"])


def folded(cells: Sequence[str], fold: bool) -> tuple[list[list[int]], list[list[int]]]:  # noqa: FBT001 -- one question
    """Return groups of equal row numbers and of equal column numbers of a table of characters."""
    rows, columns = range(len(cells)), range(len(cells[0]) if cells else 0)
    if not fold:
        return [[r] for r in rows], [[c] for c in columns]
    return _equal({r: cells[r] for r in rows}), _equal({c: "".join(line[c] for line in cells) for c in columns})


def _equal(signatures: Mapping[int, str]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for number, signature in signatures.items():
        groups.setdefault(signature, []).append(number)
    return list(groups.values())


def matrix_lines(matrix: Mapping[str, Any], width: int) -> list[str]:
    """Return the matrix (as in the document) as text, with its legend beside it; empty where nothing was asked."""
    observers = [MatrixRow(**raw) for raw in matrix["observers"]]
    ids: list[int] = matrix["brokers"]
    if not observers or not ids:
        return []
    cells = [observer.worst() for observer in observers]
    row_groups, column_groups = folded(cells, len(ids) > FOLD_ABOVE)
    heads = [short([ids[c] for c in group]) for group in column_groups]
    names = [_row_name([observers[r] for r in group]) for group in row_groups]
    left = max(len("broker"), *(len(name) for name in names)) + 2
    widths = [max(len(head), 1) + 2 for head in heads]
    table = ["broker".rjust(left - 2) + "  " + "".join(h.ljust(w) for h, w in zip(heads, widths, strict=True)).rstrip()]
    for name, group in zip(names, row_groups, strict=True):
        row = "".join(cells[group[0]][c[0]].ljust(w) for c, w in zip(column_groups, widths, strict=True))
        table.append(name.ljust(left) + row.rstrip())
    members = [[ids[c] for c in group] for group in column_groups]
    members += [[b for b in (observers[r].broker for r in group) if b is not None] for group in row_groups]
    named = dict.fromkeys((short(group), ranges(group)) for group in members if group)
    spelt = [part for short, full in named if short != full for part in wrap(f"{short}: {full}", width, "", "   ")]
    return [*_beside(table, _legend(matrix, "".join(cells)), width), *([""] if spelt else []), *spelt]


def short(ids: Sequence[int]) -> str:
    """Return ids as ranges, or only both ends and their number where that would be wider than a column can be."""
    full = ranges(ids)
    return full if len(full) <= _WIDEST_IDS else f"{min(ids)} … {max(ids)} ({len(ids)})"


def _row_name(group: Sequence[MatrixRow]) -> str:
    ids = [observer.broker for observer in group if observer.broker is not None]
    others = [clean(observer.name, 40) for observer in group if observer.broker is None]
    mark = " (ctl)" if len(group) == 1 and group[0].note == "controller" else ""
    numbers = f"{'broker' if len(ids) == 1 else 'brokers'} {short(ids)}{mark}" if ids else ""
    return ", ".join(part for part in (numbers, *others) if part)


def _legend(matrix: Mapping[str, Any], shown: str) -> list[str]:
    legend = []
    for letter in f"{LADDER}V?.-":
        if letter not in shown:
            continue
        texts = list(dict.fromkeys(why["text"] for why in matrix["why"] if why["letter"] == letter))
        meaning = texts[0] if letter in LADDER and texts else ": ".join([MEANING[letter], *texts[:1]])
        more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
        legend.append(f"{letter}  {meaning}{more}")
    return legend


def _beside(table: Sequence[str], legend: Sequence[str], width: int) -> list[str]:
    column = max(len(line) for line in table) + 6
    if column + max((len(line) for line in legend), default=0) > width:
        return [*table, "", *(part for line in legend for part in wrap(line, width, "", "   "))]
    padded = [*legend, *[""] * (len(table) - 1 - len(legend))]
    body = [*table[1:], *[""] * (len(padded) - len(table) + 1)]
    return [table[0], *(f"{line.ljust(column)}{note}".rstrip() for line, note in zip(body, padded, strict=True))]


def in_words(matrix: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return letters with sentences, from the same grouping: for mail, and for readers who do not see the picture."""
    sentences: list[tuple[str, str]] = []
    ids: list[int] = matrix["brokers"]
    observers = [MatrixRow(**raw) for raw in matrix["observers"]]
    verbs = {
        "D": "cannot resolve the name of",
        "T": "cannot connect to",
        "L": "cannot agree on TLS with",
        "S": "cannot log in to",
    }
    verbs |= {"A": "got no Kafka answer from", "R": "may not act at", "I": "reached another process at the address of"}
    verbs |= {"E": "cannot get through to", "V": "differ on"}
    for letter, verb in verbs.items():
        groups: dict[tuple[int, ...], list[MatrixRow]] = {}
        for observer in observers:
            line = observer.view if letter == "V" else observer.reach
            columns = tuple(ids[c] for c, cell in enumerate(line) if cell == letter)
            if columns:
                groups.setdefault(columns, []).append(observer)
        sentences += [
            (letter, f"{_row_name(group)}: {verb} {_all(columns)} ({MEANING[letter]}).") for columns, group in groups.items()
        ]
    return sentences


def _all(ids: Sequence[int]) -> str:
    """Return a few brokers one by one, and many as ranges: a number alone would not say which."""
    few = 10
    return brokers(ids, few) if len(ids) <= few else f"brokers {ranges(ids)}"

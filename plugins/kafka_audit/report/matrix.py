"""The matrix of views and probes: observers by brokers, one character in each cell.

`reach` holds the first failing layer of a path, `view` whether the observer lists the broker as the registry does. The same
grouping serves terminal, mail and page; agreement is a dot, ink belongs to disagreement.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.cluster.view import ClusterView
from kafka_audit.cluster.views import differences_of_list
from kafka_audit.compare.broker_lists import ListDifference
from kafka_audit.model.tables import BrokerView
from kafka_audit.report.text import brokers, clean, ranges, wrap

LETTERS: Mapping[str, str] = MappingProxyType({"dns": "D", "tcp": "T", "tls": "L", "sasl": "S", "api": "A", "identity": "I"})
LADDER = "DTLSAI"
"""Letters from the layer that fails first to the one that fails last."""

MEANING: Mapping[str, str] = MappingProxyType(
    {**{letter: layer for layer, letter in LETTERS.items()}, "V": "view", "?": "not known", ".": "agrees", "-": "not asked"}
)

_WORST = tuple(ListDifference)

FOLD_ABOVE = 12
"""Number of brokers above which equal rows and equal columns are put together."""


_WIDEST_IDS = 24
"""Characters of a list of ids that a head of the table may take; a longer one is spelt out below."""


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """One row: `reach` and `view` hold a character a broker, in the order of `Matrix.brokers`."""

    name: str
    broker: int | None
    note: str
    reach: str
    view: str

    def worst(self) -> str:
        """Return the row as it is shown: failure beats not known beats agreement."""
        return "".join(_worst(r, v) for r, v in zip(self.reach, self.view, strict=True))


@dataclass(frozen=True, kw_only=True)
class Why:
    """One reason behind cells: `letter` at these observers and brokers (none named: all)."""

    letter: str
    observers: tuple[str, ...]
    brokers: tuple[int, ...]
    text: str


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Rows are observers, columns brokers."""

    brokers: tuple[int, ...]
    controller: int | None
    endpoints: Mapping[int, str]
    observers: tuple[MatrixRow, ...]
    why: tuple[Why, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form: two strings an observer, reasons listed once."""
        return {
            "brokers": list(self.brokers),
            "controller": self.controller,
            "endpoints": {str(broker): text for broker, text in self.endpoints.items()},
            "observers": [
                {"name": o.name, "broker": o.broker, "note": o.note, "reach": o.reach, "view": o.view} for o in self.observers
            ],
            "why": [
                {"letter": w.letter, "observers": list(w.observers), "brokers": list(w.brokers), "text": w.text} for w in self.why
            ],
        }


def _worst(reach: str, view: str) -> str:
    if reach in LADDER:
        return reach
    for letter in ("V", "?"):
        if letter in {reach, view}:
            return letter
    return "-" if reach == view == "-" else "."


def build_matrix(view: ClusterView) -> Matrix:
    """Return the matrix of a snapshot's newest sample."""
    columns = view.named_brokers
    rows: list[MatrixRow] = []
    if view.zookeeper_read or view.in_zookeeper:
        registered = "".join("." if broker in view.in_zookeeper else "V" for broker in columns)
        rows.append(MatrixRow(name="zookeeper", broker=None, note="registry", reach="-" * len(columns), view=registered))
    elif not view.kraft:
        rows.append(MatrixRow(name="zookeeper", broker=None, note="registry", reach="-" * len(columns), view="?" * len(columns)))
    differences = _listed_otherwise(view)
    rows.extend(_broker_row(view, broker, columns, differences.get(broker, {})) for broker in columns)
    for vantage in dict.fromkeys(path.vantage for path in view.probes if path.role == "client"):
        paths = [path for path in view.probes if path.vantage == vantage and path.role == "client"]
        reach = "".join(_reach([p for p in paths if p.endpoint.broker_id == broker]) for broker in columns)
        rows.append(MatrixRow(name=vantage, broker=None, note="vantage", reach=reach, view="-" * len(columns)))
    return Matrix(
        brokers=columns,
        controller=view.controller,
        endpoints={b: ", ".join(f"{clean(e.listener)}://{clean(e.address)}" for e in view.endpoints.of(b)) for b in columns},
        observers=tuple(rows),
        why=tuple(_reasons(view, rows, differences)),
    )


def _broker_row(view: ClusterView, broker: int, columns: Sequence[int], differences: Mapping[int, ListDifference]) -> MatrixRow:
    paths = [path for path in view.probes if path.from_broker == broker]
    agrees = "." if view.views_of(broker) and not _unread(view) else "?"
    return MatrixRow(
        name=f"broker {broker}",
        broker=broker,
        note="controller" if broker == view.controller else "",
        reach="".join(_reach([p for p in paths if p.endpoint.broker_id == column]) for column in columns),
        view="".join("V" if column in differences else agrees for column in columns),
    )


def _reach(paths: Sequence[ProbeResult]) -> str:
    failed = [LETTERS[path.layer] for path in paths if path.outcome == "failed" and path.layer]
    if failed:
        return min(failed, key=LADDER.index)
    if any(path.outcome == "unknown" and not path.passed for path in paths):
        return "?"
    return "." if paths else "-"


def _unread(view: ClusterView) -> bool:
    """Return whether the cluster has a ZooKeeper that was not read, so that views have no reference."""
    return not view.zookeeper_read and not view.in_zookeeper and not view.kraft


def _listed_otherwise(view: ClusterView) -> Mapping[int, Mapping[int, ListDifference]]:
    """Return by broker what its views list otherwise than it is registered; of several views the worst."""
    if _unread(view):
        return {}
    endpoints = view.endpoints.known
    listeners = {endpoint.listener for endpoint in endpoints}
    equal: dict[tuple[str, str, int], Mapping[int, ListDifference]] = {}  # a thousand brokers that agree are compared once
    found: dict[int, dict[int, ListDifference]] = {}
    for held in view.newest(BrokerView):
        key = (held.listener, held.brokers_digest, held.brokers_listed)
        if key not in equal:
            listed = view.listed.get(held.brokers_digest, ())
            equal[key] = differences_of_list(held, endpoints, listed, known_listener=held.listener in listeners)
        own = found.setdefault(held.broker_id, {})
        for other, how in equal[key].items():
            # A broker that is registered without that listener is not unregistered; in KRaft no list shows registrations.
            if how is not ListDifference.UNREGISTERED or not (view.kraft or other in view.in_zookeeper):
                own[other] = min(how, own.get(other, how), key=_WORST.index)
    return found


def _reasons(view: ClusterView, rows: Sequence[MatrixRow], listed: Mapping[int, Mapping[int, ListDifference]]) -> Iterator[Why]:
    found: dict[tuple[str, str], tuple[dict[str, None], dict[int, None]]] = {}
    for path in view.probes:
        if path.outcome == "ok" or path.layer is None or (path.outcome == "unknown" and path.passed):
            continue
        letter = LETTERS[path.layer] if path.outcome == "failed" else "?"
        error = clean(path.error or ("failed" if path.outcome == "failed" else "not known"))
        text = f"{path.layer}: {error}" if letter != "?" else f"{error}{f', needs {clean(path.needs)}' if path.needs else ''}"
        name = f"broker {path.from_broker}" if path.from_broker is not None else path.vantage
        observers, columns = found.setdefault((letter, text), ({}, {}))
        observers[name] = None
        columns[path.endpoint.broker_id] = None
    for (letter, text), (observers, columns) in found.items():
        yield Why(letter=letter, observers=tuple(observers), brokers=tuple(sorted(columns)), text=text)
    yield from _listed_reasons(view, rows, listed)
    alone = tuple(row.name for row in rows if row.broker is not None and _unread(view) and view.views_of(row.broker))
    silent = tuple(row.name for row in rows if row.view and set(row.view) == {"?"} and row.name not in alone)
    if silent:
        yield Why(letter="?", observers=silent, brokers=(), text="gave no view")
    if alone:
        yield Why(letter="?", observers=alone, brokers=(), text="ZooKeeper was not read; views cannot be compared with it")


def _listed_reasons(
    view: ClusterView, rows: Sequence[MatrixRow], listed: Mapping[int, Mapping[int, ListDifference]]
) -> Iterator[Why]:
    """Yield what views list otherwise than it is registered, the worst first."""
    found: dict[ListDifference, tuple[dict[str, None], set[int]]] = {}
    for row in rows:
        if row.broker is not None:
            differences = listed.get(row.broker, {})
        else:
            how = ListDifference.MISSING if view.in_zookeeper else ListDifference.NOTHING
            differences = {b: how for b, cell in zip(view.named_brokers, row.view, strict=True) if cell == "V"}
        for broker, how in differences.items():
            observers, columns = found.setdefault(how, ({}, set()))
            observers[row.name] = None
            columns.add(broker)
    for how in sorted(found, key=_WORST.index):
        observers, columns = found[how]
        brokers_of = () if how is ListDifference.NOTHING else tuple(sorted(columns))
        yield Why(letter="V", observers=tuple(observers), brokers=brokers_of, text=how.value)


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
    for letter in "DTLSAIV?.-":
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
    verbs |= {"A": "got no Kafka answer from", "I": "reached another process at the address of", "V": "differ on"}
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

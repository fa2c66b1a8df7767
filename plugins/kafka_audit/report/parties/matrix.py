"""The matrix of edges and views: observers by brokers and controllers, one character in each cell.

`reach` holds the first failing layer of an edge to a broker, `quorum` that of an edge to a controller, `view` whether the
observer lists the broker as the registry does. A node with both roles has one row and one column. The same grouping serves
terminal, mail and page; agreement is a dot, ink belongs to disagreement.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, product
from types import MappingProxyType
from typing import Any

from msgspec import structs

from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text
from kafka_audit.faults.controller_paths import controller_paths
from kafka_audit.faults.edge_states import (
    DISPUTED,
    OTHERWISE,
    EdgeState,
    controller_at,
    controller_states,
    edge_states,
    listed_brokers,
)
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.finding import Resource
from kafka_audit.model.read_failure import EdgeLayer
from kafka_audit.model.report import Matrix, MatrixObserver, MatrixReason
from kafka_audit.report.text import clean, counted, listing, ranges, wrap

_LAYERS = ("dns", "tcp", "tls", "sasl", "api", "rights", "identity", "packets", "effect")
LADDER = "DTLSARIPE"
"""Letters from the layer that fails first to the one that fails last."""
LETTERS: Mapping[str, str] = MappingProxyType(dict(zip(_LAYERS, LADDER, strict=True)))

MEANING: Mapping[str, str] = MappingProxyType(
    {**{letter: layer for layer, letter in LETTERS.items()}, "V": "view", "?": "not known", ".": "agrees", "-": "not asked"}
)

ORDER = f"{LADDER}V?.-"
"""Cells, the worst first: failure beats not known beats agreement."""

_RANKS = {ord(character): chr(rank) for rank, character in enumerate(ORDER)}
_CHARACTERS = dict(enumerate(ORDER))

FOLD_ABOVE = 12
"""Number of columns above which equal rows and equal columns are put together."""

_MOST_VOTERS = 100
"""Voters that have a row and a column: a quorum has three or five, but an answer may list any number."""
_LONGEST = 100
"""Characters of an address; a host has 253 at most, and few have so many."""

_SPELT = 2
"""Reasons of one letter that the legend of a terminal has."""

_WIDEST_IDS = 24
"""Characters of a list of ids that a head of the table may take; a longer one is spelt out below."""


def worst_cells(row: MatrixObserver) -> str:
    """Return a row of `matrix_rows` as it is shown."""
    return _worst(row.reach, row.quorum, row.view)


def reached_cells(row: MatrixObserver) -> str:
    """Return a row of `matrix_rows` without what is seen."""
    return _worst(row.reach, row.quorum)


def _worst(*lines: str) -> str:
    """Return the worst character of each column; there are as many as brokers, for each of as many rows."""
    return "".join(map(min, *(line.translate(_RANKS) for line in lines))).translate(_CHARACTERS)


@dataclass(frozen=True, kw_only=True)
class MatrixColumn:
    """One column: a broker by its id, a controller by its id or, where that is unknown, by its address; or both roles."""

    node: int | str
    broker: bool
    controller: bool


def matrix_columns(matrix: Matrix) -> list[MatrixColumn]:
    """Return the columns of a document's matrix: brokers first, then what is a controller alone."""
    brokers, controllers = matrix.brokers, matrix.controllers
    found = [MatrixColumn(node=node, broker=True, controller=node in controllers) for node in brokers]
    return found + [MatrixColumn(node=node, broker=False, controller=True) for node in controllers if node not in brokers]


def matrix_rows(matrix: Matrix) -> list[MatrixObserver]:
    """Return the rows of a report's matrix: `reach`, `quorum` and `view` have a cell for each column of `matrix_columns`."""
    columns = matrix_columns(matrix)
    nodes = [column.node for column in columns]
    rows: list[MatrixObserver] = []
    for raw in matrix.observers:
        quorum = dict(zip(matrix.controllers, raw.quorum, strict=True))
        reach, view = (line.ljust(len(columns), "-") for line in (raw.reach, raw.view))
        rows.append(structs.replace(raw, reach=reach, quorum=_line(quorum, nodes, "-"), view=view))
    return rows


def build_matrix(view: ClusterView) -> Matrix:
    """Return the matrix of a snapshot's newest sample: rows are observers, columns are brokers and controllers."""
    brokers, voters, why = view.named_brokers, view.quorum.now.voters[:_MOST_VOTERS], _Reasons()
    of_brokers: dict[int | str, str] = {broker: f"broker {broker}" for broker in brokers}
    names: dict[int | str, str] = {voter: f"controller {voter}" for voter in voters}
    names |= of_brokers
    states = [state for state in edge_states(view) if state.target in of_brokers]
    reached = _cells([*states, *_silent(view, of_brokers, {(state.source, state.target) for state in states})], names, why)
    # While a cluster migrates, its brokers fetch nothing from the controllers of KRaft.
    following = (*brokers, *(voter for voter in voters if voter not in of_brokers)) if view.kraft else voters
    asked = [_of_controller(state, of_brokers) for state in controller_states(view, following)]
    controllers, quorum = _controllers({state.target for state in asked}, voters), _cells(asked, names, why, "controllers")
    rows: list[MatrixObserver] = []
    views = _views(view, brokers, why)
    if "zookeeper" in views:
        reach, seen = "-" * len(brokers), "-" * len(controllers)
        rows.append(
            MatrixObserver(name="zookeeper", broker=None, note="registry", reach=reach, quorum=seen, view=views["zookeeper"])
        )
    vantages = dict.fromkeys(source for source in (*reached, *quorum) if isinstance(source, str))
    # The leader fetches from no node: if it is not a broker, it has only a column.
    sources: tuple[int | str, ...] = (*brokers, *(voter for voter in voters if voter in quorum), *vantages)
    for source in dict.fromkeys(sources):
        has_role = isinstance(source, int) and (source == view.controller or source in controllers)
        rows.append(
            MatrixObserver(
                name=names.get(source, str(source)),
                broker=source if isinstance(source, int) and source in of_brokers else None,
                controller=source if isinstance(source, int) and source in voters else None,
                note="vantage" if source in vantages else "controller" if has_role else "",
                reach=_line(reached[source], brokers, "-"),
                quorum=_line(quorum[source], controllers, "-"),
                view=views.get(source, "-" * len(brokers)),
            )
        )
    endpoints = {b: ", ".join(f"{clean(e.listener)}://{clean(e.address)}" for e in view.endpoints.of(b)) for b in brokers}
    places: dict[str, dict[str, None]] = defaultdict(dict)
    addresses = view.voter_addresses.values()
    for address in (*(path.address for path in view.derived(controller_paths)), *(address_text(*one) for one in addresses)):
        places[clean(controller_at(view, address), _LONGEST)][clean(address, _LONGEST)] = None
    return Matrix(
        brokers=tuple(brokers),
        absent=_absent(view),
        controllers=tuple(controllers),
        controller=view.controller,
        endpoints={str(broker): text for broker, text in endpoints.items()},
        controller_endpoints={node: ", ".join(found) for node, found in places.items()},
        observers=tuple(rows),
        why=tuple(why.worst_first()),
    )


def _absent(view: ClusterView) -> tuple[int, ...]:
    """Return the brokers that anything names and that are not there; none where it is not known which are."""
    there = view.brokers.keys() | view.unlisted | view.followers
    named = {*view.named_brokers, *view.partitions.assigned}
    return tuple(sorted(named - there - {row.broker_id for row in view.held_views})) if view.brokers else ()


def _silent(
    view: ClusterView, brokers: Collection[int | str], known: Collection[tuple[int | str, int | str]]
) -> Iterator[EdgeState]:
    """Yield how the worker does not reach brokers that are registered nowhere, by the addresses that were theirs."""
    for read in view.last_reads:
        resource = Resource.of(view.reads.resources.get(read.observer, "cluster"))
        layer, broker = read.failure.layer, resource.broker
        # As a probe calls the layer; earlier versions kept no more than the reason.
        name = read.layer or (layer and ("dns" if layer is EdgeLayer.NAME else layer.value))
        if broker is None or broker not in brokers or name is None or name not in LETTERS or (WORKER, broker) in known:
            continue
        if read.observer.startswith("broker@"):
            yield EdgeState(source=WORKER, target=broker, state="broken", layer=name, text=read.error or read.failure.words)


def _of_controller(state: EdgeState, brokers: Collection[int | str]) -> EdgeState:
    """Return the state of an edge to a controller: its address is cleaned, and of a node with two roles the listener named."""
    target = state.target if isinstance(state.target, int) else clean(state.target, _LONGEST)
    of_both = state.target in brokers and state.layer != "effect"
    return replace(state, target=target, text=f"controller listener: {state.text}" if of_both else state.text)


def _controllers(targets: Collection[int | str], voters: Iterable[int]) -> list[int | str]:
    """Return the columns of controllers. Where ids of some addresses are unknown, these are of voters that were not asked."""
    return _in_order({*targets} if any(isinstance(target, str) for target in targets) else {*targets, *voters})


def _in_order(nodes: Iterable[int | str]) -> list[int | str]:
    """Return ids in their order, and after them addresses."""
    return sorted(nodes, key=lambda node: (0, node, "") if isinstance(node, int) else (1, 0, node))


def _cells(
    states: Iterable[EdgeState], names: Mapping[int | str, str], why: "_Reasons", kind: str = "brokers"
) -> defaultdict[int | str, dict[int | str, str]]:
    """Return the letters of edges by source and target; `kind`: what the targets are."""
    cells: defaultdict[int | str, dict[int | str, str]] = defaultdict(dict)
    for state in states:
        letter = {"works": ".", "unknown": "?"}.get(state.state) or LETTERS[state.layer]
        earlier = cells[state.source].get(state.target, "-")
        # What a probe between two nodes shows is quoted of it, and not of the diagnosis again.
        if letter != "." and not (state.source in names and letter == earlier):
            text, name = clean(state.text), names.get(state.source, str(state.source))
            why.add(letter, text if letter == "?" else f"{state.layer}: {text}", name, **{kind: [state.target]})
        cells[state.source][state.target] = min(letter, earlier, key=ORDER.index)
    return cells


class _Reasons:
    """Why cells are what they are: each reason once, with its observers, brokers and controllers."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[dict[str, None], set[int | str], set[int | str]]] = {}

    def add(
        self, letter: str, text: str, observer: str, brokers: Iterable[int | str] = (), controllers: Iterable[int | str] = ()
    ) -> None:
        observers, of_brokers, of_controllers = self._found.setdefault((letter, text), ({}, set(), set()))
        observers[observer] = None
        of_brokers.update(brokers)
        of_controllers.update(controllers)

    def worst_first(self) -> Iterator[MatrixReason]:
        """Yield the reasons; neither brokers nor controllers stands for all brokers."""
        views = list(OTHERWISE.values())
        found = sorted(self._found.items(), key=lambda item: views.index(item[0][1]) + 1 if item[0][0] == "V" else 0)
        for (letter, text), (observers, of_brokers, of_controllers) in found:
            yield MatrixReason(
                letter=letter,
                observers=tuple(observers),
                brokers=tuple(sorted(broker for broker in of_brokers if isinstance(broker, int))),
                controllers=tuple(_in_order(of_controllers)),
                text=text,
            )


def _views(view: ClusterView, columns: Sequence[int], why: _Reasons) -> Mapping[int | str, str]:
    """Return how each party lists the brokers."""
    rows: dict[int | str, str] = {}
    for party in listed_brokers(view):
        name = party.observer if isinstance(party.observer, str) else f"broker {party.observer}"
        cells = {broker: "?" if kind == DISPUTED else "V" for broker, kind in party.otherwise.items()}
        for broker, kind in party.otherwise.items():
            why.add(cells[broker], OTHERWISE[kind], name, () if kind == "empty_view" else [broker])
        if party.unknown is not None and columns:
            why.add("?", clean(party.unknown), name)
        # Where it is known who is registered, a dot below another broker would say that a list without it is right.
        gone = dict.fromkeys(() if party.unknown else {*columns} - view.brokers.keys() - view.unlisted, "-")
        rows[party.observer] = _line(gone | cells, columns, "." if party.unknown is None else "?")
    return rows


def _line(cells: Mapping[Any, str], columns: Sequence[Any], otherwise: str) -> str:
    """Return a character for each column; most brokers, however many, are sources of no edge."""
    return "".join(cells.get(column, otherwise) for column in columns) if cells else otherwise * len(columns)


def brokers_text(matrix: Matrix) -> str:
    """Return how many brokers are in service, of how many that are known."""
    known = len({*matrix.brokers, *matrix.absent})
    return f"{known - len(matrix.absent)} of {known} brokers in service" if matrix.absent else counted(known, "broker")


def folded(
    cells: Sequence[str], columns: Sequence[MatrixColumn], *, fold: bool | None
) -> tuple[list[list[int]], list[list[int]]]:
    """Return groups of equal row numbers and of equal column numbers, of one role each, of a table of characters.

    `fold`: put them together; None: above 12 columns.
    """
    if not (len(columns) > FOLD_ABOVE if fold is None else fold):
        return [[r] for r in range(len(cells))], [[c] for c in range(len(columns))]
    of_column = list(zip(*cells, strict=True)) or [()] * len(columns)
    signatures = {c: (columns[c].broker, columns[c].controller, of_column[c]) for c in range(len(columns))}
    return _equal(dict(enumerate(cells))), _equal(signatures)


def _equal(signatures: Mapping[int, Hashable]) -> list[list[int]]:
    groups: dict[Hashable, list[int]] = {}
    for number, signature in signatures.items():
        groups.setdefault(signature, []).append(number)
    return list(groups.values())


def matrix_lines(matrix: Matrix, width: int) -> list[str]:
    """Return the matrix (as in the document) as text, with its legend beside it; empty where nothing was asked."""
    observers, columns = matrix_rows(matrix), matrix_columns(matrix)
    if not observers or not columns:
        return []
    table = _table(observers, columns, fold=None)
    if max(map(len, table.lines)) > width:
        table = _table(observers, columns, fold=True)
    spelt = [part for brief, full in table.spelt for part in wrap(f"{brief}: {full}", width, "", "   ")]
    return [*_beside(table.lines, _legend(matrix, table.shown), width), *([""] if spelt else []), *spelt]


@dataclass(frozen=True, kw_only=True)
class _Table:
    lines: Sequence[str]
    shown: str  # the letters
    spelt: Iterable[tuple[str, str]]  # what stands for ids and addresses that do not fit, and these


def _table(observers: Sequence[MatrixObserver], columns: Sequence[MatrixColumn], *, fold: bool | None) -> _Table:
    cells = [worst_cells(observer) for observer in observers]
    row_groups, column_groups = folded(cells, columns, fold=fold)
    members = [[columns[c] for c in group] for group in column_groups]
    heads = [("" if group[0].broker else "ctl ") + short([column.node for column in group]) for group in members]
    names = [_row_name([observers[r] for r in group]) for group in row_groups]
    corner = "broker" if columns[0].broker else ""
    left = max(len(corner), *(len(name) for name in names)) + 2
    widths = [max(len(head), 1) + 2 for head in heads]
    lines = [corner.rjust(left - 2) + "  " + "".join(h.ljust(w) for h, w in zip(heads, widths, strict=True)).rstrip()]
    for name, group in zip(names, row_groups, strict=True):
        row = "".join(cells[group[0]][c[0]].ljust(w) for c, w in zip(column_groups, widths, strict=True))
        lines.append(name.ljust(left) + row.rstrip())
    named = [[column.node for column in group] for group in members]
    named += [ids for group in row_groups for ids in row_ids([observers[r] for r in group]) if ids]
    pairs = dict.fromkeys((short(group), spelt_nodes(group)) for group in named)
    return _Table(lines=lines, shown="".join(cells), spelt=[(brief, full) for brief, full in pairs if brief != full])


def short(nodes: Sequence[int | str]) -> str:
    """Return ids as ranges, or addresses; only both ends and their number where that would be wider than a column can be."""
    full = spelt_nodes(nodes)
    if len(full) <= _WIDEST_IDS:
        return full
    ends = [clean(node, _LONGEST) for node in _in_order(nodes)]
    more = f" ({len(ends)})" if len(ends) > 1 else ""
    return f"{ends[0]} … {ends[-1]}{more}" if isinstance(nodes[0], int) else f"{ends[0][: _WIDEST_IDS - 1]}…{more}"


def spelt_nodes(nodes: Sequence[int | str]) -> str:
    """Return ids as ranges, and addresses one by one."""
    places = [clean(node, _LONGEST) for node in nodes if isinstance(node, str)]
    return ", ".join([*filter(None, [ranges(node for node in nodes if isinstance(node, int))]), *places])


def row_ids(group: Iterable[MatrixObserver]) -> tuple[list[int | str], list[int | str]]:
    """Return the ids of brokers, and of what is a controller alone."""
    brokers: list[int | str] = [row.broker for row in group if row.broker is not None]
    return brokers, [row.controller for row in group if row.broker is None and row.controller is not None]


def _row_name(group: Sequence[MatrixObserver]) -> str:
    both = all(row.note == "controller" for row in group if row.broker is not None)
    named = zip(("broker", "controller"), row_ids(group), (" (ctl)" if both else "", ""), strict=True)
    parts = [f"{role}{'' if len(ids) == 1 else 's'} {short(ids)}{mark}" for role, ids, mark in named if ids]
    others = [clean(row.name, 40) for row in group if row.broker is None and row.controller is None]
    return ", ".join([*parts, *others])


def _legend(matrix: Matrix, shown: str) -> list[str]:
    legend = []
    for letter in ORDER:
        if letter not in shown:
            continue
        reasons = {why.text: why for why in matrix.why if why.letter == letter}
        apart = len({(why.brokers, why.controllers) for why in reasons.values()}) > 1
        texts = [f"{text}{_where(why, apart=apart)}" if len(reasons) > 1 else text for text, why in reasons.items()]
        spelt = "; ".join(texts[:_SPELT])
        meaning = spelt if letter in LADDER and spelt else ": ".join(filter(None, (MEANING[letter], spelt)))
        more = f" (and {len(texts) - _SPELT} more)" if len(texts) > _SPELT else ""
        if letter == ".":
            meaning = agreement(matrix)
        legend.append(f"{letter}  {meaning}{more}")
    return legend


def _where(why: MatrixReason, *, apart: bool) -> str:
    """Return whose cells a reason is about, where a letter has several: by columns, or by rows where they are of one column."""
    named = [_all(role, nodes) for role, nodes in (("broker", why.brokers), ("controller", why.controllers)) if nodes]
    return f" ({', '.join(named) if named and apart else f'from {listing(why.observers, 3)}'})"


def agreement(matrix: Matrix) -> str:
    """Return what a dot means: in rows of brokers only what they list, if no probe ran on their hosts."""
    rows = [row for row in matrix.observers if row.broker is not None]
    listed = any("." in row.view for row in rows) and all({*row.reach} <= {"-"} for row in rows)
    return f"{MEANING['.']}{' (brokers: what they list)' if listed else ''}"


def _beside(table: Sequence[str], legend: Sequence[str], width: int) -> list[str]:
    column = max(len(line) for line in table) + 6
    if column + max((len(line) for line in legend), default=0) > width:
        return [*table, "", *(part for line in legend for part in wrap(line, width, "", "   "))]
    padded = [*legend, *[""] * (len(table) - 1 - len(legend))]
    body = [*table[1:], *[""] * (len(padded) - len(table) + 1)]
    return [table[0], *(f"{line.ljust(column)}{note}".rstrip() for line, note in zip(body, padded, strict=True))]


def in_words(matrix: Matrix) -> list[tuple[str, str]]:
    """Return letters with sentences, from the same grouping: for mail, and for readers who do not see the picture."""
    sentences: list[tuple[str, str]] = []
    nodes_of_columns, observers = [column.node for column in matrix_columns(matrix)], matrix_rows(matrix)
    verbs = {
        "D": "cannot resolve the name of",
        "T": "cannot connect to",
        "L": "cannot agree on TLS with",
        "S": "cannot log in to",
    }
    verbs |= {"A": "got no Kafka answer from", "R": "may not act at", "I": "reached another process at the address of"}
    verbs |= {"P": "got no large request through to", "E": "cannot get through to", "V": "differ on"}
    for letter, role in product(verbs, ("broker", "controller")):
        groups: dict[tuple[int | str, ...], list[MatrixObserver]] = {}
        for observer in observers:
            line = observer.quorum if role == "controller" else observer.view if letter == "V" else observer.reach
            if letter in line:
                groups.setdefault(tuple(compress(nodes_of_columns, map(letter.__eq__, line))), []).append(observer)
        verb = "not caught up with" if (letter, role) == ("E", "controller") else verbs[letter]
        sentences += [
            (letter, f"{_row_name(group)}: {verb} {_all(role, nodes)} ({MEANING[letter]}).") for nodes, group in groups.items()
        ]
    return sentences


def _all(role: str, nodes: Sequence[int | str]) -> str:
    """Return a few nodes one by one, and many as ranges: a number alone would not say which."""
    few = 10
    return f"{role}{'' if len(nodes) == 1 else 's'} {listing(nodes) if len(nodes) <= few else spelt_nodes(nodes)}"

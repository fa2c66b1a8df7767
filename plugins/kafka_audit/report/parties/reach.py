"""The results of probes by listener and layer: one row for each vantage and listener, brokers grouped by their error.

`matrix` shows the worst of a cell over all listeners; here nothing is put together but brokers that end alike. Where all is
open a row names no broker, so a cluster of 60 brokers stays a short list until something differs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.serve_edges import PROBED_LAYERS, ServeEdge, ServeEdges
from kafka_audit.model.report import ReachRow, ReachStop
from kafka_audit.model.tables import Probe
from kafka_audit.report.parties.matrix import short
from kafka_audit.report.text import clean, unbroken, wrap

_ROWS = 20
"""Rows that a terminal shows; all of them are in findings.json."""

_NARROWEST = 24
"""The smallest width of the last column next to the others."""

_NOT_TRIED, _OPEN = "-", "nothing"


def build_reach(view: ClusterView) -> tuple[ReachRow, ...]:
    """Return the rows: client vantages first, then brokers' hosts in the order of their ids."""
    found: dict[tuple[str, int, str, str], list[ServeEdge]] = defaultdict(list)
    for edge in view.derived(ServeEdges).every:
        broker = -1 if edge.source is None else edge.source
        found[edge.role, broker, edge.vantage, edge.endpoint.listener].append(edge)
    order = sorted(found, key=lambda key: (key[0] != "client", key[1:]))
    return tuple(_row(key[2], None if key[1] < 0 else key[1], key[0], key[3], found[key]) for key in order)


def _row(vantage: str, broker: int | None, role: str, listener: str, edges: Sequence[ServeEdge]) -> ReachRow:
    ends = [(edge, edge.last_probe) for edge in edges]
    stops: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for edge, end in ends:
        if end is not None:
            stops[end.layer, end.outcome, clean(end.error or end.needs or end.outcome)].append(edge.endpoint.broker_id)
    order = sorted(stops.items(), key=lambda stop: (PROBED_LAYERS.index(stop[0][0]), stop[0]))
    return ReachRow(
        source=vantage if broker is None else f"broker {broker}",
        broker=broker,
        role=role,
        listener=clean(listener),
        brokers=tuple(sorted(edge.endpoint.broker_id for edge in edges)),
        open=sum(end is None for _, end in ends),
        layers={layer: (sum(passed), len(passed)) for layer in PROBED_LAYERS if (passed := _passed(ends, layer))},
        stops=tuple(
            ReachStop(layer=layer, outcome=outcome, error=error, brokers=tuple(sorted(ids)))
            for (layer, outcome, error), ids in order
        ),
    )


def _passed(ends: Iterable[tuple[ServeEdge, Probe | None]], layer: str) -> list[bool]:
    """Return of each edge on which a layer was tried whether it works."""
    return [layer in edge.passed for edge, end in ends if layer in edge.passed or (end is not None and end.layer == layer)]


def reach_lines(rows: Sequence[ReachRow], width: int) -> list[str]:
    """Return the table as text, equal rows joined and the worst first; empty if no probe fails.

    If the columns are too wide, a row is a paragraph.
    """
    if not any(row.stops for row in rows):
        return []
    groups: dict[str, list[ReachRow]] = defaultdict(list)
    for row in rows:
        groups[repr([row.role, row.listener, row.layers, row.stops])].append(row)
    order = sorted(groups.values(), key=lambda group: group[0].open - len(group[0].brokers))
    layers = [layer for layer in PROBED_LAYERS if any(layer in row.layers for row in rows)]
    table = [["from", "listener", *layers, "stops at"]]
    for group in order[:_ROWS]:
        first = group[0]
        counts = [_NOT_TRIED if layer not in first.layers else "{} of {}".format(*first.layers[layer]) for layer in layers]
        table.append([_places(group), clean(first.listener, 24), *counts, "; ".join(map(_stop, first.stops)) or _OPEN])
    widths = [max(map(len, column)) for column in zip(*(cells[:-1] for cells in table), strict=True)]
    fits = sum(widths) + 2 * (len(widths) - 1) <= width
    lines = _aligned(table, widths, width) if fits else _paragraphs(table, width)
    return [*lines, *([f"and {len(order) - _ROWS} more rows, in findings.json"] if len(order) > _ROWS else [])]


def _aligned(table: Sequence[Sequence[str]], widths: Sequence[int], width: int) -> Iterator[str]:
    """Yield lines of a table whose last column is wrapped: next to the others, or below them if the width is too small."""
    for cells in table:
        head = "".join(f"{cell.ljust(size)}  " for cell, size in zip(cells[:-1], widths, strict=True))
        if width - len(head) >= _NARROWEST:
            yield from wrap(cells[-1], width, head, " " * len(head))
        else:
            yield head.rstrip()
            yield from wrap(cells[-1], width, "    ", "    ")


def _paragraphs(table: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield each row as three lines, each wrapped, with the names of its columns."""
    (_, _, *layers, last), *rows = table
    for places, listener, *counts, stops in rows:
        yield from wrap(f"from {places}, listener {listener}", width, "", "    ")
        tried = [unbroken(f"{layer} {count}") for layer, count in zip(layers, counts, strict=True) if count != _NOT_TRIED]
        beyond = dict(zip(layers, counts, strict=True)).get("api", _NOT_TRIED) != _NOT_TRIED  # it has no TLS, or no login
        others = [
            layer
            for layer, count in zip(layers, counts, strict=True)
            if count == _NOT_TRIED and not (beyond and layer in {"tls", "sasl"})
        ]
        yield from wrap(", ".join([*tried, *([f"not tried: {', '.join(others)}"] if others else [])]), width, "    ", "    ")
        yield from wrap("all open" if stops == _OPEN else f"{last} {stops}", width, "    ", "    ")


def _places(group: Sequence[ReachRow]) -> str:
    ids = [row.broker for row in group if row.broker is not None]
    others = [clean(row.source, 24) for row in group if row.broker is None]
    return ", ".join([*others, *([f"{'broker' if len(ids) == 1 else 'brokers'} {short(ids)}"] if ids else [])])


def _stop(stop: ReachStop) -> str:
    doubt = "" if stop.outcome == "failed" else "not known, "
    return f"{stop.layer} of {short(stop.brokers)}: {doubt}{stop.error}"

"""The matrix as a table of cells: the same grouping and letters as in the terminal, ready for a template."""

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_audit.model.report import Matrix, MatrixObserver
from kafka_audit.model.text import clean
from kafka_audit.report.parties import matrix
from kafka_audit.report.parties.matrix import FOLD_ABOVE, MEANING, MatrixColumn, folded, reached_cells, spelt_nodes, worst_cells

MODES = {"worst": "Worst layer", "reach": "Reaches", "view": "Sees"}
_CLASSES = {".": "O", "-": "N", "?": "U"}
_LONGEST_HEAD = 24
_ROOMY = 6
_MOST_CELLS = 20_000
"""Cells that are drawn one by one; beyond that equal rows and columns are always folded."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell: `letter` as in the document, `mark` as a CSS class, `hides` whether another half of it is not known."""

    letter: str
    mark: str
    word: str
    says: str
    hides: bool


@dataclass(frozen=True, kw_only=True)
class Head:
    """The label of a row or column: a short name, the same for a sentence, all ids if the name omits them, a note."""

    name: str
    called: str
    spelt: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Everything that a template needs; `legend` holds (mark, letter, meaning, cells, reasons).

    `folds`: there are so many columns that folding equal ones is offered.
    `roomy`: so few columns that they share the width of the page, and cells show their reasons.
    """

    mode: str
    folded: bool
    can_unfold: bool
    folds: bool
    dense: bool
    roomy: bool
    columns: tuple[Head, ...]
    rows: tuple[tuple[Head, tuple[Cell, ...]], ...]
    legend: tuple[tuple[str, str, str, int, tuple[str, ...]], ...]
    words: tuple[tuple[str, str], ...]
    size: tuple[int, int]


def build_picture(drawn: Matrix, *, mode: str = "worst", fold: bool | None = None) -> Picture | None:
    """Return the picture of a document's `matrix`, None where there is nothing to show.

    Args:
        drawn: `matrix` of a `findings.json`.
        mode: `worst`, `reach` or `view`.
        fold: put equal rows and equal columns together; None: above 12 columns.
    """
    observers, nodes = matrix.matrix_rows(drawn), matrix.matrix_columns(drawn)
    if not observers or not nodes:
        return None
    too_many = len(observers) * len(nodes) > _MOST_CELLS
    is_folded = too_many or (len(nodes) > FOLD_ABOVE if fold is None else fold)
    cells = [_line(observer, mode) for observer in observers]
    # Rows with equal cells and different hidden details are not equal.
    keys = [
        f"{line}{observer.reach}{observer.quorum}{observer.view}" if mode == "worst" else line
        for line, observer in zip(cells, observers, strict=True)
    ]
    dense = not is_folded and len(nodes) > FOLD_ABOVE
    rows, columns = folded(cells, nodes, fold=is_folded)
    if is_folded and mode == "worst":
        rows = _split(rows, keys)
    return Picture(
        mode=mode,
        folded=is_folded,
        can_unfold=not too_many,
        folds=len(nodes) > _ROOMY,
        dense=dense,
        roomy=len(columns) <= _ROOMY,
        columns=tuple(_column(drawn, [nodes[c] for c in group], dense=dense) for group in columns),
        rows=tuple(
            (
                _row([observers[r] for r in group]),
                tuple(_cell(drawn, observers[group[0]], mode, [nodes[c].node for c in column], column[0]) for column in columns),
            )
            for group in rows
        ),
        legend=tuple(_legend(drawn, "".join(cells))),
        words=tuple(matrix.in_words(drawn)),
        size=(len(observers), len(nodes)),
    )


def _split(groups: Sequence[Sequence[int]], keys: Sequence[str]) -> list[list[int]]:
    found: list[list[int]] = []
    for group in groups:
        by_key: dict[str, list[int]] = {}
        for number in group:
            by_key.setdefault("?" if "?" in keys[number] else "", []).append(number)
        found.extend(by_key.values())
    return found


def _line(observer: MatrixObserver, mode: str) -> str:
    return observer.view if mode == "view" else reached_cells(observer) if mode == "reach" else worst_cells(observer)


def _cell(drawn: Matrix, observer: MatrixObserver, mode: str, group: Sequence[int | str], column: int) -> Cell:
    letter = _line(observer, mode)[column]
    parts = (observer.reach[column], observer.quorum[column], observer.view[column])
    return Cell(
        letter=letter,
        mark=_CLASSES.get(letter, letter),
        word=MEANING[letter],
        says=_says(drawn, observer, letter, group),
        hides=mode == "worst" and letter not in "?." and "?" in parts,
    )


def _says(drawn: Matrix, observer: MatrixObserver, letter: str, group: Sequence[int | str]) -> str:
    """Return the reason that the document gives for a cell; empty for agreement and for what was not asked."""
    for why in drawn.why:
        nodes = {*why.brokers, *why.controllers}
        named = not nodes or not nodes.isdisjoint(group)
        if why.letter == letter and observer.name in why.observers and named:
            return clean(why.text, 300).removeprefix(f"{MEANING[letter]}: ")
    return ""


def _called(role: str, nodes: Sequence[int | str]) -> tuple[str, str]:
    """Return the name of some nodes, and all of them where the name only counts them."""
    spelt = spelt_nodes(nodes)
    if len(nodes) > 1 and len(spelt) > _LONGEST_HEAD:
        return f"{len(nodes)} {role}s", spelt
    return f"{role}{'' if len(nodes) == 1 else 's'} {spelt}", ""


def _column(drawn: Matrix, group: Sequence[MatrixColumn], *, dense: bool) -> Head:
    nodes, first = [column.node for column in group], group[0]
    called, spelt = _called("broker" if first.broker else "controller", nodes)
    name = called if first.broker or spelt else f"ctl {spelt_nodes(nodes)}"
    is_controller = first.broker and (first.controller or nodes == [drawn.controller])
    note = "controller" if is_controller else ""
    return Head(name=str(nodes[0]) if dense and first.broker else name, called=called, spelt=spelt, note=note)


def _row(group: Sequence[MatrixObserver]) -> Head:
    named = [_called(role, ids) for role, ids in zip(("broker", "controller"), matrix.row_ids(group), strict=True) if ids]
    others = [clean(row.name, 40) for row in group if row.broker is None and row.controller is None]
    is_named = len(group) > 1 or (group[0].broker is None and group[0].controller is not None)
    note = "" if is_named else clean(group[0].note)
    spelt = ", ".join(text for _, text in named if text)
    name = ", ".join([*(name for name, _ in named), *others])
    return Head(name=name, called=name, spelt=spelt, note=note)


def _legend(drawn: Matrix, shown: str) -> list[tuple[str, str, str, int, tuple[str, ...]]]:
    found = []
    for letter in matrix.ORDER:
        number = shown.count(letter)
        if number or letter == ".":
            reported = (clean(why.text, 300) for why in drawn.why if why.letter == letter)
            reasons = dict.fromkeys(text.removeprefix(f"{MEANING[letter]}: ") for text in reported)
            word = matrix.agreement(drawn) if letter == "." else MEANING[letter]
            found.append((_CLASSES.get(letter, letter), letter, word, number, tuple(reasons)[:3]))
    return found

"""The matrix as a table of cells: the same grouping and letters as in the terminal, ready for a template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_audit.model.text import clean, ranges
from kafka_audit.report import matrix
from kafka_audit.report.matrix import FOLD_ABOVE, MEANING, MatrixRow, folded

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
    """The label of a row or column: a short name, all ids if the name omits them, a note."""

    name: str
    spelt: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Everything that a template needs; `legend` holds (mark, letter, meaning, cells, reasons).

    `folds`: there are so many brokers that folding equal columns is offered.
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


def build_picture(drawn: Mapping[str, Any], *, mode: str = "worst", fold: bool | None = None) -> Picture | None:
    """Return the picture of a document's `matrix`, None where there is nothing to show.

    Args:
        drawn: `matrix` of a `findings.json`.
        mode: `worst`, `reach` or `view`.
        fold: put equal rows and equal columns together; None: above 12 brokers.
    """
    observers = [MatrixRow(**raw) for raw in drawn["observers"]]
    ids: Sequence[int] = drawn["brokers"]
    if not observers or not ids:
        return None
    too_many = len(observers) * len(ids) > _MOST_CELLS
    is_folded = too_many or (len(ids) > FOLD_ABOVE if fold is None else fold)
    cells = [_line(observer, mode) for observer in observers]
    # Rows with equal cells and different hidden details are not equal.
    keys = [
        f"{line}{observer.reach}{observer.view}" if mode == "worst" else line
        for line, observer in zip(cells, observers, strict=True)
    ]
    dense = not is_folded and len(ids) > FOLD_ABOVE
    rows, columns = folded(cells, is_folded)
    if is_folded and mode == "worst":
        rows = _split(rows, keys)
    return Picture(
        mode=mode,
        folded=is_folded,
        can_unfold=not too_many,
        folds=len(ids) > _ROOMY,
        dense=dense,
        roomy=len(columns) <= _ROOMY,
        columns=tuple(_column(drawn, [ids[c] for c in group], dense=dense) for group in columns),
        rows=tuple(
            (
                _row([observers[r] for r in group]),
                tuple(_cell(drawn, observers[group[0]], mode, [ids[c] for c in column], column[0]) for column in columns),
            )
            for group in rows
        ),
        legend=tuple(_legend(drawn, "".join(cells))),
        words=tuple(matrix.in_words(drawn)),
        size=(len(observers), len(ids)),
    )


def _split(groups: Sequence[Sequence[int]], keys: Sequence[str]) -> list[list[int]]:
    found: list[list[int]] = []
    for group in groups:
        by_key: dict[str, list[int]] = {}
        for number in group:
            by_key.setdefault("?" if "?" in keys[number] else "", []).append(number)
        found.extend(by_key.values())
    return found


def _line(observer: MatrixRow, mode: str) -> str:
    return {"reach": observer.reach, "view": observer.view}.get(mode) or observer.worst()


def _cell(drawn: Mapping[str, Any], observer: MatrixRow, mode: str, group: Sequence[int], column: int) -> Cell:
    letter = _line(observer, mode)[column]
    pair = (observer.reach[column], observer.view[column])
    return Cell(
        letter=letter,
        mark=_CLASSES.get(letter, letter),
        word=MEANING[letter],
        says=_says(drawn, observer, letter, group),
        hides=mode == "worst" and letter not in "?." and "?" in pair,
    )


def _says(drawn: Mapping[str, Any], observer: MatrixRow, letter: str, group: Sequence[int]) -> str:
    """Return the reason that the document gives for a cell; empty for agreement and for what was not asked."""
    for why in drawn["why"]:
        named = not why["brokers"] or set(group) & set(why["brokers"])
        if why["letter"] == letter and observer.name in why["observers"] and named:
            return clean(why["text"], 300).removeprefix(f"{MEANING[letter]}: ")
    return ""


def _short(ids: Sequence[int]) -> tuple[str, str]:
    spelt = ranges(ids)
    if len(ids) == 1:
        return str(ids[0]), ""
    return (spelt, "") if len(spelt) <= _LONGEST_HEAD else (f"{len(ids)} brokers", spelt)


def _called(name: str, number: int) -> str:
    return name if name.endswith("brokers") else f"{'broker' if number == 1 else 'brokers'} {name}"


def _column(drawn: Mapping[str, Any], group: Sequence[int], *, dense: bool) -> Head:
    name, spelt = _short(group)
    name = name if dense else _called(name, len(group))
    note = "controller" if list(group) == [drawn["controller"]] else ""
    return Head(name=name, spelt=spelt, note=note)


def _row(group: Sequence[MatrixRow]) -> Head:
    ids = [observer.broker for observer in group if observer.broker is not None]
    others = [clean(observer.name, 40) for observer in group if observer.broker is None]
    name, spelt = _short(ids) if ids else ("", "")
    name = _called(name, len(ids)) if ids else ""
    note = clean(group[0].note) if len(group) == 1 else ""
    return Head(name=", ".join(part for part in (name, *others) if part), spelt=spelt, note=note)


def _legend(drawn: Mapping[str, Any], shown: str) -> list[tuple[str, str, str, int, tuple[str, ...]]]:
    found = []
    for letter in f"{matrix.LADDER}V?.-":
        number = shown.count(letter)
        if number or letter == ".":
            reported = (clean(why["text"], 300) for why in drawn["why"] if why["letter"] == letter)
            reasons = dict.fromkeys(text.removeprefix(f"{MEANING[letter]}: ") for text in reported)
            found.append((_CLASSES.get(letter, letter), letter, MEANING[letter], number, tuple(reasons)[:3]))
    return found

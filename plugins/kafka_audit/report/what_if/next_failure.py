"""The next failure: what stops if a single broker, rack or controller goes. Checks judge how severe that is, not this page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model import quoting
from kafka_audit.model.report import MarginStep, NextFailure, OpenInput, SingleLoss
from kafka_audit.model.text import clean, counted, listing, our_line, start_upper
from kafka_audit.report import remedies
from kafka_audit.report.parties.matrix import short
from kafka_audit.report.text import wrap
from kafka_audit.report.what_if import losses
from kafka_audit.what_if import topics
from kafka_audit.what_if.answer import Answer, answer
from kafka_audit.what_if.losses import BROKER, CONTROLLER, RACK, PartyLoss, every, parse, running
from kafka_audit.what_if.quorums import quorum_gap

_MOST = 4000
"""Losses that the document lists."""

_ROWS = 10
"""Rows of losses that a page lists."""

_UNKNOWN = 3
_KINDS = (topics.OFFLINE, topics.UNCLEAN, topics.UNREACHED, topics.NOT_WRITABLE, topics.AT_RISK)
_COLUMNS = ("without", "state", "offline", "refuse acks=all", "one copy", "quorum")
_STATES = {True: "safe", False: "not safe", None: "not known"}
_ELECTS = {True: "has a leader", False: "elects none", None: "not known"}


def build_next_failure(view: ClusterView) -> NextFailure | None:
    """Return what becomes of the cluster without each broker, rack and controller; None where none was read."""
    found = [answer(view, loss) for loss in _single(view)]
    if not found:
        return None
    worst = max(found, key=losses.how_bad)
    unread = dict(_unread(view))
    questions = [(question.what, question.needs) for answer in found for question in answer.not_known if question.decides]
    unknown = dict.fromkeys([*questions, *unread.values()])
    return NextFailure(
        sentence=our_line(_sentence(found, worst, [*unread]), 1000),
        worst=None if worst.safe else clean(worst.loss.name),
        losses=tuple(_row(answer) for answer in found[:_MOST]),
        omitted=max(len(found) - _MOST, 0),
        raises_margin=tuple(
            MarginStep(text=text, commands=tuple(quoting.lines([line])), lines=remedies.reported_parts([line]))
            for text, line in losses.ways_with_commands(worst, view)
        ),
        not_known=tuple(OpenInput(what=clean(what, 500), needs=our_line(needs, 500)) for what, needs in [*unknown][:_UNKNOWN]),
    )


def _single(view: ClusterView) -> Sequence[PartyLoss]:
    racks = every(view, RACK)
    controllers = [loss for loss in every(view, CONTROLLER) if not loss.brokers]  # what is a broker too has its row
    return (*every(view, BROKER), *(racks if len(racks) > 1 else ()), *controllers)


def _unread(view: ClusterView) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the parties that were not read, whose losses have no row, each with what is not known and what is needed."""
    brokers, quorum = view.gap("brokers"), quorum_gap(view)
    if brokers is not None and not running(view):
        yield "brokers", (f"which brokers there are: {brokers.error or brokers.reason}", brokers.needs or "a broker that answers")
    if quorum is not None:
        yield "controllers", (quorum.what, quorum.needs)


def _sentence(found: Sequence[Answer], worst: Answer, unread: Sequence[str]) -> str:
    undecided = sum(answer.safe is None for answer in found)
    if worst.safe is False:
        unsafe = sum(answer.safe is False for answer in found)
        gone = worst.already.get(topics.OFFLINE, topics.NONE).partitions
        counts = (
            [f"{unsafe} of {counted(len(found), 'loss', 'losses')} {'is' if unsafe == 1 else 'are'} not safe"]
            if unsafe > 1 or undecided
            else []
        )
        counts += [f"{undecided} {'is' if undecided == 1 else 'are'} not decided"] if undecided else []
        others = f" ({', '.join(counts)})" if counts else ""
        others += f"; {counted(gone, 'partition')} {'has' if gone == 1 else 'have'} no leader already" if gone else ""
        return f"The worst single loss is {losses.parties_lost(worst.loss.names)}: {losses.reasons_of(worst)}{others}"
    if undecided or unread:
        whether = f"It is not known for {undecided} of {len(found)} single losses whether they stop anything"
        first = whether if undecided else "No single loss is known to stop anything"
        return "; ".join((first, *(f"{who} were not read" for who in unread)))
    return f"You can lose any one {_kinds(found)}: partitions that have a leader keep one, and accept acks=all"


def _kinds(found: Sequence[Answer]) -> str:
    """Return what was lost in these answers: no rack where there is none, or only one."""
    kinds = [kind for kind in (BROKER, RACK) if any(parse(answer.loss.name)[0] == kind for answer in found)]
    kinds += [CONTROLLER] if any(answer.loss.controllers for answer in found) else []
    return " or ".join(part for part in (", ".join(kinds[:-1]), kinds[-1]) if part)


def _row(found: Answer) -> SingleLoss:
    return SingleLoss(
        loss=clean(found.loss.name),
        safe=found.safe,
        **{kind: found.effects.get(kind, topics.NONE).partitions for kind in _KINDS},
        elects=found.quorum.elects if found.quorum.lost else None,
        quorum_lost=found.quorum.lost,
        why=our_line(losses.reasons_of(found), 500),
    )


@dataclass(frozen=True, kw_only=True)
class ShownLosses:
    """Rows of cells, one for all losses of a kind that are alike. `left_out` and `undecided_losses` are numbers of losses."""

    unsafe: tuple[tuple[str, ...], ...]
    left_out: int
    undecided: tuple[tuple[str, ...], ...]
    undecided_losses: int


def shown_losses(document: NextFailure) -> ShownLosses:
    """Return the losses that a page lists: those that are not safe, and apart from them those that are not decided."""
    unsafe, undecided = ([row for row in document.losses if row.safe is state] for state in (False, None))
    unsafe.sort(key=_worst_first)
    groups = _alike(unsafe)
    return ShownLosses(
        unsafe=tuple(_cells(group) for group in groups[:_ROWS]),
        left_out=sum(map(len, groups[_ROWS:])),
        undecided=tuple(_cells(group, each="") for group in _alike(undecided)[:_ROWS]),
        undecided_losses=len(undecided),
    )


def _worst_first(row: SingleLoss) -> tuple[int, ...]:
    return (-row.offline, -(row.elects is False), -row.unclean, -row.unreached, -row.not_writable, -row.at_risk)


def _alike(rows: Sequence[SingleLoss]) -> list[list[SingleLoss]]:
    groups: dict[tuple[object, ...], list[SingleLoss]] = {}
    for row in rows:
        kind, _, _ = row.loss.partition(":")
        numbers = (row.offline, row.unclean, row.unreached, row.not_writable, row.at_risk, row.quorum_lost)
        groups.setdefault((kind, *numbers, row.elects), []).append(row)
    return list(groups.values())


def _cells(group: Sequence[SingleLoss], each: str = "each of ") -> tuple[str, ...]:
    kind, _, _ = group[0].loss.partition(":")
    names = [row.loss.partition(":")[2] for row in group]
    ids = [int(name) if name.isdecimal() and name.isascii() else name for name in names]
    who = kind if len(group) == 1 else f"{each}{kind}s"
    return f"{start_upper(who)} {short(ids)}", *_loss_cells(group[0])


def undecided_names(shown: ShownLosses) -> str:
    """Return which losses are not decided."""
    return listing(row[0] for row in shown.undecided)


def loss_columns(document: NextFailure) -> tuple[str, ...]:
    """Return the heads of the table; without the quorum where no loss touches it."""
    return _COLUMNS if any(row.quorum_lost for row in document.losses) else _COLUMNS[:-1]


def _loss_cells(row: SingleLoss) -> tuple[str, ...]:
    """Return the cells of a loss but for its name, that of the quorum last; the words are ours, or cleaned."""
    beside = (f" + {number} {word}" for number, word in ((row.unclean, "unclean"), (row.unreached, "unreached")) if number)
    leaderless = "".join((str(row.offline), *beside))
    quorum = _ELECTS[row.elects] if row.quorum_lost else "–"  # noqa: RUF001 -- the sign for "not asked"
    return _STATES[row.safe], leaderless, str(row.not_writable), str(row.at_risk), quorum


def _table(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield the lines of a table; a name that makes it wider than the terminal has a line above its numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=False)]
    if sum(widths) + 2 * len(widths) + 2 > width:
        widths[0] = len(rows[0][0])
    for name, *numbers in rows:
        if len(name) > widths[0]:
            yield f"    {name}"
        cells = ("" if len(name) > widths[0] else name, *numbers)
        yield f"    {'  '.join(cell.ljust(size) for cell, size in zip(cells, widths, strict=False))}".rstrip()


def next_failure_lines(document: NextFailure, width: int, most: int | None = None) -> Iterator[str]:
    """Yield the section for a terminal, below its title, with at most so many open questions."""
    yield from wrap(f"{document.sentence}.", width, "  ", "  ")
    shown = shown_losses(document)
    if shown.unsafe:
        yield from _table([loss_columns(document), *shown.unsafe], width)
    if shown.left_out:
        yield f"    and {shown.left_out} more, in findings.json"
    if shown.unsafe and shown.undecided:
        yield from wrap(f"not decided: {undecided_names(shown)}", width, "  ? ", "    ")
    for way in document.raises_margin:
        yield from wrap(f"{way.text}.", width, "  ", "  ")
        yield from (f"    {line}" for line in remedies.step_lines(way))
    for question in document.not_known[:most]:
        yield from wrap(f"{question.what}. Needed: {question.needs}.", width, "  ? ", "    ")
    if left := len(document.not_known[most:] if most else ()):
        yield f"  ? and {counted(left, 'more question')}, with --all"

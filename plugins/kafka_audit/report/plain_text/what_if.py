"""What `what-if` prints: one sentence, then lists of ten, what is not known, and what raises the margin."""

from collections.abc import Iterator, Sequence

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model import quoting
from kafka_audit.model.text import brokers, clean, counted, listing, our_line
from kafka_audit.report.text import wrap
from kafka_audit.report.what_if import losses
from kafka_audit.what_if import topics
from kafka_audit.what_if.answer import Answer

_FIRST = 10
_WORDS = 2
"""Columns of words, which come before those of numbers."""

_TITLES = {
    topics.OFFLINE: "No leader",
    topics.UNCLEAN: "A leader that lacks records",
    topics.UNREACHED: "No leader in reach of clients",
    topics.NOT_WRITABLE: "Refuse acks=all",
    topics.BELOW_MARGIN: "Fewer copies than the margin asks for",
    topics.AT_RISK: "One copy left",
}
_COORDINATORS = {
    "gone": "cannot commit, rebalance or end transactions",
    "loses": "lose what the next coordinator lacks",
    "refuses": "are refused: too few copies in sync",
    "moves": "get another coordinator",
}
_VERDICTS = {True: "safe", False: "NOT SAFE", None: "not decided"}


def answer_text(found: Answer, view: ClusterView, *, basis: Sequence[str] = (), width: int) -> str:
    """Return the answer to one loss, ending without a newline; `basis`, what it rests on, stands below its first sentence."""
    return "\n".join(line.rstrip() for line in _lines(found, view, basis, width))


def answers_text(found: Sequence[Answer], view: ClusterView, *, basis: Sequence[str] = (), width: int) -> str:
    """Return a row for each loss, the reasons of those that are not safe, and what is not known once."""
    return "\n".join(line.rstrip() for line in _table(found, view, basis, width))


def _lines(found: Answer, view: ClusterView, basis: Sequence[str], width: int) -> Iterator[str]:
    yield from wrap(our_line(f"{losses.loss_sentence(found)}.", 1000), width)
    yield from (line for text in basis for line in wrap(text, width))
    reasons = list(losses.stops(found))
    if len(reasons) > 1:
        yield ""
        yield from (line for reason in reasons for line in wrap(reason, width, "- ", "  "))
    for kind, title in _TITLES.items():
        affected = found.effects.get(kind, topics.NONE)
        if affected.partitions:
            yield from _listed(f"{title} ({counted(affected.partitions, 'partition')})", _names(affected.rows), width)
    yield from _clients(found, width)
    yield from _controller(found, width)
    already = {kind: found.already.get(kind, topics.NONE).partitions for kind in (topics.OFFLINE, topics.NOT_WRITABLE)}
    if any(already.values()):
        text = f"Now already: {counted(already[topics.OFFLINE], 'partition')} without leader,"
        yield from ("", *wrap(f"{text} {already[topics.NOT_WRITABLE]} refuse acks=all.", width))
    yield from _not_known([found], width)
    yield from _raise(found, view, width)


def _clients(found: Answer, width: int) -> Iterator[str]:
    shares = ("Share groups with keys GROUP:TOPIC_ID:PARTITION", found.share_groups)
    for what, states in (("Groups", found.groups), ("Transactional ids", found.transactions), shares):
        for state, words in _COORDINATORS.items():
            of_state = [coordinator for coordinator in states if coordinator.state == state]
            if of_state:
                ids = sorted(name for coordinator in of_state for name in coordinator.ids)
                named = f", among them {listing(ids, _FIRST)}" if ids else ""
                hashes = listing((str(coordinator.partition) for coordinator in of_state), _FIRST)
                yield from ("", *wrap(f"{what} that hash to {hashes} {words}{named}.", width))
    for entry in (entry for entry in found.entry_points if entry.left <= 1):
        place = f"{entry.kind} {clean(entry.name)}".strip()
        yield from ("", *wrap(f"Entry point {place}: loses {listing(entry.lost, _FIRST)}; {entry.left} left.", width))


def _controller(found: Answer, width: int) -> Iterator[str]:
    if found.controller.lost is not None:
        nodes = listing((str(candidate.node) for candidate in found.controller.candidates), _FIRST)
        yield from ("", *wrap(f"The controller moves: from node {found.controller.lost} to one of {nodes or 'none'}.", width))
        for candidate in found.controller.cut:
            yield from wrap(f"node {candidate.node} as the controller: {brokers(candidate.unreached)} cut off", width, "- ", "  ")


def _table(found: Sequence[Answer], view: ClusterView, basis: Sequence[str], width: int) -> Iterator[str]:
    unsafe = [answer for answer in found if answer.safe is False]
    worst = max(found, key=losses.how_bad)
    yield from wrap(
        our_line(f"{losses.loss_sentence(worst)}." if unsafe or worst.safe is None else _all_safe(found), 1000), width
    )
    yield from (line for text in basis for line in wrap(text, width))
    yield ""
    rows = [("without", "", "offline", "refuse", "one copy", "quorum"), *map(_row, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        words, numbers = zip(row[:_WORDS], widths, strict=False), zip(row[_WORDS:], widths[_WORDS:], strict=True)
        yield "  ".join([*(cell.ljust(size) for cell, size in words), *(cell.rjust(size) for cell, size in numbers)])
    for answer in unsafe:
        yield from ("", *wrap(our_line(f"{losses.loss_sentence(answer)}.", 1000), width))
    yield from _not_known(found, width)
    yield from _raise(worst, view, width)


def _all_safe(found: Sequence[Answer]) -> str:
    return f"Each of these {len(found)} can be lost alone: nothing stops."


def _row(found: Answer) -> tuple[str, ...]:
    numbers = [found.effects.get(kind, topics.NONE).partitions for kind in (topics.OFFLINE, topics.NOT_WRITABLE, topics.AT_RISK)]
    others = {kind: found.effects.get(kind, topics.NONE).partitions for kind in (topics.UNCLEAN, topics.UNREACHED)}
    quorum = found.quorum
    state = {True: "keeps a leader", False: "has none", None: "not known"}[quorum.elects] if quorum.lost else ""
    first = "".join((str(numbers[0]), *(f" + {number} {kind}" for kind, number in others.items() if number)))
    return clean(found.loss.names[0]), _VERDICTS[found.safe], first, str(numbers[1]), str(numbers[2]), state


def _names(rows: Sequence[topics.TopicPartitions]) -> Sequence[str]:
    return [f"{clean(row.topic)}-{partition}" for row in rows[:_FIRST] for partition in row.partitions[:_FIRST]]


def _listed(title: str, names: Sequence[str], width: int) -> Iterator[str]:
    yield ""
    yield f"{title}:"
    yield from wrap(", ".join(names[:_FIRST]), width, "  ", "  ")


def _not_known(found: Sequence[Answer], width: int) -> Iterator[str]:
    every = dict.fromkeys((question.what, question.needs) for answer in found for question in answer.not_known)
    if every:
        yield from ("", "Not known:")
    for what, needs in every:
        yield from wrap(our_line(f"{what}; needs: {needs}", 1000), width, "? ", "  ")


def _raise(found: Answer, view: ClusterView, width: int) -> Iterator[str]:
    shown = losses.ways_with_commands(found, view)
    if shown:
        yield from ("", "What raises the margin:")
    for text, line in shown:
        yield from wrap(text, width, "- ", "  ")
        yield from (f"  {printed}" for printed in quoting.lines([line]))

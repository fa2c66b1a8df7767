"""Judgements of what is on its way: what stands still fails, what moves is reported at INFO, with an estimate."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kafka_audit.checks import ClusterView, Judgement, Severity, Status
from kafka_audit.model.finding import Resource
from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.text import start_upper
from kafka_audit.progress.words import how_far, summary


def standing(
    view: ClusterView, rows: Iterable[ProgressRow], more: Callable[[ProgressRow], Mapping[str, object]]
) -> Iterator[Judgement]:
    """Yield a failure at the first party of each row that stands still: HIGH where clients wait."""
    for row in rows:
        if row.state == "standing":
            waits_for, minutes = row.waits_for or "unknown", row.unchanged_minutes
            reported: dict[str, object] = {"what": summary(row), "waits_for": waits_for, "minutes": minutes}
            severity = Severity.HIGH if row.clients_wait else Severity.MEDIUM
            yield view.judge(row.parties[0], Status.FAIL, reported | {**more(row)}, severity=severity)


def under_way(view: ClusterView, rows: Sequence[ProgressRow], number: str, **evidence: object) -> Iterator[Judgement]:
    """Yield what of the others is to be said of the cluster: how they move, and else that it is unknown whether they do.

    `number` says how many of them there are, as "1 partition is being reassigned".
    """
    unknown = [row for row in rows if row.state == "unknown"]
    moving = [row for row in rows if row.state == "moving"]
    if unknown:
        more = f"; {len(unknown) - 1} more" if len(unknown) > 1 else ""
        error = f"{number}; {unknown[0].what}: {unknown[0].not_known}{more}"
        yield view.unknown("cluster", error, "another audit", evidence)
    elif moving:
        slowest = max(moving, key=lambda row: (row.minutes_left is None, row.minutes_left or 0, row.minutes))
        what = f"{start_upper(number)}{', of which' if len(moving) > 1 else ':'} {slowest.what}: {how_far(slowest)}"
        reported: dict[str, object] = {"what": what, "minutes_left": slowest.minutes_left, "brokers": brokers_on_the_way(slowest)}
        reported |= {"repair": "wait until it is done"}
        yield view.judge("cluster", Status.FAIL, {**evidence, **reported}, severity=Severity.INFO)


def brokers_on_the_way(row: ProgressRow) -> list[int]:
    """Return the brokers that take part."""
    return [broker for party in row.parties if (broker := Resource.of(party).broker) is not None]

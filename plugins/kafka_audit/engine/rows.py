"""Run the Python checks over one snapshot."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kafka_audit.checks import Check, catalogue
from kafka_audit.model.errors import EngineError
from kafka_audit.model.finding import Judgement
from kafka_audit.model.tables import Snapshot


def judge_rows(snapshot: Snapshot, checks: Mapping[str, Check] | None = None, *, kind: str = "row") -> tuple[Judgement, ...]:
    """Return what every check of a kind in Python says of a snapshot. `checks` defaults to the catalogue.

    Raises:
        EngineError: a check yielded a judgement of another code or snapshot.
        Exception: whatever a check raised, a bug in it; a note names its code.
    """
    judgements: list[Judgement] = []
    for check in (catalogue() if checks is None else checks).values():
        if check.kind == kind:
            judgements.extend(_run(check, snapshot))
    return tuple(judgements)


@contextmanager
def _named(check: Check, snapshot: Snapshot) -> Iterator[None]:
    """Note the check's code on whatever is raised inside."""
    done = False
    try:
        yield
        done = True
    finally:
        error = sys.exc_info()[1]
        if not done and error is not None:
            error.add_note(f"raised by check {check.code} ({check.family}/{check.name}) on snapshot {snapshot.snapshot_id}")


def _run(check: Check, snapshot: Snapshot) -> tuple[Judgement, ...]:
    with _named(check, snapshot):
        judgements = tuple(check.function(snapshot))
    strangers = [j for j in judgements if (j.code, j.snapshot_id) != (check.code, snapshot.snapshot_id)]
    if strangers:
        msg = f"check {check.code} judged for {strangers[0].code} of snapshot {strangers[0].snapshot_id}"
        raise EngineError(msg)
    return judgements

"""Run checks over one cluster view, each for a bounded time of the processor."""

import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from kafka_audit.checks import Check, ClusterView, Judgement, Status, catalogue
from kafka_audit.checks.gaps import NO_QUORUM, NO_ZOOKEEPER
from kafka_audit.cluster.answers.gaps import Gap
from kafka_audit.model.errors import EngineError

CHECK_S = 20.0
"""Seconds of one check: on 1,000 brokers with 1,000,000 partitions each takes less than one."""

ALL_S = 120.0
"""Seconds of all checks of a snapshot; after that each has `_LEAST_S`."""

_LEAST_S = 0.5


class TooLong(BaseException):  # no part of a check handles it as an error of its own
    """A check ran for longer than it may."""


class TimeLimit:
    """The time of all checks of one snapshot: user time of this process, so that a busy machine ends none."""

    def __init__(self) -> None:
        """Begin it."""
        self._until = time.process_time() + ALL_S

    @contextmanager
    def of_one(self) -> Iterator[None]:
        """Raise TooLong inside when one check's time is over.

        There is no limit where no signal of the timer can arrive: outside of the main thread, on a system that has none, or where
        another part of the process uses it.
        """
        in_main = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if not in_main or signal.getsignal(signal.SIGVTALRM) is not signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGVTALRM, _end)
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, max(_LEAST_S, min(CHECK_S, self._until - time.process_time())))
            yield
        finally:
            signal.signal(signal.SIGVTALRM, signal.SIG_IGN)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL)


def _end(*_: object) -> None:
    raise TooLong


_LESS = "a faster machine, or fewer brokers, topics and groups in the cluster"


def judge(view: ClusterView, checks: Mapping[str, Check] | None = None, *, kind: str = "audit") -> tuple[Judgement, ...]:
    """Return what every check of a kind says of a view. `checks` defaults to the catalogue.

    A check that takes too long is UNKNOWN; what it found until then stays, and so do the others.

    Raises:
        EngineError: a check yielded a judgement of another snapshot.
        Exception: whatever a check raised, a bug in it; a note names its code.
    """
    wanted = catalogue() if checks is None else checks
    limit = TimeLimit()
    return tuple(judgement for check in wanted.values() if check.kind == kind for judgement in _run(view, check, limit))


@contextmanager
def _named(view: ClusterView, check: Check) -> Iterator[None]:
    """Note the check's code on whatever is raised inside."""
    try:
        yield
    except Exception as error:  # whatever a check raises is raised on
        error.add_note(f"raised by check {check.code} ({check.family}/{check.name}) on snapshot {view.snapshot_id}")
        raise


def _run(view: ClusterView, check: Check, limit: TimeLimit) -> tuple[Judgement, ...]:
    found: list[Judgement] = []
    try:
        with limit.of_one():
            return _of_check(view, check, found)
    except TooLong:
        gap = Gap(status=Status.UNKNOWN, whole=True, error="the check took too long", needs=_LESS)
        return (*(judgement for judgement in found if judgement.status is Status.FAIL), _of_gap(view, check, [gap]))


def _of_check(view: ClusterView, check: Check, judgements: list[Judgement]) -> tuple[Judgement, ...]:
    """Return what a check says; `judgements` get what its function yields."""
    with _named(view, check):
        gaps = [gap for part in check.parts if (gap := view.gap(part)) is not None]
        whole = [gap for gap in gaps if gap.whole]
        if whole:
            return (_as_shown(view, _of_gap(view, check, whole)),)
        if check.mode not in {None, "kraft" if view.kraft else "zookeeper"}:
            other = view.not_applicable("cluster", NO_ZOOKEEPER if view.kraft else NO_QUORUM)
            return (_as_shown(view, replace(other, code=check.code)),)
        judgements.extend(_as_shown(view, replace(judgement, code=check.code)) for judgement in check.function(view))
    strangers = [judgement.snapshot_id for judgement in judgements if judgement.snapshot_id != view.snapshot_id]
    if strangers:
        msg = f"check {check.code} judged snapshot {strangers[0]}"
        raise EngineError(msg)
    return tuple(_without_pass(judgement, gaps[0]) for judgement in judgements) if gaps else tuple(judgements)


def _of_gap(view: ClusterView, check: Check, gaps: list[Gap]) -> Judgement:
    """Return the one judgement of a check whose part of the registry was not read (rule 1: UNKNOWN is an answer)."""
    gap = min(gaps, key=lambda gap: gap.status)  # NOT_APPLICABLE before UNKNOWN: what does not apply needs nothing
    evidence = {"who": "any broker", "target": "any broker", "reason": gap.reason, "error": gap.error, "needs": gap.needs}
    return replace(view.judge("cluster", gap.status, evidence), code=check.code)


def _as_shown(view: ClusterView, judgement: Judgement) -> Judgement:
    """Return a judgement; UNKNOWN where its reason is that there is no ZooKeeper, and nothing that was read shows it."""
    if judgement.evidence.get("reason") != NO_ZOOKEEPER or not view.may_have_zookeeper:
        return judgement
    error, needs = "nothing that was read shows that the cluster has no ZooKeeper", "a broker that answers, or `zookeeper`"
    evidence = {"who": "any broker", "target": "any broker", **judgement.evidence, "error": error, "needs": needs}
    return replace(judgement, status=Status.UNKNOWN, evidence={key: value for key, value in evidence.items() if key != "reason"})


def _without_pass(judgement: Judgement, gap: Gap) -> Judgement:
    """Let nothing pass where single znodes could not be read."""
    if judgement.status is not Status.PASS:
        return judgement
    read = {key: value for key, value in judgement.evidence.items() if key not in {"error", "needs"}}
    known = {key: value for key, value in {"error": gap.error, "needs": gap.needs}.items() if value is not None}
    return replace(judgement, status=Status.UNKNOWN, evidence=read | known)

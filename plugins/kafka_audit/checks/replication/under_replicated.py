from collections.abc import Mapping, Sequence
from functools import partial

from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.differences.tables import ReplicaState
from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.text import brokers
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.words import how_far


@check(code="KA604", severity=Severity.HIGH, parts=("topics",))
def under_replicated(view: ClusterView) -> Judgements:
    """Replicas of a partition are not in sync."""
    rows = {row.parties: row for row in progress_of(view).of_kind("catch_up")}
    copied = partial(_copied, rows)
    yield from judge_partitions(
        view,
        "under_replicated",
        severity=lambda state: None if state.lasting and not _all_move(state, copied(state)) else Severity.MEDIUM,
        more=lambda state: _since(view, state, copied(state)),
    )


def _copied(rows: Mapping[tuple[str, ...], ProgressRow], state: ReplicaState) -> list[ProgressRow]:
    """Return how the missing replicas of a partition that are registered catch up."""
    pairs = ((f"broker/{follower}", f"broker/{state.leader}") for follower in state.missing)
    return [rows[pair] for pair in pairs if pair in rows]


def _all_move(state: ReplicaState, rows: Sequence[ProgressRow]) -> bool:
    """Return whether each missing replica is seen to grow; old snapshots have only the size of all of a broker."""
    return len(rows) == len(state.missing) and all(row.state == "moving" and row.share is not None for row in rows)


def _is_back(view: ClusterView, broker: int) -> bool:
    """Return whether a broker has registered again since the previous audit."""
    now, earlier = view.brokers.get(broker), view.brokers_earlier.get(broker)
    return now is not None and (earlier is None or earlier.version != now.version)


def _since(view: ClusterView, state: ReplicaState, rows: Sequence[ProgressRow]) -> Mapping[str, object]:
    if state.lasting is None:
        since = "first seen in this audit (temporary during a restart)"
    elif state.lasting:
        since = "as in the previous audit"
    else:
        back = [broker for broker in state.missing if _is_back(view, broker)]
        has = "has" if len(back) == 1 else "have"
        why = f"{brokers(back)} {has} registered again since" if back else "in sync in"
        since = f"temporary so far: {why} the previous audit"
    for row in [row for row in rows if row.state == "standing" or row.share is not None][:1]:
        since = f"{since}; {row.parties[0].replace('/', ' ')}{' ' if row.state == 'standing' else ': '}{how_far(row)}"
    return {"gone": state.unregistered or "none", "since": since}

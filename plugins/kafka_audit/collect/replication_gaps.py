"""Partitions that a look shows without leader, or with replicas out of the ISR: another look tells what lasts. Pure."""

from collections.abc import Hashable, Iterable

from kafka_audit.model.tables import RegisteredPartition, ViewPartition
from kafka_audit.model.text import counted

Key = tuple[Hashable, ...]


def gaps(registered: Iterable[RegisteredPartition], listed: Iterable[ViewPartition], reasons: list[str]) -> set[Key]:
    """Return what is wrong with partitions, with a reason for each kind; `listed` counts where nothing is registered.

    The ISR is a part of the key: one that goes on changing has not settled.
    """
    rows: tuple[RegisteredPartition | ViewPartition, ...] = (*registered,) or (*listed,)
    leaderless = {("leaderless", row.topic, row.partition) for row in rows if row.leader == -1}
    short = {("short", r.topic, r.partition, r.isr) for r in rows if r.isr is not None and len(r.isr) < len(r.replicas)}
    for keys, words in ((leaderless, "has no leader"), (short, "has replicas out of the ISR")):
        if keys:
            what = words if len(keys) == 1 else words.replace("has", "have", 1)
            reasons.append(f"{counted(len(keys), 'partition')} {what}")
    return leaderless | short

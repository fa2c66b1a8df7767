"""States of partitions, /brokers/topics/T/partitions/P/state, as columns: many znodes are decoded at a time."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from kafka_audit.collect.priorities import MOST_REPLICAS
from kafka_audit.collect.rows.columns import NONE, Ints, Lists
from kafka_audit.collect.zookeeper.znodes import INT, SMALL, StateZnode


@dataclass(frozen=True, kw_only=True)
class States:
    """States one after the other; of a znode that does not exist (yet) all numbers are `NONE` and the ISR is null."""

    leader: Ints
    leader_epoch: Ints
    controller_epoch: Ints
    isr: Lists
    leader_recovery_state: Ints
    mzxid: Ints

    @classmethod
    def of(cls, states: Sequence[StateZnode | None], mzxid: Sequence[int]) -> "States":
        """Return states that were decoded one by one, None for a znode that does not exist."""
        none = np.array([state is None for state in states], np.bool_)
        isr = [() if state is None else state.isr for state in states]
        values = [
            (NONE,) * 4 if state is None else (state.leader, state.leader_epoch, state.controller_epoch, _recovery(state))
            for state in states
        ]
        numbers = np.array(values, np.int64).reshape(len(states), 4)
        return cls(
            leader=numbers[:, 0],
            leader_epoch=numbers[:, 1],
            controller_epoch=numbers[:, 2],
            isr=Lists.of_lengths(np.array([*map(len, isr)], np.int64), np.array([*chain(*isr)], np.int64), none),
            leader_recovery_state=numbers[:, 3],
            mzxid=np.where(none, NONE, np.array(mzxid, np.int64)),
        )

    @classmethod
    def joined(cls, parts: Iterable["States"]) -> "States":
        """Return all parts, one after the other."""
        decoded = [cls.of((), ()), *parts]
        return cls(
            leader=np.concatenate([states.leader for states in decoded]),
            leader_epoch=np.concatenate([states.leader_epoch for states in decoded]),
            controller_epoch=np.concatenate([states.controller_epoch for states in decoded]),
            isr=Lists.joined([states.isr for states in decoded]),
            leader_recovery_state=np.concatenate([states.leader_recovery_state for states in decoded]),
            mzxid=np.concatenate([states.mzxid for states in decoded]),
        )

    def take(self, places: Ints) -> "States":
        """Return some of them, in this order."""
        return States(
            leader=self.leader[places],
            leader_epoch=self.leader_epoch[places],
            controller_epoch=self.controller_epoch[places],
            isr=self.isr.take(places),
            leader_recovery_state=self.leader_recovery_state[places],
            mzxid=self.mzxid[places],
        )


def _recovery(state: StateZnode) -> int:
    return NONE if state.leader_recovery_state is None else state.leader_recovery_state


def decoded(contents: Sequence[bytes], mzxid: Ints) -> States | None:
    """Return what znodes hold, None where one of them is not as Kafka writes it: then each is to be decoded on its own.

    All are read as one list of JSON. Each begins an object and there are no others, so what one of them holds cannot become a
    part of another's.
    """
    whole = b",".join(contents)
    if whole.count(b"{") != len(contents) or not all(data.startswith(b"{") and len(data) <= SMALL for data in contents):
        return None
    try:
        found = json.loads(b"[" + whole + b"]") if whole.isascii() else []
    except (ValueError, RecursionError):
        return None
    if len(found) != len(contents) or not set(map(type, found)) <= {dict}:
        return None
    isr = [entry.get("isr") for entry in found]
    if not set(map(type, isr)) <= {list} or max(map(len, isr), default=0) > MOST_REPLICAS:
        return None
    members = _ints(list(chain(*isr)))
    numbers = [_ints([entry.get(key) for entry in found]) for key in ("leader", "leader_epoch", "controller_epoch")]
    recovery = _ints([entry.get("leader_recovery_state", NONE) for entry in found], NONE)
    if members is None or recovery is None or any(number is None for number in numbers):
        return None
    leader, leader_epoch, controller_epoch = (number for number in numbers if number is not None)
    return States(
        leader=leader,
        leader_epoch=leader_epoch,
        controller_epoch=controller_epoch,
        isr=Lists.of_lengths(np.array([*map(len, isr)], np.int64), members, np.zeros(len(isr), np.bool_)).sorted(),
        leader_recovery_state=recovery,
        mzxid=mzxid,
    )


def _ints(values: list[object], besides: int = 0) -> Ints | None:
    """Return numbers of Java's int, or `besides`; None where one is none."""
    if not set(map(type, values)) <= {int}:
        return None
    try:
        found = np.array(values, np.int64)
    except OverflowError:
        return None
    fits = ((found >= -INT) & (found < INT)) | (found == besides)
    return found if fits.all() else None

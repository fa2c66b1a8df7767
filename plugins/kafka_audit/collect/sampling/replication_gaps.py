"""Partitions without leader, with one that recovers, or with replicas out of the ISR: another sample shows what lasts. Pure."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.collect.rows.columns import Lists, int_column, texts
from kafka_audit.collect.sampling.partition_differences import PartitionSet, partition_names
from kafka_audit.model.text import counted

_NO_LEADER = -1
_RECOVERING = 1
_RECOVERY = "leader_recovery_state"  # that brokers list nowhere


def gaps(registered: pa.Table, listed: pa.Table, reasons: list[str]) -> PartitionSet:
    """Return what is wrong with partitions, with a reason for each kind; `listed` counts where nothing is registered.

    The ISR is a part of the name: one that goes on changing has not settled.
    """
    rows = registered if registered.num_rows else listed
    topics, partitions = texts(rows, "topic"), int_column(rows, "partition")
    isr, replicas = Lists.column(rows, "isr"), Lists.column(rows, "replicas")
    short = np.flatnonzero((isr.lengths < replicas.lengths) & (True if isr.null is None else ~isr.null))
    leaderless = np.flatnonzero(int_column(rows, "leader") == _NO_LEADER)
    in_sync = pc.binary_join(isr.take(short).arrow().cast(pa.list_(pa.string())), ",")
    recovering = np.flatnonzero(int_column(rows, _RECOVERY) == _RECOVERING) if _RECOVERY in rows.column_names else leaderless[:0]
    kinds = (
        (leaderless, (), "has no leader"),
        (short, (in_sync,), "has replicas out of the ISR"),
        (recovering, (pa.array([_RECOVERY] * len(recovering), pa.string()),), "has not recovered from an unclean election"),
    )
    names = []
    for at, more, text in kinds:
        gap = PartitionSet(partition_names(topics.take(pa.array(at)), partitions[at], *more))
        if len(gap):
            what = text if len(gap) == 1 else text.replace("has", "have", 1)
            reasons.append(f"{counted(len(gap), 'partition')} {what}")
        names.append(gap.names)
    return PartitionSet(pa.concat_arrays(names))

"""A digest of the partitions of a topic, equal for a broker's view and for ZooKeeper. Pure."""

import hashlib
from collections.abc import Sequence

import numpy as np

from kafka_audit.collect.rows.columns import NONE, Ints, Lists


def topic_digests(names: Sequence[str], bounds: Ints, columns: tuple[Ints, ...], lists: tuple[Lists, ...]) -> list[str]:
    """Return a digest for each topic over its name and partitions: numbers and lists of each, lengths before their values.

    Args:
        names: of the topics.
        bounds: the partitions of topic i are those from `bounds[i]` to before `bounds[i + 1]`, sorted by number.
        columns: number, error, leader and leader epoch of each partition, `NONE` for an epoch that is not known.
        lists: replicas in their order, ISR and offline replicas sorted.
    """
    fixed = len(columns) + len(lists)
    begins = np.concatenate(([0], np.cumsum(fixed + sum(column.lengths for column in lists), dtype=np.int64)))
    whole = np.empty(begins[-1], np.int32)
    for place, column in enumerate((*columns, *(column.lengths for column in lists))):
        whole[begins[:-1] + place] = np.where(column == NONE, -1, column)
    behind = begins[:-1] + fixed
    for numbers in lists:
        owners = numbers.owners()
        whole[behind[owners] + np.arange(len(owners)) - numbers.offsets[owners]] = numbers.values
        behind += numbers.lengths
    found = []
    data = whole.tobytes()
    for name, start, end in zip(names, (4 * begins[bounds[:-1]]).tolist(), (4 * begins[bounds[1:]]).tolist(), strict=True):
        raw = name.encode()
        found.append(hashlib.blake2b(b"%d:%s" % (len(raw), raw) + data[start:end], digest_size=16).hexdigest())
    return found

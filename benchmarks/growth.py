"""How the cost of each way grows with the size of a cluster, for benchmarks that measure several sizes."""

import itertools
import math
from collections.abc import Mapping


def print_growth(took: Mapping[tuple[int, ...], Mapping[str, float]]) -> None:
    """Print by which power of the number of brokers or of partitions each way grows, from each size to the next.

    Args:
        took: seconds of each way, by (brokers, partitions).
    """
    print()
    for (one, before), (other, after) in itertools.pairwise(took.items()):
        factor = math.prod(other) / math.prod(one)
        powers = ", ".join(f"{way} {math.log(after[way] / before[way], factor):.2f}" for way in before)
        print(f"{factor:g} times the {'brokers' if one[1] == other[1] else 'partitions'}: grows by the power {powers}")

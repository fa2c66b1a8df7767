"""Random configurations: sound ones for a role, then some faults, mostly around listeners and what brokers say to each other."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from testbed.differential import faults
from testbed.differential.pieces import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FAULTLESS = 0.45  # share of configurations into which no fault is put
_KRAFT = ("broker", "controller", "combined")
ROLES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "1.1.1": {"zookeeper": ("zookeeper",)},
    "2.8.2": {"zookeeper": ("zookeeper",), "kraft": _KRAFT},
    "3.9.1": {"zookeeper": ("zookeeper", "zookeeper", "zookeeper", "migrating"), "kraft": _KRAFT},
    "4.3.0": {"kraft": _KRAFT},
    "4.4.0": {"kraft": _KRAFT},
}
"""By release and mode, what a configuration is for."""


def configurations(version: str, mode: str, count: int, seed: int) -> Iterator[dict[str, str]]:
    """Yield configurations for a release; the same ones for the same seed.

    Args:
        version: a judged release.
        mode: one of the release's modes in `ROLES`.
        count: how many.
        seed: of the dice.
    """
    dice = random.Random(f"{version} {mode} {seed}")  # noqa: S311 -- no secret
    for _ in range(count):
        draft = Draft(dice, version, dice.choice(ROLES[version][mode]))
        draft.write()
        if dice.random() > _FAULTLESS:
            for _ in range(dice.choice((1, 1, 1, 2, 3))):
                faults.put_in(draft)
        yield draft.properties

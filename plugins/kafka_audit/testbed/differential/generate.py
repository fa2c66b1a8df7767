"""Random configurations: sound ones for a role, then some faults, mostly around listeners and what brokers say to each other."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from kafka_audit.testbed.differential import faults
from kafka_audit.testbed.differential.pieces import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

_FAULTLESS = 0.45  # share of configurations into which no fault is put
ROLES = {
    "1.1.1": ("zookeeper",),
    "2.8.2": ("zookeeper", "zookeeper", "broker", "controller", "combined"),
    "3.9.1": ("zookeeper", "zookeeper", "zookeeper", "migrating", "broker", "controller", "combined"),
    "4.3.0": ("broker", "controller", "combined"),
}


def configurations(version: str, count: int, seed: int, role: str | None = None) -> Iterator[dict[str, str]]:
    """Yield configurations for a release; the same ones for the same seed.

    Args:
        version: a judged release.
        count: how many.
        seed: of the dice.
        role: one of `ROLES` of the release, None for any.
    """
    dice = random.Random(f"{version} {seed}")  # noqa: S311 -- no secret
    for _ in range(count):
        draft = Draft(dice, version, role or dice.choice(ROLES[version]))
        draft.write()
        if dice.random() > _FAULTLESS:
            for _ in range(dice.choice((1, 1, 1, 2, 3))):
                faults.put_in(draft)
        yield draft.properties

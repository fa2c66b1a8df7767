"""Random configurations: sound ones for a role, then some faults, mostly around listeners and what brokers say to each other."""

import random
from collections.abc import Iterator, Mapping, Sequence

from kafka_audit.configuration.definitions import version_numbers
from testbed.differential import faults
from testbed.differential.pieces import Draft
from testbed.jars import COMPARED

_FAULTLESS = 0.45  # share of configurations into which no fault is put
_KRAFT = ("broker", "controller", "combined")


def _roles(version: str) -> Mapping[str, Sequence[str]]:
    """Return the roles of a release by mode: KRaft came with 2.8, the migration with 3.4, and ZooKeeper went with 4.0."""
    at = version_numbers(version)
    migrating = ("zookeeper", "zookeeper", "migrating") if at >= (3, 4) else ()
    zookeeper = {"zookeeper": ("zookeeper", *migrating)} if at < (4,) else {}
    return zookeeper | ({"kraft": _KRAFT} if at >= (2, 8) else {})


ROLES: Mapping[str, Mapping[str, Sequence[str]]] = {version: _roles(version) for version in COMPARED}
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

"""Tiered storage of brokers: Kafka's own plugin for tests, which keeps what it is given in a folder of the bed."""

import time
from pathlib import Path

from testbed.brokers import BaseCluster
from testbed.errors import BedError
from testbed.jars import tier_jars

AWAIT_SECONDS, LOOK_SECONDS = 900.0, 0.5
_TIER = "tier"


def tier_properties(version: str, folder: Path) -> dict[str, str]:
    """Return the properties of brokers that keep older segments in a folder of the bed's one, which all of them see.

    Raises:
        BedError: the plugin could not be resolved.
    """
    return {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
        "remote.log.storage.manager.class.path": f"{tier_jars(version)}/*",
        "rsm.config.dir": str(folder / _TIER),
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "rlmm.config.remote.log.metadata.topic.num.partitions": "3",
        "remote.log.manager.task.interval.ms": "1000",
        "log.retention.check.interval.ms": "1000",
    }


def await_tiered(cluster: BaseCluster, topic: str) -> None:
    """Wait until segments of a topic are in the tier, and the first one is deleted where it was written.

    Raises:
        BedError: they still are not.
    """
    deadline, tier = time.monotonic() + AWAIT_SECONDS, cluster.folder.parent / _TIER
    data = [Path(broker.server.properties["log.dirs"].split(",")[0]) for broker in cluster.brokers.values()]
    first = [folder / f"{topic}-0" / f"{0:020}.log" for folder in data]
    while not any(tier.rglob("*.log")) or any(segment.exists() for segment in first):
        if time.monotonic() > deadline:
            message = f"no segment of {topic} was moved to {tier} within {AWAIT_SECONDS:.0f} s; logs in {cluster.folder}"
            raise BedError(message)
        time.sleep(LOOK_SECONDS)

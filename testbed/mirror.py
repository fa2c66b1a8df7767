"""MirrorMaker 2 between a cluster of the bed and a small second one, both ways."""

import time

from testbed.bed import Bed
from testbed.brokers import BaseCluster
from testbed.errors import BedError
from testbed.jars import mirror_jars
from testbed.servers import Server

HERE, THERE = "here", "there"
"""What the two clusters are called; topics of the other one begin with its name."""
AWAIT_SECONDS, LOOK_SECONDS = 1200.0, 1.0
_OWN_TOPICS = ("heartbeats", f"mm2-offset-syncs.{THERE}.internal", f"mm2-configs.{THERE}.internal")
_FACTORS = (
    *("replication.factor", "heartbeats.topic.replication.factor", "checkpoints.topic.replication.factor"),
    *("offset-syncs.topic.replication.factor", "config.storage.replication.factor"),
    *("offset.storage.replication.factor", "status.storage.replication.factor"),
)


def mirror(bed: Bed, cluster: BaseCluster, topic: str, replicas: int = 3) -> Server:
    """Start a second cluster with a topic of the same name, mirror both ways, and wait for the copy and MirrorMaker's own topics.

    Raises:
        BedError: the jars could not be resolved, or the topics do not appear.
    """
    other = bed.kraft(cluster.plan.version, replicas, controllers=0)
    other.create_topic(topic, {0: [*other.brokers]})
    other.await_settled()
    other.produce(topic, 0, 1)
    addresses = {
        name: ",".join(broker.address for broker in held.brokers.values()) for name, held in ((HERE, cluster), (THERE, other))
    }
    host = bed.hosts.add(
        f"{cluster.plan.name}-mirror", f"{next(iter(cluster.brokers.values())).host.address.rpartition('.')[0]}.7"
    )
    properties = {
        "clusters": f"{HERE}, {THERE}",
        **{f"{name}.bootstrap.servers": address for name, address in addresses.items()},
        f"{HERE}->{THERE}.enabled": "true",
        f"{THERE}->{HERE}.enabled": "true",
        "topics": topic,
        "refresh.topics.interval.seconds": "5",
        "emit.checkpoints.interval.seconds": "5",
        **dict.fromkeys(_FACTORS, str(replicas)),
    }
    folder = cluster.folder / "mirror"
    folder.mkdir()
    main = "org.apache.kafka.connect.mirror.MirrorMaker"
    server = Server(
        name="mirror", host=host, folder=folder, jars=mirror_jars(cluster.plan.version), main_class=main, properties=properties
    )
    server.launch()
    _await(cluster, server, {f"{THERE}.{topic}", *_OWN_TOPICS})
    return server


def _await(cluster: BaseCluster, server: Server, wanted: set[str]) -> None:
    deadline, asked = time.monotonic() + AWAIT_SECONDS, next(iter(cluster.brokers))
    while missing := wanted - cluster.views([asked])[asked].topics.keys():
        if not server.is_running:
            ended = "ended"
            raise server.failed(ended)
        if time.monotonic() > deadline:
            message = f"MirrorMaker did not create {', '.join(sorted(missing))} within {AWAIT_SECONDS:.0f} s{server.tail()}"
            raise BedError(message)
        time.sleep(LOOK_SECONDS)
    cluster.await_settled()

"""Snapshots that tests take in their own process, and the endpoints that they ask."""

from kafka_audit.clients.targets import Target
from kafka_audit.collect.snapshot import take_snapshot
from kafka_audit.model.cluster import Cluster, Limits, ZookeeperAccess

NEVER = 3600.0
"""Seconds that no test lasts."""
QUICK = Limits(read_s=60.0, settle_s=0.2, audit_s=600.0)
"""As much time as honest parties need on a busy machine, and a second sample that comes soon."""


def taken(*, limits=QUICK, say=str, secrets=None, answers=(), **described):
    """Take a snapshot of a cluster that is so described."""
    cluster = Cluster(name="c", limits=limits, **described)
    return take_snapshot(cluster, snapshot_id="s", say=say, secrets=secrets or {}, answers=dict(answers))


def taken_of(parties, *, zookeeper=True, **options):
    """Take a snapshot of a `HostileCluster`, with or without its ZooKeeper."""
    return taken(zookeeper=ZookeeperAccess(connect=parties.zookeeper.address) if zookeeper else None, **options)


def target(address, broker_id=0, listener="L", protocol="PLAINTEXT", via=None):
    """Return the endpoint of a broker at an address."""
    return Target(broker_id=broker_id, listener=listener, protocol=protocol, host=address[0], port=address[1], via=via)

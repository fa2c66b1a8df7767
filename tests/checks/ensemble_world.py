"""The rows of a world that tell how ZooKeeper itself is; keys of `world.py` beside the others:

members:    servers by host:port, `absent`, or what differs from one that serves: {state, error, mode, zxid, outstanding, …}.
ensemble:   by id, host, with ` observer` behind one that does not vote: what /zookeeper/config lists.
znodes:     by path: {anyone, children, bytes}.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_audit.model.tables import EnsembleServer, Row, ZookeeperMember, ZookeeperNode
from told_failures import with_failure

SERVING = {"error": None, "mode": "follower", "zxid": 0x200000053, "outstanding": 0, "connections": 5, "znodes": 140}
SERVING |= {"latency_avg_ms": 0.5, "latency_max_ms": 27.0, "version": "3.8.4"}


def ensemble(sample: int, world: Mapping[str, Any]) -> Iterator[Row]:
    """Yield what one look reads of ZooKeeper itself; where it could not be read, no server serves unless it says so."""
    if world["info"]["mode"] == "kraft":
        return
    away = {} if world["zookeeper"] else {"state": "down", "error": "connection refused"}
    for member, told in world["members"].items():
        row = {"state": "serving", **SERVING} if (away | told).get("state", "serving") == "serving" else dict.fromkeys(SERVING)
        yield ZookeeperMember(sample=sample, member=member, **with_failure(row | away | told))
    for number, host in world["ensemble"].items() if world["zookeeper"] else ():
        name, _, role = host.partition(" ")
        yield EnsembleServer(sample=sample, server_id=number, host=name, votes=role != "observer")
    for path, told in world["znodes"].items() if world["zookeeper"] else ():
        yield ZookeeperNode(sample=sample, path=path, **({"anyone": "r", "children": 0, "bytes": 100} | told))

"""Whether two files with one node id are of two nodes of a cluster, or variants of the file of one node. Pure."""

import re

from kafka_audit.cluster.hosts import means_itself
from kafka_audit.compare.hosts import canonical_host
from kafka_audit.configuration.files.described import Described
from kafka_audit.model.addresses.advertised_listeners import INSTEAD, KEY, entries
from kafka_audit.model.addresses.voters import SERVERS, VOTERS

COORDINATORS = ("zookeeper.connect", VOTERS, SERVERS)
"""Settings by which nodes find their cluster."""

_ADDRESS = re.compile(r"(?<![^\s,@/])\[?([^\s,@/\[\]]+)\]?:\d+")


def are_two_nodes(one: Described, other: Described) -> bool:
    """Return whether two files describe two nodes.

    Nodes on different hosts share a ZooKeeper or controllers at an address that is not each host's own. Nodes on one host have
    nothing in common that only one process can have: no port, and no log directory.
    """
    hosts, others = _hosts(one), _hosts(other)
    if hosts and others and hosts.isdisjoint(others):
        return not all(means_itself(host) for host in _coordinators(one) & _coordinators(other))
    dirs, other_dirs, ports, other_ports = _dirs(one), _dirs(other), _ports(one), _ports(other)
    known = all((dirs, other_dirs, ports, other_ports))
    return known and dirs.isdisjoint(other_dirs) and ports.isdisjoint(other_ports)


def _hosts(broker: Described) -> frozenset[str]:
    listed = (entry.host for key in (KEY, INSTEAD) for entry in entries({KEY: broker.value(key)}))
    return frozenset(canonical_host(host) for host in listed if host and not means_itself(host))


def _ports(broker: Described) -> frozenset[int]:
    listed = (entry.port for entry in entries({KEY: broker.value(INSTEAD)}))
    return frozenset(port for port in listed if port is not None)


def _dirs(broker: Described) -> frozenset[str]:
    text = broker.value("log.dirs") or broker.value("log.dir")
    return frozenset(part.strip() for part in text.split(",") if part.strip())


def _coordinators(broker: Described) -> frozenset[str]:
    return frozenset(host for key in COORDINATORS for host in _ADDRESS.findall(broker.value(key)))

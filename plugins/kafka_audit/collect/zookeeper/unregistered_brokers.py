"""Brokers that ZooKeeper does not have registered, and the ZooKeeper servers to probe from their hosts. Pure.

A broker that lost its session answers, and nothing else says why: its host is asked whether it reaches the servers that brokers
use. Where every broker is registered, each has a session, and no host is asked.
"""

from collections.abc import Collection, Iterable, Sequence

from kafka_audit.clients.targets import UNREGISTERED, ZOOKEEPER_LISTENER, Target
from kafka_audit.collect.brokers.listener_names import settings_of
from kafka_audit.compare.connect_strings import servers_of
from kafka_audit.model.cluster import ZookeeperAccess
from kafka_audit.model.names import NameKind, can_be_name, is_port
from kafka_audit.model.tables import BrokerConfig, BrokerIdentity, RegisteredBroker, Row

_CONNECT = "zookeeper.connect"
_MOST = 10  # an ensemble has three or five servers; brokers may name them by several names


def brokers_without_session(rows: Sequence[Row], assigned: Collection[int]) -> tuple[int, ...]:
    """Return the brokers that answer at an address of the cluster file, or are assigned to, and are not registered."""
    registered = {row.broker_id for row in rows if isinstance(row, RegisteredBroker)}
    answering = {row.answered_by for row in rows if isinstance(row, BrokerIdentity) and row.broker_id < 0}
    return tuple(sorted(broker for broker in {*assigned, *answering} - registered if broker is not None and broker >= 0))


def server_targets(access: ZookeeperAccess, rows: Iterable[Row]) -> tuple[Target, ...]:
    """Return the servers that brokers are set to use; those of the cluster file where no broker reported any."""
    reported = {values.get(_CONNECT) for values in settings_of(rows, BrokerConfig).values()} - {None, ""}
    servers = [server for connect in sorted(filter(None, reported)) or [access.connect] for server in servers_of(connect)]
    return tuple(
        Target(broker_id=UNREGISTERED, listener=ZOOKEEPER_LISTENER, protocol="", host=host, port=port, via=None)
        for host, port in dict.fromkeys(servers)
        if can_be_name(NameKind.HOST, host) and is_port(port)
    )[:_MOST]

"""Where the brokers at an address keep their metadata, for an audit that got nothing but that address."""

import os
from collections.abc import Mapping

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.targets import Target, bootstrap_targets
from kafka_audit.clients.zookeeper.session import open_session
from kafka_audit.collect.brokers.configs import UNNAMED, id_of_node, settings_of_node
from kafka_audit.model.cluster import Cluster, ZookeeperAccess
from kafka_audit.model.errors import UsageError

_KEY, _ROLES, _IDS = "zookeeper.connect", "process.roles", "/brokers/ids"
_TARGETS = 3
_SECONDS, _SESSION_S = 4.0, 2.0


def zookeeper_of_brokers(cluster: Cluster) -> str | None:
    """Return `zookeeper.connect` of the first bootstrap address whose broker says it, if this host may read there.

    There is no login. None in KRaft, and where no broker may be asked for its settings. It takes four seconds at most.
    """
    budget = Budget(cluster).part(_SECONDS)
    options = ClientOptions(read_s=1.5, budget=budget, logins=ClusterLogins(cluster, os.environ))
    for target in bootstrap_targets(cluster, ())[:_TARGETS]:
        settings = _settings(target, options)
        if settings.get(_ROLES):
            return None
        if connect := settings.get(_KEY):
            return connect if _may_be_read(connect, budget) else None
    return None


def _settings(target: Target, options: ClientOptions) -> Mapping[str, str | None]:
    try:
        with Conversation(*target.dialled, options.at(target)) as conversation:
            node = id_of_node(conversation)
            entries = () if node == UNNAMED else settings_of_node(conversation, str(node))
            return {entry.name: entry.value for entry in entries if entry.name in {_KEY, _ROLES}}
    except ReadError:
        return {}


def _may_be_read(connect: str, budget: Budget) -> bool:
    """Return whether this host may list the registered brokers without a login."""
    access = ZookeeperAccess(connect=connect)
    try:
        with open_session(access, _SESSION_S, {}, budget) as session:
            return bool(session.children(_IDS, _SESSION_S))
    except (ReadError, UsageError):
        return False

"""Kafka's znodes about security, decoded: what is secret ends here. Pure functions from bytes to rows."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from kafka_audit.clients.secrets.secret_keys import is_secret
from kafka_audit.clients.zookeeper.multi_read import Znode
from kafka_audit.collect.rows.acl_sets import AclEntry
from kafka_audit.collect.rows.kept_values import is_free_text
from kafka_audit.collect.zookeeper.znodes import CONFIG, LARGE, ZnodeError, parse_broker_id, read_object
from kafka_audit.model.tables import DynamicConfig, ScramUser

_DEFAULT = "<default>"
_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")


def acls(resource_type: str, name: str, pattern: str, znode: Znode) -> tuple[AclEntry, ...]:
    """Decode the ACLs of one resource; raises ZnodeError."""
    found = read_object(znode.data, LARGE).get("acls")
    if not isinstance(found, list):
        msg = "acls is not a list"
        raise ZnodeError(msg)
    return tuple(_entry(resource_type, name, pattern, entry) for entry in found)


def _entry(resource_type: str, name: str, pattern: str, value: object) -> AclEntry:
    parts = value if isinstance(value, dict) else {}
    principal, host, operation, permission = (parts.get(key) for key in ("principal", "host", "operation", "permissionType"))
    if not (isinstance(principal, str) and isinstance(host, str) and isinstance(operation, str) and isinstance(permission, str)):
        msg = "an entry of acls has no principal, host, operation or permissionType"
        raise ZnodeError(msg)
    return AclEntry(resource_type, name, pattern, principal, host, operation, permission.upper())


def _config(znode: Znode) -> Mapping[str, Any]:
    found = read_object(znode.data, CONFIG).get("config")
    if not isinstance(found, dict):
        msg = "config is not an object"
        raise ZnodeError(msg)
    return found


def broker_configs(name: str, znode: Znode) -> tuple[DynamicConfig, ...]:
    """Decode /config/brokers/<name>, a broker's id or the default of all; raises ZnodeError."""
    broker = None if name == _DEFAULT else parse_broker_id(name)
    if name != _DEFAULT and broker is None:
        msg = "no broker id and not <default>"
        raise ZnodeError(msg)
    rows = []
    for key, value in sorted(_config(znode).items()):
        text = value if isinstance(value, str) else str(value)
        secret = is_secret(key, text) or is_free_text(key, text)
        rows.append(DynamicConfig(broker_id=broker, key=key, value=None if secret else text, secret=secret))
    return tuple(rows)


def scram_users(name: str, znode: Znode) -> tuple[ScramUser, ...]:
    """Decode /config/users/<name>: which SCRAM credentials there are, and nothing of them; raises ZnodeError."""
    # A user with quotas for single client ids alone: Kafka creates this znode as their parent, without data.
    config = _config(znode) if znode.data else {}
    return tuple(ScramUser(user=unquote(name), mechanism=mechanism) for mechanism in _MECHANISMS if mechanism in config)

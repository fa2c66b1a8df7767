"""ZooKeeper's security: ACLs, dynamic configuration of brokers and names of SCRAM users, each set with its own row."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote

from kazoo.exceptions import NoAuthError, NoNodeError

from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.secrets.secret_keys import is_secret
from kafka_audit.clients.zookeeper.multi_read import Result, Znode
from kafka_audit.collect.rows.acl_sets import AclEntry, acl_rows, digest
from kafka_audit.collect.rows.secret_filter import is_free_text
from kafka_audit.collect.zookeeper.znodes import CONFIG, LARGE, ZnodeError, parse_broker_id, read_object
from kafka_audit.model.asked_again import ZOOKEEPER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import AclHolder, DynamicConfig, Quota, QuotaUser, Row, ScramUser
from kafka_audit.model.tables.registry import DEFAULT, LIMITS

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
    broker = None if name == DEFAULT else parse_broker_id(name)
    if name != DEFAULT and broker is None:
        msg = "no broker id and not <default>"
        raise ZnodeError(msg)
    rows = []
    for key, value in sorted(_config(znode).items()):
        text = value if isinstance(value, str) else str(value)
        secret = is_secret(key, text) or is_free_text(key, text)
        rows.append(DynamicConfig(broker_id=broker, key=key, value=None if secret else text, secret=secret))
    return tuple(rows)


def users(name: str, znode: Znode) -> tuple[ScramUser | QuotaUser | Quota, ...]:
    """Decode /config/users/<name>: which SCRAM credentials there are, nothing of them, and the quotas; raises ZnodeError."""
    # A user with quotas for single client ids alone: Kafka creates this znode as their parent, without data.
    config = _config(znode) if znode.data else {}
    user = unquote(name)
    quotas = (QuotaUser(user=user),) if name != DEFAULT and config.keys() - {*_MECHANISMS} else ()
    scram = (ScramUser(user=user, mechanism=mechanism) for mechanism in _MECHANISMS if mechanism in config)
    return (*scram, *quotas, *_limits(config, user=user))


def limits(kind: str, name: str, znode: Znode) -> tuple[Quota, ...]:
    """Decode /config/clients/<name> or /config/ips/<name>, `kind` being the column that the name is; raises ZnodeError."""
    return _limits(_config(znode) if znode.data else {}, **{kind: unquote(name)})


def _limits(
    config: Mapping[str, Any], user: str | None = None, client_id: str | None = None, address: str | None = None
) -> tuple[Quota, ...]:
    try:
        found = {key: float(config[key]) for key in sorted(LIMITS & config.keys())}
    except (TypeError, ValueError):
        msg = "a quota is no number"
        raise ZnodeError(msg) from None
    return tuple(Quota(user=user, client_id=client_id, address=address, key=key, limit=limit) for key, limit in found.items())


ACLS, BROKER_CONFIGS, USERS, QUOTAS = "/kafka-acl", "/config/brokers", "/config/users", "/config quotas"
_OTHERS = {"client_id": "/config/clients", "address": "/config/ips"}
_INCOMPLETE_NEEDS = "the znodes that could not be read, each with its own row"
_PREFIXED = "/kafka-acl-extended/prefixed"
PLANNED = (ACLS, BROKER_CONFIGS, USERS, QUOTAS)
"""The sets; /kafka-acl includes /kafka-acl-extended."""

_T = TypeVar("_T")


class SecurityReader(Protocol):
    """The reads of a sample: names below a path, many znodes at once, and a row for each znode that cannot be read."""

    def children(self, path: str) -> tuple[list[str], Any]: ...  # noqa: D102 -- see above

    def get_many(self, paths: Sequence[str]) -> dict[str, Result]: ...  # noqa: D102

    def decode(self, path: str, result: Result, decode: Callable[[Znode], _T]) -> _T | None: ...  # noqa: D102


class SecurityZnodes:
    """Reads the sets; each method raises what the whole set fails with, and rows hold the data."""

    def __init__(self, reader: SecurityReader, sample: int) -> None:
        """Take the sample of which this is a part."""
        self._reader = reader
        self._sample = sample
        self.rows: list[Row] = []

    def read_acls(self) -> None:
        """Read all ACLs; without /kafka-acl there never was an authorizer that keeps them in ZooKeeper, and there is no row.

        A set of which a part cannot be read is no set: the missing ACL may be the one that decides.
        """
        types = self._names(ACLS)
        if types is None:
            return
        patterns = [("LITERAL", ACLS, types), ("PREFIXED", _PREFIXED, self._names(_PREFIXED) or [])]
        places: dict[str, tuple[str, str, str]] = {}
        for pattern, root, kinds in patterns:
            for kind in kinds:
                places |= {f"{root}/{kind}/{name}": (kind, name, pattern) for name in self._names(f"{root}/{kind}") or ()}
        decoded = [
            self._reader.decode(path, result, partial(acls, *places[path]))
            for path, result in self._all(ACLS, places)
            if not isinstance(result, NoNodeError)  # the last ACL of a resource takes its znode away
        ]
        if unread := sum(row is None for row in decoded):
            raise ReadError(
                ReadFailure.INCOMPLETE, f"{unread} of {len(places)} znodes below {ACLS} could not be read", _INCOMPLETE_NEEDS
            )
        found = frozenset(entry for entries in decoded for entry in entries or ())
        named = digest(found)
        holder = AclHolder(sample=self._sample, observer=ZOOKEEPER, broker_id=None, acls_digest=named, acls=len(found))
        self.rows += [holder, *acl_rows(named, found)]

    def read_broker_configs(self) -> None:
        """Read the dynamic configuration of brokers and of all of them."""
        paths = {f"{BROKER_CONFIGS}/{name}": name for name in self._names(BROKER_CONFIGS) or ()}
        for path, result in self._all(BROKER_CONFIGS, paths):
            self.rows += self._reader.decode(path, result, partial(broker_configs, paths[path])) or ()

    def read_users(self) -> None:
        """Read the names of users with SCRAM credentials, and with quotas."""
        paths = {f"{USERS}/{name}": name for name in self._names(USERS) or ()}
        for path, result in self._all(USERS, paths):
            self.rows += self._reader.decode(path, result, partial(users, paths[path])) or ()

    def read_quotas(self) -> None:
        """Read the quotas of client ids and addresses; those of users are read with them."""
        for kind, parent in _OTHERS.items():
            paths = {f"{parent}/{name}": name for name in self._names(parent) or ()}
            for path, result in self._all(parent, paths):
                self.rows += self._reader.decode(path, result, partial(limits, kind, paths[path])) or ()

    def _names(self, path: str) -> list[str] | None:
        """Return the names below a path, None where it does not exist."""
        try:
            return self._reader.children(path)[0]
        except NoNodeError:
            return None

    def _all(self, path: str, paths: Collection[str]) -> list[tuple[str, Result]]:
        """Read znodes; where the right is missing, the set fails as a whole: thousands of rows would add nothing."""
        results = self._reader.get_many(list(paths))
        refused = sum(isinstance(result, NoAuthError) for result in results.values())
        if refused:
            message = f"{refused} of {len(paths)} znodes below {path} cannot be read"
            raise ReadError(
                ReadFailure.NOT_AUTHORIZED,
                message,
                f"read permission on {path} and all below it in ZooKeeper",
                error=NoAuthError.__name__,
            )
        return list(results.items())

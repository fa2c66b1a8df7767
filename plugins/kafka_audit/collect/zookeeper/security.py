"""ZooKeeper's security: ACLs, dynamic configuration of brokers and names of SCRAM users, each set with its own row."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from kazoo.exceptions import NoAuthError, NoNodeError

from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.zookeeper.multi_read import Result, Znode
from kafka_audit.collect.rows.acl_sets import acl_rows, digest
from kafka_audit.collect.zookeeper import security_znodes
from kafka_audit.model.asked_again import ZOOKEEPER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import AclHolder, Row

ACLS, BROKER_CONFIGS, USERS = "/kafka-acl", "/config/brokers", "/config/users"
_INCOMPLETE_NEEDS = "the znodes that could not be read, each with its own row"
_PREFIXED = "/kafka-acl-extended/prefixed"
PLANNED = (ACLS, BROKER_CONFIGS, USERS)
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
            self._reader.decode(path, result, partial(security_znodes.acls, *places[path]))
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
            self.rows += self._reader.decode(path, result, partial(security_znodes.broker_configs, paths[path])) or ()

    def read_users(self) -> None:
        """Read the names of users with SCRAM credentials."""
        paths = {f"{USERS}/{name}": name for name in self._names(USERS) or ()}
        for path, result in self._all(USERS, paths):
            self.rows += self._reader.decode(path, result, partial(security_znodes.scram_users, paths[path])) or ()

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

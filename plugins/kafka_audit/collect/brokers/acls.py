"""DescribeAcls responses, each distinct set of ACLs once. Pure: bytes in, rows out."""

import hashlib
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.protocol.primitive_types import Cursor, WireError
from kafka_audit.collect.rows.acl_sets import AclEntry, acl_rows, digest
from kafka_audit.model.tables import Acl

VERSIONS = (0, 3)
_FLEXIBLE, _PATTERN = 2, 1
_TYPES = {2: "Topic", 3: "Group", 4: "Cluster", 5: "TransactionalId", 6: "DelegationToken", 7: "User"}
_PATTERNS = {3: "LITERAL", 4: "PREFIXED"}
_LITERAL = 3
_CHECK_EACH = 1000
_PERMISSIONS = {2: "DENY", 3: "ALLOW"}
_OPERATIONS = (
    *("Unknown", "Any", "All", "Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction", "DescribeConfigs"),
    *("AlterConfigs", "IdempotentWrite", "CreateTokens", "DescribeTokens", "TwoPhaseCommit"),
)


class AclsRefusal(NamedTuple):
    """An answer that holds an error instead of ACLs."""

    code: int
    message: str | None


def decode_acls_answer(
    body: bytes, version: int, check: Callable[[int], None] = lambda _: None
) -> frozenset[AclEntry] | AclsRefusal:
    """Decode a DescribeAcls response body, versions 0 to 3; raises WireError.

    Args:
        body: the response.
        version: its version.
        check: hears now and then how many entries there are by now; what it raises ends the decoding.
    """
    cursor = Cursor(body, flexible=version >= _FLEXIBLE)
    try:
        cursor.int32()  # throttled for so many ms
        code, message = cursor.int16(), cursor.text()
        if code:
            return AclsRefusal(code, message)
        entries = frozenset(_checked(_entries(cursor, version), check))
        cursor.tags()
    except (struct.error, IndexError, UnicodeDecodeError, MemoryError) as error:
        msg = f"no DescribeAcls answer of version {version}: {error}"
        raise WireError(msg) from error
    return entries


def _entries(cursor: Cursor, version: int) -> Iterator[AclEntry]:
    for _ in range(cursor.length()):
        kind, name = cursor.int8(), cursor.name()
        pattern = cursor.int8() if version >= _PATTERN else _LITERAL
        for _ in range(cursor.length()):
            principal, host, operation, permission = cursor.name(), cursor.name(), cursor.int8(), cursor.int8()
            cursor.tags()
            yield AclEntry(
                _TYPES.get(kind, f"type {kind}"),
                name,
                _PATTERNS.get(pattern, f"pattern {pattern}"),
                principal,
                host,
                _OPERATIONS[operation] if 0 <= operation < len(_OPERATIONS) else f"operation {operation}",
                _PERMISSIONS.get(permission, f"permission {permission}"),
            )
        cursor.tags()


def _checked(entries: Iterable[AclEntry], check: Callable[[int], None]) -> Iterator[AclEntry]:
    for number, acl in enumerate(entries):
        if number % _CHECK_EACH == 0:
            check(number)
        yield acl


class AclBook:
    """Takes answers from any thread; decodes each distinct body once and keeps each distinct set once."""

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._bodies: dict[tuple[int, bytes], str] = {}
        self._sets: dict[str, frozenset[AclEntry]] = {}

    def add(self, body: bytes, version: int, budget: Budget | None = None) -> tuple[str, int] | AclsRefusal:
        """Take a DescribeAcls response body; return digest and size of its set, or the error in it.

        Args:
            body: the response.
            version: its version.
            budget: the audit's: rows of all different sets together, and time.

        Raises:
            WireError: the body is no such response.
            ReadError: over the budget.
        """
        budget = budget or Budget()

        def check(count: int) -> None:
            budget.demand_time()
            budget.demand_rows(count)

        key = (version, hashlib.blake2b(body, digest_size=16).digest())
        with self._lock:
            if key not in self._bodies:
                found = decode_acls_answer(body, version, check)
                if isinstance(found, AclsRefusal):
                    return found
                named = digest(found)
                if named not in self._sets:
                    budget.add_rows(len(found), len(body))
                self._bodies[key] = named
                self._sets[named] = found
            named = self._bodies[key]
            return named, len(self._sets[named])

    def rows(self, digests: Iterable[str]) -> Iterator[Acl]:
        """Yield the rows of the sets with these digests, each once."""
        for named in sorted(set(digests) & self._sets.keys()):
            yield from acl_rows(named, self._sets[named])

"""Sets of ACLs, from brokers and from ZooKeeper alike, each named by a digest. Pure."""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from kafka_audit.model.tables import Acl


class AclEntry(NamedTuple):
    """One ACL, in an order of columns that sorts as kafka-acls.sh lists."""

    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission: str


def digest(entries: Collection[AclEntry]) -> str:
    """Return 32 hex digits over a set of ACLs, whatever order they came in."""
    content = repr(sorted(map(tuple, entries))).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def acl_rows(named: str, entries: Iterable[AclEntry]) -> Iterator[Acl]:
    """Yield the rows of a set whose digest is `named`."""
    for acl in sorted(entries):
        yield Acl(acls_digest=named, **acl._asdict())

"""What a cluster in use holds: topics with odd names and settings, users, quotas, ACLs; the same at every call."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from testbed.acls import Acl

USED = ("billing.invoices", "billing.payments", "billing.replays", "billing.quiet")
"""Topics that clients read and write; transactions run in the last two."""
ODD_NAMES = (
    "Orders",  # differs from «orders» in case alone
    "-",
    "--force",
    "-1",
    "0",
    "007",
    "18446744073709551616",
    "_",
    "__",
    "__private",
    "__remote_log_metadata",
    "_schemas",
    "_confluent-metrics",
    "...",
    ".hidden",
    "a..b",
    "trailing.",
    "UPPER.lower-Mixed_Case",
    "null",
    "None",
    "NaN",
    "true",
    "topic-0",  # looks like a partition of «topic»
    "topic",
    "mm2-offset-syncs.backup.internal",
    "source.checkpoints.internal",
    "app-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog",
    "connect-configs",
    "x" * 249,
    "." + "y" * 248,
)
"""Names that Kafka accepts: letters, digits, dot, underscore and hyphen, 249 at most."""
OVERRIDES: tuple[dict[str, str], ...] = (
    {},
    {"cleanup.policy": "compact"},
    {"min.insync.replicas": "2"},
    {},
    {"cleanup.policy": "compact,delete", "retention.ms": "3600000", "min.compaction.lag.ms": "60000"},
    {"retention.ms": "-1", "retention.bytes": "-1"},
    {"max.message.bytes": "500000"},
    {"segment.bytes": "1048576", "segment.ms": "600000"},
    {"compression.type": "zstd", "message.timestamp.type": "LogAppendTime"},
    {"min.insync.replicas": "1", "delete.retention.ms": "100", "min.cleanable.dirty.ratio": "0.01"},
    {"leader.replication.throttled.replicas": "", "follower.replication.throttled.replicas": ""},
    {"retention.bytes": "1073741824", "file.delete.delay.ms": "1000", "preallocate": "false"},
)
TOPICS, ACLS = 80, 200
FEW_TOPICS, FEW_ACLS = 15, 12
_OF_SIX = 8  # one in this many topics has six partitions
_PRINCIPALS = (
    "User:billing",
    "User:CN=writer.example,OU=Größe\\, Länge,O=Ex ample,C=DE",
    "User:CN=a",
    "User:svc@EXAMPLE.COM",
    "User:kafka/broker.example@EXAMPLE.COM",
    "User:arn:aws:iam::123456789012:role/reader",
    "User:with space",
    "User:ünï-цод-名",
    "User:ANONYMOUS",
    "Group:readers",
    "User:<b>bold</b>",
)
_HOSTS = ("*", "*", "10.1.2.3", "192.168.0.0", "0:0:0:0:0:0:0:1", "*")
_RESOURCES = (
    ("Topic", "billing.", "PREFIXED", "Read"),
    ("Topic", "orders", "LITERAL", "Write"),
    ("Group", "billing", "LITERAL", "Read"),
    ("Topic", "_", "PREFIXED", "DescribeConfigs"),
    ("TransactionalId", "tx-", "PREFIXED", "Write"),
    ("Group", "app-", "PREFIXED", "Delete"),
    ("Topic", "*", "LITERAL", "Describe"),
    ("Cluster", "kafka-cluster", "LITERAL", "IdempotentWrite"),
    ("Topic", "no-such-topic", "LITERAL", "All"),
    ("DelegationToken", "token", "LITERAL", "Describe"),
)
_DENIED = 7  # one in this many entries denies


@dataclass(frozen=True, kw_only=True)
class Contents:
    """How much a cluster is given.

    Attributes:
        topics: how many, odd names first.
        acls: how many, where there is an authorizer.
        replays: whether transactions write records that are a day old.
        users: SCRAM users besides, where these log in, each with a quota.
    """

    topics: int = TOPICS
    acls: int = ACLS
    replays: bool = True
    users: tuple[str, ...] = ()


WHOLE = Contents()
FEW = Contents(topics=FEW_TOPICS, acls=FEW_ACLS, replays=False)
"""Enough for what a few topics hide, in a third of the time."""


def topics(count: int, brokers: int) -> list[dict[str, Any]]:
    """Return topics with their settings; those that clients use have none."""
    odd = ODD_NAMES[: max(0, count - len(USED))]
    more = [f"billing.tenant-{number:03}" for number in range(count - len(USED) - len(odd))]
    settings = zip([*odd, *more], cycle(OVERRIDES), strict=False)
    found = [{"name": name, "partitions": 3, "replicas": min(3, brokers), "settings": {}} for name in USED]
    for number, (name, overrides) in enumerate(settings):
        partitions = 6 if number % _OF_SIX == _OF_SIX - 1 else 1
        found.append({"name": name, "partitions": partitions, "replicas": min(3, brokers), "settings": overrides})
    return found


def acls(count: int) -> Iterator[Acl]:
    """Return ACLs: allowed and denied, by literal and prefixed patterns, to odd principals."""
    for number in range(count):
        resource, name, pattern, operation = _RESOURCES[number % len(_RESOURCES)]
        turn = number // len(_RESOURCES)
        yield Acl(
            principal=f"{_PRINCIPALS[turn % len(_PRINCIPALS)]}{turn // len(_PRINCIPALS) or ''}",
            operation=operation,
            resource=resource,
            name=name,
            pattern=pattern,
            permission="Deny" if number % _DENIED == _DENIED - 1 else "Allow",
            host=_HOSTS[number % len(_HOSTS)],
        )


QUOTAS: tuple[dict[str, Any], ...] = (
    {"entity": {"user": None}, "limits": {"producer_byte_rate": 1e8, "consumer_byte_rate": 1e8}},
    {"entity": {"client-id": None}, "limits": {"request_percentage": 150.0}},
    {"entity": {"user": None, "client-id": None}, "limits": {"consumer_byte_rate": 5e7}},
    {"entity": {"user": "billing"}, "limits": {"producer_byte_rate": 1048576.0, "controller_mutation_rate": 10.0}},
    {"entity": {"user": "CN=writer.example,O=Ex ample", "client-id": "app 1/ü"}, "limits": {"consumer_byte_rate": 1024.0}},
    {"entity": {"client-id": "no-such-client"}, "limits": {"request_percentage": 0.01}},
    {"entity": {"ip": "10.1.2.3"}, "limits": {"connection_creation_rate": 5.0}},
    {"entity": {"ip": None}, "limits": {"connection_creation_rate": 1000.0}},
)
"""Client quotas; null is the default of a kind."""
SCRAM_USERS = ("with space", "ünï", "a=b,c", *(f"tenant-{number:02}" for number in range(20)))
GROUPS = {
    "active": ["billing", "billing-workers", "app 1/ü", "z" * 249],
    "empty": [f"nightly-{number}" for number in range(10)] + ["connect-sink", "Billing", "_confluent-ksql-default_"],
    "deleted": ["gone-1", "gone-2"],
}

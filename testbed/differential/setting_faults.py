"""Faults in everything but listeners: who a broker is, limits, versions, classes, any key."""

from collections.abc import Callable

from kafka_audit.configuration.definitions import Definition, definitions
from testbed.differential.pieces import PROTOCOLS, Draft

TIMES = (
    "log.roll.ms",
    "log.roll.hours",
    "log.roll.jitter.ms",
    "log.retention.ms",
    "log.retention.minutes",
    "log.retention.hours",
    "replica.fetch.wait.max.ms",
    "replica.socket.timeout.ms",
    "replica.lag.time.max.ms",
    "queued.max.request.bytes",
    "socket.request.max.bytes",
    "connections.max.idle.ms",
    "connection.failed.authentication.delay.ms",
    "log.cleaner.dedupe.buffer.size",
    "log.cleaner.threads",
    "max.connections.per.ip",
    "offsets.commit.required.acks",
    "offsets.topic.compression.codec",
    "reserved.broker.max.id",
)
_NUMBERS = ("-2", "-1", "0", "1", "2", "3", "4", "5", "500", "1048576", "60000", "2147483647", "2147483648", "9999999999999")
_WORDS = (
    "",
    " ",
    "x",
    "1.5",
    "true",
    "no",
    "1_000",
    "0x10",
    "+5",
    "9223372036854775808",
    "1e3",
    "NaN",
    "a,b",
    ",",
    "a,,a",
    "\u0661",
)
_VERSIONS = (
    "0.8.2",
    "0.9.0",
    "0.10.0-IV0",
    "0.10.0",
    "0.10.1.1",
    "0.11",
    "0.11.0",
    "1.1",
    "2.1.0",
    "2.8-IV1",
    "3.0",
    "3.4",
    "3.7-IV1",
)
_VERSIONS_MORE = ("3.9-IV0", "4.0", "4.1", "latest", "2", "1.1.", "")


def _identity(draft: Draft) -> None:
    draft.properties[draft.dice.choice(("broker.id", "node.id"))] = draft.dice.choice(
        ("-2", "-1", "0", "3", "999", "1001", "x", "")
    )
    if draft.chance(0.3):
        draft.properties["broker.id.generation.enable"] = draft.dice.choice(("false", "true"))


def _role(draft: Draft) -> None:
    values = draft.properties
    choices = (
        "",
        "broker",
        "controller",
        "broker,controller",
        "broker,broker",
        "broker,zookeeper",
        "Broker",
        "controller,controller",
    )
    values["process.roles"] = draft.dice.choice(choices)


def _source(draft: Draft) -> None:
    values = draft.properties
    if draft.chance(0.5):
        values["zookeeper.metadata.migration.enable"] = draft.dice.choice(("true", "true", "false", "yes"))
    if draft.chance(0.7):
        values["zookeeper.connect"] = draft.dice.choice(("zk:2181", ""))
    else:
        values.pop("zookeeper.connect", None)


def _versions(draft: Draft) -> None:
    for key in ("inter.broker.protocol.version", "log.message.format.version"):
        if draft.chance(0.7):
            draft.properties[key] = draft.dice.choice(_VERSIONS if draft.chance(0.85) else _VERSIONS_MORE)


def _limits(draft: Draft) -> None:
    for key in draft.dice.sample(TIMES, draft.dice.choice((1, 1, 2))):
        draft.properties[key] = draft.dice.choice(_NUMBERS)
    if draft.chance(0.2):
        values = ("10.0.0.5:5", "host:10,::1:3", "ho st:4", "host", "host:x", "a:1,", "b*d:1,c:2")
        draft.properties["max.connections.per.ip.overrides"] = draft.dice.choice(values)


def _compression(draft: Draft) -> None:
    values = ("gzip", "zstd", "ZSTD", "none", "uncompressed", "snappy", "brotli", "", "Producer")
    draft.properties["compression.type"] = draft.dice.choice(values)


def _old_address(draft: Draft) -> None:
    key, value = draft.dice.choice(
        (("host.name", "kafka"), ("port", "9099"), ("advertised.host.name", "0.0.0.0"), ("advertised.port", "99"))  # noqa: S104
    )
    draft.properties[key] = value
    if draft.chance(0.6):
        draft.properties.pop("advertised.listeners", None)
    if draft.chance(0.4):
        draft.properties.pop("listeners", None)


def _class(draft: Draft) -> None:
    keys = [definition.name for definition in definitions(draft.version).values() if definition.type == "CLASS"]
    values = (
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        "org.apache.kafka.common.security.auth.NoSuchBuilder",
        "",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "kafka.security.authorizer.AclAuthorizer",
        "kafka.security.auth.SimpleAclAuthorizer",
    )
    key = draft.dice.choice((*keys, "authorizer.class.name", "authorizer.class.name"))
    draft.properties[key] = draft.dice.choice(values[:3] if key in keys else values[2:])


def _any_key(draft: Draft) -> None:
    definition = draft.dice.choice(
        [known for known in definitions(draft.version).values() if known.type not in {"CLASS", "PASSWORD"}]
    )
    draft.properties[definition.name] = _value(draft, definition)


def _value(draft: Draft, definition: Definition) -> str:
    dice = draft.dice
    if draft.chance(0.25):
        return dice.choice(_WORDS)
    if definition.type in {"INT", "LONG", "SHORT", "DOUBLE"}:
        near = definition.default if isinstance(definition.default, int | float) else 1
        return dice.choice((*_NUMBERS, str(near), str(near - 1), str(near + 1)))
    return dice.choice(
        (*_WORDS, "false", "true", "none", "required", "compact", "delete,compact", "CreateTime", "classic", *PROTOCOLS)
    )


def _groups(draft: Draft) -> None:
    dice = draft.dice
    kind = dice.choice(("limits", "limits", "protocols", "assignors", "directories"))
    limits = [
        name for name in definitions(draft.version) if name.startswith("group.") and name.endswith((".ms", "limit", "locks"))
    ]
    if kind == "limits" and limits:
        for key in dice.sample(limits, 2):
            draft.properties[key] = dice.choice(("1", "1000", "5000", "15000", "40000", "45000", "60000", "90000"))
    elif kind == "protocols":
        values = ("consumer", "classic", "classic,consumer", "Classic", "classic,share", "streams,classic", "classic,classic", "")
        draft.properties["group.coordinator.rebalance.protocols"] = dice.choice(values)
    elif kind == "assignors":
        key = dice.choice(("group.share.assignors", "group.consumer.assignors"))
        draft.properties[key] = dice.choice(("simple", "simple,simple", "range", "uniform,range", "nobody", ""))
    else:
        draft.properties["cordoned.log.dirs"] = dice.choice(("*", "*,/data", "/data", "/data1", "/data1,/elsewhere", "", ","))


SETTINGS: tuple[tuple[Callable[[Draft], None], int], ...] = (
    (_identity, 2),
    (_role, 2),
    (_source, 1),
    (_versions, 3),
    (_limits, 3),
    (_compression, 1),
    (_old_address, 1),
    (_class, 1),
    (_any_key, 4),
    (_groups, 2),
)
"""Each with its weight."""

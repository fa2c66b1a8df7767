"""Kafka's znodes, decoded: pure functions from bytes to rows, for every version of each znode since 0.10."""

import json
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any

from kazoo.protocol.states import ZnodeStat

from kafka_audit.collect.priorities import MOST_REPLICAS
from kafka_audit.model.names import NameKind, can_be_name, is_port
from kafka_audit.model.tables import RegisteredBroker, RegisteredEndpoint
from kafka_audit.model.text import without_surrogates

# Kafka's own pattern (EndPoint.scala): the host may be empty, an IPv6 address is in brackets.
_ENDPOINT = re.compile(r"([^:/]{1,255}+)://(?:\[([0-9a-zA-Z\-%._:]{2,253})\]|([0-9a-zA-Z\-%._:]{0,255})):(-?[0-9]{1,9})")
_TIMESTAMP = re.compile(r"[0-9]{1,18}")
_PROTOCOLS = frozenset({"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"})
INT = 2**31  # Kafka's ids, epochs and partition numbers are Java's int
_MOST_ID = 255  # characters of the id of a cluster or a topic; Kafka makes them of 22

SMALL, CONFIG, LARGE = 64 * 1024, 1024 * 1024, 4 * 1024 * 1024
"""Bytes of a znode that are decoded, by its kind, because JSON becomes up to forty times as large: 20 MB took 700 MB.

A registration, a claim or a state has hundreds. In a topic's settings, the throttled replicas of 10,000 partitions are 300,000.
The assignment of 10,000 partitions has 250,000, that of 100,000, which takes a raised jute.maxbuffer, 3 million; a resource with
10,000 ACLs has a million.
"""


_REPLICAS_OF_A_ROW = 8


class ZnodeError(ValueError):
    """A znode whose content is not what Kafka writes there."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """/brokers/topics/T: topic id (version 3 of the znode on), partitions in order, and their replicas one after the other."""

    topic_id: str | None
    partitions: Sequence[int]
    lengths: Sequence[int]  # how many of `replicas` belong to each partition
    replicas: Sequence[int]
    adding: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # reassignments in progress, since Kafka 2.4
    removing: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def by_partition(self) -> dict[int, tuple[int, ...]]:
        """Return the replicas of each partition."""
        replicas = iter(self.replicas)
        return {number: tuple(islice(replicas, length)) for number, length in zip(self.partitions, self.lengths, strict=True)}

    @property
    def weight(self) -> int:
        """As how many rows it counts: its partitions, more where these have many replicas."""
        moved = sum(map(len, chain(self.adding.values(), self.removing.values())))
        return max(1 + len(self.partitions), (len(self.replicas) + moved) // _REPLICAS_OF_A_ROW)


@dataclass(frozen=True, slots=True)
class StateZnode:
    """/brokers/topics/T/partitions/P/state."""

    leader: int
    leader_epoch: int
    controller_epoch: int
    isr: tuple[int, ...]
    leader_recovery_state: int | None


def demand_size(data: bytes, most: int) -> None:
    """Raise ZnodeError for content that no znode of its kind has, before it is decoded."""
    if len(data) > most:
        msg = f"{len(data)} bytes, more than {most}"
        raise ZnodeError(msg)


def read_object(data: bytes, most: int = SMALL) -> dict[str, Any]:
    """Return the JSON object in a znode of at most so many bytes; raises ZnodeError."""
    demand_size(data, most)
    try:
        content = json.loads(data)
        if not data.isascii() or b"\\ud" in data.lower():
            content = _whole(content)
    except ValueError as error:
        msg = f"unreadable JSON: {error}"
        raise ZnodeError(msg) from error
    except RecursionError as error:
        msg = "unreadable JSON: nested too deep"
        raise ZnodeError(msg) from error
    if not isinstance(content, dict):
        msg = f"a JSON object was expected, not {type(content).__name__}"
        raise ZnodeError(msg)
    return content


def _whole(value: Any) -> Any:  # noqa: ANN401 -- whatever JSON holds
    """Return a value of JSON without half characters, which Python's JSON lets through and no table can hold."""
    match value:
        case str():
            return without_surrogates(value)
        case list():
            return [_whole(entry) for entry in value]
        case dict():
            return {_whole(key): _whole(entry) for key, entry in value.items()}
        case _:
            return value


def read_int(data: bytes | str) -> int:
    """Return the decimal number in a znode, as /controller_epoch has it; raises ZnodeError."""
    try:
        value = int(data)
    except ValueError as error:
        msg = "a number was expected"
        raise ZnodeError(msg) from error
    if not _fits(value):
        msg = "the number is too long"
        raise ZnodeError(msg)
    return value


def _partition(text: str) -> int:
    number = read_int(text)
    if number < 0:
        msg = f"partition {number}"
        raise ZnodeError(msg)
    return number


def _fits(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -INT <= value < INT


def demand_few(count: int, what: str) -> None:
    """Raise ZnodeError for a list of replicas of more than any partition has."""
    if count > MOST_REPLICAS:
        msg = f"{what} lists {count} replicas, more than {MOST_REPLICAS}"
        raise ZnodeError(msg)


def _int(content: Mapping[str, Any], key: str) -> int:
    value = content.get(key)
    if not _fits(value):
        msg = f"{key} is not a number"
        raise ZnodeError(msg)
    return int(value or 0)


def _ints(value: object, key: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(map(_fits, value)):
        msg = f"{key} is not a list of numbers"
        raise ZnodeError(msg)
    return tuple(value)


def parse_cluster_id(data: bytes) -> str:
    """Return the id in /cluster/id; raises ZnodeError."""
    value = read_object(data).get("id")
    if not isinstance(value, str):
        msg = "id is missing"
        raise ZnodeError(msg)
    if len(value) > _MOST_ID:
        msg = f"an id of {len(value)} characters"
        raise ZnodeError(msg)
    return value


def parse_broker_id(name: str) -> int | None:
    """Return the broker id that a znode's name is, None where it is none, or not as Kafka writes it."""
    if not (name.isascii() and name.isdigit() and len(name) <= len(str(INT))) or str(int(name)) != name:
        return None
    return int(name) if int(name) < INT else None


def parse_controller(data: bytes) -> int:
    """Return the broker id in /controller; raises ZnodeError."""
    return _int(read_object(data), "brokerid")


def parse_assignment(data: bytes) -> Assignment:
    """Decode /brokers/topics/T, versions 1 to 3; raises ZnodeError."""
    content = read_object(data, LARGE)
    if not isinstance(content.get("partitions"), dict):
        msg = "partitions is not an object"
        raise ZnodeError(msg)
    topic_id = content.get("topic_id")
    if isinstance(topic_id, str) and len(topic_id) > _MOST_ID:
        msg = f"a topic_id of {len(topic_id)} characters"
        raise ZnodeError(msg)
    found = content["partitions"]
    lists, numbers = [*found.values()], [*map(_number, found)]
    replicas: list[Any] = [*chain(*lists)] if set(map(type, lists)) <= {list} else [None]
    if not (
        set(map(type, replicas)) <= {int} and all(number < two for number, two in pairwise([-1, *numbers])) and _fit(replicas)
    ):
        whole = _by_partition(content, "partitions")  # not in order, or not as Kafka writes it
        numbers, lists, replicas = [*whole], [*whole.values()], [*chain(*whole.values())]
    adding, removing = (_by_partition(content, key) for key in ("adding_replicas", "removing_replicas"))
    lengths, kept = array("i", map(len, lists)), array("i", replicas)  # a list of numbers takes nine times as much
    return Assignment(topic_id if isinstance(topic_id, str) else None, array("i", numbers), lengths, kept, adding, removing)


def with_few_replicas(assignment: Assignment) -> Assignment:
    """Return an assignment; raises ZnodeError where a partition has more replicas than any."""
    moved = chain(assignment.adding.values(), assignment.removing.values())
    demand_few(max(chain(assignment.lengths, map(len, moved)), default=0), "a partition")
    return assignment


def _number(text: str) -> int:
    """Return a partition's number as Kafka writes it, -1 for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < len(str(INT)) else -1


def _fit(numbers: Sequence[Any]) -> bool:
    return not numbers or (min(numbers) >= -INT and max(numbers) < INT)


def _by_partition(content: Mapping[str, Any], key: str) -> dict[int, tuple[int, ...]]:
    reported = content.get(key)
    try:
        found = {_partition(number): _ints(ids, f"{key}.{number[:10]}") for number, ids in (reported or {}).items()}
    except (ZnodeError, AttributeError) as error:
        msg = f"{key}: {error}"
        raise ZnodeError(msg) from error
    return dict(sorted(found.items()))


def parse_state(data: bytes) -> StateZnode:
    """Decode a partition's state; raises ZnodeError."""
    content = read_object(data)
    recovery = content.get("leader_recovery_state")
    isr = _ints(content.get("isr"), "isr")
    demand_few(len(isr), "isr")
    return StateZnode(
        leader=_int(content, "leader"),
        leader_epoch=_int(content, "leader_epoch"),
        controller_epoch=_int(content, "controller_epoch"),
        isr=tuple(sorted(isr)),
        leader_recovery_state=int(recovery) if recovery is not None and _fits(recovery) else None,
    )


@dataclass(frozen=True, slots=True)
class Registration:
    """/brokers/ids/N: the broker, its endpoints, and entries of `endpoints` that no Kafka would have written."""

    broker: RegisteredBroker
    endpoints: tuple[RegisteredEndpoint, ...]
    unreadable: tuple[str, ...]


def parse_registration(sample: int, broker_id: int, data: bytes, stat: ZnodeStat) -> Registration:
    """Decode /brokers/ids/N; raises ZnodeError.

    Host and port of the object itself say null and -1 where no listener is PLAINTEXT, so `endpoints` is read; only version 1
    of the znode has none.
    """
    content = read_object(data)
    timestamp = str(content.get("timestamp", ""))
    rack = content.get("rack")
    if rack is not None and not isinstance(rack, str):
        msg = "rack is no text"
        raise ZnodeError(msg)
    row = RegisteredBroker(
        sample=sample,
        broker_id=broker_id,
        rack=rack if rack is not None and can_be_name(NameKind.RACK, rack) else None,
        ephemeral_owner=stat.ephemeralOwner,
        registered_ms=int(timestamp) if _TIMESTAMP.fullmatch(timestamp) else 0,
        czxid=stat.czxid,
        mzxid=stat.mzxid,
    )
    entries = content.get("endpoints")
    if entries is None:
        host, port = content.get("host"), content.get("port")
        entries = [f"PLAINTEXT://{host}:{port}" if isinstance(host, str) and isinstance(port, int) else None]
    protocols = content.get("listener_security_protocol_map") or {}
    if not isinstance(entries, list) or not isinstance(protocols, dict):
        msg = "endpoints is not a list, or listener_security_protocol_map is not an object"
        raise ZnodeError(msg)
    read = [(_endpoint(sample, broker_id, entry, protocols), entry) for entry in entries]
    odd = () if rack is None or row.rack is not None else (f"rack {rack}",)
    return Registration(
        row,
        tuple(endpoint for endpoint, _ in read if endpoint is not None),
        (*(str(entry) for endpoint, entry in read if endpoint is None), *odd),
    )


def _endpoint(sample: int, broker_id: int, entry: object, protocols: Mapping[str, Any]) -> RegisteredEndpoint | None:
    match = _ENDPOINT.fullmatch(entry) if isinstance(entry, str) else None
    if match is None:
        return None
    listener, bracketed, plain, port = match.groups()
    host = bracketed or plain
    protocol = protocols.get(listener, listener if listener in _PROTOCOLS else "UNKNOWN")
    if not (isinstance(protocol, str) and can_be_name(NameKind.LISTENER, listener) and is_port(int(port))):
        return None
    return RegisteredEndpoint(sample=sample, broker_id=broker_id, listener=listener, protocol=protocol, host=host, port=int(port))

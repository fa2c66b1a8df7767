"""ZooKeeper's word on how topics are to be replicated: what they set for themselves, and reassignments of the old kind."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from kazoo.exceptions import KazooException, NoAuthError, NoNodeError

from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.zookeeper.multi_read import Contents, Result, Znode
from kafka_audit.collect.rows.topic_config_columns import KEYS, TopicConfigs
from kafka_audit.collect.zookeeper.znodes import CONFIG, LARGE, ZnodeError, demand_few, read_int, read_object
from kafka_audit.model.asked_again import ZOOKEEPER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Reassignment, Row

TOPIC_CONFIGS, REASSIGNMENTS = "/config/topics", "/admin/reassign_partitions"
PLANNED = (TOPIC_CONFIGS, REASSIGNMENTS)

_R = TypeVar("_R")
_T = TypeVar("_T")


class ReplicationReader(Protocol):
    """The reads of a sample: many znodes at once, and a row for each znode that cannot be read."""

    def get_many(self, paths: Sequence[str]) -> dict[str, Result]: ...  # noqa: D102 -- see above

    def each(  # noqa: D102
        self, count: int, path: Callable[[int], str], *, small: bool = False
    ) -> Iterator[tuple[int, Contents]]: ...

    def decode(self, path: str, result: _R | KazooException, decode: Callable[[_R], _T]) -> _T | None: ...  # noqa: D102


class ReplicationZnodes:
    """Reads the sets; each method raises what the whole set fails with, and rows hold the data."""

    def __init__(self, reader: ReplicationReader, sample: int) -> None:
        """Take the sample of which this is a part."""
        self._reader = reader
        self._sample = sample
        self.rows: list[Row] = []
        self.settings = TopicConfigs(ZOOKEEPER)

    def read_topic_configs(self, topics: Sequence[str]) -> None:
        """Read what these topics set for themselves; a topic without a znode sets nothing."""
        found = [*self._reader.each(len(topics), lambda place: f"{TOPIC_CONFIGS}/{topics[place]}", small=True)]
        refused = sum(isinstance(error, NoAuthError) for _, contents in found for error in contents.errors.values())
        if refused:
            message = f"{refused} of {len(topics)} znodes below {TOPIC_CONFIGS} cannot be read"
            raise ReadError(
                ReadFailure.NOT_AUTHORIZED,
                message,
                f"read permission on {TOPIC_CONFIGS} and all below it in ZooKeeper",
                error=NoAuthError.__name__,
            )
        known: dict[bytes, tuple[tuple[str, object], ...]] = {}  # most topics set nothing, or the same
        for first, contents in found:
            for at, (topic, data) in enumerate(zip(topics[first:], contents.data, strict=False)):
                if at in contents.errors or data not in known:
                    path = f"{TOPIC_CONFIGS}/{topic}"
                    settings = self._reader.decode(path, contents.errors.get(at, data), decode_topic_configs)
                    if settings is None:
                        continue
                    known[data] = settings
                for key, value in known[data]:
                    self.settings.add(topic, key, value)

    def read_reassignments(self) -> None:
        """Read the znode by which reassignments were asked for before Kafka 2.4, and by tools of that time ever since."""
        for result in self._reader.get_many([REASSIGNMENTS]).values():
            if isinstance(result, Znode):
                self.rows += reassignments(self._sample, result)
            elif not isinstance(result, NoNodeError):
                raise result


def decode_topic_configs(data: bytes) -> tuple[tuple[str, object], ...]:
    """Return keys and values in /config/topics/<topic>, as far as `KEYS` go; raises ZnodeError."""
    config = read_object(data, CONFIG).get("config")
    if not isinstance(config, dict):
        msg = "config is not an object"
        raise ZnodeError(msg)
    return tuple((key, config[key]) for key in KEYS if key in config)


def reassignments(sample: int, znode: Znode) -> tuple[Reassignment, ...]:
    """Decode /admin/reassign_partitions; raises ZnodeError.

    It names where each partition is to go, and not what is there: all of that counts as being added.
    """
    listed = read_object(znode.data, LARGE).get("partitions")
    if not isinstance(listed, list):
        msg = "partitions is not a list"
        raise ZnodeError(msg)
    return tuple(_reassignment(sample, entry) for entry in listed)


def _reassignment(sample: int, value: object) -> Reassignment:
    parts = value if isinstance(value, dict) else {}
    topic, partition, replicas = (parts.get(key) for key in ("topic", "partition", "replicas"))
    if not isinstance(topic, str) or not isinstance(replicas, list):
        msg = "an entry of partitions has no topic or replicas"
        raise ZnodeError(msg)
    demand_few(len(replicas), "an entry of partitions")
    wanted = tuple(read_int(str(replica)) for replica in replicas)
    return Reassignment(
        sample=sample,
        observer=ZOOKEEPER,
        topic=topic,
        partition=read_int(str(partition)),
        replicas=wanted,
        adding=wanted,
        removing=(),
    )

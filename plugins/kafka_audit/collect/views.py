"""Views of many brokers, each distinct content held once. Pure: bytes in, rows out.

Bodies of equal views are byte-equal only until a broker restarts; then the same content comes in another order. So a digest
is taken of sorted content: equal views have equal digests, whatever order they came in.
"""

import gc
import hashlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

from kafka_audit.collect.acls import AclBook
from kafka_audit.collect.budget import Budget, out_of_time
from kafka_audit.collect.metadata import ROW_BYTES, ListedBroker, MetadataError, Partition, read_answer, read_topic, weight
from kafka_audit.model.tables import Row, ViewBroker, ViewPartition, ViewTopic

MOST_LISTED = 10
"""How many times `limits.brokers` an answer may list: brokers that were honest list those that were registered by others."""

_CHECK_EACH = 1000
_LARGE_TOPIC = 64 * 1024
_Listed = tuple[str, str | None, str, int]  # name, topic id, topic digest, error


@dataclass(frozen=True, kw_only=True)
class View:
    """One answer to Metadata, reduced to what tells it from others."""

    kafka_cluster_id: str | None
    controller_id: int  # not part of a digest: it is compared on its own
    brokers_listed: int
    topics_listed: int
    brokers_digest: str
    topics_digest: str
    version: int
    error: int


class ViewBook:
    """Takes answers from any thread; knows each distinct list of brokers, list of topics and topic once."""

    def __init__(self, behind: Mapping[tuple[str, int], tuple[str, int]] = MappingProxyType({})) -> None:
        """Start empty; `acls` is the book of the sets of ACLs that brokers hold.

        Args:
            behind: advertised address by the address that a proxy tells instead, see `targets.behind_proxies`.
        """
        self._behind = behind
        self.acls = AclBook()
        self._lock = threading.Lock()
        self._bodies: dict[tuple[int, bool, bytes], View] = {}
        self._topic_bytes: dict[tuple[int, bytes], _Listed] = {}
        self._last_bytes: defaultdict[int, dict[str, bytes]] = defaultdict(dict)  # by version and topic
        self._brokers: dict[str, tuple[ListedBroker, ...]] = {}
        self._topics: dict[str, tuple[_Listed, ...]] = {}
        self._partitions: dict[str, tuple[str, tuple[Partition, ...]]] = {}

    def add(self, body: bytes, version: int, dialled: tuple[str, int] | None = None, budget: Budget | None = None) -> View:
        """Take the body of a Metadata response of that version; raises metadata.MetadataError, and ReadError over the budget.

        Args:
            body: the response.
            version: its version.
            dialled: where it came from; one that came through a proxy may hold the proxy's own addresses.
            budget: the audit's: rows of all different views together, and time.
        """
        budget = budget or Budget()
        proxied = dialled is not None and (dialled[0].lower(), dialled[1]) in self._behind
        key = (version, proxied, hashlib.blake2b(body, digest_size=16).digest())
        if not self._lock.acquire(timeout=budget.demand_time()):
            raise out_of_time()
        try:
            if key not in self._bodies:
                with _collector_paused():
                    self._bodies[key] = self._read(body, version, self._behind if proxied else {}, budget)
            return self._bodies[key]
        finally:
            self._lock.release()

    def listed(self, brokers_digest: str) -> tuple[int, ...]:
        """Return the ids in a list of brokers, sorted."""
        return tuple(one.broker_id for one in self._brokers[brokers_digest])

    def topics(self, topics_digest: str) -> tuple[str, ...]:
        """Return the names in a list of topics, sorted; those that were refused are left out."""
        return tuple(name for name, _, _, error in self._topics[topics_digest] if not error)

    def partitions(self, topics_digests: Iterable[str]) -> Iterator[tuple[str, Partition]]:
        """Yield the partitions of these lists of topics with the topic's name, each distinct content of a topic once."""
        for digest in sorted({one[2] for topics in set(topics_digests) for one in self._topics[topics]}):
            topic, partitions = self._partitions[digest]
            for one in partitions:
                yield topic, one

    def rows(self, brokers_digests: Iterable[str], topics_digests: Iterable[str]) -> Iterator[Row]:
        """Yield the rows behind these digests, each once."""
        for digest in sorted(set(brokers_digests)):
            for broker in self._brokers[digest]:
                yield ViewBroker(
                    brokers_digest=digest, broker_id=broker.broker_id, host=broker.host, port=broker.port, rack=broker.rack
                )
        topic_digests = set()
        for digest in sorted(set(topics_digests)):
            for name, topic_id, topic_digest, error in self._topics[digest]:
                topic_digests.add(topic_digest)
                yield ViewTopic(topics_digest=digest, topic=name, topic_id=topic_id, topic_digest=topic_digest, error=error)
        for digest in sorted(topic_digests):
            topic, partitions = self._partitions[digest]
            for one in partitions:
                yield ViewPartition(topic_digest=digest, topic=topic, **one._asdict())

    def _read(self, body: bytes, version: int, behind: Mapping[tuple[str, int], tuple[str, int]], budget: Budget) -> View:
        def check(count: int) -> None:
            budget.demand_time()
            budget.demand_rows(count)

        most = MOST_LISTED * budget.limits.brokers
        answer = read_answer(body, version, self._last_bytes[version], most_brokers=most, check=check)
        brokers = tuple(sorted((as_advertised(one, behind) for one in answer.brokers), key=lambda one: one.broker_id))
        topics = tuple(sorted(self._read_topics(answer.topics, version, budget), key=lambda one: (one[0], one[2])))
        if len({name for name, *_ in topics}) != len(topics):
            msg = f"no Metadata answer of version {version}: a topic is listed twice"
            raise MetadataError(msg)
        brokers_digest, topics_digest = _digest(brokers), _digest(topics)
        if topics_digest not in self._topics:  # the same in another order is the same
            budget.add_rows(len(topics))
        if brokers_digest not in self._brokers:
            budget.add_rows(len(brokers))
        self._brokers[brokers_digest] = brokers
        self._topics[topics_digest] = topics
        return View(
            kafka_cluster_id=answer.cluster_id,
            controller_id=answer.controller_id,
            brokers_listed=len(brokers),
            topics_listed=len(topics),
            brokers_digest=brokers_digest,
            topics_digest=topics_digest,
            version=version,
            error=answer.error,
        )

    def _read_topics(self, topics: Sequence[bytes], version: int, budget: Budget) -> Iterator[_Listed]:
        """Yield the topics of an answer, those decoded that are not known yet; raises ReadError over the budget."""
        rows = 0
        for number, data in enumerate(topics):
            if number % _CHECK_EACH == 0:
                budget.demand_time()
            known = self._topic_bytes.get((version, data))
            if known is None:
                if len(data) > _LARGE_TOPIC:  # is weighed before it is anything else
                    budget.demand_time()
                    budget.demand_rows(rows + weight(data, version))
                known = self._topic(data, version)
                rows += max(1 + len(self._partitions[known[2]][1]), len(data) // ROW_BYTES)
                if rows >= _CHECK_EACH:
                    budget.add_rows(rows)
                    rows = 0
            yield known
        budget.add_rows(rows)

    def _topic(self, data: bytes, version: int) -> _Listed:
        topic = read_topic(data, version)
        digest = _digest((topic.name, topic.partitions))
        self._partitions[digest] = (topic.name, topic.partitions)
        known = self._topic_bytes[version, data] = (topic.name, topic.topic_id, digest, topic.error)
        return known


def as_advertised(broker: ListedBroker, behind: Mapping[tuple[str, int], tuple[str, int]]) -> ListedBroker:
    """Return a listed broker with the address that it advertises, where a proxy put one of its own in its place."""
    host, port = behind.get((broker.host.lower(), broker.port), (broker.host, broker.port))
    return broker._replace(host=host, port=port)


def _digest(content: object) -> str:
    """Return 32 hex digits over the text of nested tuples of strings, numbers and None, which is one-to-one."""
    return hashlib.blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Building 200,000 small objects is twice as fast while no collection walks through them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

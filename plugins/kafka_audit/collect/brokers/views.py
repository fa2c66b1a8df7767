"""Views of many brokers, each distinct content held once. Pure: bytes in, rows and columns out.

Bodies of equal views are byte-equal only until a broker restarts; then the same content comes in another order. So a digest
is taken of sorted content: equal views have equal digests, whatever order they came in.
"""

import hashlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit.clients.budget import Budget, out_of_time
from kafka_audit.collect.brokers.acls import AclBook
from kafka_audit.collect.brokers.log_dirs import DiskBook
from kafka_audit.collect.brokers.metadata import (
    NEW,
    ListedBroker,
    ListedTopics,
    MetadataAnswer,
    MetadataError,
    decode_metadata_answer,
    head,
    read_topics,
    weight,
)
from kafka_audit.collect.priorities import MOST_REPLICAS
from kafka_audit.collect.rows.collected import Large
from kafka_audit.collect.rows.columns import Ints, empty, nullable, table
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.model.names import NameKind, can_be_name
from kafka_audit.model.tables import ViewBroker, ViewPartition, ViewTopic
from kafka_audit.model.text import counted

MOST_LISTED = 10
"""How many times `limits.brokers` an answer may list: correct brokers also list those that others registered."""

_BATCH = 50_000  # rows that are decoded at a time
_MISSES = 8  # known bodies in a row that are others than the common one: then another one is more common
_REFUSED = -2  # the number of a topic whose name no cluster has
_ORDERS = 3  # of a topic's partitions that are known again: brokers have them in different orders

_Listed = tuple[str, str | None, str, int]  # name, topic id, topic digest, error


@dataclass(frozen=True, kw_only=True)
class View:
    """One answer to Metadata, reduced to the parts that distinguish it."""

    kafka_cluster_id: str | None
    controller_id: int  # not part of a digest: it is compared on its own
    brokers_listed: int
    topics_listed: int
    brokers_digest: str
    topics_digest: str
    version: int
    error: int
    refused: str | None  # names in it that no cluster has
    cut: str | None  # lists of replicas in it of which only the first are kept


class ViewBook:
    """Takes answers from any thread; knows each distinct list of brokers, list of topics and topic once."""

    def __init__(self, behind: Mapping[tuple[str, int], tuple[str, int]] = MappingProxyType({})) -> None:
        """Start empty; `acls` and `disks` are the books of the ACLs and of the replicas that brokers hold.

        Args:
            behind: advertised address by the address that a proxy returns instead, see `targets.behind_proxies`.
        """
        self._behind = behind
        self.acls, self.disks = AclBook(), DiskBook()
        self._lock = threading.Lock()
        self._bodies: dict[tuple[int, bool, bytes], View] = {}
        self._common: dict[tuple[int, bool], _CommonBody] = {}
        self._known: defaultdict[int, _Known] = defaultdict(_Known)  # by version
        self._brokers: dict[str, tuple[ListedBroker, ...]] = {}
        self._listed: dict[_Listed, int] = {}  # each distinct entry of a list of topics, and its number
        self._entries: list[_Listed] = []  # by number
        self._topics: dict[str, Ints] = {}  # numbers of entries, by the name of the topic
        self._digests: dict[bytes, str] = {}  # of lists of topics, by the numbers of their entries
        self._contents: set[str] = set()
        self._partitions: list[pa.Table] = []
        self._large: tuple[frozenset[str], Large] | None = None  # what `large` returned last: it is asked for several times

    def add(
        self, body: bytes | memoryview, version: int, dialled: tuple[str, int] | None = None, budget: Budget | None = None
    ) -> View:
        """Take the body of a Metadata response of that version; raises metadata.MetadataError, and ReadError over the budget.

        Args:
            body: the response.
            version: its version.
            dialled: where it came from; one that came through a proxy may hold the proxy's own addresses.
            budget: the audit's: rows of all different views together, and time.
        """
        budget = budget or Budget()
        proxied = dialled is not None and canonical_address(*dialled) in self._behind
        common = self._common.get((version, proxied))
        if common is not None and common.body == body:  # type: ignore[comparison-overlap] # they do compare
            common.misses = 0
            return common.view
        key = (version, proxied, hashlib.blake2b(body, digest_size=16).digest())
        if not self._lock.acquire(timeout=budget.demand_time()):
            raise out_of_time()
        try:
            if key not in self._bodies:
                self._bodies[key] = self._read(bytes(body), version, self._behind if proxied else {}, budget)
            elif common is None or common.misses >= _MISSES:
                self._common[version, proxied] = _CommonBody(bytearray(body), self._bodies[key])
            else:
                common.misses += 1
            return self._bodies[key]
        finally:
            self._lock.release()

    def listed(self, brokers_digest: str) -> tuple[int, ...]:
        """Return the ids in a list of brokers, sorted."""
        return tuple(broker.broker_id for broker in self._brokers[brokers_digest])

    def topics(self, topics_digest: str) -> tuple[str, ...]:
        """Return the names in a list of topics, sorted; those that were refused are left out."""
        return tuple(name for name, _, _, error in self._list(topics_digest) if not error)

    def rows(self, brokers_digests: Iterable[str]) -> Iterator[ViewBroker]:
        """Yield the brokers of these lists, each list once."""
        for digest in sorted(set(brokers_digests)):
            for broker in self._brokers[digest]:
                yield ViewBroker(
                    brokers_digest=digest, broker_id=broker.broker_id, host=broker.host, port=broker.port, rack=broker.rack
                )

    def large(self, topics_digests: Iterable[str]) -> Large:
        """Return the topics and partitions of these lists, each distinct content of a topic once, sorted by topic."""
        wanted = frozenset(topics_digests)
        if self._large is None or self._large[0] != wanted:
            self._large = wanted, self._tables(sorted(wanted))
        return self._large[1]

    def _tables(self, topics_digests: Sequence[str]) -> Large:
        lists = [empty(ViewTopic)]
        for digest in topics_digests:
            names, ids, contents, errors = zip(*self._list(digest), strict=True) if len(self._topics[digest]) else ([],) * 4
            of = pa.repeat(digest, len(names))
            lists.append(table(ViewTopic, topics_digest=of, topic=names, topic_id=ids, topic_digest=contents, error=errors))
        topics = pa.concat_tables(lists)
        partitions = pa.concat_tables([empty(ViewPartition), *self._partitions])
        contents = pc.unique(topics.column("topic_digest"))
        if len(contents) < len(self._contents):
            partitions = partitions.filter(pc.is_in(partitions.column("topic_digest"), value_set=contents))
        # Equal values are adjacent, because they then take less space in a file.
        by_topic = [(name, "ascending") for name in ("topic", "topics_digest")]
        by_partition = [(name, "ascending") for name in ("topic", "topic_digest", "partition")]
        return MappingProxyType({ViewTopic: topics.sort_by(by_topic), ViewPartition: partitions.sort_by(by_partition)})

    def _list(self, topics_digest: str) -> list[_Listed]:
        return [self._entries[topic] for topic in self._topics[topics_digest].tolist()]

    def _read(self, body: bytes, version: int, behind: Mapping[tuple[str, int], tuple[str, int]], budget: Budget) -> View:
        def check(count: int) -> None:
            budget.demand_time()
            budget.demand_rows(count)

        most = MOST_LISTED * budget.limits.brokers
        known = self._known[version]
        answer = decode_metadata_answer(body, version, known.by_head, most_brokers=most, check=check)
        brokers = tuple(sorted((as_advertised(broker, behind) for broker in answer.brokers), key=lambda broker: broker.broker_id))
        cut: dict[str, int] = {}
        entries = self._read_topics(answer, budget, cut)
        entries = entries[entries != _REFUSED]
        topics_digest = self._list_digest(entries, version, budget)
        brokers_digest = _digest(brokers)
        if brokers_digest not in self._brokers:
            budget.add_rows(len(brokers), sum(len(broker.host) + len(broker.rack or "") for broker in brokers))
        self._brokers[brokers_digest] = brokers
        return View(
            kafka_cluster_id=answer.cluster_id,
            controller_id=answer.controller_id,
            brokers_listed=len(brokers),
            topics_listed=len(entries),
            brokers_digest=brokers_digest,
            topics_digest=topics_digest,
            version=version,
            error=answer.error,
            refused=answer.refused.text,
            cut=_cut_text(cut),
        )

    def _read_topics(self, answer: MetadataAnswer, budget: Budget, cut: dict[str, int]) -> Ints:
        """Return the numbers of an answer's topics, those decoded that are not known yet; raises ReadError over the budget.

        `cut` gets the topics with a list of replicas of which only the first are kept, and how long the longest is.
        """
        topics, version = answer.topics, answer.version
        found: list[int] = []
        batch: list[bytes] = []
        rows = 0
        for topic in topics:
            weighs = weight(topic, version)
            if batch and rows + weighs > _BATCH:
                found += self._decode(batch, rows, answer, budget, cut)
                batch, rows = [], 0
            batch.append(topic)
            rows += weighs
        if batch:
            found += self._decode(batch, rows, answer, budget, cut)
        numbers = np.array(answer.numbers, np.int64)
        numbers[numbers == NEW] = found
        return numbers

    def _decode(
        self, pieces: Sequence[bytes], rows: int, answer: MetadataAnswer, budget: Budget, cut: dict[str, int]
    ) -> list[int]:
        """Decode some topics of an answer, keep those of a content that is new, and return the numbers of all."""
        version = answer.version
        budget.demand_time()
        if rows > _BATCH:  # a single topic
            budget.demand_rows(rows)
        decoded = read_topics(pieces, version)
        impossible = {place for place, name in enumerate(decoded.names) if not can_be_name(NameKind.TOPIC, name)}
        fresh = {
            digest: place
            for place, digest in enumerate(decoded.digests)
            if digest not in self._contents and place not in impossible
        }
        budget.add_rows(sum(weight(pieces[place], version) for place in fresh.values()))
        if fresh:
            self._partitions.append(_partitions(decoded, np.array([*fresh.values()], np.int64)))
            self._contents.update(fresh)
        found = []
        listed = zip(decoded.names, decoded.topic_ids, decoded.digests, decoded.errors, strict=True)
        for place, (piece, entry) in enumerate(zip(pieces, listed, strict=True)):
            if place in impossible:
                answer.refused.add(NameKind.TOPIC.value, entry[0])
                found.append(_REFUSED)
                continue
            number = self._listed.get(entry)
            if number is None:
                number = self._listed[entry] = len(self._entries)
                self._entries.append(entry)
            found.append(number)
            if place in decoded.longest:  # not known again: each answer that has it says so
                cut[entry[0]] = decoded.longest[place]
            else:
                self._known[version].add(piece, number, version)
        return found

    def _list_digest(self, entries: Ints, version: int, budget: Budget) -> str:
        """Return the digest of a list of topics, which the book knows from then on; raises MetadataError and ReadError."""
        key = np.sort(entries).tobytes()
        if key not in self._digests:
            listed = sorted(entries.tolist(), key=lambda number: self._entries[number][0])
            if len({self._entries[number][0] for number in listed}) != len(listed):
                msg = f"no Metadata answer of version {version}: a topic is listed twice"
                raise MetadataError(msg)
            digest = _digest(tuple(self._entries[number] for number in listed))
            if digest not in self._topics:  # the same in another order is the same
                budget.add_rows(len(listed))
            self._topics[digest] = np.array(listed, np.int64)
            self._digests[key] = digest
        return self._digests[key]


def _cut_text(cut: Mapping[str, int]) -> str | None:
    if not cut:
        return None
    name, longest = next(iter(cut.items()))
    return f"{counted(len(cut), 'topic')} with a list of more than {MOST_REPLICAS} replicas, the first: {longest} of {name}"


@dataclass(slots=True)
class _CommonBody:
    """A body that came twice: most brokers send the same, and comparing bytes takes a tenth of the time of hashing them."""

    body: bytearray  # compares with a memoryview at once, which bytes do number by number
    view: View
    misses: int = 0  # known bodies since it came last


class _Known:
    """Topics of answers of one version that were decoded before, by how their bytes begin."""

    def __init__(self) -> None:
        self.by_head: dict[bytes, tuple[tuple[bytes, int], ...]] = {}

    def add(self, data: bytes, entry: int, version: int) -> None:
        """Know a topic again, in as many orders as are kept of each."""
        begins = head(data, version)
        orders = self.by_head.get(begins, ())
        if (data, entry) not in orders:  # else listed twice in one answer
            self.by_head[begins] = ((data, entry), *orders)[:_ORDERS]


def _partitions(topics: ListedTopics, places: Ints) -> pa.Table:
    """Return the partitions of some of these topics."""
    lengths = np.diff(topics.bounds)[places]
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    at = np.repeat(topics.bounds[:-1][places] - begins, lengths) + np.arange(lengths.sum())
    topic = pa.array(np.repeat(places, lengths))
    return table(
        ViewPartition,
        topic_digest=pa.array(topics.digests, pa.string()).take(topic),
        topic=pa.array(topics.names, pa.string()).take(topic),
        partition=topics.partition[at],
        error=topics.error[at],
        leader=topics.leader[at],
        leader_epoch=nullable(topics.leader_epoch[at]),
        replicas=topics.replicas.take(at),
        isr=topics.isr.take(at),
        offline_replicas=topics.offline_replicas.take(at),
    )


def as_advertised(broker: ListedBroker, behind: Mapping[tuple[str, int], tuple[str, int]]) -> ListedBroker:
    """Return a listed broker with the address that it advertises, if a proxy replaced it."""
    host, port = behind.get(canonical_address(broker.host, broker.port), (broker.host, broker.port))
    return broker._replace(host=host, port=port)


def _digest(content: object) -> str:
    """Return 32 hex digits over the text of nested tuples of strings, numbers and None, which is one-to-one."""
    return hashlib.blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""What a watch reads from ZooKeeper, and of the Metadata answers: each content is decoded once, and little of it kept."""

import hashlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.conversation import demand
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.brokers.metadata import ListedBroker, MetadataError, decode_metadata_answer
from kafka_audit.collect.brokers.views import MOST_LISTED, as_advertised
from kafka_audit.collect.zookeeper.znode_sample import IDS
from kafka_audit.collect.zookeeper.znodes import parse_broker_id
from kafka_audit.collect.zookeeper.zookeeper_view import read_control
from kafka_audit.compare.addresses import HostPort, canonical_address, is_among
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import RegisteredEndpoint, SourceRead, ViewBroker
from kafka_audit.watch.reading import ANSWERED, ReadList, WatchAnswer, ZookeeperReading, failed_answer

MOST_NEW = 100
"""Brokers that one view lists and that are not known there, which are kept once any broker is known."""

_MOST_CONTENTS = 100  # views that are remembered to be decoded once: honest ones are nearly all equal


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What a view lists.

    Attributes:
        brokers: all that are known, and the first `MOST_NEW` others.
        elsewhere: brokers that are not known at that address, as many.
        nowhere: those of `brokers` that it lists at an address that no broker has.
        cluster_id: None where it names none.
        controller_id: -1 where it names none.
    """

    brokers: ReadList
    elsewhere: tuple[ListedBroker, ...]
    nowhere: frozenset[int]
    cluster_id: str | None
    controller_id: int


class Listings:
    """Decodes answers to Metadata without topics."""

    def __init__(
        self,
        known: Mapping[int, tuple[RegisteredEndpoint, ...]],
        behind: Mapping[tuple[str, int], tuple[str, int]],
        most: int,
    ) -> None:
        """Take where brokers are known to listen, see `targets.behind_proxies`, and `limits.brokers`."""
        self._known = {number: {(place.host, place.port) for place in places} for number, places in known.items()}
        self._behind = behind
        self._most_listed = MOST_LISTED * most
        self._most_new = MOST_NEW if known else most
        self._contents: dict[tuple[int, bool, bytes], Listing] = {}
        self._lists: dict[str, ReadList] = {}
        self._turn = threading.Lock()

    def listing(self, body: bytes, version: int, dialled: tuple[str, int]) -> Listing:
        """Return what the body of a response lists that came from an address; one is decoded at a time. Raises ReadError."""
        proxied = canonical_address(*dialled) in self._behind
        key = (version, proxied, hashlib.blake2b(body, digest_size=16).digest())
        with self._turn:
            found = self._contents.get(key)
            if found is None:
                found = self._decode(body, version, proxied=proxied)
                if len(self._contents) < _MOST_CONTENTS:
                    self._contents[key] = found
            return found

    def _decode(self, body: bytes, version: int, *, proxied: bool) -> Listing:
        try:
            answer = decode_metadata_answer(body, version, most_brokers=self._most_listed, check=_demand_no_topics)
        except MetadataError as error:
            raise ReadError(ReadFailure.MALFORMED_ANSWER, str(error)) from None
        demand(answer.error, None, {})
        brokers = [as_advertised(broker, self._behind) for broker in answer.brokers] if proxied else answer.brokers
        listed = {broker.broker_id for broker in brokers}.union(number for number in answer.nowhere if number >= 0)
        ids = (listed & self._known.keys()).union(sorted(listed - self._known.keys())[: self._most_new])
        elsewhere = (
            broker._replace(rack=None)
            for broker in sorted(brokers)
            if broker.broker_id in ids and not is_among((broker.host, broker.port), self._known.get(broker.broker_id, ()))
        )
        nowhere = frozenset(ids.intersection(answer.nowhere))
        places = dict.fromkeys(nowhere, ("", -1))
        places |= {broker.broker_id: (broker.host, broker.port) for broker in brokers if broker.broker_id in ids}
        return Listing(
            brokers=self._shared(sorted(places.items())),
            nowhere=nowhere,
            elsewhere=tuple(islice(elsewhere, self._most_new)),
            cluster_id=answer.cluster_id,
            controller_id=answer.controller_id,
        )

    def _shared(self, places: Sequence[tuple[int, HostPort]]) -> ReadList:
        """Return a list of brokers, one object for all equal ones: a broker that was restarted gives it in another order."""
        digest = hashlib.blake2b(repr(places).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        found = self._lists.get(digest)
        if found is None:
            rows = (ViewBroker(brokers_digest=digest, broker_id=n, host=host, port=port, rack=None) for n, (host, port) in places)
            found = self._lists[digest] = ReadList(digest=digest, rows=tuple(rows))
        return found


def _demand_no_topics(count: int) -> None:
    if count:
        raise ReadError(ReadFailure.MALFORMED_ANSWER, f"it lists {count} topics, and none was asked for")


Endpoints = Mapping[int, tuple[RegisteredEndpoint, ...]]


class WatchedZnodes:
    """The few znodes of one cluster."""

    def __init__(self, cluster: Cluster, secrets: Mapping[str, str], read_s: float) -> None:
        """Take the cluster, where passwords are looked up, and the seconds of a reading."""
        self._cluster = cluster
        self._secrets = secrets
        self._read_s = read_s
        self._turn = threading.Lock()

    def read(self, logins: ClusterLogins) -> tuple[ZookeeperReading | None, Endpoints]:
        """Return what ZooKeeper holds, and where registered brokers listen; None where the cluster file names none.

        Never on two threads at a time: one that hangs in kazoo may outlast its reading.
        """
        access = self._cluster.zookeeper
        if access is None:
            return None, {}
        if not self._turn.acquire(blocking=False):
            waits = ReadError(ReadFailure.TIMEOUT, "the previous reading still waits for ZooKeeper")
            return ZookeeperReading(answer=failed_answer(waits)), {}
        try:
            budget = Budget(self._cluster, time.monotonic() + self._read_s)
            rows = read_control(access, self._secrets, read_s=self._read_s, budget=budget, tls=logins.zookeeper_tls)
        except ReadError as error:
            return ZookeeperReading(answer=failed_answer(error)), {}
        finally:
            self._turn.release()
        unreadable, failed = _failed_znodes(row for row in rows if isinstance(row, SourceRead))
        if failed is not None:
            return ZookeeperReading(answer=failed), {}
        endpoints: dict[int, tuple[RegisteredEndpoint, ...]] = {}
        for row in rows:
            if isinstance(row, RegisteredEndpoint):
                endpoints[row.broker_id] = (*endpoints.get(row.broker_id, ()), row)
        return ZookeeperReading(answer=ANSWERED, rows=rows, unreadable=unreadable), endpoints


def _failed_znodes(reads: Iterable[SourceRead]) -> tuple[Mapping[int, WatchAnswer], WatchAnswer | None]:
    """Return the brokers whose registrations could not be read, and what became of another znode that could not be read.

    A client that can write one znode below /brokers/ids must not suppress the registrations of other brokers; the audit has a row
    for each.
    """
    unreadable, prefix = {}, f"zookeeper {IDS}/"
    for read in reads:
        if read.outcome == "failed":
            answer = failed_answer(ReadError(read.failure, error=read.error))
            if not read.operation.startswith(prefix):
                return {}, answer
            broker = parse_broker_id(read.operation.removeprefix(prefix))
            if broker is not None:
                unreadable[broker] = answer
    return unreadable, None

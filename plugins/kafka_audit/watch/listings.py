"""What the Metadata answers of one reading list, each content decoded once, and little of it kept."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from kafka_audit.clients.protocol.conversation import demand
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.brokers.metadata import ListedBroker, MetadataError, decode_metadata_answer
from kafka_audit.collect.brokers.views import MOST_LISTED, as_advertised
from kafka_audit.compare.addresses import HostPort, canonical_address, is_among
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import RegisteredEndpoint, ViewBroker
from kafka_audit.watch.reading import ReadList

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

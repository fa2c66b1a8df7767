"""Read little from a cluster: each broker, the controllers of the cluster file, and ZooKeeper, side by side on threads.

A reading opens one connection to each broker, asks ApiVersions and Metadata without topics, in KRaft mode DescribeQuorum as well,
and closes it. Connections are new each time, as those of a client that starts now.
"""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from kafka.protocol.admin import DescribeQuorumRequest

from kafka_audit.bounds.kept_brokers import Vouchers, keep_brokers
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins, ListenerSecurity
from kafka_audit.clients.login_attempts import PATIENCE_S
from kafka_audit.clients.parallel import Running, in_thread
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError, any_answer, clean_line
from kafka_audit.clients.targets import (
    UNREGISTERED,
    Target,
    behind_proxies,
    bootstrap_targets,
    flat,
    listed_endpoints,
    registered_targets,
)
from kafka_audit.collect.brokers.discovery import ask_for_brokers
from kafka_audit.collect.brokers.metadata import ListedBroker
from kafka_audit.collect.brokers.quorum import controllers, observer, quorum_request, quorum_rows, quorum_view
from kafka_audit.collect.rows.source_reads import now_ms
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import QuorumReplica, QuorumView, RegisteredEndpoint, Row
from kafka_audit.watch.listings import Endpoints, Listing, Listings, WatchedZnodes
from kafka_audit.watch.reading import (
    ANSWERED,
    BrokerReading,
    ControllerReading,
    Reading,
    WatchAnswer,
    WatchOutcome,
    ZookeeperReading,
    failed_answer,
)
from kafka_audit.watch.silent_logs import SilentLogs
from kafka_audit.watch.suspicions import HALF, electorate, shares

log = logging.getLogger(__name__)

READ_S = 5.0
"""Seconds that one party has for an answer, if `limits.read_s` is not less."""

WHOLE_S = 15.0
"""Seconds of a whole reading: a broker that was not asked by then is unknown in it."""

LOGINS_S = 900.0
"""Seconds after which a login that was refused is tried again; the DAG tries it as often."""

_LATE = "not asked in time"
_LANES = 64
_MOMENT_S = 0.5
_MOST_CONTROLLERS = 100
_MOST_BYTES = 1024 * 1024  # of one answer: Metadata without topics has 60 for each broker
_PROTOCOLS = frozenset({"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"})


@dataclass(frozen=True, kw_only=True)
class _Heard:
    """What one party answered, the brokers that it lists elsewhere than they are known, and those at no possible address."""

    reading: BrokerReading
    listed: tuple[ListedBroker, ...] = ()
    nowhere: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True)
class _Access:
    """How an address is asked; `refused` is why there is no login for it."""

    security: ListenerSecurity
    refused: ReadError | None = None

    def demand_login(self) -> None:
        """Raise ReadError where there is none; a new one, because a traceback grows with each raise."""
        if self.refused is not None:
            raise self.refused.again(self.refused.message)


class Reader:
    """Reads one cluster as often as wanted, one reading at a time."""

    def __init__(self, cluster: Cluster, secrets: Mapping[str, str]) -> None:
        """Take the cluster and where passwords are looked up.

        Raises:
            UsageError: an address in the cluster file cannot be used.
        """
        self._cluster = cluster
        nodes = cluster.limits.brokers + _MOST_CONTROLLERS
        # What one party sends takes nothing from the others: each connection has room for an answer.
        self._bounded = replace(cluster, limits=replace(cluster.limits, bytes=_LANES * _MOST_BYTES, rows=nodes))
        self._secrets = secrets
        self._read_s = min(READ_S, cluster.limits.read_s)
        self._behind = behind_proxies(cluster)
        self._znodes = WatchedZnodes(cluster, secrets, self._read_s)
        self._logs = SilentLogs(cluster, self._read_s)
        self._answered_at: dict[int, Target] = {}
        self._logins: ClusterLogins
        self._logins_end: float | None = None
        bootstrap_targets(cluster, ())  # addresses that are none end it now
        controllers(cluster)

    async def read(self, known: Endpoints, vouched: Collection[int] | None = None) -> Reading:
        """Return what all parties say now; the loop that runs waits for threads.

        Args:
            known: where brokers listened in earlier readings, longest known first; one that is not registered now is asked there.
            vouched: those of them that were registered, in the same order; all by default.

        Raises:
            UsageError: the connection string of ZooKeeper cannot be read, or, in the first reading, a file of certificates.
        """
        self._budget = Budget(self._bounded, time.monotonic() + WHOLE_S)
        try:
            return await in_thread(lambda: self._read(known, dict.fromkeys(known if vouched is None else vouched)), 2 * WHOLE_S)
        finally:
            self._budget.close()

    def _read(self, known: Endpoints, vouched: Mapping[int, None]) -> Reading:
        if self._logins_end is None or time.monotonic() >= self._logins_end:
            try:
                self._logins = ClusterLogins(self._cluster, self._secrets)
            except UsageError as error:
                if self._logins_end is None:
                    raise
                return self._nothing_asked(known, clean_line(str(error)))
            self._logins_end = time.monotonic() + LOGINS_S
        began, self._vouched = now_ms(), vouched
        self._asked: dict[object, _Heard] = {}
        self._turns: dict[object, threading.Lock] = {}
        self._newest_turn = threading.Lock()
        self._newest_answer: tuple[tuple[bool, int, int], Callable[[], tuple[Row, ...]]] | None = None
        endpoints = self._kept(known)
        until = time.monotonic() + self._read_s + 1
        waiting = Running([lambda: self._znodes.read(self._logins)], 1, until)
        if not endpoints:
            registered = self._zookeeper(waiting)[1]
            endpoints = self._kept(registered, registered)
        self._listings = Listings(endpoints, self._behind, self._cluster.limits.brokers)
        of_controllers = Running(
            [partial(self._ask_controller, target) for target in controllers(self._cluster)], _LANES, self._end()
        )
        heard = self._ask(endpoints, bootstrap_targets(self._cluster, chain.from_iterable(endpoints.values())))
        zookeeper, registered = self._zookeeper(waiting)
        newest = registered or self._listed(heard, endpoints)
        kept = self._kept({**endpoints, **newest}, registered, heard)
        moved = {number: places for number, places in kept.items() if endpoints.get(number) != places}
        if moved:
            self._listings = Listings(kept, self._behind, self._cluster.limits.brokers)
            heard = [*(party for party in heard if party.reading.broker_id not in moved), *self._ask(moved)]
        heard = [party for party in heard if party.reading.broker_id is None or party.reading.broker_id in kept]
        endpoints = self._kept(kept, registered, heard)
        current = {*flat(registered_targets(chain.from_iterable(endpoints.values()), self._cluster))}
        self._answered_at = {number: target for number, target in self._answered_at.items() if target in current}
        heard += _nowhere(heard, zookeeper, kept)
        silent = {party.reading.broker_id: party.reading.api_versions.failed for party in heard}
        processes = self._logs.read(silent, self._logins.passwords())
        heard = [
            replace(party, reading=replace(party.reading, process=processes.get(party.reading.broker_id))) for party in heard
        ]
        known_at = {party.reading.address for party in heard if party.reading.broker_id is not None}
        # A bootstrap address that turned out to be a broker's is not shown twice.
        readings = sorted(
            (party.reading for party in heard if party.reading.broker_id is not None or party.reading.address not in known_at),
            key=_order,
        )
        answers = zip(controllers(self._cluster), of_controllers.results(), strict=True)
        return Reading(
            at_ms=began,
            brokers=tuple(readings),
            controllers=tuple(_of_controller(target, answer) for target, answer in answers),
            zookeeper=zookeeper,
            replicas=self._replicas(),
            endpoints=endpoints,
        )

    def _end(self) -> float:
        return self._budget.deadline + _MOMENT_S

    @staticmethod
    def _zookeeper(
        waiting: Running[tuple[ZookeeperReading | None, Endpoints]],
    ) -> tuple[ZookeeperReading | None, Endpoints]:
        """Return what ZooKeeper holds, see `WatchedZnodes.read`."""
        (found,) = waiting.results()
        if found is None or isinstance(found, ReadError):
            return ZookeeperReading(answer=failed_answer(found or ReadError(ReadFailure.TIMEOUT))), {}
        return found

    def _nothing_asked(self, known: Endpoints, why: str) -> Reading:
        """Return a reading in which all parties are unknown: without the files of certificates, nothing is sent."""
        answer = WatchAnswer(outcome=WatchOutcome.UNKNOWN, error=why)
        targets = registered_targets((place for places in known.values() for place in places), self._cluster)
        return Reading(
            at_ms=now_ms(),
            brokers=tuple(_unasked(number, some[0].address, why) for number, some in sorted(targets.items())),
            controllers=tuple(ControllerReading(address=target.address, answer=answer) for target in controllers(self._cluster)),
            zookeeper=None if self._cluster.zookeeper is None else ZookeeperReading(answer=answer),
            endpoints=dict(known),
        )

    def _kept(self, endpoints: Endpoints, registered: Collection[int] = (), heard: Sequence[_Heard] = ()) -> Endpoints:
        """Return at most `limits.brokers` of them, in their order.

        Without registrations in ZooKeeper, it keeps brokers that at least half of the views list that count.
        """
        views = () if registered else electorate(_reading(heard))
        listed = shares(views)
        halves = frozenset(number for number, share in listed.items() if share == HALF).intersection(endpoints)
        vouchers = Vouchers(
            named=self._named(endpoints),
            registered=[number for number in endpoints if number in registered or listed.get(number, 0) > HALF],
            long_known=[number for number in self._vouched if number in endpoints],
            claimed={view.address: halves.intersection(view.lists or ()) for view in views} if halves else {},
        )
        ids = frozenset(keep_brokers(self._cluster.limits.brokers, vouchers).ids)
        return {number: places for number, places in endpoints.items() if number in ids}

    def _named(self, endpoints: Endpoints) -> list[int]:
        """Return the brokers at addresses in the cluster file, for each address the one that comes first."""
        found: dict[str, int] = {}
        for target in flat(registered_targets(chain.from_iterable(endpoints.values()), self._cluster)):
            if self._logins.names(target):
                found.setdefault(target.address, target.broker_id)
        return list(dict.fromkeys(found.values()))

    def _ask(self, endpoints: Endpoints, bootstrap: Sequence[Target] = ()) -> list[_Heard]:
        """Ask brokers, and bootstrap addresses at which none of them listens, side by side."""
        targets = registered_targets(chain.from_iterable(endpoints.values()), self._cluster)
        # Logins are tried in this order: first where the last reading had an answer.
        return self._ask_all(
            [
                *((broker, targets[broker]) for broker in sorted(targets, key=lambda broker: broker not in self._answered_at)),
                *((UNREGISTERED, [target]) for target in bootstrap),
            ]
        )

    def _ask_all(self, asked: Sequence[tuple[int, Sequence[Target]]]) -> list[_Heard]:
        answers = Running([partial(self._ask_broker, *question) for question in asked], _LANES, self._end()).results()
        return [
            answer if isinstance(answer, _Heard) else _Heard(reading=_unasked(number, some[0].address, _why(answer)))
            for (number, some), answer in zip(asked, answers, strict=True)
        ]

    def _ask_broker(self, number: int, targets: Sequence[Target]) -> _Heard:
        """Ask one broker, at the address where it answered before; until it did, at one after the other."""
        usual = self._answered_at.get(number)
        best = [usual] if usual in targets and usual is not None else sorted(targets, key=self._rank)
        heard = _Heard(reading=_unasked(number, best[0].address, _LATE))
        for target in best:
            if self._budget.left() < self._read_s:
                break
            heard = self._converse(number, target)
            if heard.reading.metadata.answered:
                self._answered_at[number] = target
                break
        else:
            self._answered_at.pop(number, None)
        return heard

    def _rank(self, target: Target) -> tuple[bool, bool, str]:
        """Return the order of a broker's addresses: those first at which it can be asked for Metadata."""
        return self._access(target).refused is not None, not self._logins.names(target), target.listener

    def _access(self, target: Target) -> _Access:
        """Return the security of an address; without a login for it, of a connection for ApiVersions alone, and why."""
        try:
            return _Access(security=self._logins.listener_security(target, min(self._read_s, self._budget.left())))
        except ReadError as error:
            known = target.protocol in _PROTOCOLS
            return _Access(security=self._logins.without_login(target) if known else ListenerSecurity(), refused=error)

    def _converse(self, number: int, target: Target) -> _Heard:
        """Ask at one address, once in a reading: what is behind it answers for each broker that is said to listen there."""
        broker = None if number == UNREGISTERED else number
        vouched = number in self._vouched or self._logins.names(target)
        place = target.dialled, target.listener, target.protocol, target.host
        with self._turns.setdefault(place, threading.Lock()):
            if place not in self._asked:
                reading = BrokerReading(broker_id=broker, address=target.address, listener=target.listener, vouched=vouched)
                self._asked[place] = self._converse_once(reading, target)
        heard = self._asked[place]
        return replace(heard, reading=replace(heard.reading, broker_id=broker, vouched=vouched))

    def _converse_once(self, reading: BrokerReading, target: Target) -> _Heard:
        if target.protocol not in _PROTOCOLS:
            return _Heard(reading=_unasked(reading.broker_id, target.address, f"protocol {clean_line(target.protocol)}"))
        access, operation = self._access(target), "api_versions"
        if self._budget.left() < self._read_s:  # a token or a ticket took the time
            return _Heard(reading=_unasked(reading.broker_id, target.address, _LATE))
        conversation: Conversation | None = None
        found: Listing | None = None
        try:
            with any_answer(), nullcontext(self._conversation(target, access)) as conversation, conversation:
                kraft = _offers_quorum(conversation)
                reading = replace(reading, api_versions=ANSWERED, kraft=kraft, applied=_applied(conversation) if kraft else None)
                operation = "metadata"
                access.demand_login()
                found = self._listings.listing(*ask_for_brokers(conversation), target.dialled)
                reading = replace(
                    reading,
                    metadata=ANSWERED,
                    listed=found.brokers,
                    cluster_id=found.cluster_id,
                    controller_id=found.controller_id,
                )
                operation = "quorum"
                if kraft:
                    led = self._quorum(conversation, reading.observer, broker=reading.broker_id, vouched=reading.vouched)
                    reading = replace(reading, quorum=ANSWERED, led=led)
        except ReadError as error:
            if operation == "api_versions" and conversation is not None and conversation.offers:  # and refuses the login
                reading, operation = replace(reading, api_versions=ANSWERED), "metadata"
            reading = replace(reading, **{operation: failed_answer(error)})  # type: ignore[arg-type] # the name of an answer
        if found is None:
            return _Heard(reading=reading)
        return _Heard(reading=reading, listed=found.elsewhere, nowhere=found.nowhere)

    def _conversation(self, target: Target, access: _Access) -> Conversation:
        """Return a conversation that ends in time, even if it waits for another one's login; raises ReadError."""
        self._logins.demand_dialled(target)
        budget = self._budget.part(self._read_s + PATIENCE_S)
        options = ClientOptions(
            read_s=self._read_s, max_bytes=_MOST_BYTES, budget=budget, logins=self._logins, listener_security=access.security
        )
        return Conversation(*target.dialled, options)

    def _ask_controller(self, target: Target) -> ControllerReading:
        """Ask a KRaft controller whether it leads; one that does not lead names no leader."""
        access, led = self._access(target), None
        try:
            access.demand_login()
            with any_answer(), self._conversation(target, access) as conversation:
                if _offers_quorum(conversation):
                    led = self._quorum(conversation, observer(target), broker=None, vouched=True)
        except ReadError as error:
            return ControllerReading(address=target.address, answer=failed_answer(error))
        return ControllerReading(address=target.address, answer=ANSWERED, led=led)

    def _quorum(self, conversation: Conversation, party: str, *, broker: int | None, vouched: bool) -> QuorumView | None:
        """Return what a party says of the quorum's leader, None where it is a controller that does not lead; raises ReadError.

        Each broker gives an answer, which has a row for each node: of all answers the newest alone is kept, those of parties that
        are vouched for before others.
        """
        answer = conversation.ask(quorum_request(conversation))
        led = quorum_view(answer, 1, party, broker)
        if led is not None and led.leader_id >= 0:
            rank = (vouched, led.leader_epoch or 0, led.high_watermark or 0)
            with self._newest_turn:
                if self._newest_answer is None or rank > self._newest_answer[0]:
                    self._newest_answer = rank, partial(quorum_rows, conversation, answer, 1, party, broker)
        return led

    def _listed(self, heard: Sequence[_Heard], known: Endpoints) -> dict[int, tuple[RegisteredEndpoint, ...]]:
        """Return where brokers listen that are not known there, as most views list them that count.

        A known broker has moved where more than half of them say so: one party cannot lead the watch away from another.
        """
        views = electorate(_reading(heard))
        counted = {broker.address for broker in views}
        votes: defaultdict[int, Counter[tuple[str, int]]] = defaultdict(Counter)
        for party in heard:
            for broker in party.listed if party.reading.address in counted else ():
                votes[broker.broker_id][broker.host, broker.port] += 1
        protocol, found = self._cluster.security.protocol, {}
        for number in sorted(number for number, share in shares(views).items() if share >= HALF and number in votes):
            (host, port), times = min(votes[number].items(), key=lambda entry: (-entry[1], entry[0]))
            if number not in known or times > HALF * len(views):
                found[number] = listed_endpoints([(number, host, port)], 1, protocol)
        return found

    def _replicas(self) -> tuple[QuorumReplica, ...]:
        """Return the nodes of the quorum in the newest answer; none where it makes no sense, or names more than there may be."""
        if self._newest_answer is None:
            return ()
        try:
            return tuple(row for row in self._newest_answer[1]() if isinstance(row, QuorumReplica))
        except ReadError as error:
            log.warning("%s: the nodes of the quorum: %s", self._cluster.name, error)
            return ()


def _nowhere(heard: Sequence[_Heard], zookeeper: ZookeeperReading | None, asked: Collection[int]) -> list[_Heard]:
    """Return the brokers that belong to the cluster and were not asked: no party gives an address that a broker can have."""
    answers = {} if zookeeper is None else dict(zookeeper.unreadable)
    views = electorate(_reading(heard))
    counted, share = {view.address for view in views}, shares(views)
    impossible = WatchAnswer(outcome=WatchOutcome.FAILED, error=ReadFailure.IMPOSSIBLE_NAMES.words)
    for party in heard:
        listed = party.nowhere if party.reading.address in counted else ()
        answers |= {number: impossible for number in listed if share[number] >= HALF and number not in answers}
    return [
        _Heard(reading=BrokerReading(broker_id=number, address="an unknown address", api_versions=answer))
        for number, answer in sorted(answers.items())
        if number not in asked
    ]


def _reading(heard: Iterable[_Heard]) -> Reading:
    """Return the views of brokers as a reading, whose ZooKeeper is not known yet."""
    return Reading(at_ms=0, brokers=tuple(party.reading for party in heard))


def _offers_quorum(conversation: Conversation) -> bool:
    return DescribeQuorumRequest.API_KEY in conversation.apis


def _applied(conversation: Conversation) -> int | None:
    """Return the offset up to which a KRaft broker has applied the metadata log: the epoch of the features in ApiVersions 3."""
    epoch = getattr(conversation.api_versions, "finalized_features_epoch", None)
    return epoch if isinstance(epoch, int) and epoch >= 0 else None


def _of_controller(target: Target, answer: ControllerReading | ReadError | None) -> ControllerReading:
    if isinstance(answer, ControllerReading):
        return answer
    return ControllerReading(address=target.address, answer=WatchAnswer(outcome=WatchOutcome.UNKNOWN, error=_why(answer)))


def _why(answer: object) -> str:
    """Return why there is no answer: an unexpected failure, or no time."""
    return clean_line(answer.error) if isinstance(answer, ReadError) else _LATE


def _unasked(broker: int | None, address: str, why: str) -> BrokerReading:
    number = None if broker == UNREGISTERED else broker
    return BrokerReading(broker_id=number, address=address, api_versions=WatchAnswer(outcome=WatchOutcome.UNKNOWN, error=why))


def _order(reading: BrokerReading) -> tuple[bool, int, str]:
    return reading.broker_id is None, reading.broker_id or 0, reading.address

"""One pass over a cluster's znodes: no transaction, so the zxid before and after is noted and what moved is read again."""

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from kafka_audit.clients.budget import Budget, over_limit
from kafka_audit.clients.read_error import ReadError, any_answer, clean_line
from kafka_audit.clients.zookeeper.multi_read import BATCH_PATHS, Contents, Result, Znode, ZnodeReader
from kafka_audit.clients.zookeeper.session import Session
from kafka_audit.collect.priorities import MOST_OF_ONE
from kafka_audit.collect.rows.collected import Collected, Large
from kafka_audit.collect.rows.columns import Ints
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper import migration, znode_health, znodes
from kafka_audit.collect.zookeeper.earlier_topics import EarlierTopics
from kafka_audit.collect.zookeeper.partition_states import States
from kafka_audit.collect.zookeeper.registered import Registered, RegisteredTopics, by_priority
from kafka_audit.collect.zookeeper.replication import PLANNED as REPLICATION
from kafka_audit.collect.zookeeper.replication import TOPIC_CONFIGS, ReplicationZnodes
from kafka_audit.collect.zookeeper.security import PLANNED as SECURITY
from kafka_audit.collect.zookeeper.security import SecurityZnodes
from kafka_audit.collect.zookeeper.znode_reads import KNOWN, DecodedZnodes, ZnodeReads
from kafka_audit.collect.zookeeper.znodes import Registration, StateZnode
from kafka_audit.model.names import NameKind, can_be_name
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Migration, Row, TopicConfig

IDS, TOPICS, DELETING = "/brokers/ids", "/brokers/topics", "/admin/delete_topics"
CONTROLLER, CONTROLLER_EPOCH, CLUSTER_ID = "/controller", "/controller_epoch", "/cluster/id"
STATES = "/brokers/topics/*/partitions/*/state"
PLANNED = (
    IDS,
    CONTROLLER,
    CONTROLLER_EPOCH,
    CLUSTER_ID,
    DELETING,
    TOPICS,
    STATES,
    *REPLICATION,
    *SECURITY,
    znode_health.HEALTH,
)
"""The sets that every sample reads; each has one `SourceRead` row, and so has each znode that could not be read."""

_LONGEST_SHOWN = 200  # characters of a path in a message
MOST_CHILDREN = 1_000_000
"""Names below one znode that are taken. 200,000 topics are a large cluster's, and more than ZooKeeper lists by default (1 MB)."""

SMALL_SHARE = 0.125
"""Of `limits.bytes` for a set other than topics and states: 100,000 ACLs are 10 MB, the settings of 200,000 topics 30 MB."""

_MOST_HELD = 4  # times limits.brokers: which of them hold partitions is known after all topics were read
_STAT_BYTES = 80  # what a znode takes in an answer besides its data
_R = TypeVar("_R")
_T = TypeVar("_T")


class ZnodeSample:
    """Reads one cluster once."""

    def __init__(  # noqa: PLR0913, PLR0917 -- all are needed
        self,
        session: Session,
        asking: Asking,
        read_s: float,
        deadline: float,
        budget: Budget | None = None,
        earlier: DecodedZnodes | None = None,
        topics: EarlierTopics | None = None,
    ) -> None:
        """Take a connected session; `read_s` bounds each request, `deadline` (of `time.monotonic()`) the sample.

        `earlier` holds what earlier samples decoded. With `topics`, only some are read again, and the settings of none.
        """
        self._decoded = earlier or DecodedZnodes()
        self._earlier = topics
        self._listed: list[str] = []  # topics that there are
        self._to_read: list[str] = []  # those of them that are read
        self._deadline = deadline
        self._budget = budget or Budget()
        self._session = session
        self._asking = asking
        self._read_s = read_s
        self._reads = ZnodeReads(session, asking, self._budget)
        self._registered = 0  # brokers, also those that are left out
        self._found = Registered()
        self._migration: Migration | None = None
        self._znodes = ZnodeReader(session.client, read_s, deadline)
        self._sizes: dict[str, int] = {} if topics is None else dict(self._decoded.sizes)
        self._bytes = 0
        self._health: list[Row] = []

    def take(self) -> Collected:
        """Read all sets, read again what moved meanwhile, and return what they hold."""
        before = self._sync()
        steps: Sequence[tuple[str, Callable[[], None]]] = (
            (IDS, self._read_brokers),
            (CONTROLLER, self._read_controller),
            (CONTROLLER_EPOCH, self._read_controller_epoch),
            (CLUSTER_ID, self._read_cluster_id),
            (DELETING, self._read_deleting),
            (TOPICS, self._read_topics),
            (STATES, self._read_states),
        )
        replication, security = ReplicationZnodes(self, self._asking.sample), SecurityZnodes(self, self._asking.sample)
        last = (
            lambda: replication.read_topic_configs(self._found.topics.names),
            replication.read_reassignments,
            security.read_acls,
            security.read_broker_configs,
            security.read_users,
            security.read_quotas,
        )
        for path, step in (*steps, *zip((*REPLICATION, *SECURITY), last, strict=True)):
            if self._earlier is None or path != TOPIC_CONFIGS:
                self._reads.note(path, step)
        self._reads.note(znode_health.HEALTH, self._read_health)
        self._read_again(before)
        after = self._sync()
        self._leave_out()
        self._decoded.sizes = self._sizes
        return Collected(
            rows=(
                *self._reads.rows.values(),
                *self._found.rows(self._asking.sample, before, after),
                *replication.rows,
                *security.rows,
                *self._health,
                *((self._migration,) if self._migration else ()),
            ),
            large={**self._large(), TopicConfig: replication.settings.table()},
        )

    def _large(self) -> Large:
        """Return topics and partitions; those that were not read again as they were, unless a set could not be read."""
        found = self._found.large(self._asking.sample)
        reads = [self._reads.rows[f"zookeeper {path}"] for path in (DELETING, TOPICS, STATES)]
        if self._earlier is None or any(read.outcome == "failed" for read in reads):
            return found
        return self._earlier.whole(self._asking.sample, self._listed, self._to_read, found)

    def control(self) -> tuple[Row, ...]:
        """Return brokers, controller, its epoch and the cluster id, the traces of a migration, and each read.

        It takes four to six requests; nothing of it grows with topics.
        """
        steps: Sequence[tuple[str, Callable[[], None]]] = (
            (IDS, self._read_brokers),
            (CONTROLLER, self._read_controller),
            (CONTROLLER_EPOCH, self._read_controller_epoch),
            (CLUSTER_ID, self._read_cluster_id),
        )
        for path, step in steps:
            self._reads.note(path, step)
        self._leave_out()
        migration = () if self._migration is None else (self._migration,)
        return (*self._reads.rows.values(), *self._found.rows(self._asking.sample, 0, 0), *migration)

    def _read_health(self) -> None:
        sample, lists = self._asking.sample, {TOPICS: self._listed}
        nodes = znode_health.read_znode_health(self._session.client, sample, self._left, sorted(self._found.deleting))
        self._health = [*nodes, *znode_health.largest(self._sizes, lists, sample)]
        self._health += znode_health.read_ensemble(self._session.client, sample, self._left)

    def _sync(self) -> int:
        """Let a follower catch up with the leader, so that it is not older than the brokers; return the last zxid seen."""
        if self._reads.lost is None:
            with suppress(KazooException, KazooTimeoutError, ReadError), any_answer():  # then the sets fail as well, and say why
                self._session.client.sync_async(IDS).get(timeout=self._left())
        return int(self._session.client.last_zxid or 0)

    def _read_again(self, before: int) -> None:
        """Read once more what was written since `before`; what moves even then is left to the next sample."""
        registered = self._found
        again: list[tuple[str, Callable[[], None]]] = []
        if self._reads.lost is not None:
            return
        if (registered.brokers_pzxid or 0) > before or any(
            registration.broker.mzxid > before for registration in registered.brokers.values()
        ):
            again.append((IDS, self._read_brokers))
        if (registered.controller_mzxid or 0) > before:
            again += [(CONTROLLER, self._read_controller), (CONTROLLER_EPOCH, self._read_controller_epoch)]
        if len(moved := registered.states.moved_since(before)):
            again.append((STATES, lambda: self._take_states(moved)))
        for self._reads.set, step in again:
            with suppress(*KNOWN, ReadError), any_answer(*KNOWN):  # the first reading stays, and its row
                step()

    def _get(self, path: str) -> Znode | None:
        """Return one znode, None where it does not exist."""
        try:
            return Znode(*self._session.client.get_async(path).get(timeout=self._left()))
        except NoNodeError:
            return None

    def get_many(self, paths: Sequence[str]) -> dict[str, Result]:
        """Return content or error per path; raises what loses the session, and ReadError over a small set's share of bytes."""
        found = self._znodes.get_many(paths, round(self._budget.limits.bytes * SMALL_SHARE))
        self._note_sizes((path, len(znode.data)) for path, znode in found.items() if isinstance(znode, Znode))
        return found

    def each(self, count: int, path: Callable[[int], str], *, small: bool = False) -> Iterator[tuple[int, Contents]]:
        """Yield what many znodes hold, batch by batch with the number of its first one; raises as `get_many`.

        Args:
            count: how many znodes.
            path: the path of the one of a number.
            small: whether the set has a small set's share of `limits.bytes`, or all that is left.
        """
        most = round(self._budget.limits.bytes * SMALL_SHARE) if small else self._budget.limits.bytes - self._bytes
        for first, contents in self._znodes.each(count, path):
            sizes = [*map(len, contents.data)]
            most -= sum(sizes)
            if most < 0:
                message = "the znodes that are read hold more than limits.bytes"
                raise over_limit(message, "bytes")
            if not small:
                self._bytes += sum(sizes) + _STAT_BYTES * (len(contents) - len(contents.errors))
            floor = min(self._sizes.values()) if len(self._sizes) >= znode_health.LARGEST else 0
            self._note_sizes(
                (path(first + at), size) for at, size in enumerate(sizes) if size >= floor and at not in contents.errors
            )
            yield first, contents

    def _note_sizes(self, sizes: Iterable[tuple[str, int]]) -> None:
        """Keep the largest znodes that were read."""
        found = self._sizes | dict(sizes)
        self._sizes = dict(heapq.nsmallest(znode_health.LARGEST, found.items(), key=lambda entry: (-entry[1], entry[0])))

    def children(self, path: str) -> tuple[list[str], Any]:
        """Return sorted names and stat; raises NoNodeError and what loses the session."""
        names, stat = self._session.client.get_children_async(path, include_data=True).get(timeout=self._left())
        if len(names) > MOST_CHILDREN:
            raise ReadError(ReadFailure.TOO_LARGE, f"{len(names)} znodes below {path}, more than {MOST_CHILDREN}")
        return sorted(names), stat

    def _left(self) -> float:
        """Return how long to wait for an answer, in seconds."""
        return max(0.01, min(self._read_s, self._deadline - time.monotonic()))

    def decode(self, path: str, result: _R | KazooException, decode: Callable[[_R], _T]) -> _T | None:
        """Return one znode of a set decoded; a failure is a separate row and does not affect the rest of the set."""
        return self._reads.decode(path, result, decode)

    def _read_brokers(self) -> None:
        names, stat = self.children(IDS)
        reported = {name: znodes.parse_broker_id(name) for name in names}
        for name in (name for name, broker in reported.items() if broker is None):
            shown = clean_line(f"{IDS}/{name}", _LONGEST_SHOWN)
            self._reads.fail(
                f"{IDS}/{name}", ReadError(ReadFailure.UNREADABLE, f"{shown}: no broker id", f"no such znode below {IDS}")
            )
        ids = sorted(broker for broker in reported.values() if broker is not None)
        brokers: dict[int, Registration] = {}
        self._registered = 0
        for path, result in self._registrations(ids):
            if len(brokers) >= _MOST_HELD * self._budget.limits.brokers:
                oldest = by_priority(brokers, self._budget.named, ())[: self._budget.limits.brokers]
                brokers = {broker: brokers[broker] for broker in sorted(oldest)}
            broker = int(path.rpartition("/")[2])
            registration = self.decode(path, result, partial(self._registration, broker))
            if registration is not None:
                brokers[broker] = registration
                self._registered += 1
                if registration.unreadable:  # one row a znode, whatever it holds
                    entry = registration.unreadable[0]
                    self._reads.fail(
                        path, ReadError(ReadFailure.UNREADABLE_ENDPOINT, entry, f"an endpoint in {path} that names host and port")
                    )
                if len(registration.endpoints) > MOST_OF_ONE:
                    self._reads.fail(
                        path,
                        ReadError(ReadFailure.TOO_LARGE, f"{len(registration.endpoints)} endpoints, more than {MOST_OF_ONE}"),
                    )
                    brokers[broker] = replace(registration, endpoints=registration.endpoints[:MOST_OF_ONE])
        self._found.brokers, self._found.brokers_pzxid = dict(sorted(brokers.items())), stat.pzxid

    def _registrations(self, ids: Sequence[int]) -> Iterator[tuple[str, Result]]:
        """Yield what is registered, some hundred at a time."""
        for first in range(0, len(ids), BATCH_PATHS):
            yield from self.get_many([f"{IDS}/{broker}" for broker in ids[first : first + BATCH_PATHS]]).items()

    def _leave_out(self) -> None:
        """Leave out brokers over `limits.brokers`; then the set counts as not read, for who is missing in it is not known."""
        found, most = self._found, self._budget.limits.brokers
        if self._registered <= most:
            return
        kept = by_priority(found.brokers, self._budget.named, found.topics.assigned())[:most]
        message = f"{self._registered - len(kept)} of {self._registered} registered brokers are left out"
        operation = f"zookeeper {IDS}"
        self._reads.rows[operation] = self._asking.failed(operation, over_limit(message, "brokers"))
        found.brokers = {broker: found.brokers[broker] for broker in sorted(kept)}

    def _registration(self, broker: int, znode: Znode) -> Registration:
        return znodes.parse_registration(self._asking.sample, broker, znode.data, znode.stat)

    def _read_controller(self) -> None:
        znode = self._get(CONTROLLER)
        moving = self._get(migration.MIGRATION)
        self._migration = migration.migration_row(
            self._asking.sample, znode.data if znode else None, moving.data if moving else None
        )
        # A KRaft controller that migrates claims the znode with its node id, which is no broker's.
        mine = znode is not None and not migration.claimed(znode.data)
        self._found.controller = znodes.parse_controller(znode.data) if znode is not None and mine else None
        self._found.controller_mzxid = None if znode is None else znode.stat.mzxid

    def _read_controller_epoch(self) -> None:
        znode = self._get(CONTROLLER_EPOCH)
        self._found.controller_epoch = None if znode is None else znodes.read_int(znode.data)

    def _read_cluster_id(self) -> None:
        znode = self._get(CLUSTER_ID)
        self._found.cluster_id = None if znode is None else znodes.parse_cluster_id(znode.data)

    def _read_deleting(self) -> None:
        with suppress(NoNodeError):
            self._found.deleting = frozenset(self.children(DELETING)[0])

    def _read_topics(self) -> None:
        names: list[str] = []
        with suppress(NoNodeError):  # no topic was ever created
            names, _ = self.children(TOPICS)
        for name in (name for name in names if not can_be_name(NameKind.TOPIC, name)):
            text = f"a name of {len(name)} characters that no topic has below {TOPICS}"
            self._reads.fail(f"{TOPICS}/{name}", ReadError(ReadFailure.IMPOSSIBLE_NAMES, text, f"no such znode below {TOPICS}"))
        self._listed = [name for name in names if can_be_name(NameKind.TOPIC, name)]
        kept = self._to_read = (
            self._listed if self._earlier is None else self._earlier.to_read(self._listed, self._found.deleting)
        )
        topics, rows, most = RegisteredTopics(), 0, self._budget.limits.rows
        for first, contents in self.each(len(kept), lambda place: f"{TOPICS}/{kept[place]}"):
            found = zip(kept[first:], contents.data, contents.czxid.tolist(), contents.mzxid.tolist(), strict=False)
            for at, (name, data, czxid, mzxid) in enumerate(found):
                assignment = None if at in contents.errors else self._decoded.assignment(name, data)
                if assignment is None:
                    assignment = self.decode(f"{TOPICS}/{name}", contents.errors.get(at, data), znodes.parse_assignment)
                    if assignment is None:
                        continue
                    self._decoded.add(name, data, assignment)
                rows += assignment.weight
                if rows > most:
                    message = f"the topics in ZooKeeper have more than {most} partitions"
                    raise over_limit(message, "rows")
                if self.decode(f"{TOPICS}/{name}", assignment, znodes.with_few_replicas) is not None:
                    topics.add(name, assignment, czxid, mzxid)
        self._found.topics = topics

    def _read_states(self) -> None:
        self._take_states(np.arange(len(self._found.topics)))

    def _take_states(self, places: Ints) -> None:
        """Read the states of the partitions at these places."""
        found: list[tuple[Ints, States]] = []  # all or nothing: what was read of a set that failed is not kept
        for first, contents in self.each(len(places), lambda number: self._found.topics.state_path(places[number], TOPICS)):
            self._budget.demand_time()
            here, good = places[first : first + len(contents)], contents.good()
            states = self._decoded.states([contents.data[at] for at in good], contents.mzxid[good])
            if states is None:
                good, states = self._one_by_one(here, contents)
            found.append((here[good], states))
            absent = [at for at, error in contents.errors.items() if isinstance(error, NoNodeError)]
            found.append((here[absent], States.of([None] * len(absent), [0] * len(absent))))
            for at, error in contents.errors.items():
                self.decode(self._found.topics.state_path(here[at], TOPICS), error, znodes.parse_state)
        for entry in found:
            self._found.states.add(*entry)

    def _one_by_one(self, places: Ints, contents: Contents) -> tuple[Ints, States]:
        """Decode states of which one is odd; return which of the batch make sense, and what they hold."""
        found: dict[int, StateZnode] = {}
        for at in contents.good().tolist():
            state = self.decode(self._found.topics.state_path(places[at], TOPICS), contents.data[at], znodes.parse_state)
            if state is not None:
                found[at] = state
        good = np.array([*found], np.int64)
        return good, States.of([*found.values()], contents.mzxid[good].tolist())

"""Take a snapshot of one cluster: read all parties, take another sample if they differ, return rows."""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from kafka_audit import __version__
from kafka_audit.bounds.kept_brokers import Vouchers, keep_brokers
from kafka_audit.clients.budget import GRACE_S, Budget, over_limit
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.targets import behind_proxies
from kafka_audit.collect.brokers.broker_view import API_VERSIONS
from kafka_audit.collect.brokers.configs import CONFIGS, TOPIC_CONFIGS
from kafka_audit.collect.brokers.consumer_groups import GROUPS
from kafka_audit.collect.brokers.listener_names import with_listener_names
from kafka_audit.collect.brokers.privileged_reads import LOG_DIRS, REASSIGNMENTS
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.logs import sources as logs
from kafka_audit.collect.nodes import nodes
from kafka_audit.collect.priorities import brokers_by_registration, named_brokers
from kafka_audit.collect.properties import sources as properties
from kafka_audit.collect.queue_vantages import QueueAnswer
from kafka_audit.collect.rows.collected import Collected, merged
from kafka_audit.collect.rows.columns import empty
from kafka_audit.collect.rows.possible_names import without_impossible_names
from kafka_audit.collect.rows.secret_filter import filtered
from kafka_audit.collect.rows.source_reads import Asking, now_ms
from kafka_audit.collect.rows.topic_config_columns import KEYS
from kafka_audit.collect.sample import Sampler
from kafka_audit.collect.sampling import sample_again
from kafka_audit.collect.sampling.doubts import SampleAgain
from kafka_audit.collect.sampling.sample_again import ExaminedSample, without_repeated_rows
from kafka_audit.collect.zookeeper.migration import runs_without_zookeeper
from kafka_audit.collect.zookeeper.replication import TOPIC_CONFIGS as ZOOKEEPER_TOPICS
from kafka_audit.collect.zookeeper.security import BROKER_CONFIGS, QUOTAS, USERS
from kafka_audit.model import asked_again
from kafka_audit.model.asked_again import ZOOKEEPER
from kafka_audit.model.cluster import WORKER, Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import (
    Acl,
    AclHolder,
    BrokerApi,
    BrokerConfig,
    BrokerView,
    ControllerConfig,
    DiskReplicas,
    DynamicConfig,
    GroupMember,
    LogDir,
    LogDirReplica,
    OrdinaryTime,
    Probe,
    Quota,
    QuotaUser,
    Reassignment,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    Sample,
    ScramUser,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    TopicConfig,
    ViewBroker,
)
from kafka_audit.model.text import counted

_ONCE: Mapping[type[Row], str | tuple[str, ...]] = MappingProxyType(
    {
        BrokerConfig: CONFIGS,
        ControllerConfig: CONFIGS,
        BrokerApi: API_VERSIONS,
        LogDirReplica: LOG_DIRS,
        GroupMember: GROUPS,
        Reassignment: ("zookeeper /brokers/topics", REASSIGNMENTS),
        DynamicConfig: f"zookeeper {BROKER_CONFIGS}",
        Quota: (f"zookeeper {USERS}", f"zookeeper {QUOTAS}"),
        QuotaUser: f"zookeeper {USERS}",
        ScramUser: f"zookeeper {USERS}",
    }
)
"""Tables that are read once, with their read, or several reads of which one is enough."""

_FILE_SHARE = 0.1  # of an audit's time that is left for server.properties, and as much for logs
_KEPT = 2  # samples whose rows stay: a difference is judged by the last two


def take_snapshot(  # noqa: PLR0913 -- what a snapshot is taken of, and by what
    cluster: Cluster,
    *,
    snapshot_id: str,
    say: Callable[[str], None],
    secrets: Mapping[str, str] = os.environ,
    answers: Mapping[str, QueueAnswer] = MappingProxyType({}),
    first: bool = False,
    earlier: Collection[int] = (),
) -> Snapshot:
    """Ask ZooKeeper, every broker and every vantage, as often as their differences need, and return what they said.

    Args:
        cluster: an entry of the cluster file; its `limits` bound every read and the whole.
        snapshot_id: name of the snapshot.
        say: receives one line for each step.
        secrets: where variables named by `password_env` are looked up.
        answers: what workers of Airflow queues saw, by the name of their vantage.
        first: nothing was ever read of this cluster: where nothing answers, its address is wrong, and a second look is no use.
        earlier: brokers of the snapshot before, whose logs are read though nothing else names them any more.

    Raises:
        UsageError: the cluster file names no source, a chroot without Kafka, or an address that is none. A source that does
            not answer is a `SourceRead` row, never an exception.
    """
    if cluster.zookeeper is None and not cluster.bootstrap:
        msg = f"clusters.{cluster.name}: set zookeeper or bootstrap; both are missing"
        raise UsageError(msg)
    started = now_ms()
    book = ViewBook(behind_proxies(cluster))
    logins = ClusterLogins(cluster, secrets)
    budget = Budget(cluster)
    try:
        collected, samples, kraft = _collected(cluster, book, say, secrets, logins, budget, answers, first=first, earlier=earlier)
    finally:
        budget.close()
    collected = replace(collected, rows=with_listener_names(collected.rows))
    collected = filtered(collected, logins.passwords(), budget.deadline + GRACE_S / 2)
    info = _info(cluster, started, samples, collected.rows, kraft=kraft)
    ordinary = (OrdinaryTime(kind=kind, minutes=minutes) for kind, minutes in cluster.progress.items())
    return Snapshot(
        snapshot_id=snapshot_id,
        cluster=cluster.name,
        cluster_id=_cluster_id(cluster, collected.rows),
        rows=(info, *ordinary, *collected.rows),
        large=collected.large,
    )


def _collected(  # noqa: PLR0913, PLR0917 -- see `take_snapshot`
    cluster: Cluster,
    book: ViewBook,
    say: Callable[[str], None],
    secrets: Mapping[str, str],
    logins: ClusterLogins,
    budget: Budget,
    answers: Mapping[str, QueueAnswer],
    *,
    first: bool,
    earlier: Collection[int],
) -> tuple[Collected, int, bool]:
    """Return what was collected, how many samples were taken, and whether brokers run without ZooKeeper."""
    files = budget.left() * _FILE_SHARE * (bool(cluster.properties) + (cluster.logs is not None))
    within = budget.part(budget.left() - files)
    sampler = Sampler(cluster, book, say, secrets, logins, within, answers)
    samples = _TakenSamples(cluster, sampler, book, say, within.deadline)
    samples.take(once=first)
    found, number = samples.collected(), len(samples.taken)
    rows = found.rows
    kept = keep_brokers(cluster.limits.brokers, _vouchers(found, samples.newest(), budget.named, earlier))
    if kept.cut and (cluster.properties or cluster.logs is not None):
        asking = Asking(sample=number, observer="limits", target=cluster.name)
        rows += (asking.failed("read the files of all brokers", over_limit(kept.message, "brokers")),)
    if cluster.properties:
        say(f"reading {counted(len(cluster.properties), 'path')} of server.properties …")
        until = time.monotonic() + budget.left() / (1 if cluster.logs is None else 2)
        known = nodes(kept.ids, rows, cluster.limits.brokers)
        rows += properties.read_properties_files(cluster.properties, known, number, cluster.limits.read_s, until, budget)
    if cluster.zookeeper is None:
        rows += sampler.ask_scram_users(rows, number, budget.part(budget.left() / (1 if cluster.logs is None else 2)))
    if cluster.logs is not None:
        say("reading the end of the logs …")
        registered = [row for row in samples.taken[-1].rows if isinstance(row, RegisteredBroker)]
        known = nodes(kept.ids, rows, cluster.limits.brokers)  # the files may name more controllers
        rows += logs.read_logs(cluster, known, registered, number, budget, logins.passwords())
    # A registry that was left out means that brokers run without it, though the cluster file still names one.
    kraft = cluster.zookeeper is None or runs_without_zookeeper(samples.newest().rows)
    return replace(found, rows=without_impossible_names(rows, number)), number, kraft


class _TakenSamples:
    """The samples taken so far."""

    def __init__(self, cluster: Cluster, sampler: Sampler, book: ViewBook, say: Callable[[str], None], deadline: float) -> None:
        self._limits = cluster.limits
        self._expect = cluster.expect
        self._asks_everything = bool(cluster.controllers)  # a doubt about brokers may come from them
        self._sampler = sampler
        self._book = book
        self._say = say
        self._deadline = deadline
        self._views: dict[frozenset[str], Collected] = {}
        self._examined: list[ExaminedSample] = []
        self.taken: list[Collected] = []

    def take(self, *, once: bool) -> None:
        """Take one sample, and more while differences have not settled: the second of what is in doubt, the others whole.

        With `once`, a sample in which nothing answered is the only one.
        """
        reason: str | None = "first"
        again: SampleAgain | None = None
        while reason is not None:
            began = time.monotonic()
            self.taken.append(self._sampler.take(len(self.taken) + 1, reason, again))
            self.taken[:-_KEPT] = [Collected()] * len(self.taken[:-_KEPT])
            lasted = time.monotonic() - began
            self._examined = [*self._examined[-1:], ExaminedSample(self._with_views(self.newest()), self._expect)]
            reads = [row for row in self.taken[-1].rows if isinstance(row, SourceRead)]
            silent = once and bool(reads) and not any(read.outcome == "answered" for read in reads)
            reason = None if silent else self._why_again()
            again = None if reason is None or len(self.taken) > 1 or self._asks_everything else self._again()
            if reason is not None and not self._wait(reason, lasted):
                return
        if len(self.taken) > 1:
            left = sample_again.why_again(self._examined[-1])
            self._say("withdrawn: the last look shows no difference" if left is None else f"confirmed: {left}")

    def newest(self) -> Collected:
        """Return the newest sample, with what it did not ask again as the sample before has it."""
        newest = self.taken[-1]
        again = next(row.asked_again for row in newest.rows if isinstance(row, Sample))
        if again is None:
            return newest
        return replace(newest, rows=tuple(asked_again.with_others(newest.rows, self.taken[-2].rows, again)))

    def _again(self) -> SampleAgain | None:
        doubt = self._examined[-1].doubt
        return None if doubt is None else SampleAgain(earlier=self.taken[-1], doubt=doubt)

    def _why_again(self) -> str | None:
        if len(self.taken) == 1:
            return sample_again.why_again(self._examined[-1])
        if len(self.taken) == sample_again.MOST_SAMPLES:
            return None
        return sample_again.why_once_more(*self._examined)

    def _wait(self, reason: str, lasted: float) -> bool:
        """Let some time pass before the next sample; return whether there is enough of it left."""
        apart = max(self._limits.settle_s, sample_again.session_wait(self.newest()))
        seconds = max(0.0, self._sampler.answered_at + apart - time.monotonic())
        if time.monotonic() + seconds + lasted > self._deadline:
            self._say(f"so far: {reason}; limits.audit_s leaves no time to look again")
            return False
        self._say(f"so far: {reason}; looking again{f' in {seconds:.0f} s' if seconds >= 1 else ''}")
        time.sleep(seconds)
        return True

    def _with_views(self, sample: Collected) -> Collected:
        """Return a sample with the contents of its views, listeners with their names: views of two of them differ by design."""
        found = merged([sample, self._of_views(sample.rows)])
        return replace(found, rows=with_listener_names(found.rows))

    def _of_views(self, rows: Iterable[Row]) -> Collected:
        """Return the contents of all views in these rows, each once."""
        views = [row for row in rows if isinstance(row, BrokerView)]
        brokers = frozenset(view.brokers_digest for view in views)
        topics = frozenset(view.topics_digest for view in views)
        if brokers | topics not in self._views:
            collected = Collected(rows=tuple(self._book.rows(brokers)), large=self._book.large(topics))
            self._views = {brokers | topics: collected}  # of the newest sample: others are not asked for again
        return self._views[brokers | topics]

    def collected(self) -> Collected:
        """Return the rows of the last two samples; rows that no difference needs come once, from the newest sample."""
        samples = self.taken[-_KEPT:]
        kept = [row for sample in samples for row in sample.rows]
        rows = (
            *(row for row in kept if type(row) not in _ONCE and not isinstance(row, Acl)),
            *(row for table, operation in _ONCE.items() for row in _newest(samples, table, operation)),
            *self._acls(kept),
        )
        large: dict[type[Row], pa.Table] = {
            table: reduce(without_repeated_rows, [sample.columns(table) for sample in samples])
            for table in (RegisteredTopic, RegisteredPartition)
        }
        large |= {TopicConfig: _newest_settings(samples), DiskReplicas: self._book.disks.large(_contents(kept))}
        return merged([Collected(rows=rows, large=large), self._of_views(kept)])

    def _acls(self, kept: Sequence[Row]) -> Iterator[Row]:
        """Yield the contents of all sets of ACLs of all holders, each once: ZooKeeper's are rows already."""
        held = {row.acls_digest for row in kept if isinstance(row, AclHolder)}
        yield from dict.fromkeys(row for row in kept if isinstance(row, Acl))
        yield from self._book.acls.rows(held - {row.acls_digest for row in kept if isinstance(row, Acl)})


def _contents(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the digests of log dirs whose replicas are kept."""
    yield from (row.replicas_digest for row in rows if isinstance(row, LogDir) and row.replicas_digest is not None)


def _newest(samples: Sequence[Collected], table: type[Row], operation: str | tuple[str, ...]) -> Iterator[Row]:
    """Yield a table's rows, each observer's from the newest sample in which it answered; an empty answer is one, too."""
    for sample, observers in _answered(samples, operation):
        yield from (row for row in sample.rows if isinstance(row, table) and getattr(row, "observer", ZOOKEEPER) in observers)


def _newest_settings(samples: Sequence[Collected]) -> pa.Table:
    """Return what topics set for themselves, as `_newest` does."""
    found = [empty(TopicConfig)]
    for sample, observers in _answered(samples, (f"zookeeper {ZOOKEEPER_TOPICS}", TOPIC_CONFIGS)):
        settings = sample.columns(TopicConfig)
        found.append(settings.filter(pc.is_in(settings.column("observer"), value_set=pa.array([*observers], pa.string()))))
    return pa.concat_tables(found)


def _answered(samples: Sequence[Collected], operation: str | tuple[str, ...]) -> Iterator[tuple[Collected, set[str]]]:
    """Yield the samples, newest first, each with the observers that answered in it and in no newer one."""
    known: set[str] = set()
    operations = (operation,) if isinstance(operation, str) else operation
    for sample in reversed(samples):
        reads = (row for row in sample.rows if isinstance(row, SourceRead) and row.operation in operations)
        here = {row.observer for row in reads if row.outcome == "answered"} - known
        yield sample, here
        known |= here


def _vouchers(found: Collected, newest: Collected, named: Collection[tuple[str, int]], earlier: Collection[int]) -> Vouchers:
    """Return who vouches for the broker ids of a snapshot: registrations, views, assignments.

    A list of brokers that several views hold counts as that of two parties, so that it comes before what one lists.
    """
    assigned = found.assigned()
    registered = brokers_by_registration((row for row in newest.rows if isinstance(row, RegisteredBroker)), assigned)
    holders = Counter(row.brokers_digest for row in newest.rows if isinstance(row, BrokerView))
    lists: defaultdict[str, list[ViewBroker]] = defaultdict(list)
    for row in found.rows:
        if isinstance(row, ViewBroker) and row.brokers_digest in holders:
            lists[row.brokers_digest].append(row)
    listed = {row.broker_id for rows in lists.values() for row in rows}
    order = sorted(lists, key=lambda digest: (-holders[digest], digest))
    places = [(row.broker_id, row.host, row.port) for row in newest.rows if isinstance(row, RegisteredEndpoint)]
    places += [(row.broker_id, row.host, row.port) for digest in order for row in lists[digest]]
    claims = {
        f"{digest}/{turn}": [row.broker_id for row in lists[digest]]
        for digest in order
        for turn in range(min(2, holders[digest]))
    }
    return Vouchers(
        named=named_brokers(places, named),
        registered=registered,
        long_known=[row.broker_id for row in newest.rows if isinstance(row, BrokerView) and row.broker_id >= 0],
        claimed={
            **claims,
            "assigned": [broker for broker in assigned if broker >= 0],
            # What a broker lists as a replica and as a broker is one claim of it.
            "replicas": [broker for broker in found.assigned_by_views() - listed if broker >= 0],
            "earlier": sorted(earlier),
        },
    )


def _info(cluster: Cluster, started: int, samples: int, rows: Sequence[Row], *, kraft: bool) -> SnapshotInfo:
    clients = {row.vantage for row in rows if isinstance(row, Probe) and row.role == "client" and row.outcome != "unknown"}
    return SnapshotInfo(
        cluster=cluster.name,
        mode="kraft" if kraft else "zookeeper",
        tool_version=__version__,
        started_ms=started,
        finished_ms=now_ms(),
        samples=samples,
        settle_s=cluster.limits.settle_s,
        leader_moves=cluster.limits.leader_moves,
        skew_s=cluster.limits.skew_s,
        expect_brokers=cluster.expect.brokers,
        expect_cluster_id=cluster.expect.cluster_id,
        expect_single_broker=cluster.expect.single_broker,
        client_vantages=len(clients | {WORKER}),
        broker_vantages=sum(vantage.role == "broker" and vantage.command is not None for vantage in cluster.vantages),
        topic_keys=KEYS,
    )


def _cluster_id(cluster: Cluster, rows: Sequence[Row]) -> str:
    """Return Kafka's id of the cluster: ZooKeeper's word, else what most brokers say, else what the owner expects."""
    registries = [row.kafka_cluster_id for row in rows if isinstance(row, Registry) and row.kafka_cluster_id]
    reported = Counter(row.kafka_cluster_id for row in rows if isinstance(row, BrokerView) and row.kafka_cluster_id)
    if registries:
        return registries[-1]
    if reported:
        return str(reported.most_common(1)[0][0])
    return cluster.expect.cluster_id or f"{Snapshot.UNKNOWN_ID}{cluster.name}"

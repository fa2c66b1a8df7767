"""`ClusterView`: what checks and incidents ask of one judged snapshot.

The only place that knows which sample is the newest, who the controller is, on which listener brokers talk to each other, and
what ZooKeeper and KRaft call the same thing.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kafka_audit.cluster import disagreements
from kafka_audit.cluster.answers import gaps, observers
from kafka_audit.cluster.answers.gaps import Gap, MinIsrGap, min_isr_gap
from kafka_audit.cluster.answers.log_lines import LogLines
from kafka_audit.cluster.answers.observers import Observer
from kafka_audit.cluster.answers.reads import Reads
from kafka_audit.cluster.disagreements import Claim, Disagreement
from kafka_audit.cluster.features import Feature, cluster_features
from kafka_audit.cluster.listeners import endpoints, probes
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint, Endpoints, Lacking, lacking
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.listeners.logins import InterBrokerLogins
from kafka_audit.cluster.listeners.name_addresses import NameAddress, name_addresses
from kafka_audit.cluster.listeners.probes import ProbeResult, replication_listeners
from kafka_audit.cluster.partitions import Partitions
from kafka_audit.cluster.quorum import Quorum, QuorumSample
from kafka_audit.cluster.registry import BrokerRegistration, ClusterState, RegisteredAddress
from kafka_audit.cluster.settings import Settings
from kafka_audit.cluster.views import HeldView, Moments
from kafka_audit.compare.addresses import HostPort, address_text
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, ListAge, ViewDifference
from kafka_audit.model.addresses.advertised_listeners import entries
from kafka_audit.model.addresses.voters import voter_addresses
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import (
    AddressProbe,
    BrokerConfig,
    BrokerFeature,
    BrokerIdentity,
    BrokerView,
    FencedBroker,
    LogDir,
    Migration,
    Probe,
    QuorumReplica,
    Row,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    ViewBroker,
)

if TYPE_CHECKING:
    from kafka_audit.model.progress import ProgressRow

__all__ = ["ClusterView", "Disagreement"]

_R = TypeVar("_R", bound=Row)
_T = TypeVar("_T")
_FETCHES_MS = 5000
"""A broker fetches the metadata log every half second. One that died is listed for longer, by default for nine seconds."""
_REGISTRATION = re.compile(r"zookeeper /brokers/ids/([0-9]{1,10})")


class ClusterView:
    """One judged snapshot. Everything is computed when first asked for, and once."""

    def __init__(self, snapshot: Snapshot, previous: Snapshot | None, differences: Differences) -> None:
        """Keep the small tables of both snapshots, and the differences: `ListAge` among them where it was asked for."""
        self.snapshot = snapshot
        self.previous = previous
        self.reported_progress: tuple[ProgressRow, ...] = ()  # of the previous report: since when things are on their way
        self.differences = differences
        self.snapshot_id = snapshot.snapshot_id
        self.cluster_id = snapshot.cluster_id
        self._derived: dict[object, Any] = {}
        self._gaps: dict[str, Gap | None] = {}
        self._moments = Moments(snapshot, previous, differences.rows.get(ListAge, ()))  # type: ignore[arg-type] # by table

    def derived(self, make: Callable[["ClusterView"], _T]) -> _T:
        """Return what a room above this one makes of the view: made once, and freed with the view."""
        if make not in self._derived:
            self._derived[make] = make(self)
        found: _T = self._derived[make]
        return found

    @classmethod
    def of_files(cls, snapshot: Snapshot) -> "ClusterView":
        """Return a view of what has no partitions: files or plans alone."""
        return cls(snapshot, None, Differences.from_rows(DIFFERENCES, ()))

    def with_rows(self, rows: Iterable[Row]) -> "ClusterView":
        """Return this view with other rows in the small tables: the cluster as it would be."""
        view = ClusterView(replace(self.snapshot, rows=tuple(rows)), self.previous, self.differences)
        view.reported_progress = self.reported_progress
        return view

    def of(self, table: type[_R]) -> tuple[_R, ...]:
        """Return the rows of a small table of this snapshot, all samples."""
        return self.snapshot.of(table)

    def newest(self, table: type[_R]) -> tuple[_R, ...]:
        """Return the rows of the newest sample."""
        return self._moments.samples.at(table, self.samples[0])

    def before(self, table: type[_R]) -> tuple[_R, ...]:
        """Return the rows of the sample before the newest."""
        return self._moments.samples.at(table, self.samples[1])

    def earlier(self, table: type[_R]) -> tuple[_R, ...]:
        """Return the rows of the newest sample of the previous snapshot."""
        return self._moments.samples_earlier.at(table, self._moments.previous.sample)

    def log_dirs(self, broker: int) -> Mapping[str, LogDir]:
        """Return a broker's log dirs by path, of the newest sample in which it returned any."""
        return self._log_dirs.get(broker, {})

    @cached_property
    def _log_dirs(self) -> Mapping[int, Mapping[str, LogDir]]:
        return _newest_log_dirs(self.of(LogDir))

    @cached_property
    def replica_bytes(self) -> tuple[Mapping[int, int | None], Mapping[int, int | None]]:
        """The sizes of all replicas of each broker together, now and in the previous snapshot; None where one is not known."""
        both = (self.of(LogDir), () if self.previous is None else self.previous.of(LogDir))
        now, earlier = (
            {broker: _together(row.replica_bytes for row in dirs.values()) for broker, dirs in _newest_log_dirs(rows).items()}
            for rows in both
        )
        return now, earlier

    @property
    def info(self) -> SnapshotInfo | None:
        """What was audited."""
        return self._moments.samples.info

    @property
    def kraft(self) -> bool:
        """Whether there is no ZooKeeper."""
        return self._moments.samples.kraft

    @property
    def may_have_zookeeper(self) -> bool:
        """Whether nothing shows what `kraft` says: no view and no quorum was read, or an earlier audit read ZooKeeper."""
        had_one = self.previous is not None and not self._moments.samples_earlier.kraft
        answered = {read.operation for read in self._moments.samples.last_reads if read.outcome == "answered"}
        return self.kraft and answered.isdisjoint({"DescribeQuorum"} if had_one else {"DescribeQuorum", "Metadata"})

    @property
    def samples(self) -> tuple[int | None, int | None]:
        """The numbers of the newest sample and of the one before."""
        return self._moments.samples.numbers

    @property
    def state(self) -> ClusterState | None:
        """What the registry holds now; None where it was not read (KRaft: fewer than two brokers gave a view)."""
        return self._moments.now.state

    @property
    def state_before(self) -> ClusterState | None:
        """The same in the sample before."""
        return self._moments.before.state

    @property
    def state_earlier(self) -> ClusterState | None:
        """The same in the previous snapshot."""
        return self._moments.previous.state

    @cached_property
    def steady(self) -> bool:
        """Whether there are two samples, and neither the controller nor the list of brokers was written in between."""
        return self._moments.steady

    @property
    def brokers(self) -> Mapping[int, BrokerRegistration]:
        """Registered brokers now, by id."""
        return self._moments.now.brokers

    @property
    def in_zookeeper(self) -> Mapping[int, BrokerRegistration]:
        """Brokers that ZooKeeper has registered now, by id; none in KRaft."""
        return {} if self.kraft else self.brokers

    @property
    def zookeeper_read(self) -> bool:
        """Whether ZooKeeper was read in the newest sample; never in KRaft."""
        return not self.kraft and self.state is not None

    @property
    def controller(self) -> int | None:
        """The controller by ZooKeeper; None in KRaft, where brokers fetch from it and Metadata names any broker."""
        return self._moments.now.controller

    @property
    def migrating(self) -> Migration | None:
        """The claim of the KRaft controller that migrates the cluster, None without one."""
        return self._moments.now.migrating

    @property
    def brokers_before(self) -> Mapping[int, BrokerRegistration]:
        """The same in the sample before."""
        return self._moments.before.brokers

    @property
    def brokers_earlier(self) -> Mapping[int, BrokerRegistration]:
        """The same in the previous snapshot."""
        return self._moments.previous.brokers

    @property
    def addresses(self) -> tuple[RegisteredAddress, ...]:
        """Addresses of registered brokers now; in KRaft one of each, whose listener is nameless."""
        return self._moments.now.addresses

    @property
    def addresses_earlier(self) -> tuple[RegisteredAddress, ...]:
        """The same in the previous snapshot."""
        return self._moments.previous.addresses

    @cached_property
    def last_reads(self) -> tuple[SourceRead, ...]:
        """Every read of this snapshot as it ended when it was asked last; at listeners that are not for this worker, none."""
        own = self.replication_listeners.get(WORKER, frozenset())
        left_out = {
            (f"broker:{probe.broker_id}", probe.endpoint.address)
            for probe in self.probes
            if probe.vantage == WORKER and probe.listener in own
        }
        return tuple(read for read in self._moments.samples.last_reads if (read.observer, read.target) not in left_out)

    @cached_property
    def replication_listeners(self) -> Mapping[str, frozenset[str]]:
        """Listeners that only brokers use, by client vantage."""
        return replication_listeners(self.inter_broker, self.probes)

    @property
    def last_reads_earlier(self) -> tuple[SourceRead, ...]:
        """The same in the previous snapshot."""
        return self._moments.samples_earlier.last_reads

    def gap(self, part: str) -> Gap | None:
        """Return why a part of the registry cannot be judged by now; None where it can."""
        if part not in self._gaps:
            self._gaps[part] = gaps.gap_now(self._moments.now, kraft=self.kraft, part=part)
        return self._gaps[part]

    def gap_earlier(self, part: str) -> Gap | None:
        """Return why a part of the previous snapshot's registry cannot be compared with."""
        return gaps.gap_earlier(self._moments.previous, kraft=self.kraft, part=part)

    @cached_property
    def previous_gap(self) -> Gap | None:
        """Why partitions and controller epochs cannot be compared with the previous snapshot (the SQL view `previous_gap`)."""
        return gaps.previous_gap((self.gap_earlier("topics"), self.gap_earlier("controller")))

    @cached_property
    def min_isr_gap(self) -> MinIsrGap | None:
        """Why min.insync.replicas is not known of every partition; None where it is."""
        return min_isr_gap(self.last_reads, self.of(BrokerConfig), self.brokers, kraft=self.kraft)

    @cached_property
    def partitions(self) -> Partitions:
        """How many partitions there are and who holds them, and those with a fault."""
        return Partitions(self.differences)

    @cached_property
    def known_brokers(self) -> frozenset[int]:
        """Every broker id that an assignment names, or a registration of any sample, of the previous snapshot too.

        Registrations that could not be read count; in KRaft a broker that answers is not gone, though others may not list it.
        """
        ids = {*self.brokers, *self.brokers_before, *self.brokers_earlier, *self.partitions.assigned}
        failed = (read.operation for read in self.last_reads if read.outcome == "failed")
        ids |= {int(match[1]) for operation in failed if (match := _REGISTRATION.fullmatch(operation))}
        if self.kraft:
            ids |= {view.broker_id for view in (*self.held_views, *self.held_views_before) if view.broker_id >= 0}
        return frozenset(ids)

    @property
    def held_views(self) -> tuple[HeldView, ...]:
        """Views of the newest sample with who held them, those of other clusters included."""
        return self._moments.views.all

    @property
    def held_views_before(self) -> tuple[HeldView, ...]:
        """The same in the sample before."""
        return self._moments.views_before.all

    @cached_property
    def observers(self) -> tuple[Observer, ...]:
        """Every broker whose view was wanted, in the order of names."""
        return observers.observers(self._moments.now, self._moments.views, self.differences)

    @property
    def answering_elsewhere(self) -> Mapping[str, int]:
        """Who answers at each address of the cluster file that no broker registered."""
        return {address: broker for (meant, address), broker in self._moments.views.answered_by.items() if meant < 0}

    def disagreement(self, name: str, matter: str) -> Disagreement | None:
        """Return how an observer differs in a matter: what is settled, and only where nothing is, what is in doubt."""
        found = self._about_partitions if matter in disagreements.PARTITIONS else self._about_brokers
        return found.get((name, matter))

    @cached_property
    def _about_partitions(self) -> Mapping[tuple[str, str], Disagreement]:
        holders = None if self.state is None else self.state.holders
        return disagreements.of_partitions(self.differences.of(ViewDifference), steady=self.steady, holders=holders)

    def claims_of(self, name: str) -> tuple[Claim, ...]:
        """Return what an observer says differently in the newest sample of brokers, controller and cluster, settled or not."""
        return self._claims.get(name, ())

    @cached_property
    def _claims(self) -> Mapping[str, tuple[Claim, ...]]:
        expected = None if self.info is None else self.info.expect_cluster_id
        return disagreements.claims(self.held_views, self._moments.now, expected)

    @cached_property
    def _about_brokers(self) -> Mapping[tuple[str, str], Disagreement]:
        expected = None if self.info is None else self.info.expect_cluster_id
        return disagreements.of_claims(
            self._claims,
            disagreements.claims(self.held_views_before, self._moments.before, expected),
            steady=self.steady,
        )

    @cached_property
    def advertised(self) -> tuple[AdvertisedEndpoint, ...]:
        """Endpoints that probes are judged by: registered now, or probed where there is no registration. See `endpoints`, too."""
        return endpoints.advertised_endpoints(self._moments.now.addresses, self.newest(Probe))

    @cached_property
    def probes(self) -> tuple[ProbeResult, ...]:
        """One for each vantage and endpoint probed in the newest sample."""
        return probes.probe_results(self.newest(Probe), self.before(Probe), self._moved)

    @cached_property
    def name_addresses(self) -> tuple[NameAddress, ...]:
        """Each address of each advertised name that has several, as each vantage found it in the newest sample."""
        return name_addresses(self.newest(AddressProbe), self.before(AddressProbe), self._moved)

    @cached_property
    def _moved(self) -> frozenset[int]:
        """The brokers whose registration changed between the samples."""
        before = {row.broker_id: row.version for row in self._moments.before.addresses}
        now = self._moments.now.addresses
        return frozenset(row.broker_id for row in now if before.get(row.broker_id, row.version) != row.version)

    def is_of_clients(self, probe: ProbeResult) -> bool:
        """Return whether a probe is from a client vantage, of a listener that not only brokers use."""
        return probe.role == "client" and probe.listener not in self.replication_listeners.get(probe.vantage, ())

    def probes_of(self, broker: int, listener: str) -> Sequence[ProbeResult]:
        """Return the probes of a broker's listener."""
        return self._probes_by_endpoint.get((broker, listener), ())

    @cached_property
    def _probes_by_endpoint(self) -> Mapping[tuple[int, str], list[ProbeResult]]:
        found: dict[tuple[int, str], list[ProbeResult]] = {}
        for probe in self.probes:
            found.setdefault((probe.broker_id, probe.listener), []).append(probe)
        return found

    @cached_property
    def identities(self) -> Mapping[tuple[int, str], BrokerIdentity]:
        """Who really answered in the newest sample, by the broker and listener that the address is advertised for."""
        return {(row.broker_id, row.listener): row for row in self.newest(BrokerIdentity)}

    def views_of(self, broker: int) -> tuple[BrokerView, ...]:
        """Return what a broker said in the newest sample when it was asked itself, one view a listener.

        Those of a registered broker at an address that no broker has registered come with them, such as one of the cluster file;
        and of one that answers only at the address of another.
        """
        return self._views_by_broker.get(broker, ())

    @cached_property
    def _views_by_broker(self) -> Mapping[int, tuple[BrokerView, ...]]:
        found: dict[int, tuple[BrokerView, ...]] = {}
        for held in self.held_views:
            found[held.broker_id] = (*found.get(held.broker_id, ()), held.row)
        return found

    @cached_property
    def listed(self) -> Mapping[str, tuple[ViewBroker, ...]]:
        """Brokers as listed in a view, by its `brokers_digest`."""
        found: dict[str, list[ViewBroker]] = {}
        for row in self.of(ViewBroker):
            found.setdefault(row.brokers_digest, []).append(row)
        return {digest: tuple(rows) for digest, rows in found.items()}

    def listed_by(self, broker: int) -> frozenset[int]:
        """Return the brokers that a broker listed in the newest sample when it was asked itself."""
        lists = (self.listed.get(view.brokers_digest, ()) for view in self.views_of(broker))
        return frozenset(row.broker_id for rows in lists for row in rows)

    @cached_property
    def lacking(self) -> Lacking:
        """KRaft: brokers that are registered and in use, and lack the listener on which others were asked, by its name."""
        return self._lacking(self.held_views, self.quorum.now)

    @cached_property
    def lacking_before(self) -> Lacking:
        """The same in the sample before."""
        return self._lacking(self.held_views_before, self.quorum.before or self.quorum.now)

    def _lacking(self, views: Iterable[HeldView], quorum: QuorumSample) -> Lacking:
        return lacking(views, self.partitions.lists, self.listed, quorum.fenced.keys()) if self.kraft else {}

    @cached_property
    def unlisted(self) -> frozenset[int]:
        """All of these: brokers that are registered, although the newest lists do not hold them."""
        return frozenset().union(*self.lacking.values()) - self.brokers.keys()

    @cached_property
    def followers(self) -> frozenset[int]:
        """KRaft: brokers that fetch the metadata log, by the leader of the quorum, whether others list them or not.

        Where voters are configured, each observer is a broker: a controller that is none of them does not start.
        """
        now = self.quorum.now
        observers = () if now.is_dynamic else now.replicas.keys() - set(now.voters) - self.settings.controllers
        known = self.known_brokers.union(observers)
        return frozenset(node for node, ms in now.behind_ms.items() if ms is not None and ms < _FETCHES_MS and node in known)

    @cached_property
    def named_brokers(self) -> tuple[int, ...]:
        """Every broker id that anything names now: registrations, endpoints, views, with ZooKeeper assignments. In order."""
        ids = set(self.in_zookeeper) | set(self.endpoints.by_broker)
        ids |= {row.broker_id for rows in self.listed.values() for row in rows}
        ids |= set(self._views_by_broker)
        if not self.kraft:
            ids |= self.partitions.assigned
        return tuple(sorted(broker for broker in ids if broker >= 0))

    @cached_property
    def reads(self) -> Reads:
        """Whose each read is."""
        held: dict[str, set[int]] = {}
        # Without a view of each broker it is not known in KRaft which of them lacks a listener that it had.
        failed = (read for read in self.last_reads if read.outcome == "failed" and read.observer.startswith("broker:"))
        unread = self.kraft and any(read.operation == "Metadata" for read in failed)
        for row in () if unread else self.addresses_earlier:
            held.setdefault(address_text(row.host, row.port), set()).add(row.broker_id)
        for fenced in self.newest(FencedBroker):
            if fenced.address is not None:
                held.setdefault(fenced.address, set()).add(fenced.fenced_id)
        for broker, rows in self.settings.files.items():
            for entry in entries({key: row.value for key, row in rows.items()}):
                if entry.host and entry.port is not None:
                    held.setdefault(address_text(entry.host, entry.port), set()).add(broker)
        in_use = self.brokers.keys() | self.unlisted
        gone = {address: min(ids) for address, ids in held.items() if len(ids) == 1 and ids.isdisjoint(in_use)}
        return Reads(self._moments.samples, self.last_reads, self.controller_nodes, gone)

    @cached_property
    def settings(self) -> Settings:
        """What brokers are set to: by their server.properties, else by DescribeConfigs."""
        return Settings(self._moments.samples)

    @cached_property
    def inter_broker(self) -> InterBroker:
        """On which listener brokers talk to each other, as whom they appear there, and by which rights they are let in."""
        return InterBroker(self._moments.now, self.settings)

    @cached_property
    def next_start(self) -> InterBroker:
        """The same after brokers have started with their files, which may be newer than their last start."""
        return InterBroker(self._moments.now, self.settings, next_start=True)

    @cached_property
    def endpoints(self) -> Endpoints:
        """What brokers advertise, probed or not, as registered; in KRaft as their lists and settings say."""
        return Endpoints(self._moments.now, self._moments.before, self.inter_broker)

    @cached_property
    def logins(self) -> InterBrokerLogins:
        """What a login of one broker at another depends on."""
        return InterBrokerLogins(self._moments.samples, self.inter_broker)

    @cached_property
    def logs(self) -> LogLines:
        """What brokers wrote themselves."""
        return LogLines(self._moments.samples, self.inter_broker)

    @cached_property
    def quorum(self) -> Quorum:
        """The metadata quorum of KRaft."""
        return Quorum(self._moments.samples)

    @cached_property
    def controller_nodes(self) -> frozenset[int]:
        """Controllers that are no brokers: by their files, or voters, now or before, that nothing shows to be brokers."""
        shown = {row.broker_id for rows in self.listed.values() for row in rows} | self.unlisted | self.brokers_earlier.keys()
        earlier = {row.replica_id for row in self.earlier(QuorumReplica) if row.voter}
        voters = {*self.quorum.now.voters, *self.voter_addresses, *earlier}
        return self.settings.controllers | (frozenset(voters) - shown - set(self.inter_broker.brokers))

    def party(self, node: int) -> str:
        """Return what a node is called: `broker 2`, or `controller 200`, which is no broker."""
        return f"{'controller' if node in self.controller_nodes else 'broker'} {node}"

    @cached_property
    def voter_addresses(self) -> Mapping[int, HostPort]:
        """Where the voters of the quorum are reached, as far as it or settings of nodes say."""
        return voter_addresses(self.quorum.now.addresses, self.settings.of_controllers)

    @cached_property
    def features(self) -> Mapping[str, Feature]:
        """Features of KRaft, such as metadata.version, by name; none where no broker reports any."""
        return cluster_features(self.of(BrokerFeature))

    @property
    def started_ms(self) -> int:
        """When the snapshot began; 0 where that is unknown."""
        return 0 if self.info is None else self.info.started_ms

    @cached_property
    def ages_ms(self) -> Mapping[int, int]:
        """For how long each broker had been registered when the snapshot began, in milliseconds; no broker in KRaft."""
        registered = {broker: row.registered_ms for broker, row in self.brokers.items()}
        return {broker: self.started_ms - since for broker, since in registered.items() if since is not None}

    def judge(
        self,
        resource: str,
        status: Status,
        reported: Mapping[str, object] | None = None,
        *,
        severity: Severity | None = None,
        confidence: Confidence = Confidence.MEASURED,
        **evidence: object,
    ) -> Judgement:
        """Return a judgement with the evidence of both arguments; `checks.run` adds the code of the check that yields it.

        Evidence that is None is left out; numbers stay numbers, lists of ids and names stay lists.
        """
        both = {**(reported or {}), **evidence}
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in both.items() if value is not None}
        return Judgement(
            snapshot_id=self.snapshot_id,
            resource=resource,
            status=status,
            severity=severity,
            confidence=confidence,
            evidence=given,  # type: ignore[arg-type] # `Value`s, as the cases of checks prove
        )

    def unknown(
        self,
        resource: str,
        error: str | None,
        needs: str | None,
        reported: Mapping[str, object] | None = None,
        **evidence: object,
    ) -> Judgement:
        """Return that a check cannot judge a resource: why, and what it would need."""
        return self.judge(resource, Status.UNKNOWN, {**(reported or {}), **evidence, "error": error, "needs": needs})

    def not_applicable(
        self, resource: str, reason: str, reported: Mapping[str, object] | None = None, **evidence: object
    ) -> Judgement:
        """Return that a check has nothing to judge at a resource: `reason` is a positive fact."""
        return self.judge(resource, Status.NOT_APPLICABLE, {**(reported or {}), **evidence, "reason": reason})


def _together(sizes: Iterable[int | None]) -> int | None:
    known = list(sizes)
    return None if None in known else sum(size or 0 for size in known)


def _newest_log_dirs(rows: Iterable[LogDir]) -> Mapping[int, Mapping[str, LogDir]]:
    found: dict[int, list[LogDir]] = {}
    for row in rows:
        found.setdefault(row.broker_id, []).append(row)
    newest = {broker: max(row.sample for row in own) for broker, own in found.items()}
    return {broker: {row.path: row for row in own if row.sample == newest[broker]} for broker, own in found.items()}

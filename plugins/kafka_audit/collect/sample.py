"""One sample: ZooKeeper first, then every broker and every vantage in parallel."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from types import MappingProxyType

from kafka_audit.bounds.kept_brokers import keep_brokers
from kafka_audit.clients.budget import Budget, out_of_time, over_limit
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.clients.read_error import ReadError, any_answer, clean_line
from kafka_audit.clients.targets import Target, bootstrap_targets, flat, registered_targets
from kafka_audit.collect import priorities, queue_vantages
from kafka_audit.collect.brokers import broker_view, leader_questions, leader_reads, scram_users, transactions
from kafka_audit.collect.brokers.broker_view import BrokerAsker
from kafka_audit.collect.brokers.discovery import Discovery
from kafka_audit.collect.brokers.listener_names import inter_broker_endpoints, settings_of
from kafka_audit.collect.brokers.quorum import ControllerAsker, VoterProber, controllers, voter_targets
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.nodes import Nodes
from kafka_audit.collect.probes import certificates, command_vantages
from kafka_audit.collect.progress import MANY, BrokerProgress
from kafka_audit.collect.properties.sources import read_properties_files
from kafka_audit.collect.rows.collected import Collected, merged
from kafka_audit.collect.rows.source_reads import Asking, now_ms
from kafka_audit.collect.sampling.doubts import SampleAgain
from kafka_audit.collect.zookeeper import unregistered_brokers, zookeeper_view
from kafka_audit.collect.zookeeper.earlier_topics import EarlierTopics
from kafka_audit.collect.zookeeper.migration import without_zookeeper
from kafka_audit.collect.zookeeper.znode_reads import DecodedZnodes
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.model.asked_again import ZOOKEEPER
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.names import NameKind, can_be_name, is_port
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    BOOTSTRAP,
    BrokerConfig,
    BrokerProperty,
    BrokerView,
    LeadershipAsked,
    Migration,
    RegisteredEndpoint,
    Registry,
    Row,
    Sample,
    SourceRead,
)
from kafka_audit.model.text import counted

LANES = 32
"""Brokers and vantages asked at a time, each by one connection or one command."""

BROKER_SHARE, LEAST_BROKER_READS = 0.25, 10
"""How much of an audit's time one broker may take, at all its addresses together, and at least: so many times `read_s`."""

_MOST_VOTERS = 100  # a quorum has three or five
_MOMENT_S = 0.4
_FILE_SHARE = 0.1  # of the time that is left, for files of brokers that did not answer


@dataclass(frozen=True, kw_only=True)
class _Job:
    """Something to ask on a lane, and the rows for when it gave none: it did not end in time, or its answer made no sense."""

    run: Callable[[], tuple[Row, ...] | Collected]
    without: Callable[[ReadError], tuple[Row, ...]]


class Sampler:
    """Takes samples of one cluster."""

    def __init__(  # noqa: PLR0913, PLR0917 -- all are needed
        self,
        cluster: Cluster,
        book: ViewBook,
        say: Callable[[str], None],
        secrets: Mapping[str, str],
        logins: ClusterLogins,
        budget: Budget,
        answers: Mapping[str, queue_vantages.QueueAnswer] = MappingProxyType({}),
    ) -> None:
        """Take the cluster, the book for its views, its logins, the audit's budget and what queues answered."""
        self._cluster = cluster
        self._book = book
        self._say = say
        self._secrets = secrets
        self._logins = logins
        self._budget = budget
        self._answers = answers
        self._decoded_znodes = DecodedZnodes()
        self._known: dict[int, None] = {}  # brokers that answered in earlier samples
        self._answers_at: list[float] = []  # of the newest sample
        self._claims: priorities.Claims = {}
        self._tiered: dict[str, int | None] = {}  # topics with remote storage, which a sample of a few parties does not name

    def take(self, number: int, reason: str, again: SampleAgain | None = None) -> Collected:
        """Return what one sample gave; the contents of views stay in the book.

        Args:
            number: of the sample.
            reason: for the sample.
            again: what to ask again; None for everything. If the list of brokers or the controller changed since the earlier
                sample, or ZooKeeper does not answer, everything is still asked.

        Raises:
            UsageError: the cluster file names no source, a wrong chroot, or an address that is none.
        """
        started, self._answers_at = now_ms(), []
        found = self._ask_zookeeper(number, again)
        self._answers_at.append(time.monotonic())
        if again is not None and not again.rests_on(found.rows):
            self._say("ZooKeeper changed, so everything is asked again")
            again = None
            found = self._ask_zookeeper(number, again)
        endpoints, discovery = self._endpoints(number, found.rows)
        targets, left_out = self._targets(number, endpoints, found)
        found = merged([found, *self._done(self._jobs(number, targets, endpoints, again))])
        late = () if discovery is None else discovery.listed()
        if {*late} - {*endpoints}:
            asked = {*flat(targets)}
            self._claims = {} if discovery is None else discovery.claims
            self._known |= dict.fromkeys(targets)  # they were asked: the late ones are only added to them
            targets, left_out = self._targets(number, dict.fromkeys((*endpoints, *late)), found)
            missed = {broker: [target for target in of_broker if target not in asked] for broker, of_broker in targets.items()}
            found = merged(
                [
                    found,
                    *self._done(self._jobs_on_late(number, {key: of_broker for key, of_broker in missed.items() if of_broker})),
                ]
            )
        if again is None:
            quorum, others = self._voters(number, found.rows)
            found = merged([found, Collected(rows=others)])
            between = [*self._jobs_between_nodes(number, targets, found.rows, quorum), *self._jobs_to_zookeeper(number, found)]
            found = merged([found, *self._done(between)])
        found = without_zookeeper(merged([found, Collected(rows=left_out)]))
        found = merged([found, *self._done(self._jobs_on_leaders(number, targets, found))])
        found = merged([found, *self._done(self._jobs_on_coordinators(number, targets, found.rows))])
        if again is None or again.doubt.asks_vantages:
            found = merged([found, Collected(rows=tuple(self._from_queues(number, targets, found.rows)))])
        if again is None:
            self._known = dict.fromkeys(row.broker_id for row in found.rows if isinstance(row, BrokerView))
        sample = Sample(
            sample=number,
            started_ms=started,
            finished_ms=now_ms(),
            reason=reason,
            asked_again=None if again is None else tuple(sorted({ZOOKEEPER, *again.doubt.parties})),
            topics_again=None if again is None or again.doubt.topics is None else len(again.doubt.topics),
        )
        return replace(found, rows=(sample, *found.rows, *self._authorities(number)))

    def _authorities(self, number: int) -> Iterator[Row]:
        """Yield what the `ca_file`s of the cluster file held when the audit began."""
        for name, pem in self._logins.files.authorities():
            yield from certificates.read_authorities(pem.encode(), name, number)

    def _done(self, jobs: Sequence[_Job]) -> Iterator[Collected]:
        # Every wait inside ends by the deadline; what was heard until then has a moment to become rows.
        answers = side_by_side([partial(self._timed, job) for job in jobs], LANES, self._budget.deadline + _MOMENT_S)
        for job, answer in zip(jobs, answers, strict=True):
            if answer is None or isinstance(answer, ReadError):
                yield Collected(rows=job.without(answer or out_of_time()))
            else:
                yield answer if isinstance(answer, Collected) else Collected(rows=answer)

    def _timed(self, job: _Job) -> tuple[Row, ...] | Collected:
        """Run a job, and note when its answer came."""
        began = time.monotonic()
        found = job.run()
        rows = found.rows if isinstance(found, Collected) else found
        if not all(map(_as_expected, rows)):
            self._answers_at.append(began if _hung(rows) else time.monotonic())
        return found

    @property
    def answered_at(self) -> float:
        """When the newest sample had what may differ, of `time.monotonic()`: the wait for the next one begins then.

        It does not begin only when a party that hangs is given up: that counts from when it was asked. Leaders that answer as
        expected differ from nothing.
        """
        return max(self._answers_at)

    def ask_scram_users(self, rows: Iterable[Row], number: int, budget: Budget) -> tuple[Row, ...]:
        """Return the SCRAM credentials of users that the files among these rows let brokers log in as, in KRaft."""
        return scram_users.read_scram_users(
            rows, self._cluster.security.protocol, number, replace(self._options(), budget=budget)
        )

    def _ask_zookeeper(self, number: int, again: SampleAgain | None) -> Collected:
        access = self._cluster.zookeeper
        if access is None:
            return Collected()
        self._say(f"reading ZooKeeper at {clean_line(access.connect)} …")
        # Half of what is left: a ZooKeeper that drips costs the brokers nothing.
        until = time.monotonic() + self._budget.left() / 2
        return zookeeper_view.read_zookeeper(
            access,
            number,
            self._secrets,
            read_s=self._read_s(),
            deadline=until,
            budget=self._budget,
            earlier=self._decoded_znodes,
            tls=self._logins.zookeeper_tls,
            topics=None if again is None or again.doubt.topics is None else EarlierTopics(again.earlier, again.doubt.topics),
        )

    def _endpoints(self, number: int, rows: Iterable[Row]) -> tuple[tuple[RegisteredEndpoint, ...], Discovery | None]:
        """Return what ZooKeeper has registered; without ZooKeeper, the brokers that the bootstrap addresses list.

        The second is what still asks addresses that have not answered yet, if any.
        """
        found = [*rows]
        if any(isinstance(row, Registry) and row.brokers_pzxid is not None for row in found):
            registered = tuple(row for row in found if isinstance(row, RegisteredEndpoint))
            if any(isinstance(row, Migration) for row in found):
                return self._beside_the_registry(number, registered), None
            return registered, None
        if not self._cluster.bootstrap:
            return (), None
        self._say(
            f"asking {counted(len(self._cluster.bootstrap), 'bootstrap address', 'bootstrap addresses')} for their brokers …"
        )
        discovery = Discovery(self._cluster, number, self._options(), self._budget.deadline)
        endpoints, self._claims = discovery.listed_soon(), discovery.claims
        return endpoints, discovery

    def _beside_the_registry(self, number: int, registered: tuple[RegisteredEndpoint, ...]) -> tuple[RegisteredEndpoint, ...]:
        """Return what brokers list, where a migration has begun and some of them register with KRaft controllers alone."""
        known = flat(registered_targets(registered, self._cluster))
        discovery = Discovery(self._cluster, number, self._options(), self._budget.deadline, known)
        listed, self._claims = discovery.listed(), discovery.claims
        unregistered = {endpoint.broker_id for endpoint in listed} - {endpoint.broker_id for endpoint in registered}
        return listed if unregistered else registered

    def _targets(
        self, number: int, endpoints: Iterable[RegisteredEndpoint], found: Collected
    ) -> tuple[dict[int, list[Target]], tuple[Row, ...]]:
        """Return the addresses to ask by broker, in the order of asking, and rows for those over `limits`."""
        limits = self._cluster.limits
        listed = registered_targets(endpoints, self._cluster)
        named, assigned = self._budget.named, found.assigned()
        vouchers = priorities.vouchers_of_targets(
            listed, found.rows, named, assigned=assigned, known=self._known, claims=self._claims
        )
        kept = priorities.kept_targets(listed, keep_brokers(limits.brokers, vouchers).ids, named, limits.endpoints)
        asking = Asking(sample=number, observer="limits", target=self._cluster.name)
        brokers_left, left = len(listed) - len(kept), len(flat(listed)) - len(flat(kept))
        if not left:
            return kept, ()
        key = "brokers" if brokers_left else "endpoints"
        message = f"{counted(brokers_left, 'broker')} of {len(listed)} and {left} of {len(flat(listed))} endpoints"
        return kept, (asking.failed("ask all brokers", over_limit(f"{message} that are listed were not read or probed", key)),)

    def _jobs(
        self,
        number: int,
        registered: Mapping[int, Sequence[Target]],
        endpoints: tuple[RegisteredEndpoint, ...],
        again: SampleAgain | None,
    ) -> list[_Job]:
        unregistered = [[target] for target in bootstrap_targets(self._cluster, endpoints)]
        if again is not None:
            brokers = [
                of_broker for of_broker in (*registered.values(), *unregistered) if of_broker[0].observer in again.doubt.parties
            ]
            of_vantages = self._jobs_of_vantages(number, registered, ()) if again.doubt.asks_vantages else ()
            return [*self._jobs_on_brokers(number, brokers), *of_vantages]
        jobs = []
        for target in controllers(self._cluster):
            self._say(f"asking the controller at {clean_line(target.address)} …")
            asker = ControllerAsker(target, number, self._options())
            jobs.append(_Job(run=asker.ask, without=asker.unanswered))
        jobs += self._jobs_on_brokers(number, [*registered.values(), *unregistered])
        first, rest = jobs[:LANES], jobs[LANES:]
        vantage_jobs = self._jobs_of_vantages(number, registered, controllers(self._cluster))
        # Brokers and vantages in turn, so that a long list of the ones does not leave the others without time.
        return [*first, *(job for pair in zip_longest(rest, vantage_jobs) for job in pair if job is not None)]

    def _jobs_on_late(self, number: int, missed: Mapping[int, Sequence[Target]]) -> list[_Job]:
        """Return what to ask of brokers that only an address lists that answered while the others were asked."""
        return [*self._jobs_on_brokers(number, missed.values()), *self._jobs_of_vantages(number, missed, ())]

    def _voters(self, number: int, rows: Sequence[Row]) -> tuple[tuple[Target, ...], tuple[Row, ...]]:
        """Return the voters to probe, and a row about those that are too many."""
        quorum = voter_targets(self._cluster, rows)
        more = len(quorum) - _MOST_VOTERS
        if more <= 0:
            return quorum, ()
        error = ReadError(
            ReadFailure.OVER_LIMIT, f"{counted(more, 'voter')} not probed", f"a quorum of at most {_MOST_VOTERS} voters"
        )
        asking = Asking(sample=number, observer="limits", target=self._cluster.name)
        return quorum[:_MOST_VOTERS], (asking.failed("probe all voters", error),)

    def _jobs_between_nodes(
        self, number: int, known: Mapping[int, Sequence[Target]], rows: Sequence[Row], quorum: Sequence[Target]
    ) -> list[_Job]:
        """Return the probes of addresses that only the cluster names: those that nodes use themselves, and of voters."""
        listed = {canonical_address(target.host, target.port) for target in controllers(self._cluster)}
        learnt = [target for target in quorum if canonical_address(target.host, target.port) not in listed]
        probers = [VoterProber(target, number, self._options()) for target in learnt]
        from_brokers = self._jobs_on_nodes("broker", number, self._between_brokers(number, known, rows), known, learnt)
        from_controllers = self._jobs_on_nodes(
            "controller", number, (), sorted({target.voter_id for target in quorum if target.voter_id is not None}), quorum
        )
        return [*from_controllers, *from_brokers, *(_Job(run=prober.probe, without=prober.unanswered) for prober in probers)]

    def _jobs_to_zookeeper(self, number: int, found: Collected) -> list[_Job]:
        """Return the probes of ZooKeeper from the hosts of brokers that it does not have registered."""
        access, listed = self._cluster.zookeeper, any(isinstance(row, Registry) and row.brokers_pzxid for row in found.rows)
        if access is None or not listed or any(isinstance(row, Migration) for row in found.rows):
            return []
        brokers = unregistered_brokers.brokers_without_session(found.rows, found.assigned())[: self._cluster.limits.brokers]
        return self._jobs_on_nodes("broker", number, (), brokers, unregistered_brokers.server_targets(access, found.rows))

    def _jobs_on_nodes(
        self, role: str, number: int, targets: Sequence[Target], nodes: Iterable[int], quorum: Sequence[Target]
    ) -> list[_Job]:
        if not targets and not quorum:
            return []
        runs = command_vantages.runs(self._cluster, number, targets, nodes, self._logins, self._budget, quorum, roles=(role,))
        return [_Job(run=run.rows, without=run.unanswered) for run in runs]

    def _between_brokers(self, number: int, known: Mapping[int, Sequence[Target]], rows: Sequence[Row]) -> Sequence[Target]:
        """Return the addresses that only brokers' settings name, where a vantage is on their hosts."""
        vantages = any(vantage.role == "broker" and vantage.command for vantage in self._cluster.vantages)
        # ZooKeeper has registered every listener of a broker, each with its name.
        unnamed = {
            broker: of_broker for broker, of_broker in known.items() if all(target.listener == BOOTSTRAP for target in of_broker)
        }
        if not vantages or not unnamed:
            return ()
        settings = self._settings(number, unnamed, rows)
        listed = {(target.broker_id, *canonical_address(target.host, target.port)) for target in flat(unnamed)}
        endpoints = (
            endpoint
            for endpoint in inter_broker_endpoints(settings, number)
            if endpoint.broker_id in unnamed
            and (endpoint.broker_id, *canonical_address(endpoint.host, endpoint.port)) not in listed
            and can_be_name(NameKind.HOST, endpoint.host)
            and can_be_name(NameKind.LISTENER, endpoint.listener)
            and is_port(endpoint.port)
        )
        return flat(registered_targets(endpoints, self._cluster))

    def _settings(self, number: int, brokers: Collection[int], rows: Sequence[Row]) -> Mapping[int, Mapping[str, str | None]]:
        """Return what brokers are set to: by their answers, and of those that gave none by their files."""
        answers = settings_of(rows, BrokerConfig)
        silent = {*brokers} - answers.keys()
        if not silent or not self._cluster.properties:
            return answers
        until, silent_nodes = time.monotonic() + self._budget.left() * _FILE_SHARE, Nodes(brokers=tuple(sorted(silent)))
        files = read_properties_files(self._cluster.properties, silent_nodes, number, self._cluster.limits.read_s, until)
        return settings_of(files, BrokerProperty) | answers

    def _jobs_on_brokers(self, number: int, brokers: Iterable[Sequence[Target]]) -> list[_Job]:
        # What the cluster file names first: a password that is wrong is then refused there, and tried nowhere else.
        all_targets = sorted(brokers, key=lambda some: not any(map(self._logins.names, some)))
        progress = BrokerProgress(self._say, len(all_targets))
        jobs = []
        for targets in all_targets:
            progress.ask(_name(targets), (target.address for target in targets))
            jobs.append(
                _Job(run=partial(self._ask_broker, number, targets, progress), without=partial(_unanswered, number, targets))
            )
        return jobs

    def _jobs_of_vantages(
        self, number: int, brokers: Mapping[int, Sequence[Target]], their_controllers: Sequence[Target]
    ) -> list[_Job]:
        runs = command_vantages.runs(self._cluster, number, flat(brokers), brokers, self._logins, self._budget, their_controllers)
        if len(runs) > MANY:
            self._say(f"probing from {len(runs)} vantages …")
        jobs = []
        for run in runs:
            if len(runs) <= MANY:
                self._say(f"probing from {run.name} …")
            jobs.append(_Job(run=run.rows, without=run.unanswered))
        return jobs

    def _ask_broker(self, number: int, targets: Sequence[Target], progress: BrokerProgress) -> Collected:
        """Ask one broker at all its addresses, within its share of the time."""
        limits = self._cluster.limits
        seconds = max(limits.audit_s * BROKER_SHARE, limits.read_s * LEAST_BROKER_READS)
        found = BrokerAsker(targets, number, self._options().part(seconds), self._book).ask()
        progress.note(_name(targets), found.rows)
        return found

    def _jobs_on_leaders(self, number: int, registered: Mapping[int, Sequence[Target]], found: Collected) -> list[_Job]:
        """Return what can only be asked once it is known who is said to lead."""
        self._tiered |= leader_questions.tiered_topics(found)
        plan = leader_questions.plan_leader_questions(found, self._book)
        plan = replace(plan, topics=self._cluster.asked_topics, tiered=self._tiered)
        targets = leader_reads.targets_to_ask(found.rows, flat(registered))
        askers = [
            leader_reads.LeadershipAsker(target, number, self._options(), plan, first=place == 0)
            for place, target in enumerate(targets)
        ]
        return [_Job(run=asker.ask, without=asker.unanswered) for asker in askers]

    def _jobs_on_coordinators(self, number: int, registered: Mapping[int, Sequence[Target]], rows: Sequence[Row]) -> list[_Job]:
        """Return what is asked of coordinators, where a transaction is open for long."""
        partitions = transactions.open_partitions(rows)
        targets = leader_reads.targets_to_ask(rows, flat(registered)) if partitions else ()
        askers = [transactions.TransactionStateAsker(target, number, self._options(), partitions) for target in targets]
        return [_Job(run=asker.ask, without=asker.unanswered) for asker in askers]

    def _from_queues(self, number: int, registered: Mapping[int, Sequence[Target]], rows: Sequence[Row]) -> Iterator[Row]:
        """Yield what workers of queues saw before the snapshot began."""
        targets = flat(registered)
        for vantage in self._cluster.vantages:
            if vantage.queue is not None and vantage.name in self._answers:
                try:
                    with any_answer():
                        seen = self._answers[vantage.name].rows(vantage, number, targets, rows, self._logins)
                except ReadError as error:
                    nothing = queue_vantages.QueueAnswer(endpoints=(), error=error.error, needs=error.needs)
                    seen = nothing.rows(vantage, number, targets, rows, self._logins)
                yield from seen
            elif vantage.queue is not None:
                yield from queue_vantages.without_queues(vantage, number, targets)

    def _read_s(self) -> float:
        return max(0.1, min(self._cluster.limits.read_s, self._budget.left()))

    def _options(self) -> ClientOptions:
        return ClientOptions(read_s=self._read_s(), logins=self._logins, budget=self._budget)


def _as_expected(row: Row) -> bool:
    """Return whether a row is of leaders that answer as the reference has it: that differs from nothing."""
    return isinstance(row, LeadershipAsked) or (isinstance(row, SourceRead) and row.outcome == "answered")


def _hung(rows: Iterable[Row]) -> bool:
    """Return whether a party answered nothing in time."""
    reads = [row for row in rows if isinstance(row, SourceRead)]
    return any(read.failure is ReadFailure.TIMEOUT for read in reads) and all(read.outcome == "failed" for read in reads)


def _name(targets: Sequence[Target]) -> str:
    """Return a broker's name in lines."""
    return targets[0].observer.replace("broker:", "broker ")


def _unanswered(number: int, targets: Sequence[Target], error: ReadError) -> tuple[Row, ...]:
    """Return the rows of a broker that gave none."""
    askings = [Asking(sample=number, observer=target.observer, target=target.address) for target in targets]
    return tuple(asking.failed(operation, error) for asking in askings for operation in broker_view.PLANNED)

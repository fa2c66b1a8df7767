"""What a check reads, and what it says where that could not be read: `needs` is compared with what its cases show."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

import pytest

from checks.cases import cases, exception
from checks.needs import Tables, fresh, judgements, needed
from kafka_audit.checks import Check, catalogue
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import (
    DIFFERENCES,
    FormerLeaderState,
    KeptTopic,
    ListCount,
    ReassignedState,
    TopicIdDifference,
    TopicSetting,
    ViewDifference,
)
from kafka_audit.incidents.inputs import failed_inputs
from kafka_audit.model.finding import Judgement, Resource, Status
from kafka_audit.model.tables import (
    TABLES,
    Acl,
    AclHolder,
    ControllerConfig,
    ControllerProbe,
    Quota,
    QuotaUser,
    Registry,
    Row,
    Sample,
    ScramUser,
    SourceRead,
    TopicConfig,
)
from samples import sampled


@dataclass(frozen=True, kw_only=True)
class Source:
    """What is asked as one: the tables that come from it, and the reads."""

    tables: Tables
    reads: Callable[[SourceRead], bool]
    adds: tuple[tuple[str, str], ...] = ()  # observer and operation of reads that worlds do not hold
    zookeeper: bool = False  # the whole of it
    registry: bool = False  # a part of what ZooKeeper registers
    views: bool = False
    differences: Tables = frozenset()  # other difference tables that have no rows without it

    def lost(self, *, kraft: bool) -> Collection[type[Row]]:
        """Return the difference tables that have no rows without this source."""
        reference = self.views if kraft else self.zookeeper
        compared = {ViewDifference, ListCount, KeptTopic, TopicIdDifference} if self.views else set()
        return {*(set(DIFFERENCES) - {TopicSetting, FormerLeaderState} if reference else compared), *self.differences}


def of_brokers(*operations: str) -> Callable[[SourceRead], bool]:
    return lambda read: read.observer.startswith("broker:") and read.operation.startswith(operations)


def of_zookeeper(*paths: str) -> Callable[[SourceRead], bool]:
    return lambda read: read.observer == "zookeeper" and read.operation.startswith(tuple(f"zookeeper {path}" for path in paths))


def filled_by(*operations: str) -> Tables:
    """Return the tables that nothing but these operations fills."""
    return frozenset(
        table for table in TABLES if table.filled_by and all(read.startswith(operations) for read in table.filled_by)
    )


OF_BROKERS: Tables = frozenset(
    table
    for table in TABLES
    if any(
        read.startswith(("Describe", "ListOffsets", "ListGroups", "Metadata", "ApiVersions", "read_committed"))
        for read in table.filled_by
    )
) - {ControllerConfig, ControllerProbe}


def each(observer: str, operation: str) -> tuple[tuple[str, str], ...]:
    return tuple((observer.format(broker), operation) for broker in range(3))


PATHS = ("/kafka-acl", "/config/brokers", "/config/users", "/config quotas")
ACLS, DYNAMIC, USERS, QUOTAS = (("zookeeper", f"zookeeper {path}") for path in PATHS)
SOURCES = {
    "zookeeper": Source(
        tables=filled_by("zookeeper ") | {QuotaUser, ScramUser},
        reads=lambda read: read.observer == "zookeeper",
        adds=(
            ACLS,
            DYNAMIC,
            USERS,
            QUOTAS,
            ("zookeeper", "zookeeper access and size of znodes"),
            ("zookeeper", "zookeeper /migration"),
        ),
        zookeeper=True,
    ),
    "registrations": Source(
        tables=filled_by("zookeeper /brokers/ids") - {Registry}, reads=of_zookeeper("/brokers/ids"), registry=True
    ),
    "topics": Source(
        tables=filled_by("zookeeper /brokers/topics"),
        reads=of_zookeeper("/brokers/topics"),
        registry=True,
        differences=frozenset(DIFFERENCES) - {TopicSetting, FormerLeaderState},
    ),
    "brokers": Source(
        tables=OF_BROKERS - {Acl, Quota, QuotaUser, ScramUser, TopicConfig},  # ZooKeeper may have told these
        reads=of_brokers(""),
        views=True,
        differences=frozenset({FormerLeaderState}),
    ),
    "views": Source(tables=filled_by("Metadata"), reads=of_brokers("Metadata"), views=True),
    "settings": Source(
        tables=filled_by("DescribeConfigs BROKER") - {ControllerConfig}, reads=of_brokers("DescribeConfigs BROKER")
    ),
    "identities": Source(tables=filled_by("DescribeConfigs identity"), reads=of_brokers("DescribeConfigs identity")),
    "coordinators": Source(tables=filled_by("ListGroups"), reads=of_brokers("ListGroups")),
    "disks": Source(tables=filled_by("DescribeLogDirs"), reads=of_brokers("DescribeLogDirs")),
    "offsets": Source(
        tables=filled_by("ListOffsets"),
        reads=of_brokers("ListOffsets"),
        differences=frozenset({FormerLeaderState}),
    ),
    "transactions": Source(tables=filled_by("read_committed offsets"), reads=of_brokers("read_committed offsets")),
    "eligible replicas": Source(
        tables=filled_by("DescribeTopicPartitions"),
        reads=of_brokers("DescribeTopicPartitions"),
        adds=(("broker:0", "DescribeTopicPartitions"),),
    ),
    "quorum": Source(
        tables=filled_by("DescribeQuorum"),
        reads=of_brokers("DescribeQuorum"),
        adds=each("broker:{}", "DescribeQuorum"),
    ),
    "controllers": Source(
        tables=frozenset({ControllerConfig, ControllerProbe}),
        reads=lambda read: read.observer.startswith("controller@"),
        adds=(("controller@c1:9093", "ApiVersions"),),
    ),
    "probes": Source(
        tables=filled_by("probe"),
        reads=lambda read: read.operation.startswith("probe"),
        adds=(("worker", "probe worker"), *each("broker:{}", "probe brokers")),
    ),
    "files": Source(
        tables=filled_by("properties"),
        reads=lambda read: read.observer.startswith("properties:"),
        adds=each("properties:{}", "properties"),
    ),
    "logs": Source(
        tables=filled_by("logs"), reads=lambda read: read.observer.startswith("logs:"), adds=each("logs:{}", "logs server.log")
    ),
    "acls": Source(
        tables=filled_by("DescribeAcls", "zookeeper /kafka-acl"),
        reads=lambda read: "/kafka-acl" in read.operation or read.operation == "DescribeAcls",
        adds=(ACLS, *each("broker:{}", "DescribeAcls")),
    ),
    "dynamic settings": Source(
        tables=filled_by("zookeeper /config/brokers"), reads=of_zookeeper("/config/brokers"), adds=(DYNAMIC,)
    ),
    "users": Source(
        tables=frozenset({Quota, QuotaUser, ScramUser}),
        reads=lambda read: (
            of_zookeeper("/config/users")(read)
            or of_zookeeper("/config quotas")(read)
            or of_brokers("DescribeClientQuotas", "DescribeUserScramCredentials")(read)
        ),
        adds=(USERS, QUOTAS),
    ),
    "reassignments": Source(
        tables=filled_by("ListPartitionReassignments", "zookeeper /brokers/topics") - filled_by("zookeeper "),
        reads=lambda read: "reassign" in read.operation.lower(),
        differences=frozenset({ReassignedState}),
    ),
    "members": Source(
        tables=filled_by("srvr"),
        reads=lambda read: read.observer.startswith("zookeeper@"),
        adds=(("zookeeper@zk:2181", "srvr"),),
    ),
}

every_check = pytest.mark.parametrize("check", sampled(catalogue().values(), ids=catalogue()))


@every_check
def test_needs_are_the_tables_without_which_its_cases_say_something_else(judged, check):
    assert check.needs == needed(check, judged.views), "`make accept` writes what the cases show"


@every_check
def test_nothing_passes_or_vanishes_where_a_source_is_unread(judged, check):
    """What failed is afterwards a failure or unknown, or findings learn from a failed read that it cannot be compared."""
    wrong: dict[str, tuple[str, list[str]]] = {}
    for name in (f"{check.code}-{case}" for case in cases(check.code)):
        failing = [judgement.resource for judgement in judged.of(check.code, name) if judgement.status is Status.FAIL]
        view = judged.views[name]
        for source in SOURCES if failing else ():
            if speaks(SOURCES[source], view):
                blind = blinded(view, SOURCES[source])
                found = judgements(check, blind)
                passed_over = [judgement for judgement in failing if not is_known_unknown(check, blind, found, judgement)]
                wrong |= {source: (name, passed_over)} if passed_over else {}
    excepted = exception(check.code, "unread")
    assert {source: codes for source, codes in wrong.items() if source not in excepted} == {}
    assert SOURCES.keys() & excepted <= wrong.keys(), "exceptions that are no longer needed"


def speaks(source: Source, view: ClusterView) -> bool:
    """Return whether a case has anything of a source."""
    if source.zookeeper or source.registry:
        return not view.kraft
    return any(type(row) in source.tables for row in view.snapshot.rows)


def blinded(view: ClusterView, source: Source) -> ClusterView:
    """Return a view of the same cluster in which a source could not be read."""
    rows: list[Row] = []
    for row in view.snapshot.rows:
        if isinstance(row, SourceRead) and row.outcome == "answered" and source.reads(row):
            rows.append(replace(row, outcome="failed", error="timeout"))
        elif type(row) not in source.tables and not (source.zookeeper and isinstance(row, AclHolder) and row.broker_id is None):
            rows.append(row)
    for sample in sorted({row.sample for row in view.of(Sample)}):
        rows += [
            SourceRead(sample=sample, observer=observer, operation=operation, target="a:1", outcome="failed", error="timeout")
            for observer, operation in source.adds
        ]
    return fresh(view, rows, source.lost(kraft=view.kraft))


def is_known_unknown(check: Check, view: ClusterView, found: Iterable[Judgement], resource: str) -> bool:
    """Return whether a resource is neither passed over in silence nor passed."""
    by_resource: dict[str, Status] = {judgement.resource: judgement.status for judgement in found}
    if resource in by_resource:
        return by_resource[resource] in {Status.FAIL, Status.UNKNOWN}
    about = (
        judgement
        for judgement in found
        if judgement.status is Status.UNKNOWN and Resource.of(judgement.resource).concerns(Resource.of(resource))
    )
    return any(about) or bool(failed_inputs(view, check.needs, resource))

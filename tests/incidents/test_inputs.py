"""Which failed reads could have spoken of a resource."""

from dataclasses import replace

import pytest

import small_cluster
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.inputs import _SOURCE, failed_inputs
from kafka_audit.model.tables import (
    TABLES,
    AclHolder,
    BrokerConfig,
    BrokerProperty,
    DynamicConfig,
    LogDir,
    QuorumReplica,
    RegisteredEndpoint,
    RegisteredPartition,
    Registry,
    ScramUser,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    ViewPartition,
)

READS = {
    "users": ("zookeeper", "zookeeper /config/users"),
    "configs": ("zookeeper", "zookeeper /config/brokers"),
    "acls": ("zookeeper", "zookeeper /kafka-acl/Topic/orders"),
    "ids": ("zookeeper", "zookeeper /brokers/ids"),
    "own acls": ("broker:2", "DescribeAcls"),
    "others' acls": ("broker:1", "DescribeAcls"),
    "directories": ("broker:2", "DescribeLogDirs"),
    "settings": ("broker:2", "DescribeConfigs BROKER"),
    "file": ("properties:2", "properties"),
}


def failing():
    rows = [
        SourceRead(sample=1, observer=observer, operation=operation, target="t", outcome="failed", error="e")
        for observer, operation in READS.values()
    ]
    return Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=tuple(rows))


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (Registry, {"ids"}),  # zookeeper.set.acl=true hides /config/users for good: what is registered is known all the same
        (RegisteredPartition, {"ids"}),
        (AclHolder, {"acls", "own acls"}),
        (DynamicConfig, {"configs"}),
        (ScramUser, {"users"}),
        (LogDir, {"directories"}),
        (BrokerConfig, {"settings"}),
        (BrokerProperty, {"file"}),
    ],
)
def test_a_table_hangs_on_the_reads_that_fill_it(table, names):
    names_of = {read: name for name, read in READS.items()}
    assert {
        names_of[one.observer, one.operation] for one in failed_inputs(ClusterView.of_files(failing()), [table], "broker/2")
    } == names


def test_in_kraft_addresses_hang_on_the_broker_that_tells_them():
    info = [row for row in small_cluster.snapshot(small_cluster.KRAFT).rows if isinstance(row, SnapshotInfo)]
    without = replace(failing(), rows=(*info, *failing().rows))
    names_of = {read: name for name, read in READS.items()}
    failed = failed_inputs(ClusterView.of_files(without), [RegisteredEndpoint], "broker/2/listener/OUTSIDE")
    assert {names_of[one.observer, one.operation] for one in failed} == {"ids", "settings", "file"}


def test_every_table_that_a_source_fills_has_its_reads():
    without = {"SnapshotInfo", "Sample", "SourceRead", "OrdinaryTime", "Certificate"}
    assert {one.__name__ for one in TABLES} - {one.__name__ for one in _SOURCE} <= without


GONE = [
    ("controller@c2:9093", "ApiVersions", "failed"),
    ("broker@b2:9092", "ApiVersions", "failed"),
    ("broker:0", "Metadata", "answered"),
    ("broker:1", "Metadata", "answered"),
]


@pytest.mark.parametrize(
    ("table", "resource", "expected"),
    [
        (RegisteredPartition, "topic/orders/partition/0", set()),  # what ZooKeeper says does not hang on brokers
        (ViewPartition, "topic/orders/partition/0", {"broker@b2:9092"}),
        (BrokerConfig, "broker/1", set()),  # it answered
        (BrokerConfig, "broker/2", {"broker@b2:9092"}),
        (BrokerConfig, "controller/202", {"controller@c2:9093"}),
        (QuorumReplica, "broker/1", {"controller@c2:9093"}),  # how far a broker is, its controllers say
        (QuorumReplica, "cluster", {"controller@c2:9093", "broker@b2:9092"}),
    ],
)
def test_a_node_that_does_not_answer_keeps_open_what_it_would_have_said(table, resource, expected):
    rows = [
        SourceRead(sample=1, observer=observer, operation=operation, target="t", outcome=outcome, error="e")
        for observer, operation, outcome in GONE
    ]
    view = ClusterView.of_files(Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=tuple(rows)))
    assert {read.observer for read in failed_inputs(view, [table], resource)} == expected

"""What a second sample asks again, by the difference that the first one shows."""

from dataclasses import replace

import pytest

from collect.columns import collected
from collect.sampling.test_sample_again import (
    failed,
    healthy,
    in_kraft,
    other_topic,
    probe,
    registry,
    view,
    with_view_of_2,
)
from kafka_audit.collect.sampling.sample_again import ExaminedSample
from kafka_audit.model.asked_again import ZOOKEEPER, of_both, party, with_others
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    KEY,
    TABLES,
    AclHolder,
    BrokerIdentity,
    Certificate,
    GroupCoordinator,
    LeadershipAnswer,
    Migration,
    Probe,
    RegisteredTopic,
    SourceRead,
    ViewPartition,
    columns,
)
from made_rows import made

MANY = 8
MIGRATION = made(Migration, begun=True, metadata_offset=-1, metadata_epoch=-1)


def asked(number):
    return SourceRead(sample=1, observer=f"broker:{number}", operation="Metadata", target="x:1", outcome="answered")


def many(rows):
    """Return rows with many brokers that were asked, and many topics, which nothing is compared with."""
    topics = [
        RegisteredTopic(sample=1, last_sample=1, topic=f"t{number}", topic_id=None, czxid=1, mzxid=1, deleting=True)
        for number in range(MANY)
    ]
    return [*rows, *map(asked, range(MANY)), *topics]


def doubt(*rows, of=None):
    """Return the doubt about a large healthy cluster with these rows."""
    sample = ExaminedSample(collected(many([*(of or healthy()), *rows])))
    assert sample.differences.reasons
    return sample.doubt


def test_a_stale_view_is_asked_again_with_the_topics_that_it_differs_in():
    found = doubt(of=with_view_of_2(*other_topic(leader=1), topics="T2"))
    assert found is not None
    assert (found.parties, found.topics) == ({"broker:2"}, {"orders"})


def test_a_healthy_cluster_leaves_no_doubt():
    sample = ExaminedSample(collected(many(healthy())))
    assert not sample.differences.reasons


@pytest.mark.parametrize(
    ("rows", "parties", "topics"),
    [
        ([failed()], {"broker:2"}, set()),
        ([probe()], {"broker:2"}, set()),
        ([replace(failed(), observer="broker@c:1")], {"broker@c:1"}, set()),
        (
            [replace(probe(), vantage="clients"), replace(probe(), vantage="near", outcome="ok"), replace(probe(), outcome="ok")],
            {"vantage:clients", "vantage:near"},
            set(),
        ),
        ([GroupCoordinator(sample=1, observer="broker:1", broker_id=1, error=15)], {"broker:1"}, set()),
        (
            [
                made(LeadershipAnswer, topic="t1", asked_as="leader", error=6, leader=1, leader_epoch=1, preferred=True)
            ],
            {"broker:1"},
            {"t1"},
        ),
        (
            [BrokerIdentity(sample=1, broker_id=1, listener="PLAINTEXT", address="b:1", answered_by=0, kafka_cluster_id="id")],
            {"broker:0", "broker:1"},
            set(),
        ),
        (
            [
                AclHolder(sample=1, observer="zookeeper", broker_id=None, acls_digest="A", acls=1),
                AclHolder(sample=1, observer="broker:0", broker_id=0, acls_digest="B", acls=1),
            ],
            {"broker:0"},
            set(),
        ),
    ],
)  # fmt: skip
def test_a_difference_apart_from_views_is_of_its_broker(rows, parties, topics):
    found = doubt(*rows)
    assert found is not None
    assert (found.parties, found.topics) == (parties, topics)


@pytest.mark.parametrize(
    "rows",
    [
        [failed(), replace(failed(), observer=ZOOKEEPER)],
        [replace(failed(), error=ReadFailure.CONTRADICTS_ZOOKEEPER.words)],
        [replace(failed(), observer="controller@c:1")],
        [probe(), *(replace(failed(), observer=f"broker:{number}") for number in range(MANY // 2 + 1))],
        [failed(), MIGRATION],
    ],
)
def test_what_is_not_of_certain_brokers_has_everything_asked(rows):
    assert doubt(*rows) is None


def test_without_a_registry_everything_is_asked_again():
    assert doubt(failed(), of=in_kraft(healthy())) is None


def test_most_topics_in_doubt_are_all_topics():
    sample = ExaminedSample(collected([*with_view_of_2(*other_topic(leader=1), topics="T2"), *map(asked, range(MANY))]))
    assert sample.doubt is not None
    assert (sample.doubt.parties, sample.doubt.topics) == ({"broker:2"}, None)


OF_A_SAMPLE = [table for table in TABLES if any(column.name == "sample" for column in columns(table))]


def test_each_row_of_a_sample_is_of_one_party_and_counts_once_in_it():
    rows = [registry(), view("broker:1"), view("broker:2"), probe(), replace(probe(), vantage="clients"), failed()]
    again = {ZOOKEEPER, "broker:2"}
    assert [party(row) for row in rows] == [ZOOKEEPER, "broker:1", "broker:2", "broker:2", "vantage:clients", "broker:2"]
    kept = with_others([registry()], rows, again)
    assert kept == [registry(), view("broker:1"), replace(probe(), vantage="clients")]
    assert of_both(rows, again) == [registry(), view("broker:2"), probe(), failed()]
    assert {Probe, Certificate, BrokerIdentity} <= {*OF_A_SAMPLE}
    without_observer = {table for table in OF_A_SAMPLE if "observer" not in {column.name for column in (*KEY, *columns(table))}}
    # A new table of a sample is of ZooKeeper, which every sample asks, or needs a place in `party`.
    assert {table.__name__ for table in without_observer} == {
        "Sample", "Registry", "RegisteredBroker", "RegisteredEndpoint", "RegisteredTopic", "RegisteredPartition", "Migration",
        "ZookeeperMember", "EnsembleServer", "ZookeeperNode", "BrokerIdentity", "Probe", "Certificate", "AuthorityCertificate",
        "LogLine", "ProcessLine", "ControllerProbe", "ControllerProbeFromBroker", "VoterProbe", "AddressProbe", "ZookeeperProbe",
    }  # fmt: skip
    assert ViewPartition not in OF_A_SAMPLE

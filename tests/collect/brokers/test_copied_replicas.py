"""Sizes of replicas that are copied, and what coordinators know of transactions that are open for long."""

import pytest

from collect.brokers.test_leader_reads import columns_of, plan_of, question, reads, registered, registry, target_of, view_of
from collect.columns import collected
from collect.fakes import Serving, server
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.collect.brokers.copied_replicas import COPIED
from kafka_audit.collect.brokers.leader_questions import LeaderQuestionPlan, tiered_topics
from kafka_audit.collect.brokers.leader_reads import LeadershipAsker
from kafka_audit.collect.brokers.tiers import TIER
from kafka_audit.collect.brokers.transactions import MADE_UP, STATES, TransactionStateAsker
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.model.tables import CoordinatedTransaction, CopiedReplica, Reassignment, TieredPartition, TopicConfig
from made_rows import made, of


def options():
    """Return options whose time begins now: a run of all tests is longer than an audit."""
    return ClientOptions(read_s=60.0)


@pytest.fixture
def broker():
    fake = Serving(2)
    with server(fake, one_at_a_time=True) as fake.address:
        yield fake


def test_replicas_are_asked_for_where_one_is_copied():
    moving = made(Reassignment, topic="b", partition=1, replicas=(0, 1, 3), adding=(3,), removing=(1,))
    behind = made(type(registered("a", 0, (0, 1), 0)), **vars(registered("a", 0, (0, 1), 0)) | {"isr": (0,)})
    book = ViewBook()
    rows = [registry(), view_of(book, {}), behind, registered("b", 1, (0, 1, 3), 0), registered("c", 0, (0, 1), 0), moving]
    plan = plan_of(rows, book)
    assert {holder: {*asked} for holder, asked in plan.copied.items()} == {
        0: {("a", 0), ("b", 1)},
        1: {("a", 0), ("b", 1)},
        3: {("b", 1)},
    }
    assert plan_of([registry(), view_of(book, {}), registered("c", 0, (0, 1), 0)], book).copied == {}


def copied(broker, *replicas):
    plan = LeaderQuestionPlan(questions={}, offline={}, disks_fail=False, copied={2: replicas})
    return LeadershipAsker(target_of(broker), 1, options(), plan).ask()


@pytest.mark.parametrize("version", range(5))
def test_a_replica_that_the_broker_does_not_hold_yet_has_no_bytes(broker, version):
    broker.apis[35] = (0, version)
    broker.log_dirs = {"/a": (0, {"orders": [0, 1], "others": [0]}), "/b": (0, {"orders": [1002]})}
    rows = copied(broker, ("orders", 0), ("orders", 7))
    assert {(row.topic, row.partition, row.size_bytes) for row in of(rows, CopiedReplica)} == {("orders", 0, 1), ("orders", 7, 0)}
    assert reads(rows) == {COPIED: ("answered", None, None)}


@pytest.mark.parametrize("version", [1, 4])
def test_sizes_that_are_denied_are_a_failed_read(broker, version):
    broker.apis[35] = (0, version)
    broker.may_describe, broker.log_dirs = False, {}
    rows = copied(broker, ("orders", 0))
    assert of(rows, CopiedReplica) == []
    assert reads(rows)[COPIED][::2] == ("failed", "Describe on Cluster")


def coordinated(broker):
    broker.apis |= {65: (0, 0), 66: (0, 2)}
    return TransactionStateAsker(target_of(broker), 1, options(), frozenset({"a-0", "b-1"})).ask()


def test_transactions_of_the_partitions_that_wait_become_rows(broker):
    broker.transactions = {
        "tx": ("PrepareCommit", 5, 60_000, {"a": [0, 1], "c": [0]}),
        "elsewhere": ("Ongoing", 5, 60_000, {"a": [1]}),
        "done": ("CompleteCommit", 5, 60_000, {}),
    }
    rows = coordinated(broker)
    (row,) = of(rows, CoordinatedTransaction)
    assert (row.transactional_id, row.state, row.producer_id, row.producer_epoch) == ("tx", "PrepareCommit", 7, 3)
    assert (row.started_ms, row.timeout_ms, row.partitions) == (5, 60_000, ("a-0",))
    assert reads(rows) == {STATES: ("answered", None, None)}


@pytest.mark.parametrize("code", [14, 15, 16, 105])
def test_an_id_that_no_client_has_shows_the_right(broker, code):
    broker.transactions_error = code
    assert reads(coordinated(broker)) == {STATES: ("answered", None, None)}
    broker.transactions = {MADE_UP: ("Ongoing", 5, 60_000, {"a": [0]})}  # whoever took that name
    assert reads(coordinated(broker)) == {STATES: ("answered", None, None)}


def test_an_empty_list_is_no_answer_without_the_right(broker):
    broker.transactions_error = 53
    assert reads(coordinated(broker)) == {
        STATES: ("failed", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "Describe on TransactionalId '*'")
    }


def test_releases_without_the_api_are_not_asked(broker):
    rows = TransactionStateAsker(target_of(broker), 1, options(), frozenset({"a-0"})).ask()
    assert rows == ()


def tiered(broker, **topics):
    asked = [question(topic, number) for topic in topics for number in (0, 1)]
    plan = LeaderQuestionPlan(questions={2: columns_of(asked)}, offline={}, disks_fail=False, tiered=topics)
    return LeadershipAsker(target_of(broker), 1, options(), plan).ask()


def test_leaders_are_asked_how_far_a_topic_with_remote_storage_is_copied(broker):
    broker.apis |= {2: (0, 9), 35: (0, 4)}
    broker.log_dirs = {"/a": (0, {"orders": [0, 1]})}
    broker.offsets = {("orders", 0): (70, 70, 41), ("orders", 1): (9, 9, -1)}
    rows = tiered(broker, orders=1000)
    found = {(row.partition, row.tiered_offset, row.end_offset, row.segment_bytes) for row in of(rows, TieredPartition)}
    assert found == {(0, 41, 70, 1000), (1, -1, 9, 1000)}
    assert reads(rows)[TIER] == ("answered", None, None)


@pytest.mark.parametrize(
    ("version", "errors", "may_describe", "needs"),
    [
        (9, {("orders", 0): 29}, True, "Describe on Topic '*'"),
        (9, {}, False, "Describe on Cluster"),
        (8, {}, True, "Kafka 3.9 or later"),
    ],
)
def test_a_copy_that_cannot_be_asked_for_is_a_failed_read(broker, version, errors, may_describe, needs):
    broker.apis |= {2: (0, version), 35: (0, 4)}
    broker.errors, broker.may_describe, broker.log_dirs = errors, may_describe, {}
    rows = tiered(broker, orders=None)
    assert [*of(rows, TieredPartition)] == []
    outcome, _, needed = reads(rows)[TIER]
    assert (outcome, needed) == ("failed", needs)


def test_topics_with_remote_storage_are_known_by_their_settings():
    enable = "remote.storage.enable"
    settings = [("a", enable, "TRUE"), ("a", "segment.bytes", "5"), ("b", enable, "false"), ("c", enable, "true")]
    settings += [("c", "segment.bytes", "9" * 5000)]  # what no topic has, and Python refuses to read
    found = collected([made(TopicConfig, topic=topic, key=key, value=value) for topic, key, value in settings])
    assert tiered_topics(found) == {"a": 5, "c": None}

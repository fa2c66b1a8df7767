"""Who is asked by ListOffsets about what, and what becomes of the answers; consumer groups while a disk is dead."""

import struct
import threading
from dataclasses import replace

import numpy as np
import pytest
from kafka.protocol.consumer import ListOffsetsResponse

from collect.columns import collected
from collect.fakes import Serving, metadata, server
from collect.taken import target
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.read_error import ReadError
from kafka_audit.cluster.coordinators import id_number
from kafka_audit.collect.brokers import leader_questions, leader_reads, list_offsets
from kafka_audit.collect.brokers.consumer_groups import GROUPS, MAY_DESCRIBE_GROUPS
from kafka_audit.collect.brokers.group_coordinators import COORDINATORS, REBALANCING, made_up_groups
from kafka_audit.collect.brokers.leader_questions import LeaderQuestion, LeaderQuestionPlan, LeaderQuestions
from kafka_audit.collect.brokers.leader_reads import LIST_OFFSETS, MAY_DESCRIBE_TOPICS, LeadershipAsker
from kafka_audit.collect.brokers.share_groups import SHARES
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.sampling import sample_differences
from kafka_audit.collect.sampling.sample_differences import SampleTables
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerIdentity,
    BrokerView,
    CoordinatorPartition,
    EligibleReplicas,
    GroupCoordinator,
    GroupMember,
    LeadershipAnswer,
    LeadershipAsked,
    LogDir,
    OldTransaction,
    RebalancingGroup,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    SharePartition,
    SourceRead,
)
from made_rows import made, of


def view_of(book, topics, broker=0, cluster="c", offline=()):
    """Put a view into the book; `offline` are (topic, partition, broker); no follower of a topic "behind" is in sync."""
    answer = metadata(8, {0: ("h", 1)}, topics, cluster_id=cluster)
    for topic in answer.topics:
        for partition in topic.partitions:
            partition.offline_replicas = [
                b for name, number, b in offline if (name, number) == (topic.name, partition.partition_index)
            ]
            if topic.name == "behind":
                partition.isr_nodes = [partition.leader_id]
    body = answer.encode(framed=False, header=False)
    view = book.add(bytes(body), 8)
    digests = {"brokers_digest": view.brokers_digest, "topics_digest": view.topics_digest}
    return made(BrokerView, broker_id=broker, kafka_cluster_id=cluster, topics_listed=len(topics), **digests)


def registered(topic, partition, replicas, leader, epoch=3):
    state = {"leader": leader, "leader_epoch": epoch, "controller_epoch": 1, "isr": replicas, "leader_recovery_state": 0}
    return made(RegisteredPartition, topic=topic, partition=partition, replicas=replicas, **state)


def registry():
    zxids = {"controller_mzxid": 1, "brokers_pzxid": 1, "zxid_before": 1, "zxid_after": 1}
    return Registry(sample=1, kafka_cluster_id="c", controller_id=0, controller_epoch=1, **zxids)


def questions(plan, broker):
    found = plan.questions.get(broker, ())
    return [found.one(place) for place in range(len(found))]


def asked(plan, broker):
    return {
        (question.topic, question.partition, question.as_leader, question.listed_offline) for question in questions(plan, broker)
    }


def plan_of(rows, book):
    return leader_questions.plan_leader_questions(collected(rows), book)


def test_leaders_are_asked_and_preferred_leaders_that_do_not_lead():
    book = ViewBook()
    rows = [registry(), view_of(book, {}), registered("a", 0, (0, 1), 0), registered("a", 1, (0, 1), 1)]
    plan = plan_of(rows, book)
    assert asked(plan, 0) == {("a", 0, True, False), ("a", 1, False, False)}
    assert asked(plan, 1) == {("a", 1, True, False)}
    assert not plan.disks_fail


def test_who_is_listed_as_offline_is_asked_as_well():
    book = ViewBook()
    view = view_of(book, {"a": {0: (1, [1, 0]), 1: (1, [1, 0])}}, offline=[("a", 1, 0)])
    plan = plan_of([registry(), view, registered("a", 0, (1, 0), 1), registered("a", 1, (1, 0), 1)], book)
    assert asked(plan, 0) == {("a", 1, False, True)}
    assert (dict(plan.offline), plan.disks_fail) == ({0: 1}, True)


def test_replicas_of_a_broker_that_nobody_could_ask_make_no_disk_fail():
    book = ViewBook()
    view = view_of(book, {"a": {0: (0, [0, 7])}}, offline=[("a", 0, 7)])
    assert not plan_of([registry(), view, registered("a", 0, (0, 7), 0)], book).disks_fail


def test_a_failed_dir_makes_all_replicas_of_its_broker_worth_a_question():
    book = ViewBook()
    dead = made(LogDir, broker_id=0, path="/d", error=56)
    plan = plan_of([registry(), view_of(book, {}), dead, registered("a", 0, (1, 0), 1)], book)
    assert asked(plan, 0) == {("a", 0, False, False)}
    assert plan.disks_fail


def test_topics_in_deletion_and_partitions_without_state_are_no_leaders():
    book = ViewBook()
    gone = RegisteredTopic(sample=1, last_sample=1, topic="gone", topic_id=None, czxid=1, mzxid=1, deleting=True)
    rows = [registry(), view_of(book, {}), gone, registered("gone", 0, (0,), 0), registered("new", 0, (1, 0), None, None)]
    plan = plan_of(rows, book)
    assert (asked(plan, 0), asked(plan, 1)) == (set(), {("new", 0, False, False)})


def test_without_zookeeper_the_newest_epoch_among_views_tells_who_leads():
    book = ViewBook()
    old, new = metadata(8, {0: ("h", 1)}, {"a": {0: (0, [0, 1])}}), metadata(8, {0: ("h", 1)}, {"a": {0: (1, [0, 1])}})
    new.topics[0].partitions[0].leader_epoch = 4
    views = []
    for broker, answer in enumerate((old, new)):
        view = book.add(bytes(answer.encode(framed=False, header=False)), 8)
        row = view_of(ViewBook(), {}, broker)
        views.append(replace(row, topics_digest=view.topics_digest))
    plan = plan_of(views, book)
    assert asked(plan, 1) == {("a", 0, True, False)}
    assert asked(plan, 0) == {("a", 0, False, False)}
    assert questions(plan, 1)[0].leader_epoch == 4


def test_a_view_of_another_cluster_tells_nothing():
    book = ViewBook()
    views = [
        view_of(book, {"a": {0: (broker, [broker])}}, broker, cluster) for broker, cluster in ((0, "c"), (1, "c"), (2, "other"))
    ]
    assert 2 not in plan_of(views, book).questions


@pytest.fixture
def broker():
    fake = Serving(2)
    with server(fake, one_at_a_time=True) as fake.address:
        yield fake


def question(topic, partition, *, as_leader=True, leader=2):
    where = {"leader": leader, "leader_epoch": 9, "preferred": not as_leader, "listed_offline": False}
    return LeaderQuestion(topic=topic, partition=partition, as_leader=as_leader, **where)


def columns_of(asked):
    """Return questions, topic by topic, as columns."""
    topics = sorted({leader_question.topic for leader_question in asked})
    asked = sorted(asked, key=lambda leader_question: leader_question.topic)
    rest = {
        name: np.array([getattr(leader_question, name) for leader_question in asked])
        for name in LeaderQuestion._fields
        if name != "topic"
    }
    return LeaderQuestions(
        topics=topics, topic=np.array([topics.index(leader_question.topic) for leader_question in asked]), **rest
    )


def target_of(fake):
    return target(fake.address, 2, "PLAINTEXT")


def ask(fake, questions, *, disks_fail=False, read_s=60.0, transaction_ms=None):
    own = {2: columns_of(questions)} if questions else {}
    plan = LeaderQuestionPlan(questions=own, offline={}, disks_fail=disks_fail, transaction_ms=transaction_ms)
    return LeadershipAsker(target_of(fake), 1, ClientOptions(read_s=read_s), plan).ask()


def reads(rows):
    return {row.operation: (row.outcome, row.error, row.needs) for row in of(rows, SourceRead)}


@pytest.mark.parametrize("version", range(1, 12))
def test_only_what_nobody_would_expect_becomes_a_row(broker, version):
    broker.apis[2] = (0, version)
    broker.errors = {("a", 1): 75, ("b", 0): 6, ("b", 1): 56}
    former = [question("b", number, as_leader=False, leader=0) for number in range(3)]
    rows = ask(broker, [question("a", 0), question("a", 1), *former])
    answers = {(row.topic, row.partition, row.asked_as, row.error) for row in of(rows, LeadershipAnswer)}
    assert answers == {("a", 1, "leader", 75), ("b", 1, "former", 56), ("b", 2, "former", 0)}
    (counts,) = of(rows, LeadershipAsked)
    assert (counts.as_leader, counts.as_former) == (2, 3)
    assert reads(rows) == {LIST_OFFSETS: ("answered", None, None)}
    # Of leaders the epoch is asked, where the version has a place for it: who does not lead is asked as any client would.
    assert (broker.epochs["a", 0], broker.epochs["b", 1]) == ((9, -1) if version >= 4 else (-1, -1))


def test_an_answer_that_ends_early_is_a_failed_read():
    answer = ListOffsetsResponse(version=5, throttle_time_ms=0, topics=[])
    page = columns_of([question("a", 0)])
    found = list_offsets.errors(bytes(answer.encode(framed=False, header=False)), 5, page)
    assert found.tolist() == [list_offsets.NO_ANSWER]
    for body in (b"", b"\0" * 5, b"\0\0\0\0\0\0\0\1\0\1a\0\0\0\2\0\0", b"\0\0\0\0\0\0\0\1\0\1\xff\0\0\0\0"):
        with pytest.raises(WireError):
            list_offsets.errors(body, 5, page)


def answer_of(version, *topics):
    kind = ListOffsetsResponse.ListOffsetsTopicResponse
    parts = [
        kind(
            name=name,
            partitions=[
                kind.ListOffsetsPartitionResponse(partition_index=number, error_code=error, timestamp=8, offset=9, leader_epoch=7)
                for number, error in partitions
            ],
        )
        for name, partitions in topics
    ]
    return bytes(ListOffsetsResponse(throttle_time_ms=0, topics=parts).encode(version=version))


ASKED_PAGE = [("a", 0), ("a", 2), ("b", 7), ("ü" * 100, 1)]


@pytest.mark.parametrize("version", range(1, 6))
def test_answers_in_any_order_are_read_alike(version):
    page = columns_of([question(*row) for row in ASKED_PAGE])
    in_order = [("a", [(0, 3), (2, 0)]), ("b", [(7, 6)]), ("ü" * 100, [(1, 0)])]
    codes, offsets = list_offsets._in_order(answer_of(version, *in_order), version, page)
    assert (codes.tolist(), offsets.tolist()) == ([3, 0, 6, 0], [9, 9, 9, 9])
    other_orders = [
        [in_order[2], in_order[0], in_order[1]],
        [("a", [(2, 0), (0, 3)]), *in_order[1:]],
        [("a", [(2, 0)]), *in_order[1:], ("a", [(0, 3)])],
        [("unknown", [(0, 5)]), ("none", []), *in_order],
    ]
    for indexes in other_orders:
        assert list_offsets._in_order(answer_of(version, *indexes), version, page) is None
        codes, offsets = list_offsets.offsets(answer_of(version, *indexes), version, page)
        assert (codes.tolist(), offsets.tolist()) == ([3, 0, 6, 0], [9, 9, 9, 9])


@pytest.mark.parametrize("version", range(1, 6))
def test_what_an_answer_leaves_out_or_tells_twice_is_seen(version):
    page = columns_of([question(*row) for row in ASKED_PAGE])
    answer = answer_of(version, ("b", [(7, 6), (-7, 0)]), ("a", [(1, 0), (2, 0)]))
    assert list_offsets.errors(answer, version, page).tolist() == [list_offsets.NO_ANSWER, 0, 6, list_offsets.NO_ANSWER]
    for twice in ([("a", [(0, 0), (0, 0)])], [("a", [(0, 0)]), ("b", []), ("a", [(0, 6)])]):
        with pytest.raises(WireError, match="a partition of a appears twice"):
            list_offsets.errors(answer_of(version, *twice), version, page)
    again = columns_of([question("a", 0), question("a", 0)])
    with pytest.raises(WireError, match="appears twice"):
        list_offsets.errors(answer_of(version, ("a", [(0, 0), (0, 0)])), version, again)


@pytest.mark.parametrize("version", range(2, 12))
def test_transactions_that_are_open_for_long_become_rows(broker, version):
    broker.apis[2] = (0, version)
    broker.offsets = {("a", 0): (20, 5, -1), ("a", 1): (20, 5, 7), ("a", 2): (20, 5, 5), ("a", 3): (20, 20, -1)}
    broker.offsets["a", 4] = (20, 5, lambda age_s: 5 if age_s > 900 else 9)  # it began minutes ago
    broker.errors = {("b", 0): 6}
    asked = [*(question("a", number) for number in range(5)), question("b", 0), question("c", 0, as_leader=False, leader=0)]
    rows = ask(broker, asked, transaction_ms=900_000)
    transactions = {
        (row.topic, row.partition, row.stable_offset, row.end_offset, row.older_than_ms) for row in of(rows, OldTransaction)
    }
    assert transactions == {("a", 0, 5, 20, 960_000), ("a", 1, 5, 20, 960_000), ("a", 4, 5, 20, 60_000)}
    assert reads(rows)["read_committed offsets"] == ("answered", None, None)


def test_transactions_are_asked_for_where_their_topic_exists(broker):
    broker.offsets = {("a", 0): (20, 5, -1)}
    assert of(ask(broker, [question("a", 0)]), OldTransaction) == []
    broker.errors = {("a", 0): 29}
    refused = reads(ask(broker, [question("a", 0)], transaction_ms=1))["read_committed offsets"]
    assert refused == ("failed", "TOPIC_AUTHORIZATION_FAILED", MAY_DESCRIBE_TOPICS)
    broker.apis[2] = (0, 1)
    assert "read_committed offsets" not in reads(ask(broker, [question("a", 0)], transaction_ms=1))


def test_who_may_lead_what_has_no_leader(broker):
    broker.apis[75] = (0, 0)
    broker.leaderless = {("a", 0): ([1], [0]), ("a", 1): (None, None), ("b", 3): ([], []), ("b", 4): ([0], [])}
    broker.behind = {("b", 4): (1, [1])}
    plan = LeaderQuestionPlan(questions={}, offline={}, disks_fail=False, elr_topics=["a", "b"])
    rows = LeadershipAsker(target_of(broker), 1, ClientOptions(read_s=60.0), plan, first=True).ask()
    replicas = {(row.topic, row.partition): (row.leader, row.eligible, row.last_known) for row in of(rows, EligibleReplicas)}
    assert replicas == {("a", 0): (None, (1,), (0,)), ("b", 3): (None, (), ()), ("b", 4): (1, (0,), ())}
    assert reads(rows) == {"DescribeTopicPartitions": ("answered", None, None)}
    assert LeadershipAsker(target_of(broker), 1, ClientOptions(read_s=60.0), plan).ask() == ()
    broker.leaderless_error = 29
    rows = LeadershipAsker(target_of(broker), 1, ClientOptions(read_s=60.0), plan, first=True).ask()
    assert reads(rows) == {"DescribeTopicPartitions": ("failed", "TOPIC_AUTHORIZATION_FAILED", MAY_DESCRIBE_TOPICS)}


def coordinated(broker, partitions=(0, 1, 2), count=3):
    """Ask a broker that leads partitions of __consumer_offsets, of so many."""
    placed = {number: (2 if number in partitions else 1, [1, 2]) for number in range(count)}
    book = ViewBook()
    plan = plan_of([view_of(book, {"__consumer_offsets": placed}, 0)], book)
    assert plan.coordinators == count
    plan = replace(plan, questions={2: plan.questions[2]} if partitions else {})
    rows = LeadershipAsker(target_of(broker), 1, ClientOptions(read_s=60.0), plan).ask()
    return [row for row in rows if getattr(row, "operation", "") != LIST_OFFSETS]


ALL_READ = {"ListGroups": ("answered", None, None), COORDINATORS: ("answered", None, None), REBALANCING: ("answered", None, None)}


@pytest.mark.parametrize("error", [0, 14, 15])
def test_a_coordinator_says_whether_it_is_ready(broker, error):
    broker.groups_error = error
    rows = coordinated(broker)
    assert [(row.broker_id, row.error) for row in of(rows, GroupCoordinator)] == [(2, error)]
    assert reads(rows) == {name: read for name, read in ALL_READ.items() if not error or name != REBALANCING}
    found = sample_differences.find_sample_differences(SampleTables(collected(rows)))
    assert bool(found.reasons) == bool(error)


def test_a_coordinator_without_the_right_is_a_failed_read(broker):
    broker.groups_error = 31
    assert reads(coordinated(broker)) == {"ListGroups": ("failed", "CLUSTER_AUTHORIZATION_FAILED", MAY_DESCRIBE_GROUPS)}
    book = ViewBook()
    assert not plan_of([view_of(book, {"a": {0: (0, [0])}}, 0)], book).coordinators


def test_partitions_that_a_leader_does_not_coordinate_are_found_by_a_made_up_group_of_each(broker):
    names = made_up_groups(50)
    assert [id_number(name) % 50 for name in names] == [*range(50)]
    broker.made_up_errors = {names[7]: 16, names[9]: 14, names[3]: 0}
    rows = coordinated(broker, (3, 7, 9), 50)
    assert {(row.broker_id, row.partition, row.error) for row in of(rows, CoordinatorPartition)} == {(2, 7, 16), (2, 9, 14)}
    assert reads(rows) == ALL_READ
    found = sample_differences.find_sample_differences(SampleTables(collected(rows)))
    assert found.reasons == ("the group coordinator of broker 2 answers 14", "the group coordinator of broker 2 answers 16")
    broker.made_up_errors = dict.fromkeys(names, 30)
    rows = coordinated(broker, (3, 7, 9), 50)
    assert reads(rows)[COORDINATORS] == ("failed", "GROUP_AUTHORIZATION_FAILED", MAY_DESCRIBE_GROUPS)
    rows = coordinated(broker, (0,), 1001)
    assert reads(rows)[COORDINATORS][0] == "failed"


def test_groups_in_a_rebalance_are_described_and_no_others(broker):
    broker.groups = {"a": (0, "consumer", [("app", b"")] * 2), "quiet": (0, "consumer", []), "denied": (30, "consumer", [])}
    broker.new_groups = {"b": (0, [("app", {"orders": [0]})])}
    broker.apis[69] = (0, 1)
    broker.group_states = {"a": "PreparingRebalance", "b": "Reconciling", "denied": "CompletingRebalance"}
    rows = coordinated(broker, (0,), 1)
    groups = {(row.group, row.kind, row.state, row.members, row.late, row.late_clients) for row in of(rows, RebalancingGroup)}
    assert groups == {
        ("a", "classic", "PreparingRebalance", 2, 0, ()),
        ("b", "consumer", "Reconciling", 1, 1, ("app at 10.1.1.1, epoch 1",)),
    }
    assert reads(rows)[REBALANCING] == ("failed", "GROUP_AUTHORIZATION_FAILED", MAY_DESCRIBE_GROUPS)
    found = sample_differences.find_sample_differences(SampleTables(collected(rows)))
    assert found.reasons == ("2 groups are in a rebalance",)


def shared(broker, offsets=(0, 1)):
    """Ask a broker of a cluster with share groups, that leads no partition of their topic."""
    broker.apis |= {77: (1, 1), 90: offsets}
    book = ViewBook()
    plan = plan_of([view_of(book, {"__share_group_state": {0: (1, [1, 2])}}, 0)], book)
    assert plan.shares
    rows = LeadershipAsker(target_of(broker), 1, ClientOptions(read_s=60.0), replace(plan, questions={})).ask()
    found = {(row.group, row.topic, row.partition, row.start_offset, row.left) for row in of(rows, SharePartition)}
    return found, reads(rows).get(SHARES)


def test_what_is_left_for_share_groups_is_asked_of_their_coordinator(broker):
    broker.shares = {"jobs": (0, {("a", 0): (0, 5, 7), ("a", 1): (0, 9, 0), ("b", 0): (0, -1, -1)}), "gone": (69, {})}
    broker.groups = {"classic": (0, "consumer", [])}
    assert shared(broker) == ({("jobs", "a", 0, 5, 7), ("jobs", "b", 0, -1, -1)}, ("answered", None, None))
    book = ViewBook()
    assert not plan_of([view_of(book, {"a": {0: (0, [0])}}, 0)], book).shares


def test_a_share_group_that_may_not_be_described_is_a_failed_read(broker):
    broker.shares = {"denied": (29, {}), "jobs": (0, {("a", 0): (0, 5, 7), ("a", 1): (14, 0, 0)})}
    assert shared(broker) == ({("jobs", "a", 0, 5, 7)}, ("failed", "TOPIC_AUTHORIZATION_FAILED", "Describe on Topic '*'"))
    broker.shares = {"jobs": (0, {("a", 0): (0, 5, 7), ("a", 1): (14, 0, 0)})}
    assert shared(broker)[1] == ("failed", "COORDINATOR_LOAD_IN_PROGRESS", None)
    broker.groups_error = 31
    assert shared(broker) == (set(), ("failed", "CLUSTER_AUTHORIZATION_FAILED", MAY_DESCRIBE_GROUPS))


def test_a_partition_of_a_share_group_that_is_left_out_is_no_pass(broker):
    broker.shares = {"jobs": (0, {("a", 0): (0, 5, 7)})}
    broker.silent_about = {("a", 0)}
    assert shared(broker)[1][0] == "failed"


def test_offsets_of_share_groups_need_a_release_with_what_is_left(broker):
    assert shared(broker) == (set(), ("answered", None, None))  # no share group
    broker.shares = {"jobs": (0, {("a", 0): (0, 5, 7)})}
    assert shared(broker, offsets=(0, 0))[1] == ("failed", "not supported", "Kafka 4.2 or later")


def test_topics_of_kraft_without_a_leader_are_asked_about_before_those_with_replicas_out_of_sync():
    book = ViewBook()
    views = [view_of(book, {"behind": {0: (0, [0, 1])}, "none": {0: (-1, [0])}, "whole": {0: (0, [0, 1])}}, 0)]
    assert plan_of(views, book).elr_topics == ["none", "behind"]
    assert plan_of([registry(), *views, registered("a", 0, (0,), -1)], book).elr_topics == ()


def test_how_long_a_transaction_may_be_open_is_the_brokers_word():
    book = ViewBook()
    views = [view_of(book, {"__transaction_state": {0: (0, [0])}}, 0)]
    assert plan_of(views, book).transaction_ms == 900_000
    setting = {"key": "transaction.max.timeout.ms", "source": 4, "sensitive": False}
    settings = [
        BrokerConfig(observer=f"broker:{n}", broker_id=n, value=value, **setting) for n, value in ((0, "60000"), (1, "x"))
    ]
    assert plan_of([*views, *settings], book).transaction_ms == 60_000
    assert plan_of([view_of(book, {"a": {0: (0, [0])}}, 0)], book).transaction_ms is None


def test_many_partitions_are_asked_in_pages(broker, monkeypatch):
    monkeypatch.setattr(leader_reads, "PAGE", 2)
    broker.errors = {("a", 4): 6}
    rows = ask(broker, [question("a", number) for number in range(5)])
    assert broker.pages == [2, 2, 1]
    assert [row.partition for row in of(rows, LeadershipAnswer)] == [4]


def test_a_missing_right_is_a_failed_read_and_no_denial(broker):
    broker.errors = {("a", 0): 29, ("a", 1): 6}
    rows = ask(broker, [question("a", 0), question("a", 1)])
    assert reads(rows) == {LIST_OFFSETS: ("failed", "TOPIC_AUTHORIZATION_FAILED", MAY_DESCRIBE_TOPICS)}
    assert [row.partition for row in of(rows, LeadershipAnswer)] == [1]
    assert of(rows, LeadershipAsked) == []


def test_a_broker_that_hangs_costs_one_deadline(broker):
    broker.mute = {2}
    rows = ask(broker, [question("a", 0)], disks_fail=True, read_s=3.0)
    assert broker.requests[-1][0] == 2, "nothing is asked behind it"
    assert {operation: read[:2] for operation, read in reads(rows).items()} == {
        LIST_OFFSETS: ("failed", "timeout"),
        GROUPS: ("failed", "timeout"),
    }


def test_what_is_not_offered_is_not_asked(broker):
    del broker.apis[2], broker.apis[15]
    assert ask(broker, [question("a", 0)], disks_fail=True) == ()


def test_nothing_to_ask_opens_no_connection(broker):
    assert ask(broker, []) == ()
    assert broker.requests == []


def assignment(topic, *numbers):
    name = topic.encode()
    parts = struct.pack("!hih", 0, 1, len(name)) + name + struct.pack(f"!i{len(numbers)}i", len(numbers), *numbers)
    return parts + struct.pack("!i", -1)


@pytest.mark.parametrize("version", range(5))
def test_members_of_groups_are_told_while_a_disk_is_dead(broker, version):
    broker.apis[15] = (0, version)
    broker.groups = {
        "billing": (0, "consumer", [("c-1", assignment("a", 1, 0)), ("c-2", b"")]),
        "connect": (0, "connect", [("w", b"")]),
    }
    rows = ask(broker, [], disks_fail=True)
    assert {(row.group, row.client_id, row.host, row.partitions) for row in of(rows, GroupMember)} == {
        ("billing", "c-1", "10.1.1.1", ("a-0", "a-1")),
        ("billing", "c-2", "10.1.1.1", ()),
    }
    assert reads(rows) == {GROUPS: ("answered", None, None)}
    assert not [key for key, _, _ in broker.requests if key == 10], "FindCoordinator creates a topic"


@pytest.mark.parametrize("version", range(2))
def test_members_of_groups_of_the_new_protocol_are_told(broker, version):
    broker.apis[69] = (0, version)
    broker.groups = {"billing": (0, "consumer", [("c-1", assignment("a", 1))])}
    broker.new_groups = {"orders": (0, [("c-2", {"a": [0, 2], "b": [1]})]), "gone": (69, [])}
    rows = ask(broker, [], disks_fail=True)
    assert [(row.group, row.client_id, row.host, row.partitions) for row in of(rows, GroupMember)] == [
        ("billing", "c-1", "10.1.1.1", ("a-1",)),
        ("orders", "c-2", "10.1.1.1", ("a-0", "a-2", "b-1")),
    ]
    assert reads(rows) == {GROUPS: ("answered", None, None)}


def test_a_group_without_the_right_leaves_the_others(broker):
    broker.apis[69] = (0, 1)
    broker.new_groups = {"a": (30, []), "b": (0, [("c", {})])}
    rows = ask(broker, [], disks_fail=True)
    assert [row.group for row in of(rows, GroupMember)] == ["b"]
    assert reads(rows) == {GROUPS: ("failed", "GROUP_AUTHORIZATION_FAILED", MAY_DESCRIBE_GROUPS)}


def test_groups_of_the_new_protocol_without_its_api_are_a_failed_read(broker):
    broker.new_groups = {"orders": (0, [])}
    assert reads(ask(broker, [], disks_fail=True)) == {GROUPS: ("failed", "not supported", None)}


@pytest.mark.parametrize("assignment", [b"\0", b"\0\0\xff\xff\xff\xff", b"\0\1" + b"\x7f" * 40])
def test_an_assignment_in_no_known_form_is_none(broker, assignment):
    broker.groups = {"billing": (0, "consumer", [("c-1", assignment)])}
    assert [row.partitions for row in of(ask(broker, [], disks_fail=True), GroupMember)] == [()]


@pytest.mark.parametrize(("listed", "described"), [(30, 0), (0, 30)])
def test_groups_without_the_right_are_a_failed_read(broker, listed, described):
    broker.groups_error, broker.groups = listed, {"billing": (described, "consumer", [])}
    assert reads(ask(broker, [], disks_fail=True)) == {GROUPS: ("failed", "GROUP_AUTHORIZATION_FAILED", MAY_DESCRIBE_GROUPS)}


def test_a_broker_is_asked_where_it_gave_a_view_and_is_itself(broker):
    where = target_of(broker)
    view = replace(view_of(ViewBook(), {}, 2), address=where.address)
    stranger = made(BrokerIdentity, broker_id=2, address=where.address, answered_by=1, kafka_cluster_id="c")
    assert len(leader_reads.targets_to_ask([view], [where])) == 1
    assert leader_reads.targets_to_ask([view, stranger], [where]) == []
    assert leader_reads.targets_to_ask([], [where]) == []


def test_what_did_not_come_in_time_is_a_failed_read(broker):
    asker = LeadershipAsker(
        target_of(broker), 1, ClientOptions(read_s=1), LeaderQuestionPlan(questions={}, offline={}, disks_fail=False)
    )
    assert reads(asker.unanswered(ReadError(ReadFailure.TIMEOUT, "late", "time"))) == {
        LIST_OFFSETS: ("failed", "timeout", "time")
    }


def test_an_unexpected_answer_asks_for_a_second_look():
    row = made(LeadershipAnswer, broker_id=2, topic="a", asked_as="leader", error=6, leader=2, leader_epoch=9, preferred=True)
    found = sample_differences.find_sample_differences(SampleTables(collected([row])))
    assert found.reasons == ("broker 2 answers 6 for 1 partitions",)
    # As a difference of that partition: if its state moved in between, a third look is taken.
    assert {key[:3] for key in found.all()} == {("partition", "a", 0)}


def test_side_by_side_askers_share_nothing():
    fakes = [Serving(2) for _ in range(3)]
    found = []
    for fake in fakes:
        with server(fake) as fake.address:
            thread = threading.Thread(target=lambda broker=fake: found.append(ask(broker, [question("a", 0)])))
            thread.start()
            thread.join()
    assert [reads(rows) for rows in found] == [{LIST_OFFSETS: ("answered", None, None)}] * 3

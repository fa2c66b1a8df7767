"""Metadata bodies cut and decoded, with kafka-python's own decoder as the oracle, and views that do not depend on order."""

import base64
import random
from dataclasses import replace

import pytest
from kafka.protocol.metadata import MetadataResponse

from collect.columns import read_topic, rows_of, topics_of
from collect.fakes import metadata
from kafka_audit.collect.brokers import views
from kafka_audit.collect.brokers.metadata import NEW, VERSIONS, MetadataError, decode_metadata_answer, head, read_topics
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.model.tables import ViewBroker, ViewPartition, ViewTopic
from kafka_audit.store import parquet

ALL = range(VERSIONS[0], VERSIONS[1] + 1)
BROKERS = {0: ("10.0.0.1", 9092), 1: ("10.0.0.2", 9092), 2: ("kafka-2.example", 19092)}


def dice_of(seed):
    return random.Random(seed)  # noqa: S311 -- no secret


def topics(seed, most_replicas=5):
    dice = dice_of(seed)
    found = {}
    for number in range(dice.randrange(1, 8)):
        partitions = {}
        for broker in range(dice.randrange(6)):
            replicas = dice.sample(range(200), dice.randrange(most_replicas))
            partitions[broker] = (replicas[0] if replicas else -1, replicas)
        found[f"topic-{seed}-{number}"] = partitions
    return found


def body(version, held, brokers=BROKERS, controller_id=1):
    return bytes(metadata(version, brokers, held, controller_id).encode(version=version))


def view_rows(book, brokers_digests, topics_digests):
    return rows_of(Collected(rows=tuple(book.rows(brokers_digests)), large=book.large(topics_digests)))


def shuffled(mapping, seed):
    keys = list(mapping)
    dice_of(seed).shuffle(keys)
    return {key: mapping[key] for key in keys}


@pytest.mark.parametrize("version", ALL)
def test_reads_what_kafka_python_reads(version):
    for seed in range(5):
        data = body(version, topics(seed, most_replicas=200))
        theirs = MetadataResponse.decode(data, version=version)
        ours = decode_metadata_answer(data, version)
        assert (ours.controller_id, ours.cluster_id) == (theirs.controller_id, theirs.cluster_id if version >= 2 else None)
        assert [tuple(broker) for broker in ours.brokers] == [
            (broker.node_id, broker.host, broker.port, broker.rack) for broker in theirs.brokers
        ]
        assert len(ours.topics) == len(theirs.topics)
        for raw, their in zip(ours.topics, theirs.topics, strict=True):
            topic = read_topic(raw, version)
            theirs_id = base64.urlsafe_b64encode(their.topic_id.bytes).decode().rstrip("=") if version >= 10 else None
            assert (topic.name, topic.error, topic.topic_id) == (their.name, their.error_code, theirs_id)
            assert [
                (
                    partition.partition,
                    partition.error,
                    partition.leader,
                    partition.leader_epoch,
                    partition.replicas,
                    partition.isr,
                )
                for partition in topic.partitions
            ] == [
                (
                    their_partition.partition_index,
                    their_partition.error_code,
                    their_partition.leader_id,
                    their_partition.leader_epoch if version >= 7 else None,
                    tuple(their_partition.replica_nodes),
                    tuple(sorted(their_partition.isr_nodes)),
                )
                for their_partition in sorted(their.partitions, key=lambda partition: partition.partition_index)
            ]


@pytest.mark.parametrize("version", ALL)
def test_topics_are_decoded_together_as_each_alone(version):
    pieces = [
        raw for seed in range(5) for raw in decode_metadata_answer(body(version, topics(seed, most_replicas=200)), version).topics
    ]
    together = topics_of(read_topics(pieces, version))
    assert together == [read_topic(raw, version) for raw in pieces]
    assert topics_of(read_topics([], version)) == []


@pytest.mark.parametrize("version", [9, 12])
@pytest.mark.parametrize("odd", ["isr_nodes", "replica_nodes", "offline_replicas", None])
def test_partitions_whose_lists_differ_in_length_are_told_apart(version, odd):
    """Those of equal lengths are passed over in one step."""
    answer = metadata(version, BROKERS, {"orders": {number: (0, [0, 1]) for number in range(20)}, "x": {0: (1, [1])}})
    partitions = answer.topics[0].partitions
    for partition in [partitions[7], partitions[-1]] if odd else []:
        setattr(partition, odd, [*getattr(partition, odd), 2])
    orders, last = decode_metadata_answer(bytes(answer.encode(version=version)), version).topics
    assert read_topic(last, version).partitions[0].replicas == (1,)
    names = {"isr_nodes": "isr", "replica_nodes": "replicas"}
    for ours, theirs in zip(read_topic(orders, version).partitions, partitions, strict=True):
        for name in ("isr_nodes", "replica_nodes", "offline_replicas"):
            assert getattr(ours, names.get(name, name)) == tuple(getattr(theirs, name))


def test_a_partition_with_a_tagged_field_is_passed_over_as_any():
    answer = metadata(12, BROKERS, {"orders": {number: (0, [0, 1]) for number in range(3)}, "x": {0: (1, [1])}})
    plain = bytes(answer.encode(version=12))
    (raw, _) = decode_metadata_answer(plain, 12).topics
    size = (len(raw) - raw.index(b"\4" + bytes(6)) - 1 - 5) // 3  # a partition, without what follows them
    last = raw.index(b"\4" + bytes(6)) + 3 * size
    tagged = raw[:last] + b"\1\5\2hi" + raw[last + 1 :]
    body_with_tag = plain.replace(raw, tagged)
    assert [topic == tagged for topic in decode_metadata_answer(body_with_tag, 12).topics] == [True, False]
    assert read_topic(tagged, 12) == read_topic(raw, 12)


@pytest.mark.parametrize("version", [1, 8, 12, 13])
def test_bodies_that_end_early_are_an_error_of_ours(version):
    data = body(version, topics(1))
    for size in range(len(data)):
        with pytest.raises(MetadataError):
            decode_metadata_answer(data[:size], version)


@pytest.mark.parametrize("version", [8, 12])
def test_digests_of_topics_know_every_column_and_no_order(version):
    held = {"orders": {0: (0, [0, 1]), 1: (1, [1, 0])}}

    def digest(change):
        changed = metadata(version, BROKERS, held)
        change(changed.topics[0], changed.topics[0].partitions[0])
        (raw,) = decode_metadata_answer(bytes(changed.encode(version=version)), version).topics
        return read_topics([raw], version).digests[0]

    def turn(topic, _):
        topic.partitions = topic.partitions[::-1]

    same = [lambda *_: None, turn, lambda _, partition: setattr(partition, "isr_nodes", [1, 0])]
    other = [
        lambda topic, _: setattr(topic, "name", "order"),
        lambda _, partition: setattr(partition, "error_code", 5),
        lambda _, partition: setattr(partition, "leader_id", 1),
        lambda _, partition: setattr(partition, "leader_epoch", 77),
        lambda _, partition: setattr(partition, "replica_nodes", [1, 0]),
        lambda _, partition: setattr(partition, "replica_nodes", [0, 1, 1]),
        lambda _, partition: setattr(partition, "isr_nodes", [0]),
        lambda _, partition: setattr(partition, "offline_replicas", [1]),
        lambda topic, _: setattr(topic, "partitions", topic.partitions[:1]),
    ]
    assert len({digest(change) for change in same}) == 1
    assert len({digest(change) for change in [*same, *other]}) == 1 + len(other)


def test_orders_of_a_topic_beyond_those_that_are_kept_are_decoded_again_and_count_once():
    book = ViewBook()
    held = {"orders": {number: (0, [0, 1]) for number in range(5)}}
    digests = {book.add(body(12, {"orders": shuffled(held["orders"], seed)}), 12).topics_digest for seed in range(12)}
    assert len(digests) == 1
    (kept,) = book._known[12].by_head.values()
    assert len(kept) == 3
    assert book.large(digests)[ViewPartition].num_rows == 5


def test_equal_content_in_another_order_is_the_same_view():
    book, held = ViewBook(), topics(4)
    first = book.add(body(12, held), 12)
    turned = {name: shuffled(partitions, 1) for name, partitions in shuffled(held, 2).items()}
    assert body(12, turned, shuffled(BROKERS, 3)) != body(12, held)
    assert book.add(body(12, turned, shuffled(BROKERS, 3)), 12) == first
    rows = list(view_rows(book, [first.brokers_digest], [first.topics_digest]))
    assert sum(isinstance(row, ViewBroker) for row in rows) == 3
    assert sum(isinstance(row, ViewTopic) for row in rows) == len(held)
    assert sum(isinstance(row, ViewPartition) for row in rows) == sum(map(len, held.values()))


def test_a_view_that_came_through_a_proxy_holds_what_brokers_advertise():
    """A proxy that speaks Kafka puts its own addresses in; the same bytes from elsewhere are taken at their word."""
    book = ViewBook({("proxy.example", 19092): ("10.0.0.1", 9092), ("proxy.example", 29092): ("10.0.0.2", 9092)})
    proxied = {0: ("PROXY.example", 19092), 1: ("proxy.example", 29092), 2: ("kafka-2.example", 19092)}
    direct, held = book.add(body(12, topics(4)), 12), body(12, topics(4), proxied)
    assert book.add(held, 12, ("proxy.example", 19092)) == direct
    for elsewhere in (None, ("10.0.0.1", 9092)):
        found = book.add(held, 12, elsewhere)
        assert found.topics_digest == direct.topics_digest
        assert found.brokers_digest != direct.brokers_digest


def test_order_of_isr_means_nothing_and_of_replicas_much():
    def with_partition(replicas, isr):
        answer = metadata(12, BROKERS, {"orders": {0: (0, replicas)}})
        answer.topics[0].partitions[0].isr_nodes = isr
        return bytes(answer.encode(version=12))

    book = ViewBook()
    view = book.add(with_partition([0, 1, 2], [0, 1, 2]), 12)
    assert book.add(with_partition([0, 1, 2], [2, 0, 1]), 12).topics_digest == view.topics_digest
    assert book.add(with_partition([0, 2, 1], [0, 1, 2]), 12).topics_digest != view.topics_digest


def test_the_controller_is_beside_the_digests():
    book, held = ViewBook(), topics(5)
    one, other = book.add(body(12, held, controller_id=1), 12), book.add(body(12, held, controller_id=-1), 12)
    assert (one.controller_id, other.controller_id) == (1, -1)
    assert (one.brokers_digest, one.topics_digest) == (other.brokers_digest, other.topics_digest)


def test_a_view_that_differs_in_one_topic_shares_the_others():
    book = ViewBook()
    held = {"orders": {0: (0, [0, 1])}, "payments": {0: (1, [1, 2])}}
    healthy = book.add(body(12, held), 12)
    stale = book.add(body(12, held | {"orders": {0: (1, [0, 1])}}), 12)
    rows = list(view_rows(book, [healthy.brokers_digest], [healthy.topics_digest, stale.topics_digest]))
    digests = {(row.topic, row.topic_digest) for row in rows if isinstance(row, ViewTopic)}
    assert sorted(name for name, _ in digests) == ["orders", "orders", "payments"]
    assert sum(isinstance(row, ViewPartition) for row in rows) == 3


@pytest.mark.parametrize("version", [7, 12])
def test_known_topics_are_passed_over_and_read_the_same(version):
    known, seen = {}, []
    held = {**topics(6), "ab": {0: (0, [0])}, "abc": {0: (0, [0]), 1: (1, [1])}}
    for changed in (held, shuffled(held, 1), {**held, "ab": {0: (1, [0])}}, {**held, "abc": {0: (0, [0])}}, held):
        data = body(version, changed)
        answer, whole = decode_metadata_answer(data, version, known), decode_metadata_answer(data, version)
        assert replace(answer, numbers=(), topics=()) == replace(whole, numbers=(), topics=())
        new = iter(answer.topics)
        assert [next(new) if number == NEW else seen[number] for number in answer.numbers] == whole.topics
        for topic in answer.topics:
            orders = known.get(head(topic, version), ())
            known[head(topic, version)] = ((topic, len(seen)), *orders)[:2]
            seen.append(topic)
    assert not answer.topics


def test_an_empty_view_has_no_rows_and_a_digest():
    book = ViewBook()
    view = book.add(body(12, {}, {}, controller_id=-1), 12)
    assert (view.brokers_listed, view.topics_listed, view.controller_id) == (0, 0, -1)
    assert list(view_rows(book, [view.brokers_digest], [view.topics_digest])) == []


def test_tables_are_sorted_by_topic_whatever_came_first():
    """What is alike then stands together in the file of a snapshot."""
    book, held = ViewBook(), {name: {0: (0, [0]), 1: (1, [1])} for name in ("b", "a", "c")}
    digests = [
        book.add(body(12, changed), 12).topics_digest for changed in (held, {**held, "a": {0: (1, [0])}}, {"c": {0: (2, [2])}})
    ]
    found = book.large(digests)
    topics = [(row.topic, row.topics_digest) for row in parquet.rows_of(ViewTopic, found[ViewTopic])]
    assert topics == sorted(topics)
    assert len(topics) == 7
    partitions = [(row.topic, row.topic_digest, row.partition) for row in parquet.rows_of(ViewPartition, found[ViewPartition])]
    assert partitions == sorted(partitions)
    assert len(partitions) == 2 * 3 + 1 + 1
    assert book.large(digests) is found, "asked for several times, made once"
    assert book.large(digests[2:])[ViewPartition].num_rows == 1


def test_the_answer_that_most_brokers_send_is_hashed_twice(monkeypatch):
    hashed = []
    blake2b = views.hashlib.blake2b
    monkeypatch.setattr(views.hashlib, "blake2b", lambda data, **size: hashed.append(bytes(data)) or blake2b(data, **size))
    book = ViewBook()
    common, other, next_one = (body(12, topics(seed)) for seed in (4, 5, 6))
    found = [book.add(memoryview(answer), 12) for answer in (common, other, common, common, other, common)]
    assert (hashed.count(common), hashed.count(other)) == (2, 2)
    assert found[0] == found[2] == found[3] == found[5] != found[1] == found[4]
    for _ in range(20):  # leaders moved
        book.add(memoryview(next_one), 12)
    assert hashed.count(next_one) == 1 + views._MISSES + 1

"""Tries what clients do with a cluster: functions.py BROKERS, with a JSON object on standard input.

It has `options` (kafka-python's), `partitions` (pairs of topic and partition), `groups`, and `producers` (transactional ids).
Standard output gets, by function, the partitions, groups and producers at which it fails, as JSON. `consume` means that a record
written now is read.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError

PATIENCE_S = 8


def unable(what, error):
    """Say why somebody could not, and return False."""
    sys.stderr.write(f"{what}: {error!r}\n")
    return False


def failing(step, options, whom):
    """Return who cannot do a step, not even when it is tried once more: a busy machine is no fault."""

    def can(one):
        return step(options, one) or step(options, one)

    with ThreadPoolExecutor(4) as pool:
        return [one for one, able in zip(whom, pool.map(can, whom), strict=True) if not able]


def written(options, partitions, acks):
    """Return the offset of a record by partition, None where it was not taken, not even the second time."""
    first = written_once(options, partitions, acks)
    failed = [place for place, offset in first.items() if offset is None]
    return {**first, **written_once(options, failed, acks)}


def written_once(options, partitions, acks):
    """Return the offset of a record by partition, None where it was not taken."""
    limits = {"retries": 0, "max_block_ms": 8000, "request_timeout_ms": 8000, "delivery_timeout_ms": 9000}
    producer = KafkaProducer(**options, **limits, acks=acks)
    found = {}
    for topic, number in partitions:
        try:
            found[topic, number] = producer.send(topic, b"now" * 1000, partition=number).get(12).offset
        except (KafkaError, AssertionError):
            found[topic, number] = None
    producer.close(1)
    return found


def is_read(options, record):
    """Return whether a record of a partition, which may not have been taken, is read."""
    topic, number, offset = record
    if offset is None:
        return False
    consumer = KafkaConsumer(**options, enable_auto_commit=False)
    place = TopicPartition(topic, number)
    consumer.assign([place])
    consumer.seek(place, offset)
    end = time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < end:
            if any(record.offset == offset for record in consumer.poll(500).get(place, [])):
                return True
        return False
    finally:
        consumer.close()


def commits(options, group):
    """Return whether a group can commit an offset; of which topic is the same to its coordinator."""
    consumer = KafkaConsumer(**options, group_id=group, enable_auto_commit=False)
    place = TopicPartition("orders", 0)
    consumer.assign([place])
    try:
        consumer.commit({place: OffsetAndMetadata(0, "", -1)}, timeout_ms=10_000)
    except KafkaError as error:
        return unable(group, error)
    finally:
        consumer.close(autocommit=False, timeout_ms=500)
    return True


def begins(options, name):
    """Return whether a transactional producer can begin."""
    producer = KafkaProducer(**options, transactional_id=name, max_block_ms=15_000, request_timeout_ms=8000)
    try:
        producer.init_transactions()
    except KafkaError as error:
        return unable(name, error)
    finally:
        producer.close(0)
    return True


def done(options, step):
    """Return whether an administrator can do something."""
    admin = KafkaAdminClient(**options, request_timeout_ms=8000)
    try:
        step(admin)
    except (KafkaError, AssertionError) as error:
        return unable(step.__name__, error)
    finally:
        admin.close()
    return True


def apart(options, partitions):
    """Return the partitions whose replicas have different sizes, some seconds after all records were written."""
    admin = KafkaAdminClient(**options)
    sizes = {place: set() for place in partitions}
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        sizes = {place: set() for place in partitions}
        for broker in admin.describe_log_dirs():
            for folder in broker["log_dirs"]:
                for topic in folder["topics"]:
                    for held in topic["partitions"]:
                        sizes.get((topic["name"], held["partition_index"]), set()).add(held["partition_size"])
        if all(len(found) < 2 for found in sizes.values()):
            break
        time.sleep(0.5)
    admin.close()
    return [place for place, found in sizes.items() if len(found) > 1]


def create(admin):
    """Create a topic, on broker 0."""
    admin.create_topics([NewTopic(f"made-{time.time_ns()}", -1, -1, {0: [0]})], timeout_ms=10_000)


def elect(admin):
    """Ask for the election of preferred leaders; whether one is needed, or possible, says each partition for itself."""
    assert not admin.elect_leaders(0, None, timeout_ms=5000, raise_errors=False).error_code


def main() -> None:
    asked = json.load(sys.stdin)
    options = {**asked["options"], "bootstrap_servers": sys.argv[1].split(",")}
    partitions = [(topic, number) for topic, number in asked["partitions"]]
    strict, loose = written(options, partitions, "all"), written(options, partitions, 1)
    names = {place: "{}-{}".format(*place) for place in partitions}
    unread = failing(is_read, options, [(*place, loose[place]) for place in partitions])
    json.dump(
        {
            "produce_acks_all": [names[place] for place in partitions if strict[place] is None],
            "produce": [names[place] for place in partitions if loose[place] is None],
            "replicate": [names[place] for place in apart(options, partitions)],
            "consume": [names[record[:2]] for record in unread],
            "commit_offsets": failing(commits, options, asked["groups"]),
            "transactions": failing(begins, options, asked["producers"]),
            "create_topics": failing(done, options, [create]) and ["cluster"],
            "elect_leader": failing(done, options, [elect]) and ["cluster"],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()

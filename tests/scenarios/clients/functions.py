"""Tries what clients do with partitions: functions.py BROKERS, with pairs of topic and partition as JSON on standard input.

Standard output gets, by function, the partitions at which it fails, as JSON. `consume` means that a record written now is read.
"""

import json
import sys
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError

PATIENCE_S = 8


def written(brokers, partitions, acks):
    """Return the offset of a record by partition, None where it was not taken."""
    producer = KafkaProducer(
        bootstrap_servers=brokers, acks=acks, retries=0, max_block_ms=5000, request_timeout_ms=5000, delivery_timeout_ms=6000
    )
    found = {}
    for topic, number in partitions:
        try:
            found[topic, number] = producer.send(topic, b"now", partition=number).get(10).offset
        except (KafkaError, AssertionError):
            found[topic, number] = None
    producer.close(1)
    return found


def is_read(brokers, topic, number, offset):
    """Return whether a record is read."""
    consumer = KafkaConsumer(bootstrap_servers=brokers, enable_auto_commit=False)
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


def creates(brokers):
    """Return whether a topic can be created; it is deleted again, for it has one replica."""
    admin = KafkaAdminClient(bootstrap_servers=brokers, request_timeout_ms=8000)
    name = f"made-{time.time_ns()}"
    try:
        admin.create_topics([NewTopic(name, 1, 1)], timeout_ms=5000)
        admin.delete_topics([name], timeout_ms=5000)
    except KafkaError:
        return False
    finally:
        admin.close()
    return True


def main() -> None:
    brokers = sys.argv[1].split(",")
    partitions = [(topic, number) for topic, number in json.load(sys.stdin)]
    strict, loose = written(brokers, partitions, "all"), written(brokers, partitions, 1)
    names = {place: "{}-{}".format(*place) for place in partitions}
    json.dump(
        {
            "produce_acks_all": [names[place] for place in partitions if strict[place] is None],
            "produce": [names[place] for place in partitions if loose[place] is None],
            "consume": [
                names[place] for place in partitions if loose[place] is None or not is_read(brokers, *place, loose[place])
            ],
            "create_topics": [] if creates(brokers) else ["cluster"],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()

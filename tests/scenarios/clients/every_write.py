"""Writes to every partition of a topic with acks=all until standard input ends: every_write.py BROKERS TOPIC PARTITIONS.

Each record is sent until it is taken, as a client with retries does, but each refusal is seen: at the end standard output gets
the number of records that were taken, and how often each error came, as JSON.
"""

import json
import sys
import threading
import time
from collections import Counter

from kafka import KafkaProducer
from kafka.errors import KafkaError

PATIENCE_S = 120
"""A record that no broker takes for so long is lost."""


def write(producer, topic, partition, errors):
    """Send one record until it is taken; return whether it was."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            producer.send(topic, b"record", partition=partition).get(10)
        except (KafkaError, OSError) as error:
            errors[type(error).__name__] += 1
            time.sleep(0.1)
        else:
            return True
    errors["lost"] += 1
    return False


def main() -> None:
    brokers, topic, partitions = sys.argv[1].split(","), sys.argv[2], int(sys.argv[3])
    ended, errors, taken, lock = threading.Event(), Counter(), Counter(), threading.Lock()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()

    def lane(partition):
        producer = KafkaProducer(bootstrap_servers=brokers, acks="all", retries=0, max_block_ms=5000, request_timeout_ms=5000)
        own = Counter()
        while not ended.is_set():
            taken_now = write(producer, topic, partition, own)
            with lock:
                taken[partition] += taken_now
            ended.wait(0.05)
        with lock:
            errors.update(own)
        producer.close(1)

    lanes = [threading.Thread(target=lane, args=(partition,)) for partition in range(partitions)]
    for thread in lanes:
        thread.start()
    for thread in lanes:
        thread.join()
    json.dump({"taken": [taken[partition] for partition in range(partitions)], "errors": errors}, sys.stdout)


if __name__ == "__main__":
    main()

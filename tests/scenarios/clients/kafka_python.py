"""Produces to every partition of a topic until standard input ends: kafka_python.py BROKERS TOPIC PARTITIONS.

Standard output gets a line for each record: the partition, and "ok" or the error.
"""

import sys
import threading

from kafka import KafkaProducer


def main() -> None:
    brokers, topic, partitions = sys.argv[1].split(","), sys.argv[2], int(sys.argv[3])
    producer = KafkaProducer(bootstrap_servers=brokers, client_id="kafka-python", acks=1)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    lock = threading.Lock()

    def told(partition, what):
        with lock:
            sys.stdout.write(f"{partition} {what}\n")
            sys.stdout.flush()

    while not ended.wait(0.2):
        for number in range(partitions):
            sent = producer.send(topic, b"record", partition=number)
            sent.add_callback(lambda _, partition=number: told(partition, "ok"))
            sent.add_errback(lambda error, partition=number: told(partition, error))


if __name__ == "__main__":
    main()

"""How fast the views of many brokers are read and compared: `python benchmarks/views.py [--sizes 10x20000 100x20000 100x200000]`.

Makes the answers of BROKERS brokers to Metadata over PARTITIONS partitions, ten to a topic: a third lists its topics in another
order, as after a restart, and one broker of twenty is stale: it has old leaders for one topic in a hundred. No network:

- audit: what the audit does with them, until each distinct content is known once, as columns
- naive: kafka-python decodes each, and a loop compares each partition with those of the first (three answers, times BROKERS/3)

Prints the CPU time of each, their ratio, and by which power of the number of brokers and of partitions each grows.
"""

import argparse
import random
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from zlib import crc32

from growth import print_growth
from kafka.protocol.metadata import MetadataResponse

from kafka_audit.collect.brokers.views import ViewBook

VERSION = 7  # the newest without varints: simple to write here
PER_TOPIC, REPLICAS = 10, 3
STALE_BROKERS, STALE_TOPICS, NAIVE = 20, 100, 3
INT16, INT32 = struct.Struct("!h"), struct.Struct("!i")


def text(value: str) -> bytes:
    """Return a string of Kafka's protocol."""
    return INT16.pack(len(value)) + value.encode()


def ids(numbers: Sequence[int]) -> bytes:
    """Return an array of int32."""
    return INT32.pack(len(numbers)) + b"".join(map(INT32.pack, numbers))


def topic(name: str, brokers: int, epoch: int) -> bytes:
    """Return a topic of a Metadata answer; with the epoch its leaders move on."""
    partitions = []
    for partition in range(PER_TOPIC):
        held = [(crc32(name.encode()) + partition + step) % brokers for step in range(REPLICAS)]
        head = INT16.pack(0) + INT32.pack(partition) + INT32.pack(held[epoch % REPLICAS]) + INT32.pack(epoch)
        partitions.append(head + ids(held) + ids(sorted(held)) + ids(()))
    return INT16.pack(0) + text(name) + b"\0" + INT32.pack(PER_TOPIC) + b"".join(partitions)


def answers(brokers: int, partitions: int, moved: int = 0, host: str = "b{}.kafka.example") -> Iterator[bytes]:
    """Yield the answer of each broker; the leaders of the last `moved` topics have moved on once more."""
    names = [f"orders.{number:06}.events.v1" for number in range(partitions // PER_TOPIC)]
    epochs = [5] * (len(names) - moved) + [6] * moved
    new, old = ([topic(name, brokers, one - late) for name, one in zip(names, epochs, strict=True)] for late in (0, 1))
    listed = b"".join(INT32.pack(one) + text(host.format(one)) + INT32.pack(9092) + INT16.pack(-1) for one in range(brokers))
    head = INT32.pack(0) + INT32.pack(brokers) + listed + text("kX9wAAAAAAAAAAAAAAAAAQ") + INT32.pack(0)
    common = head + INT32.pack(len(new)) + b"".join(new)
    order = random.Random(7)  # noqa: S311 -- no secret
    for broker in range(brokers):
        if broker % 3 != 1 and broker % STALE_BROKERS != STALE_BROKERS - 1:
            yield common
            continue
        topics = list(new)
        if broker % STALE_BROKERS == STALE_BROKERS - 1:
            topics[::STALE_TOPICS] = old[::STALE_TOPICS]
        order.shuffle(topics)
        yield head + INT32.pack(len(topics)) + b"".join(topics)


def audit(bodies: Sequence[bytes]) -> int:
    """Read all as the audit does; return how many different views there are."""
    book = ViewBook()
    digests = {book.add(body, VERSION).topics_digest for body in bodies}
    book.large(digests)
    return len(digests)


def naive(bodies: Sequence[bytes]) -> int:
    """Decode and compare each; return how many differ from the first."""
    views = []
    for body in bodies:
        found = MetadataResponse.decode(body, version=VERSION)
        views.append(
            {
                (one.name, part.partition_index): (part.leader_id, part.leader_epoch)
                for one in found.topics
                for part in one.partitions
            }
        )
    return sum(view != views[0] for view in views)


def cpu_s(work: Callable[[Sequence[bytes]], int], bodies: Sequence[bytes]) -> float:
    """Return the CPU seconds of one call."""
    began = time.process_time()
    work(bodies)
    return time.process_time() - began


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["10x20000", "100x20000", "100x200000"], metavar="BROKERSxPARTITIONS")
    sizes = [tuple(map(int, size.split("x"))) for size in parser.parse_args().sizes]
    took: dict[tuple[int, ...], dict[str, float]] = {}
    audit(list(answers(3, 1000)))  # not counted: libraries are loaded
    print("| brokers | partitions | MB | audit | naive | naive / audit |\n|---|---|---|---|---|---|")
    for brokers, partitions in sizes:
        bodies = list(answers(brokers, partitions))
        ours = cpu_s(audit, bodies)
        theirs = cpu_s(naive, bodies[:NAIVE]) * brokers / NAIVE
        took[brokers, partitions] = {"audit": ours, "naive": theirs}
        megabytes = sum(map(len, bodies)) / 1e6
        print(
            f"| {brokers} | {partitions:,} | {megabytes:,.0f} | {ours:.2f} s | {theirs:.1f} s | {theirs / ours:.0f} |", flush=True
        )
    print_growth(took)
    return 0


if __name__ == "__main__":
    sys.exit(main())

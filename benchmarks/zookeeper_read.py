"""How fast partition states come out of ZooKeeper, three ways: `python benchmarks/zookeeper_read.py [--znodes 20000]`.

Starts a ZooKeeper of its own in the test bed (Linux network namespaces, Java 17), writes znodes like partition states, and
prints znodes a second for kazoo's get in a loop, kazoo's get_async pipelined, and what the audit does (multiRead).
"""

import argparse
import json
import logging
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError

from kafka_audit.clients.zookeeper.multi_read import SINGLE_WINDOW, ZnodeReader

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from testbed import Bed
from testbed.jars import kafka_jars
from testbed.servers import ZOOKEEPER_PORT, zookeeper

ADDRESS = "10.99.0.2"
ROUNDS = 3
PARTITIONS = 100  # per topic
SECONDS = 120.0
START_SECONDS = 30.0


def paths(count: int) -> list[str]:
    """Return the paths of that many partition states."""
    numbers = [divmod(number, PARTITIONS) for number in range(count)]
    return [f"/brokers/topics/topic-{topic}/partitions/{number}/state" for topic, number in numbers]


def write(client: KazooClient, names: list[str]) -> None:
    """Write the znodes, a topic in one transaction."""
    state = {"controller_epoch": 1, "leader": 0, "version": 1, "leader_epoch": 0, "isr": [0, 1, 2]}
    data = json.dumps(state, separators=(",", ":")).encode()
    client.ensure_path("/brokers/topics")
    for start in range(0, len(names), PARTITIONS):
        request = client.transaction()
        topic = names[start].rpartition("/partitions/")[0]
        request.create(topic)
        request.create(f"{topic}/partitions")
        for name in names[start : start + PARTITIONS]:
            request.create(name.rpartition("/")[0])
            request.create(name, data)
        request.commit()


def one_by_one(client: KazooClient, names: list[str]) -> int:
    """Read with a round trip per znode."""
    return sum(bool(client.get(name)[0]) for name in names)


def pipelined(client: KazooClient, names: list[str]) -> int:
    """Read with many requests under way."""
    under_way = deque()
    read = 0
    for name in names:
        under_way.append(client.get_async(name))
        if len(under_way) >= SINGLE_WINDOW:
            read += bool(under_way.popleft().get(timeout=SECONDS)[0])
    return read + sum(bool(one.get(timeout=SECONDS)[0]) for one in under_way)


def by_multi_read(client: KazooClient, names: list[str]) -> int:
    """Read as the audit does."""
    return sum(bool(one.data) for one in ZnodeReader(client, SECONDS, time.monotonic() + SECONDS).get_many(names).values())


WAYS: dict[str, Callable[[KazooClient, list[str]], int]] = {
    "kazoo get, in a loop": one_by_one,
    "kazoo get_async, pipelined": pipelined,
    "multiRead": by_multi_read,
}


def measure(connect: str, count: int) -> None:
    """Write the znodes and print a table, a line per way and round; ratios are against the first way of that round."""
    logging.getLogger("kazoo").setLevel(logging.ERROR)  # the first attempts find a server that is still starting
    client = KazooClient(hosts=connect, timeout=30.0)
    client.start(timeout=START_SECONDS)
    names = paths(count)
    write(client, names)
    print(f"{count} znodes of a partition state each, client and server on one machine")
    for number in range(1, ROUNDS + 1):
        base = None
        for way, read in WAYS.items():
            started = time.perf_counter()
            if read(client, names) != count:
                sys.exit(f"{way}: not all znodes were read")
            speed = count / (time.perf_counter() - started)
            base = base or speed
            print(f"round {number}  {way:<28} {speed:>9,.0f} znodes/s  x {speed / base:.1f}", flush=True)
    client.stop()
    client.close()


def main() -> int:
    """Start the ZooKeeper, and this file again where it can be reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--znodes", type=int, default=20_000)
    parser.add_argument("--version", default="3.9.1", help="Kafka release whose ZooKeeper is started (default 3.9.1)")
    parser.add_argument("--connect", help="a ZooKeeper to write to and read from, instead of one of its own")
    options = parser.parse_args()
    if options.connect:
        try:
            measure(options.connect, options.znodes)
        except KazooTimeoutError as error:
            sys.exit(f"{options.connect}: {error}")
        return 0
    with tempfile.TemporaryDirectory(prefix="kafka-audit-bench-", ignore_cleanup_errors=True) as folder, Bed(Path(folder)) as bed:
        server = zookeeper(bed.hosts.add("zookeeper", ADDRESS), Path(folder) / "zookeeper", kafka_jars(options.version))
        server.launch()
        command = [sys.executable, __file__, "--connect", f"{ADDRESS}:{ZOOKEEPER_PORT}", "--znodes", str(options.znodes)]
        status = bed.worker.popen(command, stdin=None).wait()
        server.signal_stop(hard=True)
        server.await_end()
        return int(status)


if __name__ == "__main__":
    sys.exit(main())

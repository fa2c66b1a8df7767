"""Whole audits of large clusters, by each engine: `python benchmarks/large_audits.py [--sizes 100x20000 100x200000 100x1000000]`.

The brokers are fakes on loopback, in a process of their own, that give the answers of `views.py`: a third lists its topics in
another order, one of twenty is stale. Each engine audits the cluster twice with `kafka-audit run`; in between the leaders of one
topic in two hundred move. The second audit counts: it has something to compare with, and two samples, because views differ.

Prints the wall time, the CPU time and the most memory of all its processes together, and what the second snapshot takes on the
disk; beside it the floor: each view fetched, read and compared, once for each sample, and nothing else. Ratios are of CPU time,
because fakes and audit share the cores, and because two samples are five seconds apart. Exits with 1 if an audit does not name
the stale brokers. Needs Java 17.
"""

import argparse
import json
import multiprocessing
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from large_clusters import MOVED, Cost, Watched  # it puts the tests' folder on the path
from views import PER_TOPIC, STALE_BROKERS, VERSION, answers
from views import audit as compared

from collect.fakes import FakeBroker
from kafka_audit.store import Store

HOST, PORT = "127.77.0.{}", 9092
METADATA, SAMPLES = 3, 2
ALL_TOPICS = struct.pack("!i", -1)
ENGINES = ("duckdb", "spark")
QUESTION = struct.pack("!hhih", METADATA, VERSION, 1, -1) + ALL_TOPICS + b"\0"


class LargeBroker(FakeBroker):
    """A fake whose view is bytes."""

    def __init__(self, broker_id: int) -> None:
        """Begin without a view."""
        super().__init__(broker_id)
        self.apis[METADATA] = (0, VERSION)
        self.body = b""

    def _answer(self, connection: socket.socket, request: bytes) -> None:
        key, _, correlation = struct.unpack_from("!hhi", request)
        if key == METADATA and ALL_TOPICS in request[-5:]:
            connection.sendall(struct.pack("!ii", len(self.body) + 4, correlation) + self.body)
        else:
            super()._answer(connection, request)


def serve(brokers: int, partitions: int, told: Connection) -> None:
    """Be the brokers; move leaders each time that something is received."""
    fakes = [LargeBroker(number) for number in range(brokers)]
    for fake in fakes:
        fake.brokers = {one.id: (HOST.format(one.id), PORT) for one in fakes}
        listener = socket.create_server((HOST.format(fake.id), PORT), backlog=64)
        threading.Thread(target=listen, args=(fake, listener), daemon=True).start()
    for moved in (0, *(round_ * (partitions // PER_TOPIC // MOVED) for round_ in range(1, 2 * len(ENGINES) + 1))):
        for fake, body in zip(fakes, answers(brokers, partitions, moved, HOST), strict=True):
            fake.body = body
        told.send(moved)
        told.recv()


def listen(fake: LargeBroker, listener: socket.socket) -> None:
    """Answer on the address of a broker."""
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=converse, args=(fake, connection), daemon=True).start()


def converse(fake: LargeBroker, connection: socket.socket) -> None:
    """Answer until the other side has had enough."""
    with closing(connection), suppress(OSError):
        fake(connection)


@contextmanager
def cluster(brokers: int, partitions: int) -> Iterator[Connection]:
    """Have such a cluster; yield what moves its leaders."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(brokers, partitions, there), daemon=True)
    process.start()
    try:
        here.recv()
        yield here
    finally:
        process.kill()
        process.join()


def move_leaders(brokers: Connection) -> None:
    """Let leaders move, in all views that are not stale."""
    brokers.send(None)
    brokers.recv()


def fetched(broker: int) -> bytes:
    """Return the view of a broker, as it comes."""
    with socket.create_connection((HOST.format(broker), PORT)) as connection:
        connection.sendall(struct.pack("!i", len(QUESTION)) + QUESTION)
        size = struct.unpack("!i", connection.recv(4, socket.MSG_WAITALL))[0]
        body = bytearray(size)
        left = memoryview(body)
        while left:
            left = left[connection.recv_into(left) :]
    return bytes(body[4:])


def floor(brokers: int) -> Cost:
    """Return what it takes to have each view and to compare them, once."""
    began, cpu = time.monotonic(), time.process_time()
    with ThreadPoolExecutor(8) as pool:
        compared(list(pool.map(fetched, range(brokers))))
    return Cost(time.monotonic() - began, time.process_time() - cpu)


def audited(folder: Path, engine: str) -> tuple[Cost, set[str]]:
    """Audit the cluster once; return the cost and the brokers that are named as stale."""
    config = folder / "clusters.yaml"
    config.write_text(json.dumps({"clusters": {"big": {"bootstrap": [f"{HOST.format(0)}:{PORT}"]}}}))
    command = [Path(sys.executable).with_name("kafka-audit"), "run", "big", "--config", config, "--out", folder / engine]
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    whole = [*map(str, command), "--engine", engine, "--format", "json"]
    with subprocess.Popen(whole, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        watched = Watched(process)
        said, errors = process.communicate()
        cost = watched.end()
    if process.returncode not in {0, 3}:
        sys.exit(f"{engine} exited with {process.returncode}:\n{errors[-3000:]}")
    found = json.loads(said)["findings"]
    return cost, {one["resource"]["name"] for one in found if one["code"] == "KA101" and one["status"] == "FAIL"}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["100x20000", "100x200000", "100x1000000"], metavar="BROKERSxPARTITIONS")
    missed = []
    print("| brokers | partitions | way | wall | CPU | memory | CPU / floor | a snapshot |\n|---|---|---|---|---|---|---|---|")
    for brokers, partitions in (tuple(map(int, size.split("x"))) for size in parser.parse_args().sizes):
        stale = {f"broker/{one}" for one in range(brokers) if one % STALE_BROKERS == STALE_BROKERS - 1}
        row = f"| {brokers} | {partitions:,} |"
        with tempfile.TemporaryDirectory(prefix="kafka-audit-benchmark-") as name, cluster(brokers, partitions) as moving:
            least = floor(brokers)
            print(f"{row} floor of one sample | {least.wall:.1f} s | {least.cpu:.1f} s | | | |", flush=True)
            for engine in ENGINES:
                audited(Path(name), engine)
                move_leaders(moving)
                cost, named = audited(Path(name), engine)
                move_leaders(moving)
                missed += [f"{partitions:,} {engine}: {sorted(named ^ stale)}"] if named != stale else []
                store = Store(Path(name) / engine)
                newest = store.manifests()[0].snapshot_id
                size = sum(path.stat().st_size for path in Path(store.root, "snapshots", newest).rglob("*")) / 1e6
                print(f"{row} {engine} | {cost} | {cost.cpu / least.cpu / SAMPLES:.2f} | {size:.1f} MB |", flush=True)
    print(
        f"\nstale brokers are not named, or others are: {'; '.join(missed)}" if missed else "\neach audit names the stale brokers"
    )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())

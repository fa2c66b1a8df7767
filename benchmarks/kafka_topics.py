"""What one question costs by `kafka-topics --describe` at each broker, and by an audit: `python benchmarks/kafka_topics.py`.

The question: does a broker report other topics, leaders or ISRs than the others? Real clusters of the test bed (Linux network
namespaces, Java 17), KRaft, Kafka 4.3.0, one for each size of `--sizes` (BROKERSxPARTITIONS):

- kafka-topics: the tool of Kafka's distribution, `--describe` with the address of one broker, once for each broker, one after
  the other; a JVM each. Comparing the outputs is not counted.
- snapshot: `kafka-audit snapshot`. It reads all brokers at once, and also what the tool does not: settings, log directories,
  ACLs, probes of each address. Its digests show which views differ. Nothing is judged.
- run: `kafka-audit run`, with all checks and the report.

Each is run once without counting it, then `--rounds` times in turn. Prints the medians of wall time and CPU time, the ratios of
the wall times, and by which power of the number of brokers and of partitions they grow.
"""

import argparse
import json
import os
import re
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml
from growth import print_growth

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from testbed import Bed  # noqa: E402 -- found by the path above
from testbed.brokers import BaseCluster  # noqa: E402 -- see above
from testbed.corpus.tools import Tools  # noqa: E402 -- see above

VERSION, NAME, PER_TOPIC, REPLICAS = "4.3.0", "far", 50, 3
LINE = re.compile(r"\tPartition: \d+\tLeader: ")
WAYS = ("kafka-topics", "snapshot", "run")
Cost = tuple[float, float]


def children_cpu_s() -> float:
    """Return the CPU seconds of all children that ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def cost(work: Callable[[], None]) -> Cost:
    """Return wall and CPU seconds of what a call starts and awaits."""
    began, cpu = time.monotonic(), children_cpu_s()
    work()
    return time.monotonic() - began, children_cpu_s() - cpu


def fill(cluster: BaseCluster, partitions: int) -> None:
    """Create topics with so many partitions together."""
    ids = list(cluster.brokers)
    for number in range(partitions // PER_TOPIC):
        held = {one: [ids[(number + one + step) % len(ids)] for step in range(REPLICAS)] for one in range(PER_TOPIC)}
        cluster.create_topic(f"orders-{number:03}", held)
    cluster.await_settled()


def measure(bed: Bed, cluster: BaseCluster, partitions: int, folder: Path, rounds: int) -> dict[str, Cost]:
    """Return the median cost of each way."""
    tools = Tools(bed, cluster)
    folder.mkdir()
    entry = yaml.safe_load(cluster.clusters_yaml(NAME))["clusters"][NAME]
    entry = {key: value for key, value in entry.items() if key not in {"vantages", "properties", "logs"}}
    (folder / "clusters.yaml").write_text(json.dumps({"clusters": {NAME: entry}}))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_AUDIT_")}

    def describe() -> None:
        for broker in cluster.brokers.values():
            said = tools.demand(f"kafka-topics.sh --bootstrap-server {broker.address} --describe", 300)
            if (found := len(LINE.findall(said))) < partitions:
                sys.exit(f"broker {broker.id} describes {found} partitions of {partitions}:\n{said[-500:]}")

    def audit(command: str) -> None:
        line = [sys.executable, "-m", "kafka_audit.cli", command, NAME, "--config", str(folder / "clusters.yaml")]
        done = bed.worker.run([*line, "--out", str(folder / command), "--quiet"], cwd=folder, env=environment)
        if done.returncode not in {0, 3}:  # 3: findings
            sys.exit(f"{command} exited with {done.returncode}: {done.stderr[-1000:]}")

    ways: dict[str, Callable[[], None]] = {
        "kafka-topics": describe,
        "snapshot": lambda: audit("snapshot"),
        "run": lambda: audit("run"),
    }
    costs: dict[str, list[Cost]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        for way, work in ways.items():
            found = cost(work)
            costs[way] += [found] if number else []
    return {
        way: (statistics.median(wall for wall, _ in of), statistics.median(cpu for _, cpu in of)) for way, of in costs.items()
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["3x200", "9x1000"], metavar="BROKERSxPARTITIONS")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    found: dict[tuple[int, ...], dict[str, Cost]] = {}
    print(
        "| brokers | partitions | kafka-topics (CPU) | snapshot (CPU) | run (CPU)"
        " | tool / snapshot | tool / run |\n"
        "|---|---|---|---|---|---|---|"
    )
    for brokers, partitions in (tuple(map(int, size.split("x"))) for size in arguments.sizes):
        with (
            tempfile.TemporaryDirectory(prefix="kafka-audit-", ignore_cleanup_errors=True) as folder,
            Bed(Path(folder) / "bed") as bed,
        ):
            cluster = bed.kraft(VERSION, brokers, 1)
            fill(cluster, partitions)
            of = found[brokers, partitions] = measure(bed, cluster, partitions, Path(folder) / "audits", arguments.rounds)
        each = " | ".join(f"{of[way][0]:.1f} s ({of[way][1]:.1f} s)" for way in WAYS)
        ratios = " | ".join(f"{of[WAYS[0]][0] / of[way][0]:.1f}" for way in WAYS[1:])
        print(f"| {brokers} | {partitions:,} | {each} | {ratios} |", flush=True)
    print_growth({size: {way: wall for way, (wall, _) in of.items()} for size, of in found.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())

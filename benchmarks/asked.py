"""What an audit asks of the brokers that it audits: `python benchmarks/asked.py`.

Real brokers in the test bed (Linux network namespaces, Java 17; needs root), of Kafka 3.9.1 with ZooKeeper and of 4.3.0, with
topics, groups and transactions. Brokers log each request (`kafka.request.logger`), and what an audit sent is counted: requests,
connections that carried one, and how many of these there were at a time. README promises one at a time. Prints a Markdown table;
exits with 1 if that is not so. About 5 minutes.
"""

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from scenarios.audits import Audits  # noqa: E402 -- of the tests, found by the path above
from testbed import Bed, servers  # noqa: E402 -- see above
from testbed.brokers import BaseCluster, Broker  # noqa: E402 -- see above
from testbed.population import populate  # noqa: E402 -- see above

RELEASES = ("3.9.1", "4.3.0")
USUAL = servers.LOG4J
CLIENT = '"clientId":"kafka-audit"'
_LINE = re.compile(
    r"^\[(?P<at>[^\]]+)\] DEBUG Completed request:\s?(?P<request>\{.*\}) \(kafka\.request\.logger\)$", re.MULTILINE
)


class Asked:
    """The requests of audits to one broker, by its own log, since it was looked at last."""

    def __init__(self, broker: Broker) -> None:
        """Begin at the end of the log."""
        self._log = broker.log_dir / "server.log"
        self._offset = self._log.stat().st_size

    def requests(self) -> Iterator[tuple[float, str, str]]:
        """Yield when each request was completed, the connection that carried it, and its API."""
        with self._log.open(errors="replace") as lines:
            lines.seek(self._offset)
            text = lines.read()
            self._offset = lines.tell()
        for found in _LINE.finditer(text):
            if CLIENT in found["request"]:
                request = json.loads(found["request"])
                at = datetime.fromisoformat(found["at"].replace(",", ".")).timestamp()
                yield at, request["connection"], request["requestHeader"]["requestApiKeyName"]


def at_a_time(requests: list[tuple[float, str, str]]) -> int:
    """Return how many connections carried requests at a time, at most."""
    spans = [
        (min(times), max(times))
        for connection in {one[1] for one in requests}
        if (times := [one[0] for one in requests if one[1] == connection])
    ]
    return max((sum(begin <= at <= end for begin, end in spans) for at, _ in spans), default=0)


def started(bed: Bed, release: str) -> BaseCluster:
    """Return a cluster of a release that logs requests."""
    logs = bed.folder / "log4j.properties"
    logs.write_text(f"{USUAL.read_text()}log4j.logger.kafka.request.logger=DEBUG\n")
    servers.LOG4J = logs
    cluster = bed.cluster(release) if release < "4" else bed.kraft(release, controllers=1)
    populate(bed, cluster)
    return cluster


def main() -> int:
    """Audit both releases twice each; return the exit code."""
    worst = 0
    print("| Kafka | audit | broker | connections | at a time | requests | of them |\n|---|---|---|---|---|---|---|")
    for release in RELEASES:
        with tempfile.TemporaryDirectory() as folder, Bed(Path(folder) / "bed") as bed:
            cluster = started(bed, release)
            audits = Audits(bed, cluster, Path(folder) / "audits")
            asked = {broker.id: Asked(broker) for broker in cluster.brokers.values()}
            for number in (1, 2):
                audits.by_command("far")
                for broker, log in asked.items():
                    requests = [*log.requests()]
                    together = at_a_time(requests)
                    worst = max(worst, together)
                    apis = ", ".join(f"{name} {count}" for name, count in Counter(one[2] for one in requests).most_common())
                    connections = len({one[1] for one in requests})
                    print(
                        f"| {release} | {number} | {broker} | {connections} | {together} | {len(requests)} | {apis} |", flush=True
                    )
    return 0 if worst == 1 else 1


if __name__ == "__main__":
    sys.exit(main())

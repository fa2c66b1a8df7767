"""Queue vantages: what a worker of another Airflow queue is asked to probe, what it says, and the rows this becomes.

An errand and its answer are JSON and go through XCom: addresses, names of mechanisms and the certificates of `ca_file`, nothing
that opens a door. An errand is for the queues that its cluster names, and no other. The worker there probes twice, `settle_s`
apart; the first sample of the snapshot gets the first result, later samples the second. An endpoint that was registered again
since then is not judged by earlier probes.
"""

import heapq
import io
import json
import time
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from kafka_audit.bounds.kept_brokers import keep_brokers
from kafka_audit.clients import probe_script
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.protocol.conversation import ClientOptions
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.targets import Target, flat, registered_targets
from kafka_audit.collect import priorities
from kafka_audit.collect.brokers.discovery import Discovery
from kafka_audit.collect.probes import command_vantages, endpoint_probes
from kafka_audit.collect.probes.endpoint_probes import Origin
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper.zookeeper_view import read_control
from kafka_audit.model.cluster import Cluster, Limits, Vantage
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import RegisteredBroker, RegisteredEndpoint, Row

Json = Mapping[str, Any]
NEEDS_QUEUES = "an Airflow executor with queues"
SAMPLES = 2
ERRAND_READS = 6
"""How many times `read_s` it may take to learn what is registered, before the audit itself begins."""

MOST_BYTES = 4 * 1024 * 1024
"""Of an errand, and of each sample of its answer, in Airflow's database: as much as the command of a vantage may write.

A listener with TLS takes two KB, one without it 400 bytes.
"""

_GRACE_S = 0.5
_SHORTER = f"answers of all endpoints that take {MOST_BYTES} bytes at most"
_NOT_PROBED = ReadError(ReadFailure.NOT_PROBED, needs="another audit")


def errand(cluster: Cluster, secrets: Mapping[str, str]) -> Json:
    """Return what the queues of a cluster are to probe: what is registered now; no endpoint if they are unknown.

    Args:
        cluster: an entry of the cluster file.
        secrets: where variables named by `password_env` are looked up; none of them goes into the errand.
    """
    limits, read_s = cluster.limits, cluster.limits.read_s
    logins = ClusterLogins(cluster, secrets)
    budget = Budget(cluster).part(read_s * ERRAND_READS)
    rows: Sequence[Row] = ()
    claims: priorities.Claims = {}
    try:
        if cluster.zookeeper is not None:
            until = budget.part(budget.left() / 2)
            with suppress(ReadError):  # the sample that follows reports it
                read = read_control(cluster.zookeeper, secrets, read_s=read_s, budget=until, tls=logins.zookeeper_tls)
                rows = [row for row in read if isinstance(row, RegisteredBroker | RegisteredEndpoint)]
        if not rows and cluster.bootstrap:
            options = ClientOptions(read_s=read_s, logins=logins, budget=budget)
            discovery = Discovery(cluster, 1, options, budget.deadline)
            rows, claims = discovery.listed(), discovery.claims
    finally:
        budget.close()
    listed = registered_targets([row for row in rows if isinstance(row, RegisteredEndpoint)], cluster)
    brokers = keep_brokers(limits.brokers, priorities.vouchers_of_targets(listed, rows, budget.named, claims=claims))
    kept = priorities.kept_targets(listed, brokers.ids, budget.named, min(limits.endpoints, limits.probes))
    targets = [target for target in flat(kept) if endpoint_probes.left_out(target, logins) is None]
    written = _written(rows)
    most = bisect([*accumulate(map(_size, targets))], MOST_BYTES)
    return {
        "queues": sorted({vantage.queue for vantage in cluster.vantages if vantage.queue is not None}),
        "read_s": read_s,
        "settle_s": limits.settle_s,
        "audit_s": limits.audit_s,
        "endpoints": [[*_key(target), written.get(target.broker_id)] for target in targets[:most]],
        "script": command_vantages.asked(targets[:most], logins, budget.excepted),
    }


def errands_of_queue(queue: str, errands: Mapping[str, Json]) -> dict[str, Json]:
    """Return the errands for a queue: an address that a cluster lists is dialled from no queue of another one."""
    return {cluster: errand for cluster, errand in errands.items() if queue in errand.get("queues", ())}


def probe_errands(errands: Mapping[str, Json]) -> dict[str, list[str]]:
    """Probe the endpoints of each cluster twice from here; return the lines of each sample by cluster.

    Clusters are probed in parallel, each within its own `audit_s`.
    """
    clusters = [*errands]
    until = time.monotonic() + max((_audit_s(row) for row in errands.values()), default=0.0)
    samples = side_by_side([partial(_samples, errands[cluster]) for cluster in clusters], len(clusters), until + _GRACE_S)
    return {cluster: sample if isinstance(sample, list) else [] for cluster, sample in zip(clusters, samples, strict=True)}


def _audit_s(json: Json) -> float:
    """Return how long a cluster's errand may take; one of an older version does not say it."""
    return float(json.get("audit_s", Limits().audit_s))


def _samples(json: Json) -> list[str]:
    """Probe the endpoints of one cluster twice; each sample has half of the time."""
    seconds = max(0.0, _audit_s(json) - json["settle_s"]) / SAMPLES
    samples = []
    for number in range(SAMPLES):
        if number:
            time.sleep(min(json["settle_s"], _audit_s(json)))
        output = _BoundedOutput()
        probe_script.probe_all(json["script"], json["read_s"], output, seconds)
        samples.append(output.getvalue())
    return samples


class _BoundedOutput(io.StringIO):
    """A text file for `probe_all`, which writes all lines of an endpoint at once.

    Of more than `MOST_BYTES`, as JSON, the longest texts go: a party that writes without end displaces itself, and no other. A
    line says so.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[tuple[int, str]] = []
        self._left_out: list[str] = []
        self._size = 0

    def write(self, text: str, /) -> int:
        size = len(json.dumps(text))
        heapq.heappush(self._kept, (-size, text))
        self._size += size
        while self._size > MOST_BYTES:
            longest, left_out = heapq.heappop(self._kept)
            self._size += longest
            index = int(left_out.split("\t", 2)[1])
            step = ("dns", "unknown", ReadFailure.OVER_LIMIT.name, None, _SHORTER, 0)
            self._left_out.append(probe_script.probe_line(index, step) + "\n")
        return len(text)

    def getvalue(self) -> str:
        return "".join([*(text for _, text in self._kept), *self._left_out])


@dataclass(frozen=True, kw_only=True)
class QueueAnswer:
    """What came back from a queue: the endpoints that it was asked for, and `samples`; without samples, the reason."""

    endpoints: Sequence[Sequence[Any]]
    samples: Sequence[str] = ()
    error: str | None = None
    needs: str | None = None

    def rows(
        self, vantage: Vantage, sample: int, targets: Sequence[Target], registered: Iterable[Row], logins: ClusterLogins
    ) -> tuple[Row, ...]:
        """Return the rows of one sample; what the worker did not probe is unknown, with the missing requirement."""
        origin = Origin.of(vantage, None)
        asking = Asking(sample=sample, observer=f"vantage:{vantage.name}", target=f"queue {vantage.queue}")
        operation = f"probe {vantage.name}"
        if len(self.samples) != SAMPLES:
            error = ReadError(ReadFailure.NO_ANSWER, needs=self.needs or f"a worker of queue {vantage.queue}", error=self.error)
            return (
                asking.failed(operation, error),
                *endpoint_probes.unknown_probe_rows(sample, origin, targets, error),
            )
        probed = [
            Target(broker_id=b, listener=n, protocol=p, host=h, port=port, via=None) for b, n, p, h, port, _ in self.endpoints
        ]
        at_that_time = {
            _key(target): (number, zxid) for number, (target, (*_, zxid)) in enumerate(zip(probed, self.endpoints, strict=True))
        }
        seen, written = command_vantages.parse_probe_output(self.samples[min(sample, SAMPLES) - 1], probed), _written(registered)
        rows: list[Row] = [asking.answered(operation)]
        for target in targets:
            number, zxid = at_that_time.get(_key(target), (-1, None))
            if (step := endpoint_probes.left_out(target, logins)) is not None:
                rows += endpoint_probes.probe_rows(sample, origin, target, [step])
            elif number in seen and zxid == written.get(target.broker_id):
                rows += endpoint_probes.probe_rows(sample, origin, target, seen[number], judges=logins.judges(target))
            else:
                rows += endpoint_probes.unknown_probe_rows(sample, origin, [target], _NOT_PROBED)
        return tuple(rows)


def without_queues(vantage: Vantage, sample: int, targets: Sequence[Target]) -> tuple[Row, ...]:
    """Return the rows of a queue vantage without an errand: in `kafka-audit run`, or without such an executor."""
    return endpoint_probes.unknown_probe_rows(sample, Origin.of(vantage, None), targets, None, NEEDS_QUEUES)


def _size(target: Target) -> int:
    """Return about how many bytes a target takes in an errand."""
    return 200 + 3 * len(target.host) + len(target.listener)


def _key(target: Target) -> tuple[int, str, str, str, int]:
    return (target.broker_id, target.listener, target.protocol, target.host, target.port)


def _written(rows: Iterable[Row]) -> dict[int, int]:
    """Return the zxid of each broker's registration."""
    return {row.broker_id: row.mzxid for row in rows if isinstance(row, RegisteredBroker)}

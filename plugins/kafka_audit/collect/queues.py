"""Queue vantages: what a worker of another Airflow queue is asked to probe, what it says, and the rows this becomes.

An errand and its answer are JSON and go through XCom: addresses, names of mechanisms and the certificates of `ca_file`, nothing
that opens a door. The worker there looks twice, `settle_s` apart; the snapshot's first look gets the first, every later one the
second. An endpoint that was registered anew since is not judged by what was seen of the one before.
"""

import io
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_audit.collect import probe_script, probes, vantages, zookeeper
from kafka_audit.collect.discovery import discover
from kafka_audit.collect.probes import Origin
from kafka_audit.collect.reads import Asking, ReadError
from kafka_audit.collect.security import Logins
from kafka_audit.collect.targets import Target, flat, registered_targets
from kafka_audit.collect.wire import ClientOptions, quiet
from kafka_audit.model.cluster import Cluster, Vantage
from kafka_audit.model.tables import RegisteredBroker, RegisteredEndpoint, Row

Json = Mapping[str, Any]
NEEDS_QUEUES = "an Airflow executor with queues"
LOOKS = 2


def errand(cluster: Cluster, secrets: Mapping[str, str]) -> Json:
    """Return what the queues of a cluster are to probe: what is registered now; no endpoint where nobody tells.

    Args:
        cluster: an entry of the cluster file.
        secrets: where variables named by `password_env` are looked up; none of them goes into the errand.
    """
    read_s = cluster.limits.read_s
    deadline = time.monotonic() + cluster.limits.audit_s
    logins = Logins(cluster, secrets)
    rows: Sequence[Row] = ()
    with quiet():
        if cluster.zookeeper is not None:
            rows = zookeeper.registrations(cluster.zookeeper, secrets, read_s=read_s, deadline=deadline)
        if not rows and cluster.bootstrap:
            rows = discover(cluster, 1, ClientOptions(read_s=read_s, logins=logins), deadline)
    endpoints = [row for row in rows if isinstance(row, RegisteredEndpoint)]
    targets = [one for one in flat(registered_targets(endpoints, cluster)) if _walkable(one)]
    written = _written(rows)
    return {
        "read_s": read_s,
        "settle_s": cluster.limits.settle_s,
        "endpoints": [[*_key(one), written.get(one.broker_id)] for one in targets],
        "script": vantages.asked(targets, logins),
    }


def run(errands: Mapping[str, Json]) -> dict[str, list[str]]:
    """Walk twice from here to the endpoints of each cluster; return by cluster what each look saw, a line a layer."""
    looks: dict[str, list[str]] = {cluster: [] for cluster in errands}
    for number in range(LOOKS):
        if number:
            time.sleep(max((one["settle_s"] for one in errands.values()), default=0.0))
        for cluster, one in errands.items():
            told = io.StringIO()
            probe_script.walk_all(one["script"], one["read_s"], told)
            looks[cluster].append(told.getvalue())
    return looks


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back from a queue: the endpoints that it was asked for, and `looks`; without looks, why there are none."""

    endpoints: Sequence[Sequence[Any]]
    looks: Sequence[str] = ()
    error: str | None = None
    needs: str | None = None

    def rows(
        self, vantage: Vantage, sample: int, targets: Sequence[Target], registered: Iterable[Row], logins: Logins
    ) -> tuple[Row, ...]:
        """Return the rows of one look; what the worker did not see is unknown, with what would let it see."""
        origin = Origin.of(vantage, None)
        asking = Asking(sample=sample, observer=f"vantage:{vantage.name}", target=f"queue {vantage.queue}")
        operation = f"probe {vantage.name}"
        if len(self.looks) != LOOKS:
            error = ReadError(self.error or "no answer", needs=self.needs or f"a worker of queue {vantage.queue}")
            return (asking.failed(operation, error), *probes.unknown(sample, origin, targets, error.error, error.needs))
        probed = [
            Target(broker_id=b, listener=n, protocol=p, host=h, port=port, via=None) for b, n, p, h, port, _ in self.endpoints
        ]
        at_that_time = {
            _key(one): (number, zxid) for number, (one, (*_, zxid)) in enumerate(zip(probed, self.endpoints, strict=True))
        }
        seen, written = vantages.parse(self.looks[min(sample, LOOKS) - 1], probed), _written(registered)
        rows: list[Row] = [asking.answered(operation)]
        for one in targets:
            number, zxid = at_that_time.get(_key(one), (-1, None))
            if number in seen and zxid == written.get(one.broker_id):
                rows += probes.rows(sample, origin, one, seen[number], judges=logins.judges(one))
            else:
                rows += probes.unknown(sample, origin, [one], "registered anew since, or not probed", "another audit")
        return tuple(rows)


def without_queues(vantage: Vantage, sample: int, targets: Sequence[Target]) -> tuple[Row, ...]:
    """Return the rows of a queue vantage that nobody sent an errand to: in `kafka-audit run`, or without such an executor."""
    return probes.unknown(sample, Origin.of(vantage, None), targets, None, NEEDS_QUEUES)


def _walkable(target: Target) -> bool:
    return probes.not_probed(target.host, target.port) is None


def _key(target: Target) -> tuple[int, str, str, str, int]:
    return (target.broker_id, target.listener, target.protocol, target.host, target.port)


def _written(rows: Iterable[Row]) -> dict[int, int]:
    """Return the zxid of each broker's registration."""
    return {row.broker_id: row.mzxid for row in rows if isinstance(row, RegisteredBroker)}

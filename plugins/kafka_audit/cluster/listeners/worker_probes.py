"""The probes of this worker to each advertised endpoint: direct, or by `reach` of the cluster file."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_audit.compare.addresses import address_text
from kafka_audit.compare.hosts import canonical_host
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.tables import BrokerIdentity, Probe


@dataclass(frozen=True, kw_only=True)
class WorkerProbe:
    """One endpoint, as this worker probed it in the newest sample."""

    broker_id: int
    listener: str
    protocol: str
    address: str  # advertised
    via: str | None  # dialled instead
    open: bool  # a connection came about
    resolved: tuple[str, ...]  # addresses of the dialled host
    answered_by: int | None  # the id of the broker that answers

    @property
    def resource(self) -> str:
        """The endpoint's resource name."""
        return f"broker/{self.broker_id}/listener/{self.listener}"

    @property
    def via_host(self) -> str:
        """Host of `via`, as hosts are compared."""
        return canonical_host((self.via or "").rpartition(":")[0])


def worker_probes(probes: Iterable[Probe], identities: Iterable[BrokerIdentity]) -> tuple[WorkerProbe, ...]:
    """Return the worker's probes in the order of brokers and listeners, from rows of the newest sample."""
    found: dict[tuple[int, str], list[Probe]] = defaultdict(list)
    for row in probes:
        if row.vantage == WORKER:
            found[row.broker_id, row.listener].append(row)
    answered = {(row.broker_id, row.listener): row.answered_by for row in identities}
    return tuple(_probe(rows, answered.get(key)) for key, rows in sorted(found.items()))


def _probe(rows: list[Probe], answered_by: int | None) -> WorkerProbe:
    first = rows[0]
    return WorkerProbe(
        broker_id=first.broker_id,
        listener=first.listener,
        protocol=first.protocol,
        address=address_text(first.host, first.port),
        via=first.via,
        open=any((row.layer, row.outcome) == ("tcp", "ok") for row in rows),
        resolved=tuple(address for row in rows for address in row.addresses),
        answered_by=answered_by,
    )


def mapped_listeners(found: tuple[WorkerProbe, ...]) -> dict[str, list[WorkerProbe]]:
    """Return the probes of each listener with a mapping in `reach`, including those without a mapping."""
    by_listener: dict[str, list[WorkerProbe]] = defaultdict(list)
    for probe in found:
        by_listener[probe.listener].append(probe)
    return {listener: own_probes for listener, own_probes in by_listener.items() if any(probe.via for probe in own_probes)}

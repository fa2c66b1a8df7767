"""How this worker comes to each advertised endpoint: directly, or as `reach` of the cluster file leads it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_audit.checks.rows import judge, looks
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import BrokerIdentity, Probe, Snapshot

NO_REACH = "the cluster file names no `reach`"
_WORKER = "worker"


@dataclass(frozen=True, kw_only=True)
class Way:
    """One endpoint, as this worker tried it in the newest look."""

    broker_id: int
    listener: str
    protocol: str
    address: str  # advertised
    via: str | None  # dialled instead
    open: bool  # a connection came about
    resolved: tuple[str, ...]  # addresses of the dialled host
    answered_by: int | None  # who said so itself

    @property
    def resource(self) -> str:
        """The endpoint's resource name."""
        return f"broker/{self.broker_id}/listener/{self.listener}"

    @property
    def via_host(self) -> str:
        """Host of `via`, without brackets."""
        return (self.via or "").rpartition(":")[0].strip("[]").lower()


def ways(snapshot: Snapshot) -> tuple[Way, ...]:
    """Return the worker's ways in the order of brokers and listeners."""
    now, _ = looks(snapshot)
    found: dict[tuple[int, str], list[Probe]] = defaultdict(list)
    for row in snapshot.of(Probe):
        if row.sample == now and row.vantage == _WORKER:
            found[row.broker_id, row.listener].append(row)
    who = {(row.broker_id, row.listener): row.answered_by for row in snapshot.of(BrokerIdentity) if row.sample == now}
    return tuple(_way(rows, who.get(key)) for key, rows in sorted(found.items()))


def _way(rows: list[Probe], answered_by: int | None) -> Way:
    first = rows[0]
    told = next((row.detail for row in rows if (row.layer, row.outcome) == ("dns", "ok") and row.detail), "")
    return Way(
        broker_id=first.broker_id,
        listener=first.listener,
        protocol=first.protocol,
        address=f"[{first.host}]:{first.port}" if ":" in first.host else f"{first.host}:{first.port}",
        via=first.via,
        open=any((row.layer, row.outcome) == ("tcp", "ok") for row in rows),
        resolved=tuple((told or "").partition(" ")[0].split(",")) if told else (),
        answered_by=answered_by,
    )


def mapped_listeners(found: tuple[Way, ...]) -> dict[str, list[Way]]:
    """Return the ways of each listener that `reach` leads to at all, those without a mapping included."""
    by_listener: dict[str, list[Way]] = defaultdict(list)
    for way in found:
        by_listener[way.listener].append(way)
    return {listener: own for listener, own in by_listener.items() if any(way.via for way in own)}


def reach_gap(snapshot: Snapshot, code: str, found: tuple[Way, ...]) -> Iterator[Judgement]:
    """Yield the one judgement of a check of `reach` where there is nothing to judge: nothing probed, or no mapping used."""
    if not found:
        needs = "an endpoint that ZooKeeper or a bootstrap address tells of"
        yield judge(snapshot, code, "cluster", Status.UNKNOWN, who="any endpoint", error="nothing was probed", needs=needs)
    elif not any(way.via for way in found):
        yield judge(snapshot, code, "cluster", Status.NOT_APPLICABLE, who="any endpoint", reason=NO_REACH)

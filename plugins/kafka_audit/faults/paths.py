"""How brokers' own hosts reach an endpoint on the network: names and tcp alone, over both samples."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.model.tables import Probe

_WORST_FIRST = ("closed", "moving", "open", "unknown")
"""How a host reaches an endpoint; where several probes of one host differ, the first of these counts."""


@dataclass(frozen=True, kw_only=True)
class Paths:
    """The hosts by how they reach an endpoint. Ids are sorted."""

    closed: tuple[int, ...]  # in both samples
    moving: tuple[int, ...]  # failed in one sample
    open: tuple[int, ...]
    losing: tuple[int, ...]  # open; in both samples a large request got no answer and a small one did
    failed: Mapping[int, Probe]  # of each closed one
    vantage: str | None
    needs: str | None  # what would let a host be measured that could not

    @property
    def whole(self) -> frozenset[int]:
        """The hosts that reach it, and lose nothing."""
        return frozenset(self.open) - {*self.losing}

    def fails(self, source: int) -> bool:
        """Return whether a host does not reach it, or loses large packets, in both samples."""
        return source in {*self.closed, *self.losing}


def paths(probes: Iterable[ProbeResult]) -> Paths:
    """Return how the hosts of brokers reach an endpoint, from all probes of it."""
    worst: dict[int, ProbeResult] = {}
    asked = [probe for probe in probes if probe.role == "broker" and probe.from_broker is not None]
    needs = [probe.unknown.needs for probe in asked if probe.unknown is not None and probe.unknown.needs is not None]
    for probe in sorted(asked, key=lambda probe: _WORST_FIRST.index(probe.network)):
        if probe.from_broker is not None:
            worst.setdefault(probe.from_broker, probe)
    by_network: dict[str, list[int]] = defaultdict(list)
    for source in sorted(worst):
        by_network[worst[source].network].append(source)
    failed = {source: layer for source in by_network["closed"] if (layer := worst[source].failed) is not None}
    return Paths(
        closed=tuple(by_network["closed"]),
        moving=tuple(by_network["moving"]),
        open=tuple(by_network["open"]),
        losing=tuple(source for source in by_network["open"] if _loses(worst[source])),
        failed=failed,
        vantage=worst[min(worst)].vantage if worst else None,
        needs=max(needs, default=None),
    )


def _loses(probe: ProbeResult) -> bool:
    return probe.repeated and probe.failed is not None and probe.failed.layer == "packets"

"""Results of client vantages for the endpoints of a case: k of n, the first layer that fails, and the addresses of names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kafka_audit.checks.incident import Case, evidence_of_edges
from kafka_audit.faults.serve_edges import BROKEN, EDGE_LAYERS, NETWORK, WORKS, ServeEdge
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.finding import Evidence
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.text import clean, listing


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The edges of clients at each vantage, and those of them that fail at the case's endpoints."""

    edges: Mapping[str, Sequence[ServeEdge]]
    broken: Mapping[str, Sequence[ServeEdge]]

    @classmethod
    def of(cls, case: Case) -> "Reach":
        """Return the results of the vantages for a case; a failure counts at the vantages that the finding names."""
        judged = {(root.resource.name, vantage) for root in case.roots for vantage in root.texts("vantage")}
        edges: dict[str, list[ServeEdge]] = defaultdict(list)
        for edge in sorted(case.edges.every, key=lambda edge: (edge.endpoint.broker_id, edge.endpoint.listener)):
            if edge.role == "client":
                edges[edge.vantage].append(edge)
        broken = {
            vantage: [edge for edge in own if edge.failed_at is not None and (edge.endpoint.resource, vantage) in judged]
            for vantage, own in edges.items()
        }
        return cls(edges=edges, broken=broken)

    @cached_property
    def worst(self) -> tuple[str, ...]:
        """The vantage from which most fails, with all others from which exactly the same does."""
        most = max(self.broken.values(), key=len, default=())
        ends = {edge.endpoint.resource for edge in most}
        return tuple(sorted(v for v, own in self.broken.items() if own and {edge.endpoint.resource for edge in own} == ends))

    @property
    def worst_broken(self) -> Sequence[ServeEdge]:
        """The failures of the worst vantages, in the words of the first of them."""
        return self.broken[self.worst[0]] if self.worst else ()

    def where(self) -> str:
        """Return `this worker` or `dmz and this worker`."""
        return listing([_place(vantage, 40) for vantage in self.worst], 2)

    def tally(self) -> str:
        """Return `2 of 3` endpoints that fail from the worst vantage."""
        return self._share(self.worst[0]) if self.worst else ""

    def _share(self, vantage: str) -> str:
        return f"{self._failing(vantage)} of {len(self.edges[vantage])}"

    def _failing(self, vantage: str) -> int:
        """Return how many endpoints fail at these layers from a vantage, those of other faults among them."""
        own = self.broken[vantage]
        layers = {edge.failed_at for edge in own}
        alike = {edge.endpoint for edge in self.edges[vantage] if edge.state == BROKEN and edge.failed_at in layers}
        return len(alike | {edge.endpoint for edge in own})

    def everything_fails(self) -> bool:
        """Return whether nothing at all is reached from the worst vantages."""
        return bool(self.worst) and all(edge.failed_at is not None for edge in self.edges[self.worst[0]])

    def facts(self) -> dict[str, Any]:
        """Return what stories tell of these vantages."""
        return {
            "where": self.where(),
            "where_short": listing([clean(vantage, 20) for vantage in self.worst], 2),
            "tally": self.tally(),
            "failed": self._failing(self.worst[0]) if self.worst else 0,
            "only_api": self.layers() == ("api",),
            "everything_fails": self.everything_fails(),
            "is_elsewhere": self.everything_fails() and WORKER not in self.worst and {*self.layers()} <= {*NETWORK},
            "sentences": self.sentences(),
        }

    def layers(self) -> tuple[str, ...]:
        """Return the layers that fail first, from the worst vantages, in their order."""
        return _stops(edge for vantage in self.worst for edge in self.broken[vantage])

    def sentences(self) -> str:
        """Return a sentence on each vantage from which something fails, the worst first."""
        broken = self.broken
        order = sorted((v for v, own in broken.items() if own), key=lambda v: (v not in self.worst, -len(broken[v]), v))
        reported = [
            f"from {_place(v, 40)} {self._share(v)} {'fails' if self._failing(v) == 1 else 'fail'}"
            f" ({', '.join(_stops(broken[v]))})"
            for v in order
        ]
        return f"Of the advertised endpoints, {listing(reported, 5)}." if reported else ""

    def evidence(self) -> Iterator[Evidence]:
        """Yield, for each vantage with failures, the counts by layer and the errors."""
        for vantage, edges in sorted(self.edges.items()):
            if not self.broken[vantage]:
                continue
            ladder = []
            for layer in EDGE_LAYERS:
                tried = [edge for edge in edges if layer in {*edge.passed, edge.failed_at}]
                if tried:
                    ladder.append(f"{layer} {sum(layer in edge.passed for edge in tried)} of {len(tried)}")
            yield Evidence(observer=f"vantage {clean(vantage)}", text=f"layer by layer: {', '.join(ladder)}")
            yield from evidence_of_edges(self.broken[vantage])
            yield from _asked_in_vain(vantage, self.broken[vantage])

    def against(self) -> Iterator[Evidence]:
        """Yield what other vantages reach."""
        for vantage, edges in sorted(self.edges.items()):
            if not self.broken[vantage]:
                works = sum(edge.state == WORKS for edge in edges)
                text = f"reaches {works} of {len(edges)}: this is no proof for clients elsewhere"
                yield Evidence(observer=f"vantage {clean(vantage)}", text=text)


def no_such_name(edge: ServeEdge) -> bool:
    """Return whether a resolver answered that the name of an endpoint does not exist."""
    return edge.failed_at == "dns" and edge.stop is not None and edge.stop.failure is ReadFailure.NAME_UNKNOWN


def _stops(broken: Iterable[ServeEdge]) -> tuple[str, ...]:
    layers = {edge.failed_at for edge in broken}
    return tuple(layer for layer in EDGE_LAYERS if layer in layers)


def _place(vantage: str, limit: int = 200) -> str:
    return "this worker" if vantage == WORKER else clean(vantage, limit)


def _asked_in_vain(vantage: str, broken: Iterable[ServeEdge]) -> Iterator[Evidence]:
    names: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for edge in broken:
        if edge.failed_at == "dns" and edge.resolver:
            names[edge.resolver, no_such_name(edge)].append(edge.via or edge.endpoint.host)
    for (subject, reported), asked in names.items():
        how = "has no record of" if reported else "does not answer for"
        yield Evidence(observer=f"vantage {clean(vantage)}", text=f"{clean(subject)} {how} {listing(dict.fromkeys(asked), 3)}")


def split_answers(case: Case, limit: int = 5) -> Iterator[Evidence]:
    """Yield names of the case's brokers that mean different addresses at different places."""
    answers: dict[str, dict[str, tuple[frozenset[str], str | None]]] = defaultdict(dict)
    for edge in case.edges.every:
        if edge.endpoint.broker_id in case.brokers and edge.via is None and edge.addresses and edge.resolver:
            place = _place(edge.vantage) if edge.source is None else f"broker {edge.source}'s host"
            answers[edge.endpoint.host][place] = (edge.addresses, edge.resolver)
    split = {
        host: reported
        for host, reported in answers.items()
        if any(a.isdisjoint(b) for a, _ in reported.values() for b, _ in reported.values())
    }
    for host, answers_by_place in list(split.items())[:limit]:
        alike: dict[tuple[frozenset[str], str | None], list[str]] = defaultdict(list)
        for place, answer in sorted(answers_by_place.items()):
            alike[answer].append(place)
        parts = [
            f"{clean(', '.join(sorted(addresses)))} at {listing(places, 3)} ({clean(resolver_name)})"
            for (addresses, resolver_name), places in alike.items()
        ]
        yield Evidence(observer=f"name {clean(host)}", text=f"resolves to {', '.join(parts)}")

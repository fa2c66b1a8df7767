"""Results of client vantages for the endpoints of a case: k of n, the first layer that fails, and the addresses of names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kafka_audit.cluster.listeners.probes import LAYERS, ProbeResult
from kafka_audit.incidents.causes.rule import Case, evidence_of_paths
from kafka_audit.model.finding import Evidence
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.text import clean, listing


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The client paths of each vantage, and those of them that fail at the case's endpoints."""

    paths: Mapping[str, Sequence[ProbeResult]]
    failed: Mapping[str, Sequence[ProbeResult]]

    @classmethod
    def of(cls, case: Case) -> "Reach":
        """Return the results of the vantages for a case; a failure counts at the vantages that the finding names."""
        judged = {(root.resource.name, vantage) for root in case.roots for vantage in root.texts("vantage")}
        paths: dict[str, list[ProbeResult]] = defaultdict(list)
        for path in case.view.probes:
            if path.role == "client":
                paths[path.vantage].append(path)
        failed = {
            vantage: [p for p in own_results if p.outcome == "failed" and (resource_of(p), vantage) in judged]
            for vantage, own_results in paths.items()
        }
        return cls(paths=paths, failed=failed)

    @cached_property
    def worst(self) -> tuple[str, ...]:
        """The vantage from which most fails, with all others from which exactly the same does."""
        most = max(self.failed.values(), key=len, default=())
        ends = {resource_of(path) for path in most}
        return tuple(
            sorted(
                v for v, own_results in self.failed.items() if own_results and {resource_of(path) for path in own_results} == ends
            )
        )

    @property
    def worst_failed(self) -> Sequence[ProbeResult]:
        """The failures of the worst vantages, in the words of the first of them."""
        return self.failed[self.worst[0]] if self.worst else ()

    def where(self, limit: int = 40) -> str:
        """Return `worker` or `dmz and worker`."""
        return listing([clean(vantage, limit) for vantage in self.worst], 2)

    def tally(self) -> str:
        """Return `2 of 3` endpoints that fail from the worst vantage."""
        return f"{len(self.worst_failed)} of {len(self.paths[self.worst[0]])}" if self.worst else ""

    def everything_fails(self) -> bool:
        """Return whether nothing at all is reached from the worst vantages."""
        return bool(self.worst) and all(path.outcome == "failed" for path in self.paths[self.worst[0]])

    def facts(self) -> dict[str, Any]:
        """Return what stories tell of these vantages."""
        return {
            "where": self.where(),
            "where_short": self.where(20),
            "tally": self.tally(),
            "failed": len(self.worst_failed),
            "everything_fails": self.everything_fails(),
            "sentences": self.sentences(),
        }

    def layers(self) -> tuple[str, ...]:
        """Return the layers that fail first, from the worst vantages, in their order."""
        stops = {path.layer for vantage in self.worst for path in self.failed[vantage]}
        return tuple(layer for layer in LAYERS if layer in stops)

    def sentences(self) -> str:
        """Return a sentence on each vantage from which something fails, the worst first."""
        order = sorted(
            (v for v, own_results in self.failed.items() if own_results),
            key=lambda v: (v not in self.worst, -len(self.failed[v]), v),
        )
        reported = [
            f"from {clean(v, 40)} {len(self.failed[v])} of {len(self.paths[v])} fail ({', '.join(_stops(self.failed[v]))})"
            for v in order
        ]
        return f"Of the advertised endpoints, {listing(reported, 5)}." if reported else ""

    def evidence(self) -> Iterator[Evidence]:
        """Yield, for each vantage with failures, the counts by layer and the errors."""
        for vantage, paths in sorted(self.paths.items()):
            if not self.failed[vantage]:
                continue
            ladder = []
            for layer in LAYERS:
                tried = [p for p in paths if layer in p.passed or (p.layer == layer and p.outcome == "failed")]
                if tried:
                    ladder.append(f"{layer} {sum(layer in p.passed for p in tried)} of {len(tried)}")
            yield Evidence(observer=f"vantage {clean(vantage)}", text=f"layer by layer: {', '.join(ladder)}")
            yield from evidence_of_paths(self.failed[vantage])
            yield from _asked_in_vain(vantage, self.failed[vantage])

    def against(self) -> Iterator[Evidence]:
        """Yield what other vantages reach."""
        for vantage, paths in sorted(self.paths.items()):
            if not self.failed[vantage]:
                ok = sum(path.outcome == "ok" for path in paths)
                text = f"reaches {ok} of {len(paths)}: this is no proof for clients elsewhere"
                yield Evidence(observer=f"vantage {clean(vantage)}", text=text)


def resource_of(path: ProbeResult) -> str:
    """Return the resource name of the endpoint that a path leads to."""
    return f"broker/{path.endpoint.broker_id}/listener/{path.endpoint.listener}"


def _stops(failed: Iterable[ProbeResult]) -> list[str]:
    layers = {path.layer for path in failed}
    return [layer for layer in LAYERS if layer in layers]


def _asked_in_vain(vantage: str, failed: Iterable[ProbeResult]) -> Iterator[Evidence]:
    names: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for path in failed:
        resolver = path.resolver if path.layer == "dns" else None
        if resolver:
            names[resolver, path.failure is ReadFailure.NAME_UNKNOWN].append(path.via or path.endpoint.host)
    for (subject, reported), asked in names.items():
        how = "has no record of" if reported else "does not answer for"
        yield Evidence(observer=f"vantage {clean(vantage)}", text=f"{clean(subject)} {how} {listing(dict.fromkeys(asked), 3)}")


def split_answers(case: Case, limit: int = 5) -> Iterator[Evidence]:
    """Yield names of the case's brokers that mean different addresses at different places."""
    answers: dict[str, dict[str, tuple[frozenset[str], str | None]]] = defaultdict(dict)
    for path in case.view.probes:
        if path.endpoint.broker_id in case.brokers and path.via is None and path.addresses and path.resolver:
            place = clean(path.vantage) if path.from_broker is None else f"broker {path.from_broker}'s host"
            answers[path.endpoint.host][place] = (path.addresses, path.resolver)
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

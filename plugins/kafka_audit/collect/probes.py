"""Probes: how far one gets to each advertised endpoint, from this worker and from command vantages.

Rows only. A vantage that could not run gives `unknown`, never `failed`: nothing was seen from there.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kafka_audit.collect import probe_script
from kafka_audit.collect.reads import PLAINTEXT_ONLY, ReadError, clean
from kafka_audit.collect.targets import PLAINTEXT, Target
from kafka_audit.model.cluster import Vantage
from kafka_audit.model.tables import Probe

WORKER = "worker"
LAYERS = ("dns", "tcp", "tls", "sasl", "api", "identity")
_BEFORE_LOGIN = ("dns", "tcp", "api")
# What comes after the last layer that this version can walk: told as unknown, with what is missing.
_NEXT = {"SSL": "tls", "SASL_SSL": "tls", "SASL_PLAINTEXT": "sasl"}
_WALKED = {
    PLAINTEXT: (*_BEFORE_LOGIN, "identity"),
    "SASL_PLAINTEXT": _BEFORE_LOGIN,  # ApiVersions is answered before the login
}
_LAST_PORT = 65535
# Characters that Kafka lets an advertised host have. Anything else comes from no Kafka and goes into no script.
_HOST = re.compile(r"[0-9A-Za-z_.:%\-]{1,255}")


class Step(NamedTuple):
    """One layer of one path."""

    layer: str
    outcome: str  # ok, failed, unknown
    error: str | None
    detail: str | None
    needs: str | None
    elapsed_ms: int


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a probe starts."""

    vantage: str
    role: str
    from_broker: int | None = None

    @classmethod
    def of(cls, vantage: Vantage, broker_id: int | None) -> "Origin":
        """Return the origin of a vantage of the cluster file, on that broker's host where it has role broker."""
        return cls(vantage=vantage.name, role=vantage.role, from_broker=broker_id if vantage.role == "broker" else None)


FROM_WORKER = Origin(vantage=WORKER, role="client")


def layers(target: Target) -> tuple[str, ...]:
    """Return the layers to walk to a target, in order."""
    return _WALKED.get(target.protocol, _BEFORE_LOGIN[:2])


def not_probed(host: str, port: int) -> Step | None:
    """Return the only step to something that Kafka could not have advertised: it is neither resolved nor put into a script."""
    if _HOST.fullmatch(host) is None:
        return Step("dns", "failed", "no host name", None, None, 0)
    if not 0 < port <= _LAST_PORT:
        return Step("dns", "failed", "no port number", None, None, 0)
    return None


def walk_from_here(target: Target, seconds: float) -> list[Step]:
    """Walk to a target from this process, up to ApiVersions; the identity is asked in the conversation that follows.

    Args:
        target: an endpoint; `reach` is applied.
        seconds: bound of the whole walk.
    """
    host, port = target.dialled
    impossible = not_probed(host, port)
    if impossible is not None:
        return [impossible]
    walked = [layer for layer in layers(target) if layer != "identity"]
    return [Step(*step) for step in probe_script.walk(host, port, walked, seconds)]


def as_read_error(step: Step, address: str) -> ReadError:
    """Return what a failed step means for the reads that would have followed."""
    wants = {"dns": f"a name that this worker resolves for {address}", "tcp": f"a way from this worker to {address}"}
    return ReadError(step.error or step.outcome, f"{step.layer} to {address}: {step.error}", wants.get(step.layer))


def worker_rows(sample: int, target: Target, steps: Sequence[Step]) -> tuple[Probe, ...]:
    """Return this worker's rows of one path."""
    return rows(sample, FROM_WORKER, target, steps, via=target.via)


def rows(sample: int, origin: Origin, target: Target, steps: Iterable[Step], *, via: str | None = None) -> tuple[Probe, ...]:
    """Return one row per step; where the walk ended because this version goes no further, that is the last row."""
    walked = [*steps]
    following = _NEXT.get(target.protocol)
    if walked and walked[-1].outcome == "ok" and following is not None:
        walked.append(Step(following, "unknown", None, None, PLAINTEXT_ONLY, 0))
    return tuple(
        Probe(
            sample=sample,
            vantage=origin.vantage,
            role=origin.role,
            from_broker=origin.from_broker,
            broker_id=target.broker_id,
            listener=target.listener,
            protocol=target.protocol,
            host=target.host,
            port=target.port,
            via=via,
            layer=step.layer,
            outcome=step.outcome,
            error=None if step.error is None else clean(step.error),
            detail=None if step.detail is None else clean(step.detail),
            needs=step.needs,
            elapsed_ms=step.elapsed_ms,
        )
        for step in walked
    )


def unknown(sample: int, origin: Origin, targets: Iterable[Target], error: str | None, needs: str | None) -> tuple[Probe, ...]:
    """Return the rows of a vantage from which nothing was seen: the first layer of each path, unknown."""
    step = Step("dns", "unknown", error, None, needs, 0)
    return tuple(row for target in targets for row in rows(sample, origin, target, [step]))

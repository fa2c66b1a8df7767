"""Probes of each advertised endpoint, from this worker and from command vantages.

Rows only. A vantage that could not run gives `unknown_probe_rows`, never `failed`, because nothing was probed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from kafka_audit.clients import probe_script
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.failures import of_report
from kafka_audit.clients.probe_script import ADDRESS, CERTIFICATE
from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.clients.targets import PLAINTEXT, UNREGISTERED, Target
from kafka_audit.collect.probes import certificates
from kafka_audit.collect.probes.reported_values import reported_values
from kafka_audit.model.cluster import WORKER, Vantage
from kafka_audit.model.names import NameKind, can_be_name, is_port
from kafka_audit.model.read_failure import CLOSED_BY_PEER, ReadFailure
from kafka_audit.model.tables import AddressProbe, Certificate, ControllerProbeFromBroker, Probe, VoterProbe, ZookeeperProbe

LAYERS = ("dns", "tcp", "tls", "sasl", "api", "identity", "packets")
_LAYERS_BY_PROTOCOL = {
    PLAINTEXT: ("dns", "tcp", "api", "identity", "packets", ADDRESS),
    "SSL": ("dns", "tcp", "tls", "api", "identity", "packets", ADDRESS),
    # A broker reports ApiVersions and the offered mechanisms before the login.
    "SASL_PLAINTEXT": ("dns", "tcp", "sasl", "api", "packets", ADDRESS),
    "SASL_SSL": ("dns", "tcp", "tls", "sasl", "api", "packets", ADDRESS),
}
NO_LAYERS = frozenset({CERTIFICATE, ADDRESS})
_ADDRESS_TEXT = re.compile(r"([0-9A-Fa-f.:]{2,45}(?:%[0-9A-Za-z_.-]{1,30})?) ([a-z]{3,8})(?: ([0-9]{1,10}))?")


ProbeRow = Probe | AddressProbe | Certificate


class ProbeStep(NamedTuple):
    """One layer of one probe."""

    layer: str
    outcome: str  # ok, failed, unknown
    error: str | None
    detail: str | None
    needs: str | None
    elapsed_ms: int
    failure: ReadFailure | None = None


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a probe starts."""

    vantage: str
    role: str
    node: int | None = None  # on whose host

    @property
    def from_broker(self) -> int | None:
        """The broker on whose host it is."""
        return self.node if self.role == "broker" else None

    @classmethod
    def of(cls, vantage: Vantage, node: int | None) -> "Origin":
        """Return the origin of a vantage of the cluster file, on that node's host where it has such a role."""
        return cls(vantage=vantage.name, role=vantage.role, node=None if vantage.role == "client" else node)


FROM_WORKER = Origin(vantage=WORKER, role="client")


def layers(target: Target) -> tuple[str, ...]:
    """Return the layers of a probe of a target, in order; a controller does not report an identity without a login."""
    return tuple(
        layer
        for layer in _LAYERS_BY_PROTOCOL.get(target.protocol, ("dns", "tcp"))
        if layer not in {"identity", ADDRESS} or not target.is_controller
    )


def probe_step(  # noqa: PLR0913, PLR0917 -- the fields of a script's line
    layer: str, outcome: str, error: str | None, detail: str | None = None, needs: str | None = None, elapsed_ms: int = 0
) -> ProbeStep:
    """Return a step as a probe script reports it: `error` is the name of a failure, perhaps with a text behind a space."""
    if error is None or layer == CERTIFICATE:
        return ProbeStep(layer, outcome, None if error is None else of_report(error)[1], detail, needs, elapsed_ms)
    failure, text = of_report(error)
    return ProbeStep(layer, outcome, text, detail, needs, elapsed_ms, failure)


def unknown_step(error: ReadError) -> ProbeStep:
    """Return the only step of a probe that was not made."""
    return ProbeStep("dns", "unknown", error.error, None, error.needs, 0, error.failure)


def not_probed(host: str, port: int) -> ProbeStep | None:
    """Return the only step for an address where nothing can listen: it is not resolved and not put into a script."""
    if not host or not can_be_name(NameKind.HOST, host):
        return probe_step("dns", "failed", ReadFailure.NO_HOST.name)
    if not port or not is_port(port):
        return probe_step("dns", "failed", ReadFailure.NO_PORT.name)
    return None


def left_out(target: Target, logins: ClusterLogins, place: tuple[str, int] | None = None) -> ProbeStep | None:
    """Return the same, also for an address that `limits.dial_untrusted` leaves out; `place` is what `reach` leads to."""
    try:
        logins.demand_dialled(target)
    except ReadError as error:
        return unknown_step(error)
    return not_probed(*(place or (target.host, target.port)))


def probe_from_here(
    target: Target, seconds: float, logins: ClusterLogins, budget: Budget | None = None, *, thorough: bool = False
) -> list[ProbeStep]:
    """Probe a target from this process, without the identity, which the conversation that follows reads.

    No credential but a client certificate is used. With TLS, a step `CERTIFICATE` comes before the step of the layer.

    Args:
        target: an endpoint; `reach` is applied.
        seconds: bound of the whole probe.
        logins: the authorities and the mechanism of the cluster file.
        budget: the audit's.
        thorough: whether to ask for more than a packet carries as well, and at each address of the name.
    """
    left_out = {"identity"} if thorough else {"identity", "packets", ADDRESS}
    steps = probe_endpoint(
        target, [layer for layer in layers(target) if layer not in left_out], seconds, logins, budget or Budget()
    )
    for step in steps:
        if step.layer == "sasl" and step.outcome == "ok":
            logins.offers(target, step.detail or "")
    mine = f"cert_file and key_file for {clean_line(target.listener)} in the cluster file"
    return [step._replace(needs=mine) if step.failure is ReadFailure.CLIENT_CERTIFICATE_WANTED else step for step in steps]


def probe_endpoint(
    target: Target, layer_names: Sequence[str], seconds: float, logins: ClusterLogins, budget: Budget
) -> list[ProbeStep]:
    """Probe these layers of a target from this process, within the time of the audit, and return the steps."""
    host, port = target.dialled
    impossible = left_out(target, logins, (host, port))
    if impossible is not None:
        return [impossible]
    try:
        bound = budget.demand_time(seconds)
    except ReadError as error:
        return [unknown_step(error)]
    with budget.connections() as keep:
        named = budget.excepts(host, port)
        probe = probe_script.EndpointProbe(host, port, logins.tls(target), logins.mechanism(target), named, keep)
        if logins.security(target) is not None:  # else it is ANONYMOUS, who should need no right for an audit
            probe.layers_of_address = list(layers(target))
        probe.go(list(layer_names), bound)
    return [probe_step(*step) for step in probe.steps]


def last_of_connection(steps: Sequence[ProbeStep]) -> ProbeStep:
    """Return the last step of a connection for small requests: these are answered whatever becomes of large ones."""
    return next(step for step in reversed(steps) if step.layer not in {"packets", ADDRESS})


_INSTEAD: Mapping[ReadFailure | None, str] = MappingProxyType(
    {
        ReadFailure.TIMEOUT: "it accepts a connection and sends nothing",
        ReadFailure.NOT_KAFKA: "what answers there is not Kafka's protocol",
        ReadFailure.NOT_TLS: "what answers there is not Kafka's protocol",
        ReadFailure.CLOSED: "it accepts a connection and closes it",
    }
)
"""What a port does instead, by how a request on it ended."""

_NO_HANDSHAKE = CLOSED_BY_PEER | {ReadFailure.TIMEOUT, ReadFailure.NOT_TLS}
_ZOOKEEPER = ":2181"


def read_error_of_probe(step: ProbeStep, address: str) -> ReadError:
    """Return the error of the reads after a failed step."""
    needs_by_layer = {
        "dns": f"a name that this worker resolves for {address}",
        "tcp": f"a connection from this worker to {address}",
        "tls": f"a certificate at {address} that ca_file of the cluster file and the advertised name accept",
        "api": f"a Kafka broker that answers at {address}",
    }
    if step.layer == "tls" and step.failure in _NO_HANDSHAKE:
        needs_by_layer["tls"] = f"a port that speaks TLS: {address} ends the handshake as a listener without TLS does"
    if step.failure is ReadFailure.LOGIN_NOT_TAKEN:
        needs_by_layer["sasl"] = f"a protocol without SASL for {address}, or the port of a listener that takes a login"
    if step.failure in _INSTEAD:
        guess = f"ZooKeeper? then --zookeeper {address}" if address.endswith(_ZOOKEEPER) else "TLS? another program?"
        needs_by_layer["api"] += f": {_INSTEAD[step.failure]} ({guess})"
    needs = step.needs or needs_by_layer.get(step.layer)
    error = ReadError(
        step.failure or ReadFailure.UNKNOWN, f"{step.layer} to {address}: {step.error}", needs, error=step.error or step.outcome
    )
    error.layer = step.layer
    return error


def worker_rows(sample: int, target: Target, steps: Sequence[ProbeStep], logins: ClusterLogins) -> tuple[ProbeRow, ...]:
    """Return this worker's rows of one probe."""
    return probe_rows(sample, FROM_WORKER, target, steps, via=target.via, judges=logins.judges(target))


def probe_rows(  # noqa: PLR0913 -- two of them only for probes of the worker
    sample: int, origin: Origin, target: Target, steps: Iterable[ProbeStep], *, via: str | None = None, judges: bool = False
) -> tuple[ProbeRow, ...]:
    """Return one row per layer and address, and one for the certificate; `judges`: it was verified against a `ca_file`."""
    all_steps = [*steps]
    layer_rows = (
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
            error=None if step.error is None else clean_line(masked(step.error)),
            detail=None if step.detail is None else clean_line(masked(step.detail)),
            needs=step.needs,
            elapsed_ms=step.elapsed_ms,
            reason=None if step.failure is None else step.failure.name,
            **reported_values(step.layer, step.detail),
        )
        for step in all_steps
        if step.layer not in NO_LAYERS
    )
    addresses = () if via else _addresses(sample, origin, target, all_steps)
    return (*layer_rows, *addresses, *_certificates(sample, origin, target, all_steps, judges=judges))


def _addresses(sample: int, origin: Origin, target: Target, steps: Iterable[ProbeStep]) -> Iterator[AddressProbe]:
    for step in steps:
        found = _ADDRESS_TEXT.fullmatch(step.detail or "") if step.layer == ADDRESS else None
        if found is not None:
            yield AddressProbe(
                sample=sample,
                vantage=origin.vantage,
                role=origin.role,
                from_broker=origin.from_broker,
                broker_id=target.broker_id,
                listener=target.listener,
                host=target.host,
                port=target.port,
                address=found[1],
                layer=found[2],
                outcome=step.outcome,
                error=None if step.error is None else clean_line(masked(step.error)),
                answered_by=None if found[3] is None else int(found[3]),
                reason=None if step.failure is None else step.failure.name,
            )


def controller_rows(
    sample: int, origin: Origin, target: Target, steps: Sequence[ProbeStep], *, judges: bool = False
) -> tuple[ControllerProbeFromBroker | Certificate, ...]:
    """Return the row of a controller's address that was probed from a broker's host, and one for the certificate it showed."""
    probe = ControllerProbeFromBroker(
        sample=sample,
        vantage=origin.vantage,
        from_broker=UNREGISTERED if origin.from_broker is None else origin.from_broker,
        address=target.advertised,
        addresses=addresses_shown(steps),
        **_deciding(steps),
    )
    return (probe, *_certificates(sample, origin, target, steps, judges=judges))


def zookeeper_rows(sample: int, origin: Origin, target: Target, steps: Sequence[ProbeStep]) -> tuple[ZookeeperProbe, ...]:
    """Return the row of a ZooKeeper server that was probed from a broker's host."""
    return (
        ZookeeperProbe(
            sample=sample,
            vantage=origin.vantage,
            from_broker=UNREGISTERED if origin.from_broker is None else origin.from_broker,
            address=target.advertised,
            **_deciding(steps),
        ),
    )


def voter_rows(sample: int, origin: Origin, target: Target, steps: Sequence[ProbeStep]) -> tuple[VoterProbe, ...]:
    """Return the row of a voter's address that was probed from this worker or from a controller's host."""
    return (
        VoterProbe(
            sample=sample,
            vantage=origin.vantage,
            from_controller=origin.node,
            voter_id=UNREGISTERED if target.voter_id is None else target.voter_id,
            address=target.advertised,
            via=None if origin.node is not None else target.via,
            addresses=addresses_shown(steps),
            **_deciding(steps),
        ),
    )


def _deciding(steps: Sequence[ProbeStep]) -> dict[str, Any]:
    """Return the columns of the step that decides."""
    last = deciding_step(steps)
    return {
        "layer": last.layer,
        "outcome": last.outcome,
        "error": None if last.error is None else clean_line(masked(last.error)),
        "needs": last.needs,
        "reason": None if last.failure is None else last.failure.name,
    }


def addresses_shown(steps: Iterable[ProbeStep]) -> tuple[str, ...]:
    """Return the addresses of the name that was probed; empty if it does not resolve."""
    names = (reported_values(step.layer, step.detail) for step in steps if step.layer == "dns")
    return next((reported["addresses"] for reported in names if "addresses" in reported), ())


def deciding_step(steps: Sequence[ProbeStep]) -> ProbeStep:
    """Return the first step of a layer that did not succeed, or the last one of a connection."""
    layer_steps = [step for step in steps if step.layer not in NO_LAYERS]
    return next((step for step in layer_steps if step.outcome != "ok"), last_of_connection(layer_steps))


def _certificates(
    sample: int, origin: Origin, target: Target, steps: Iterable[ProbeStep], *, judges: bool
) -> tuple[Certificate, ...]:
    shown = (_certificate(sample, origin, target, step, judges=judges) for step in steps if step.layer == CERTIFICATE)
    return tuple(certificate for certificate in shown if certificate is not None)


def _certificate(sample: int, origin: Origin, target: Target, step: ProbeStep, *, judges: bool) -> Certificate | None:
    return certificates.certificate_row(
        step.detail or "",
        sample=sample,
        vantage=origin.vantage,
        broker_id=target.broker_id,
        listener=target.listener,
        host=target.host,
        port=target.port,
        trusted=step.outcome == "ok" if judges and step.outcome != "unknown" else None,
        error=None if step.error is None else clean_line(masked(step.error)),
    )


def certificates_shown(sample: int, target: Target, steps: Iterable[ProbeStep], logins: ClusterLogins) -> tuple[Certificate, ...]:
    """Return the certificate that this worker was shown at an address that no broker registered, a controller's."""
    return _certificates(sample, FROM_WORKER, target, steps, judges=logins.judges(target))


def unknown_probe_rows(
    sample: int, origin: Origin, targets: Iterable[Target], error: ReadError | None, needs: str | None = None
) -> tuple[ProbeRow, ...]:
    """Return the rows of a vantage without results: the first layer of each probe, unknown; `needs` where nothing failed."""
    step = ProbeStep("dns", "unknown", None, None, needs, 0) if error is None else unknown_step(error)
    return tuple(row for target in targets for row in probe_rows(sample, origin, target, [step]))

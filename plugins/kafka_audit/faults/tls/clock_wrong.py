"""The clock of a host is so far off that it takes a valid certificate for expired, or for not valid yet."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.model.read_failure import ReadFailure

_DAY_MS = 86_400_000
_OUT_OF_DATE = frozenset({ReadFailure.CERTIFICATE_EXPIRED, ReadFailure.CERTIFICATE_NOT_YET_VALID})


@fault
def clock_wrong(facts: Facts, edge: Edge) -> Observations:
    """A certificate that is valid for a day before and after the audit outlasts most wrong clocks.

    A probe verifies dates by the clock of the host where it starts: what one host takes for out of date, and another one accepts
    by the same authority, is dated right.
    """
    if edge.listener is None or not edge.listener.encrypted:
        return
    shown = facts.view.logins.certificate(edge.target, edge.listener.name)
    if shown is None:
        return
    probes = facts.view.probes_of(edge.target, edge.listener.name)
    elsewhere = any("tls" in probe.passed for probe in probes)
    for probe in probes:
        mine = probe.role == "broker" and probe.from_broker in edge.sources
        failure = None if probe.failed is None or not probe.repeated else probe.failed.failure
        if mine and elsewhere and failure is not None and failure in _OUT_OF_DATE:
            text = f"{failure.words} there, by the clock of that host, and valid elsewhere"
            yield fails(f"probe from broker {probe.from_broker}'s host", text, direct=True)
    accepting = {probe.from_broker for probe in probes if probe.role == "broker" and "tls" in probe.passed}
    if edge.sources and accepting >= {*edge.sources}:
        text = "the certificate is valid there, by the clock of that host"
        yield works(f"probe from the host of {edge.who}", text, direct=True)
    days = min(facts.view.started_ms - shown.not_before_ms, shown.not_after_ms - facts.view.started_ms) // _DAY_MS
    if days >= 1:
        yield works(f"certificate of broker {edge.target}", f"a clock would have to be wrong by {days} days or more")

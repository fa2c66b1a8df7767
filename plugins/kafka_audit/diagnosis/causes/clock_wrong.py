"""The clock of a host is so far off that it takes a valid certificate for expired, or for not valid yet."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import TLS, EdgeObservation, cause, let_in, works
from kafka_audit.diagnosis.edges import CONTROL, REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts
from kafka_audit.diagnosis.handshakes import tls_lines, without_tls

_DAY_MS = 86_400_000


@cause(
    kind=TLS, layer=3, edges=(CONTROL, REPLICATE), rare=True, decided_by="`date -u` on {where} and on the host of broker {target}"
)
def clock_wrong(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """A certificate that is valid for a day before and after the audit outlasts most wrong clocks."""
    yield from (*without_tls(edge), *let_in(edge), *tls_lines(facts, edge, "invalid_certificate"))
    if edge.listener is None or not edge.listener.encrypted:
        return
    shown = facts.view.logins.certificate(edge.target, edge.listener.name)
    if shown is None:
        return
    days = min(facts.view.started_ms - shown.not_before_ms, shown.not_after_ms - facts.view.started_ms) // _DAY_MS
    if days >= 1:
        yield works(f"certificate of broker {edge.target}", f"a clock would have to be wrong by {days} days or more")

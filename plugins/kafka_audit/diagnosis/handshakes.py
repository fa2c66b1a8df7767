"""What the causes of a failed login have in common: the listener's protocol, and what a log says of a failed handshake."""

import re
from collections.abc import Iterable, Iterator

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.diagnosis.cause import EdgeObservation, fails, unknown, works
from kafka_audit.diagnosis.edges import Edge
from kafka_audit.diagnosis.facts import Facts
from kafka_audit.model.log_signatures import HANDSHAKE, login_fault
from kafka_audit.model.tables import LogLine

REASONS = {
    "invalid_certificate": re.compile(
        r"No subject alternative|No name matching|expired|NotAfter|NotBefore|not yet valid", re.IGNORECASE
    ),
    "untrusted_certificate": re.compile(
        r"PKIX|unable to find valid certification|unknown_ca|unknown ca|No trusted cert", re.IGNORECASE
    ),
    "tls_versions_differ": re.compile(
        r"protocol_version|No appropriate protocol|no cipher suites in common|handshake_failure", re.IGNORECASE
    ),
    "client_certificate_refused": re.compile(
        r"bad_certificate|certificate_required|null cert chain|Empty .{0,40}certificate|post-handshake", re.IGNORECASE
    ),
}
"""What Java's TLS says of each cause; a line that none of them matches shows the layer, and no cause."""


def encrypted(edge: Edge) -> bool | None:
    """Return whether a TLS handshake comes first on an edge; None where the protocol is unknown."""
    return None if edge.listener is None or edge.listener.protocol is None else edge.listener.encrypted


def without_tls(edge: Edge) -> Iterator[EdgeObservation]:
    """Yield that no handshake can fail, where there is none."""
    yield _protocol(edge, ruled_out=encrypted(edge) is False)


def without_login(edge: Edge) -> Iterator[EdgeObservation]:
    """Yield that no login can fail, where there is none."""
    used = edge.listener
    yield _protocol(edge, ruled_out=used is not None and used.protocol is not None and not used.logs_in)


def tls_lines(facts: Facts, edge: Edge, name: str) -> Iterator[EdgeObservation]:
    """Yield what logs say of a TLS cause: for it, or that another one is the reason."""
    for line in facts.lines(edge, "KA412"):
        text = " ".join(filter(None, (line.detail, line.exception, line.text)))
        named = next((reason for reason, pattern in REASONS.items() if pattern.search(text)), None)
        if login_fault(line) != HANDSHAKE:
            yield works(f"log of broker {line.broker_id}", f"{says(line)}, so the handshake succeeds", direct=True)
        elif named in {None, name}:
            yield fails(f"log of broker {line.broker_id}", says(line), direct=True)
        else:
            yield works(f"log of broker {line.broker_id}", says(line), direct=True)
        return


def login_lines(lines: Iterable[LogLine], fault: str) -> Iterator[EdgeObservation]:
    """Yield what logs say of a SASL cause."""
    for line in lines:
        if login_fault(line) == fault:
            yield fails(f"log of broker {line.broker_id}", says(line), direct=True)
        else:
            yield works(f"log of broker {line.broker_id}", says(line), direct=True)
        return


def _protocol(edge: Edge, *, ruled_out: bool) -> EdgeObservation:
    known = None if edge.listener is None else edge.listener.protocol
    text = f"{edge.listener_name} is {known or 'not known'}"
    return works("protocol", text, direct=True) if ruled_out else unknown("protocol", text)

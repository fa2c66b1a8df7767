"""What the causes of a failed login have in common: the listeners' protocols, and what a log says of a failed handshake."""

import re
from collections.abc import Iterable, Iterator

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.faults.cause import EdgeObservation, fails, works
from kafka_audit.faults.edges import Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.model.log_signatures import HANDSHAKE, login_fault
from kafka_audit.model.tables import LogLine

WITH_TLS, WITH_LOGIN = TLS, frozenset({"SASL_PLAINTEXT", "SASL_SSL"})
"""The protocols with a handshake, and those with a login."""

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

"""What errors of the operating system, of TLS and of kazoo mean, and what probe scripts report.

Those of kafka-python are in `protocol.kafka_errors`.
"""

from kafka_audit.clients.sockets import MISTRUST, OF_ERRNO, failure_of, tls_failure
from kafka_audit.model.read_failure import ReadFailure

CERTIFICATE_FAILURES = frozenset(ReadFailure[name] for name in MISTRUST)
"""The server's certificate is not accepted here."""

# How kazoo ends the line about a connection attempt; its exceptions have no reason.
_OF_KAZOO = (
    ("refused", ReadFailure.REFUSED),
    ("No route", ReadFailure.NO_ROUTE),
    ("unreachable", ReadFailure.NETWORK_UNREACHABLE),
    ("Cannot resolve", ReadFailure.NAME_UNKNOWN),
    ("broken", ReadFailure.CLOSED),
    ("reset", ReadFailure.RESET),
)
_NOT_DIALLED = "not dialled: "


def of_errno(number: int | None) -> ReadFailure:
    """Return what an error number of the operating system means; CONNECTION_FAILED for one without a member of its own."""
    return ReadFailure[OF_ERRNO.get(number or 0, ReadFailure.CONNECTION_FAILED.name)]


def of_openssl(text: str) -> ReadFailure:
    """Return what OpenSSL's text of a handshake means."""
    return ReadFailure[tls_failure(text)]


def of_error(error: Exception) -> tuple[ReadFailure, str]:
    """Return what an error of the operating system or of TLS means, and its text."""
    return of_report(failure_of(error))


def of_report(error: str) -> tuple[ReadFailure, str]:
    """Return the failure and the text of what a probe script reports: a name, perhaps with a text behind a space.

    A worker of a queue that has an earlier version reports the text alone.
    """
    name, _, text = error.partition(" ")
    found = ReadFailure.__members__.get(name)
    if found is None:
        return ReadFailure.of(None, error), error
    return found, text or found.words


def of_kazoo(line: str | None) -> tuple[ReadFailure, str]:
    """Return what kazoo's line about its last connection attempt means, and a text; TIMEOUT without a line."""
    if line and "[SSL" in line:
        found = of_openssl(line)
    elif line and _NOT_DIALLED in line:
        return ReadFailure.NOT_DIALLED, line[line.index(_NOT_DIALLED) :]
    else:
        found = next((failure for part, failure in _OF_KAZOO if line and part in line), ReadFailure.TIMEOUT)
    return found, found.words

"""Kerberos tickets (GSSAPI), of the user of this process: from its ticket cache, or by its keytab (KRB5_CLIENT_KTNAME).

A ticket is requested before a connection is made. kafka-python requests it on the loop that serves the connection, where a KDC
that does not answer would hold up everything else; there it then finds the ticket in the cache.
"""

import importlib
import sys
import threading
import time
from typing import Any

from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.model.read_failure import ReadFailure

SERVICE = "kafka"
RETRY_S = 10.0
"""How long a KDC that did not answer is not asked again: every broker of a cluster needs a ticket at the same time."""

_BASE = 0x96C73A00  # of error codes in krb5.h, as GSSAPI reports them
_EXPIRED = 11 << 16  # GSS_S_CREDENTIALS_EXPIRED (RFC 2744, section 3.9.1)
_KINIT = "a ticket of this worker's user: kinit, or KRB5_CLIENT_KTNAME with the path of its keytab"
_FRESH = "a ticket that is valid: kinit, or KRB5_CLIENT_KTNAME with a keytab, from which new tickets are requested"
_KDC = "a connection from this worker to the KDC that its krb5.conf names"
_OF_BROKER = f"a principal {SERVICE}/HOST in the KDC for the host that the broker advertises, and its key in the broker's keytab"
_NEEDS: dict[int, str] = {
    6: "a principal that the KDC knows, in the ticket cache or keytab of this worker's user",
    7: _OF_BROKER,
    18: "a principal that is not locked or expired",
    23: "a new password or keytab of the auditor's principal",
    24: "a keytab with the current key of the auditor's principal",
    32: _FRESH,
    37: "clocks of this worker and the KDC that differ by less than five minutes",
    154: "the realm and its KDC in krb5.conf, or KRB5_CONFIG with the path of one that names them",
    156: _KDC,
}
"""What would help for an error of libkrb5: principals, tickets, clocks, the KDC."""

_TICKET_EXPIRED = 32


class Tickets:
    """Requests tickets for brokers; one for each login of an audit."""

    def __init__(self) -> None:
        """Start without a failure."""
        self._lock = threading.Lock()
        self._unanswered: tuple[ReadError, float] | None = None

    def request(self, host: str, seconds: float) -> None:
        """Put a ticket for the broker at a host into the cache, where none is.

        Args:
            host: as the broker advertises it.
            seconds: how long it may take.

        Raises:
            ReadError: NO_TICKET where there is none, NOT_SUPPORTED without the Python package.
        """
        with self._lock:
            known = self._unanswered
        if known is not None and time.monotonic() < known[1] + RETRY_S:
            raise known[0].again(known[0].message)
        # On a thread: no parameter bounds the wait for a KDC, or for the name server that knows it.
        (answer,) = side_by_side([lambda: _request(host)], 1, time.monotonic() + seconds)
        if answer is None:
            answer = ReadError(ReadFailure.NO_TICKET, f"no answer of the KDC for {seconds:.1f} s", _KDC)
        if isinstance(answer, ReadError):
            if answer.needs == _KDC:
                with self._lock:
                    self._unanswered = answer, time.monotonic()
            raise answer


def _request(host: str) -> bool:
    try:
        gssapi: Any = importlib.import_module("gssapi")  # optional
    except (ImportError, OSError):
        needs = "the Python package gssapi on this worker (pip install 'kafka-audit[kerberos]')"
        raise ReadError(ReadFailure.NOT_SUPPORTED, "GSSAPI requires the Kerberos library", needs) from None
    try:
        name = gssapi.Name(f"{SERVICE}@{host}", name_type=gssapi.NameType.hostbased_service)
        # As kafka-python does: the ticket that is requested must be the one that it asks the cache for.
        service = name.canonicalize(gssapi.MechType.kerberos)
        gssapi.SecurityContext(name=service, usage="initiate").step(None)
    except gssapi.exceptions.GSSError as error:
        raise ticket_error(error) from None
    return True


def ticket_errors() -> tuple[type[Exception], ...]:
    """Return the errors of GSSAPI that kafka-python lets through; none before the package was imported."""
    module = sys.modules.get("gssapi.exceptions")
    return () if module is None else (module.GSSError,)


def ticket_error(error: Any) -> ReadError:  # noqa: ANN401 -- of an optional package
    """Return an error of GSSAPI as a failed read, in libkrb5's words."""
    code = _TICKET_EXPIRED if error.maj_code == _EXPIRED else (error.min_code & 0xFFFFFFFF) - _BASE
    said = " ".join(error.get_all_statuses(error.min_code, False))  # noqa: FBT003 -- of a package without types
    return ReadError(ReadFailure.NO_TICKET, clean_line(said, 200), _NEEDS.get(code, _KINIT))

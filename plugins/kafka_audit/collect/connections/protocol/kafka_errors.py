"""What kafka-python raises, with our names: the same failure always has the same name."""

import re
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kafka.errors import (
    IncompatibleBrokerVersion,
    KafkaError,
    KafkaProtocolError,
    KafkaTimeoutError,
    RequestTimedOutError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)

from kafka_audit.collect.connections.credentials import ListenerSecurity
from kafka_audit.collect.connections.kerberos import ticket_error, ticket_errors
from kafka_audit.collect.connections.sasl import ScramError
from kafka_audit.collect.connections.sockets import CLIENT_REFUSED, CLIENT_WANTED, MISTRUST, tls_words
from kafka_audit.collect.rows.source_reads import LOGIN_REFUSED, MECHANISM_REFUSED, ReadError, os_error_text

UNSUPPORTED, TIMEOUT, _NOT_KAFKA = "UNSUPPORTED_VERSION", "timeout", "not a Kafka answer"
# What kafka-python lets through when an answer is well framed and makes no sense inside.
UNDECODABLE = (
    *(ValueError, LookupError, TypeError, ArithmeticError, AttributeError, AssertionError),
    *(RuntimeError, EOFError, MemoryError, struct.error),
)
_ERRNO = re.compile(r"\b(\d{1,5}) E[A-Z]+\b")
_PREFIX = re.compile(r"^(\[Error \d+\] )?(\w+Error: )*")


@contextmanager
def as_read_error(security: ListenerSecurity) -> Iterator[None]:
    """Convert errors of kafka-python inside to ReadError, without secrets."""
    started = time.monotonic()
    try:
        yield
    except ticket_errors() as error:
        raise ticket_error(error) from None
    except (KafkaError, *UNDECODABLE, OSError) as error:
        found = _read_error(error, time.monotonic() - started, security)
        # Not `from error`: the text of the cause may hold what was hidden in ours.
        raise ReadError(found.error, security.hide(found.message), found.needs) from None


def _read_error(error: Exception, seconds: float, security: ListenerSecurity) -> ReadError:
    text = str(error)
    if isinstance(error, KafkaTimeoutError | RequestTimedOutError):
        return ReadError(TIMEOUT, f"no answer for {seconds:.1f} s")
    if isinstance(error, ScramError) and error.error is not None:
        return ReadError(error.error, error.words, error.needs)
    if isinstance(error, SaslAuthenticationFailedError):
        return ReadError(LOGIN_REFUSED, _PREFIX.sub("", text), security.needs)
    if isinstance(error, KafkaError):
        return _kafka_error(error, text, security)
    if isinstance(error, UNDECODABLE):
        return ReadError(_NOT_KAFKA, f"{type(error).__name__}: {text}")
    return ReadError(os_error_text(getattr(error, "errno", None), "connection failed"), text)


def _kafka_error(error: KafkaError, text: str, security: ListenerSecurity) -> ReadError:
    if isinstance(error, UnsupportedSaslMechanismError):
        return ReadError(MECHANISM_REFUSED, _PREFIX.sub("", text), "a mechanism that the listener has enabled")
    if isinstance(error, IncompatibleBrokerVersion | KafkaProtocolError):
        return ReadError(UNSUPPORTED if isinstance(error, IncompatibleBrokerVersion) else _NOT_KAFKA, text)
    if "[SSL" in text or "certificate" in text:
        return _tls_error(text, security)
    return ReadError(_words(text, error), text or None)


def _tls_error(text: str, security: ListenerSecurity) -> ReadError:
    clause = tls_words(text)
    if clause == CLIENT_WANTED:
        return ReadError(clause, text, "cert_file and key_file for this listener in the cluster file")
    if clause == CLIENT_REFUSED:
        return ReadError(clause, text, "a client certificate that the brokers' trust store accepts")
    needs = "a ca_file and an advertised name that match the certificate" if clause in MISTRUST else security.needs
    return ReadError(clause, text, needs)


def _words(text: str, error: KafkaError) -> str:
    number = _ERRNO.search(text)
    if number:
        return os_error_text(int(number[1]), "connection failed")
    for part, clause in (("timed out", "timeout"), ("DNS", "name or service not known"), ("disconnected", "connection closed")):
        if part in text:
            return clause
    return str(getattr(error, "message", None) or type(error).__name__)

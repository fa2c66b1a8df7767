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

from kafka_audit.clients.credentials import ListenerSecurity
from kafka_audit.clients.failures import CERTIFICATE_FAILURES, of_errno, of_openssl
from kafka_audit.clients.kerberos import ticket_error, ticket_errors
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.sasl import ScramError
from kafka_audit.model.read_failure import KAFKA_ERRORS, ReadFailure

_NOT_KAFKA = "not a Kafka answer"
# What kafka-python lets through when an answer is well framed and makes no sense inside.
UNDECODABLE = (
    *(ValueError, LookupError, TypeError, ArithmeticError, AttributeError, AssertionError),
    *(RuntimeError, EOFError, MemoryError, struct.error),
)
_ERRNO = re.compile(r"\b(\d{1,5}) E[A-Z]+\b")
_OF_KAFKA_PYTHON = (
    ("timed out", ReadFailure.TIMEOUT),
    ("DNS", ReadFailure.NAME_UNKNOWN),
    ("disconnected", ReadFailure.CLOSED),
)
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
        raise found.again(security.hide(found.message)) from None


def _read_error(error: Exception, seconds: float, security: ListenerSecurity) -> ReadError:
    text = str(error)
    if isinstance(error, KafkaTimeoutError | RequestTimedOutError):
        return ReadError(ReadFailure.TIMEOUT, f"no answer for {seconds:.1f} s")
    if isinstance(error, ScramError) and error.failure is not None:
        return ReadError(error.failure, error.words, error.needs)
    if isinstance(error, SaslAuthenticationFailedError):
        return ReadError(ReadFailure.LOGIN_REFUSED, _PREFIX.sub("", text), security.needs)
    if isinstance(error, KafkaError):
        return _kafka_error(error, text, security)
    if isinstance(error, UNDECODABLE):
        return ReadError(ReadFailure.NOT_KAFKA, f"{type(error).__name__}: {text}", error=_NOT_KAFKA)
    return ReadError(of_errno(getattr(error, "errno", None)), text)


def _kafka_error(error: KafkaError, text: str, security: ListenerSecurity) -> ReadError:
    if isinstance(error, UnsupportedSaslMechanismError):
        return ReadError(ReadFailure.MECHANISM_NOT_OFFERED, _PREFIX.sub("", text), "a mechanism that the listener has enabled")
    if isinstance(error, IncompatibleBrokerVersion):
        return ReadError(ReadFailure.UNSUPPORTED_VERSION, text)
    if isinstance(error, KafkaProtocolError):
        return ReadError(ReadFailure.NOT_KAFKA, text, error=_NOT_KAFKA)
    if "[SSL" in text or "certificate" in text:
        return _tls_error(text, security)
    return _connection_error(error, text)


def _tls_error(text: str, security: ListenerSecurity) -> ReadError:
    failure = of_openssl(text)
    if failure is ReadFailure.CLIENT_CERTIFICATE_WANTED:
        return ReadError(failure, text, "cert_file and key_file for this listener in the cluster file")
    if failure is ReadFailure.CLIENT_CERTIFICATE_REFUSED:
        return ReadError(failure, text, "a client certificate that the brokers' trust store accepts")
    trusted = "a ca_file and an advertised name that match the certificate"
    return ReadError(failure, text, trusted if failure in CERTIFICATE_FAILURES else security.needs)


def _connection_error(error: KafkaError, text: str) -> ReadError:
    number = _ERRNO.search(text)
    if number:
        return ReadError(of_errno(int(number[1])), text)
    for part, failure in _OF_KAFKA_PYTHON:
        if part in text:
            return ReadError(failure, text)
    code = int(getattr(error, "errno", -1))
    name = str(getattr(error, "message", None) or type(error).__name__)
    return ReadError(KAFKA_ERRORS.get(code, ReadFailure.KAFKA_ERROR), text or None, error=name)

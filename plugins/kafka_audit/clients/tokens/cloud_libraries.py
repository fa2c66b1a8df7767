"""Tokens that a cloud provider's own library makes: an optional package, which finds the identity of this process."""

import time
from collections.abc import Callable
from importlib.util import find_spec

from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.tokens.access_token import AccessToken
from kafka_audit.model.read_failure import ReadFailure


def demand_library(module: str, package: str, key: str, extra: str) -> None:
    """Raise ReadError if a library is missing.

    Args:
        module: what is imported of it.
        package: its name for pip.
        key: of the cluster file, which requires it.
        extra: of kafka-audit, which installs it.
    """
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package above it
        found = False
    if not found:
        needs = f"the Python package {package} on this worker (pip install 'kafka-audit[{extra}]')"
        raise ReadError(ReadFailure.NOT_SUPPORTED, f"{key} requires {package}, which is not installed", needs)


def within(seconds: float, fetch: Callable[[], AccessToken], credentials: str) -> AccessToken:
    """Return a token that a library fetches; raises ReadError.

    On a thread: the credentials may come from another service, and no parameter of the libraries bounds the wait for it.

    Args:
        seconds: how long it may take.
        fetch: gets the token, and raises ReadError.
        credentials: their name, e.g. "AWS credentials".
    """
    (answer,) = side_by_side([fetch], 1, time.monotonic() + seconds)
    if answer is None:
        message = f"{credentials} were not found, or gave no token, within {seconds:.1f} s"
        raise ReadError(ReadFailure.NO_TOKEN, message, f"{credentials} of this worker that are found faster")
    if isinstance(answer, ReadError):
        raise answer
    return answer

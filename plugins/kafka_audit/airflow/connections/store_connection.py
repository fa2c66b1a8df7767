"""The optional connection `kafka_audit_store`: with its login this process, and Spark, reach a store that is a URL.

Without it, file systems find credentials where their services say: in the environment, in files, from the machine.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from airflow.sdk.log import mask_secret

from kafka_audit.airflow.connections.cluster_connection import find_connection
from kafka_audit.model.errors import UsageError
from kafka_audit.spark.object_stores import is_s3

CONNECTION = "kafka_audit_store"
_FRESH_S = 60.0
_PACKAGE = "the Airflow connection kafka_audit_store needs the Airflow provider of this service, for S3 kafka-audit[s3]"


@dataclass(frozen=True, kw_only=True)
class _StoreLogin:
    """A connection that was looked up, and the file system with its login; both are None where there is none."""

    looked_up: float
    connection: Any
    file_system: Any


_known: dict[str, _StoreLogin] = {}
_LOCK = threading.Lock()


def use() -> None:
    """Let the stores of this process take the login of the connection, if there is one."""
    from kafka_audit.store import object_store  # noqa: PLC0415 -- Airflow parses the DAG often, and the store imports pyarrow

    object_store.use_file_systems(_file_system)


def _file_system(root: str) -> Any:  # noqa: ANN401 -- fsspec has no types
    """Return the file system with the login of the connection, None without one.

    The API server asks at each request: the connection is looked up once a minute, and its file system stays until it changes.

    Raises:
        ImportError: the provider of the connection is not installed.
    """
    protocol = root.partition("://")[0]
    with _LOCK:
        known = _known.get(protocol)
        if known is None or time.monotonic() - known.looked_up > _FRESH_S:
            known = _known[protocol] = _look_up(protocol, known)
    return known.file_system


def _look_up(protocol: str, known: _StoreLogin | None) -> _StoreLogin:
    connection = find_connection(CONNECTION)
    if connection is None:
        return _StoreLogin(looked_up=time.monotonic(), connection=None, file_system=None)
    same = known is not None and known.connection == connection
    file_system = known.file_system if known is not None and same else _connected(protocol)
    return _StoreLogin(looked_up=time.monotonic(), connection=connection, file_system=file_system)


def _connected(protocol: str) -> Any:  # noqa: ANN401 -- see above
    from airflow.sdk.io import get_fs  # noqa: PLC0415 -- most stores are folders

    try:
        return get_fs(protocol, CONNECTION)
    except (ImportError, ValueError) as error:
        message = f"{error}; {_PACKAGE}"
        raise ImportError(message) from None


@contextlib.contextmanager
def in_environment(root: str) -> Iterator[None]:
    """Put the login of the connection into the environment of this process, from which `spark-submit` inherits it.

    A command line, a setting of Spark and a field of an operator are shown to others; the environment of a process is not.

    Args:
        root: of the store; without a connection, or for another service than S3, nothing is done.

    Raises:
        UsageError: the connection is there, its provider is not installed.
    """
    variables = _variables() if is_s3(root) and find_connection(CONNECTION) is not None else {}
    before = {name: os.environ.get(name) for name in variables}
    try:
        _set(variables)
        yield
    finally:
        _set(before)


def _variables() -> dict[str, str | None]:
    """Return Amazon's variables for the connection; None for those that must not be set."""
    try:
        from airflow.providers.amazon.aws.hooks.s3 import S3Hook  # noqa: PLC0415 -- an optional package
    except ImportError as error:
        message = f"{error}; {_PACKAGE}"
        raise UsageError(message) from None
    hook = S3Hook(aws_conn_id=CONNECTION)
    session = hook.get_session()
    found: dict[str, str | None] = {}
    login = session.get_credentials()
    if login is not None:
        login = login.get_frozen_credentials()
        for secret in filter(None, (login.secret_key, login.token)):
            mask_secret(secret)
        found = {
            "AWS_ACCESS_KEY_ID": login.access_key,
            "AWS_SECRET_ACCESS_KEY": login.secret_key,
            "AWS_SESSION_TOKEN": login.token or None,
            "AWS_PROFILE": None,
        }
    region = session.region_name
    if region:
        found |= {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    endpoint = hook.conn_config.get_service_endpoint_url(service_name="s3")
    if endpoint:
        found["AWS_ENDPOINT_URL_S3"] = endpoint
    return found


def _set(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value

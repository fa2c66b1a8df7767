"""One ZooKeeper session with a deadline, whose failures have the error of the servers."""

import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError, KazooException, NoAuthError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.retry import KazooRetry

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.failures import of_kazoo
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.tls import TlsAccess, zookeeper_context
from kafka_audit.clients.zookeeper import connection
from kafka_audit.model.cluster import ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.model.read_failure import EdgeLayer, ReadFailure

_ROUNDS = 4  # refusals per server, about a second and a half, before we stop waiting for a server that restarts


class _LastMessages(logging.Handler):
    """Keeps what kazoo says about its connection attempts, which its exceptions do not carry."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    @property
    def refusals(self) -> int:
        return sum("dropped" in line or "Cannot resolve" in line for line in self.lines)

    def read_error(self, access: ZookeeperAccess) -> ReadError:
        line = next((line for line in reversed(self.lines) if "dropped" in line or "Cannot resolve" in line), None)
        failure, text = of_kazoo(line)
        if failure.layer is EdgeLayer.TLS:
            needs = "zookeeper.tls in the cluster file with a ca_file, cert_file and key_file that match the server"
        elif failure is ReadFailure.NOT_DIALLED:
            needs = f"{access.connect} with a separate address in zookeeper of the cluster file, if that server is intended"
        else:
            needs = f"a ZooKeeper server that answers at {access.connect}{_perhaps_tls(access, failure)}"
        return ReadError(failure, line, needs, error=text)


@dataclass(frozen=True, kw_only=True)
class Session:
    """A connected client."""

    client: KazooClient
    access: ZookeeperAccess

    def children(self, path: str, seconds: float) -> list[str]:
        """Return the names below a znode; raises ReadError."""
        try:
            names: list[str] = self.client.get_children_async(path).get(timeout=seconds)
        except (KazooException, KazooTimeoutError) as error:
            raise self.as_read_error(error, path) from error
        return names

    def as_read_error(self, error: Exception, path: str | None = None) -> ReadError:
        """Return the row's parts for what kazoo raised."""
        if isinstance(error, NoAuthError):
            login = f" for sasl:{self.access.username}" if self.access.username else ""
            permission = f"read permission on {path} in ZooKeeper{login}"
            return ReadError(ReadFailure.NOT_AUTHORIZED, None, permission, error=NoAuthError.__name__)
        if isinstance(error, AuthFailedError):
            return _refused(self.access)
        refused = getattr(getattr(self.client, "_connection", None), "refused", None)
        if isinstance(refused, ReadError):
            return refused
        if isinstance(error, KazooTimeoutError):
            return ReadError(
                ReadFailure.TIMEOUT, str(error) or None, f"an answer from {self.access.connect} within limits.read_s"
            )
        needs = f"a ZooKeeper session at {self.access.connect}" if isinstance(error, KazooException) else None
        return ReadError(ReadFailure.ZOOKEEPER_ERROR, str(error) or None, needs, error=type(error).__name__)


@contextmanager
def open_session(
    access: ZookeeperAccess, read_s: float, secrets: Mapping[str, str], budget: Budget, tls: TlsAccess | None = None
) -> Iterator[Session]:
    """Connect within `read_s` seconds and the budget's time, close at the end.

    Args:
        access: connection string, login and files of certificates.
        read_s: bound of the connection, in seconds.
        secrets: where the password is looked up.
        budget: the audit's.
        tls: how TLS is opened, where `access` says that it is used.

    Raises:
        ReadError: no server answers in time, or it refuses the login.
        UsageError: the connection string cannot be read.
    """
    messages = _LastMessages()
    bound = budget.demand_time(read_s)
    handler = connection.Handler(budget, zookeeper_context(access, tls))
    client = _client(access, bound, secrets, messages, handler)
    try:
        _start(client, messages, access, time.monotonic() + bound)
        yield Session(client=client, access=access)
    finally:
        connection.stop(client, budget)


def _start(client: KazooClient, messages: _LastMessages, access: ZookeeperAccess, deadline: float) -> None:
    connected = client.start_async()
    patience = _ROUNDS * len(client.hosts)
    while not connected.wait(0.02):
        if client.client_state == "AUTH_FAILED":
            raise _refused(access)
        if time.monotonic() > deadline or messages.refusals >= patience:
            raise messages.read_error(access)


def _refused(access: ZookeeperAccess) -> ReadError:
    """Return what a refused login is; ZooKeeper says nothing of it, it hangs up."""
    needs = f"a user and password that {access.connect} accepts ({access.username}, {access.password_env})"
    return ReadError(
        ReadFailure.LOGIN_REFUSED, f"the login of {access.username} was refused", needs, error=AuthFailedError.__name__
    )


def _perhaps_tls(access: ZookeeperAccess, failure: ReadFailure) -> str:
    """Return a hint if the server may be a broker, or require TLS: it closes plain connections."""
    if _OF_BROKERS.search(access.connect) and failure in {ReadFailure.CLOSED, ReadFailure.TIMEOUT}:
        return " (a Kafka broker? then `bootstrap`, or --bootstrap)"
    closes = access.tls is None and failure is ReadFailure.CLOSED
    return ", or zookeeper.tls in the cluster file if that port uses TLS" if closes else ""


_OF_BROKERS = re.compile(r":909\d(?!\d)")


def _client(
    access: ZookeeperAccess, read_s: float, secrets: Mapping[str, str], messages: _LastMessages, handler: connection.Handler
) -> KazooClient:
    # A separate logger, in no hierarchy: failures become rows, not log lines.
    logger = logging.Logger("zookeeper", logging.WARNING)  # noqa: LOG001
    logger.addHandler(messages)
    servers = access.connect.partition("/")[0].count(",") + 1
    login: dict[str, str] | None = None
    if access.username is not None:
        login = {"mechanism": "DIGEST-MD5", "username": access.username, "password": _password(access, secrets)}
    try:
        client = KazooClient(
            handler=handler,
            hosts=access.connect,
            # Also the bound of each connection attempt: a server that drops packets must leave time for the next one.
            timeout=max(1.0, read_s / servers),
            connection_retry=KazooRetry(max_tries=-1, delay=0.1, max_delay=0.5),
            logger=logger,
            sasl_options=login,
        )
    except ValueError as error:
        msg = f"zookeeper {access.connect}: {error}"
        raise UsageError(msg) from error
    client._connection = connection.ZookeeperConnection(client, handler.budget, read_s, login)  # noqa: SLF001 -- there is no other place
    return client


def _password(access: ZookeeperAccess, secrets: Mapping[str, str]) -> str:
    if find_spec("puresasl") is None:
        raise ReadError(ReadFailure.NO_LOGIN, None, "the package pure-sasl, with which kazoo logs in")
    password = secrets.get(access.password_env or "")
    if password is None:
        raise ReadError(ReadFailure.NO_LOGIN, None, f"the environment variable {access.password_env}")
    return password

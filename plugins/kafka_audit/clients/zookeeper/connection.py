"""kazoo's connection, within bounds: it dials what may be dialled, takes frames up to a size and a time, and can be ended.

As it comes, kazoo takes the memory that four bytes announce, waits again for every byte of a frame, and joins its threads for as
long as they take.
"""

import errno
import socket
import ssl
import threading
import time
from contextlib import suppress

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionDropped, KazooException
from kazoo.handlers.threading import KazooTimeoutError, SequentialThreadingHandler
from kazoo.handlers.utils import create_tcp_connection
from kazoo.protocol.connection import ConnectionHandler

from kafka_audit.clients.budget import Budget, end_connection
from kafka_audit.clients.failures import of_report
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.sockets import Failure, allowed
from kafka_audit.model.read_failure import ReadFailure

MOST_FRAME = 64 * 1024 * 1024
"""Largest answer taken. The names of 1,000,000 topics of 40 letters are 44 MB; a server's own bound for one znode
(jute.maxbuffer) is 1 to 4 MB, and 500 assignments of 2,000 partitions each (40 KB), which come in one answer, are 20 MB."""

_AT_ONCE = 64 * 1024
_POLITE_S, _JOIN_S = 0.5, 0.3


class Handler(SequentialThreadingHandler):  # type: ignore[misc] # kazoo has no types
    """Dials within the audit's budget, and opens TLS by itself: kazoo trusts this machine's authorities beside a `ca_file`."""

    def __init__(self, budget: Budget, tls: ssl.SSLContext | None) -> None:
        """Take the audit's budget, and the context of TLS if that is used."""
        super().__init__()
        self.budget = budget
        self._tls = tls
        self.ended = False

    def create_socket_pair(self) -> tuple[socket.socket, socket.socket]:
        """Return the pipe by which kazoo's thread is woken; a request that finds it full fails at once instead of waiting."""
        read, write = super().create_socket_pair()
        write.settimeout(0)
        return read, write

    def create_connection(
        self, address: tuple[str, int], *, hostname: str, timeout: float | None = None, **_: object
    ) -> socket.socket:
        """Return a connection to an address that was resolved already; raises OSError.

        Args:
            address: resolved host, and port.
            hostname: the name that a certificate must show.
            timeout: bound in seconds.
            **_: how kazoo would open TLS.
        """
        seconds = 0.0 if self.ended else self.budget.left()
        if seconds <= 0:
            raise TimeoutError(errno.ETIMEDOUT, "the audit is over")
        try:
            allowed([(socket.AF_UNSPEC, address)], named=self.budget.excepts(address[0], address[1]))
        except Failure as failure:
            raise PermissionError(errno.EACCES, of_report(str(failure))[1]) from None
        end = time.monotonic() + min(timeout or seconds, seconds)
        connection: socket.socket = create_tcp_connection(socket, address, timeout=end - time.monotonic())
        if self.ended:
            connection.close()
            raise TimeoutError(errno.ETIMEDOUT, "the audit is over")
        if self._tls is None:
            self.budget.opened(connection)
            return connection
        secured = self._tls.wrap_socket(connection, server_hostname=hostname.strip("[]"), do_handshake_on_connect=False)
        self.budget.opened(secured)
        try:
            secured.settimeout(max(0.001, end - time.monotonic()))
            secured.do_handshake()
        except (OSError, ValueError):
            self.budget.closed(secured)
            secured.close()
            raise
        return secured


class ZookeeperConnection(ConnectionHandler):  # type: ignore[misc] # see above
    """Reads frames within bounds.

    Attributes:
        refused: why a frame was not taken or could not be read, None while all were.
    """

    def __init__(self, client: KazooClient, budget: Budget, frame_s: float, sasl_options: dict[str, str] | None) -> None:
        """Take a client whose connection this becomes; a frame takes `frame_s` seconds at the most."""
        super().__init__(client, client._conn_retry.copy(), logger=client.logger, sasl_options=sasl_options)  # noqa: SLF001
        self._budget = budget
        self._frame_s = frame_s
        self.refused: ReadError | None = None

    def zk_loop(self) -> None:
        """Run kazoo's own; what an odd answer makes it raise ends the session and becomes `refused`, no trace on stderr."""
        try:
            with any_answer():
                super().zk_loop()
        except ReadError as error:
            self.refused = self.refused or error

    def _read(self, length: int, timeout: float) -> bytes:
        """Return so many bytes; the time is for all of them together."""
        if not 0 <= length <= MOST_FRAME:
            self.refused = ReadError(ReadFailure.TOO_LARGE, f"an answer of {length} bytes, more than {MOST_FRAME}")
            msg = "an answer is too large"
            raise ConnectionDropped(msg)
        end = time.monotonic() + min(timeout, self._frame_s, self._budget.left())
        parts: list[bytes] = []
        size = 0
        try:
            with self._socket_error_handling():
                while size < length:
                    part = self._some(length - size, end)
                    self._count(len(part))
                    size += len(part)
                    parts.append(part)
        finally:
            self._budget.release(size)
        return b"".join(parts)

    def _count(self, size: int) -> None:
        try:
            self._budget.receive(size)
        except ReadError as error:
            self.refused = error
            msg = "the budget is used up"
            raise ConnectionDropped(msg) from None

    def _some(self, size: int, end: float) -> bytes:
        """Return what comes next, at most so many bytes."""
        while True:
            left = end - time.monotonic()
            pending = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending()
            if left <= 0 or not (pending or self.handler.select([self._socket], [], [], left)[0]):
                msg = "socket time-out during read"
                raise KazooTimeoutError(msg)
            try:
                part: bytes = self._socket.recv(min(size, _AT_ONCE))
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
                continue
            if not part:
                msg = "socket connection broken"
                raise ConnectionDropped(msg)
            return part


def stop(client: KazooClient, budget: Budget) -> None:
    """End a session within a second, whatever its server does; a thread of kazoo's that hangs sends nothing after that.

    A server that answers receives a close request, so that it drops the session at once.
    """
    polite = threading.Thread(target=_stop, args=(client,), daemon=True)
    polite.start()
    polite.join(_POLITE_S)
    client.handler.ended = True
    connection = client._connection._socket  # noqa: SLF001 -- there is no other place
    if connection is not None:
        budget.closed(connection)
    if polite.is_alive() and connection is not None:
        end_connection(connection)
        polite.join(_JOIN_S)


def _stop(client: KazooClient) -> None:
    # Its thread hangs, or its wake-up sockets are closed: there is no receiver.
    with suppress(KazooException, OSError, AttributeError, RuntimeError):
        client.stop()
        client.close()

"""Four-letter words of a ZooKeeper server: one connection, one word, one answer."""

import socket
import ssl
import time

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.sockets import allowed, connect, resolve

_MOST_BYTES = 64 * 1024


def ask_word(word: str, host: str, port: int, context: ssl.SSLContext | None, budget: Budget) -> tuple[str, bytes | None]:
    """Return what a server answers, and the certificate that it presented.

    Raises:
        sockets.Failure, OSError, UnicodeError, OverflowError: there is no answer, or no such address.
    """
    addresses = allowed(resolve(host, port, budget.left()), named=budget.excepts(host, port))
    with budget.connections() as keep:
        plain = connect(addresses, budget.deadline, keep)
        plain.settimeout(_left(budget.deadline))
        with plain, plain if context is None else context.wrap_socket(plain, server_hostname=host) as connection:
            shown = connection.getpeercert(binary_form=True) if isinstance(connection, ssl.SSLSocket) else None
            connection.sendall(word.encode())
            return _received(connection, budget.deadline).decode(errors="replace"), shown


def _received(connection: socket.socket, deadline: float) -> bytes:
    found = b""
    while len(found) < _MOST_BYTES:
        if time.monotonic() > deadline:
            raise TimeoutError
        connection.settimeout(_left(deadline))
        part = connection.recv(4096)
        if not part:
            break
        found += part
    return found


def _left(deadline: float) -> float:
    return max(0.05, deadline - time.monotonic())

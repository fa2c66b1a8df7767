"""Announce requests that never come: ``large_requests.py HOST PORT MEGABYTES COUNT``, a connection for each.

Run as a script inside a host; imports nothing of the package. Says ``ready`` once all are announced, and keeps the connections. A
broker takes the announced memory before it reads a request, up to socket.request.max.bytes.
"""

import signal
import socket
import struct
import sys

MEGABYTE = 1 << 20
FIRST_BYTES = bytes(4)
SECONDS = 10


def announce(host: str, port: int, size: int) -> socket.socket:
    """Send the length of a request and its first bytes."""
    connection = socket.create_connection((host, port), SECONDS)
    connection.sendall(struct.pack(">i", size) + FIRST_BYTES)
    return connection


if __name__ == "__main__":
    host, port, megabytes, count = sys.argv[1], *map(int, sys.argv[2:])
    kept = [announce(host, port, megabytes * MEGABYTE) for _ in range(count)]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    signal.pause()

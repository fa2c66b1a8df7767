"""Servers that misbehave, on one address: `fake_brokers.py ADDRESS`, then a line of ports by behaviour; ends with stdin."""

import json
import socket
import struct
import sys
import threading
import time


def garbage(connection):
    """Answer like a web server."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    silence(connection)


def trickle(connection):
    """Announce a long answer, and send a byte of it each second."""
    connection.recv(4096)
    connection.sendall(struct.pack("!i", 10_000))
    while True:
        connection.sendall(b"\0")
        time.sleep(1)


def silence(connection):
    """Take whatever comes, and never say a word."""
    while connection.recv(4096):
        pass


def hang_up(connection):
    """Close at once."""


BEHAVIOURS = {"garbage": garbage, "trickle": trickle, "silence": silence, "hang-up": hang_up}


def serve(listener, behave):
    """Give each connection to a thread of its own."""
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=guarded, args=(behave, connection), daemon=True).start()


def guarded(behave, connection):
    """Let a client that goes away end its connection, and nothing else."""
    with connection:
        try:
            behave(connection)
        except OSError:
            return


def main():
    """Serve until stdin ends."""
    ports = {}
    for name, behave in BEHAVIOURS.items():
        listener = socket.create_server((sys.argv[1], 0))
        ports[name] = listener.getsockname()[1]
        threading.Thread(target=serve, args=(listener, behave), daemon=True).start()
    sys.stdout.write(json.dumps(ports) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()

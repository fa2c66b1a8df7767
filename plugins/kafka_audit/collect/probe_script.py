"""Walk from here to advertised endpoints, layer by layer: dns, tcp, api, identity.

This module's text is what a vantage gets by stdin, and its functions are what the worker itself calls. So: standard library
only, nothing of the package, syntax of Python 3.6, annotations in quotes, and no credential. Layers come in order; the first
one that does not work is the last. `collect/probe_script.sh` does the same where there is no Python.
"""

import errno
import json
import os
import re
import socket
import struct
import sys
import threading
import time

WORDS = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.ETIMEDOUT: "timeout",
    errno.ECONNRESET: "connection reset",
    errno.EPIPE: "connection closed",
}
API_VERSIONS, DESCRIBE_CONFIGS, BROKER_RESOURCE = 18, 32, 4
WRONG_ID, DENIED = 42, 31
NOBODY = b"2147483647"  # no broker has this id: the error names the one that was asked
MOST_BYTES = 1 << 20  # of an answer: another protocol's banner reads as a size of a gigabyte
SIDE_BY_SIDE = 32
TAG = "kafka-audit"
TIMEOUT, CLOSED, NOT_KAFKA = "timeout", "connection closed", "not a Kafka broker"
NOT_ALLOWED = "CLUSTER_AUTHORIZATION_FAILED"


class Failure(Exception):  # noqa: N818 -- a layer that does not work is a result, no error
    """A layer that does not work."""

    def __init__(self, error: "str | None", outcome: str = "failed", needs: "str | None" = None) -> None:
        """Keep the parts of the row to be."""
        Exception.__init__(self, error)
        self.step = (outcome, error, None, needs)


def frame(api: int, version: int, body: bytes = b"") -> bytes:
    """Return a request: size, header version 1 with correlation id 7 and a client id that operators recognise, body."""
    client = b"kafka-audit"
    request = struct.pack("!hhih", api, version, 7, len(client)) + client + body
    return struct.pack("!i", len(request)) + request


def api_versions_request() -> bytes:
    """Return ApiVersions version 0, which every broker since 0.10 answers, before any login."""
    return frame(API_VERSIONS, 0)


def identity_request(version: int) -> bytes:
    """Return DescribeConfigs, version 0 or 1, of a broker that does not exist."""
    body = struct.pack("!ibh", 1, BROKER_RESOURCE, len(NOBODY)) + NOBODY + struct.pack("!i", -1)
    return frame(DESCRIBE_CONFIGS, version, body + (b"\0" if version else b""))


def words(error: OSError) -> str:
    """Return our word for an error of the operating system."""
    if isinstance(error, socket.timeout):
        return "timeout"
    return WORDS.get(error.errno or 0) or (error.strerror or type(error).__name__).lower()


def kafka_error(code: int) -> str:
    """Return the words for one of Kafka's error codes."""
    return f"error {code}"


def resolve(host: str, port: int, seconds: float) -> "list[tuple[int, tuple[str, int]]]":
    """Return (family, address) pairs of a name; a resolver that hangs is left behind on a thread of its own."""
    found: list[list[tuple[int, tuple[str, int]]]] = []
    failed: list[str] = []

    def look_up() -> None:
        try:
            found.append([(one[0], one[4]) for one in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)])  # type: ignore[misc] # IPv6 addresses have four parts
        except socket.gaierror as error:
            absent = error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
            failed.append("name or service not known" if absent else (error.strerror or "name lookup failed").lower())
        except (OSError, UnicodeError):
            failed.append("name or service not known")

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if found:
        return found[0]
    raise Failure(failed[0] if failed else TIMEOUT)


def connect(addresses: "list[tuple[int, tuple[str, int]]]", end: float) -> socket.socket:
    """Return a connection to the first address that takes one; raises Failure with the last one's error."""
    last = "timeout"
    for family, address in addresses:
        left = end - time.monotonic()
        if left <= 0:
            raise Failure(TIMEOUT)
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.settimeout(left)
        try:
            sock.connect(address)
        except OSError as error:
            sock.close()
            last = words(error)
        else:
            return sock
    raise Failure(last)


def exchange(sock: socket.socket, request: bytes, end: float) -> bytes:
    """Send a request and return the answer after its correlation id; raises Failure."""
    try:
        sock.settimeout(max(0.001, end - time.monotonic()))
        sock.sendall(request)
        (size,) = struct.unpack("!i", read_exactly(sock, 4, end))
        if not 4 <= size <= MOST_BYTES:  # noqa: PLR2004 -- the correlation id
            raise Failure(NOT_KAFKA)
        return read_exactly(sock, size, end)[4:]
    except OSError as error:
        raise Failure(words(error))  # noqa: B904 -- the text is all that travels


def read_exactly(sock: socket.socket, size: int, end: float) -> bytes:
    """Return that many bytes; raises Failure and OSError."""
    parts = []
    while size > 0:
        left = end - time.monotonic()
        if left <= 0:
            raise Failure(TIMEOUT)
        sock.settimeout(left)
        part = sock.recv(min(size, 65536))
        if not part:
            raise Failure(CLOSED)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def ask_versions(sock: socket.socket, end: float) -> "dict[int, tuple[int, int]]":
    """Return the offered range of versions by API key; raises Failure."""
    answer = exchange(sock, api_versions_request(), end)
    try:
        error, count = struct.unpack_from("!hi", answer)
        offered = {}
        for at in range(6, 6 + 6 * count, 6):
            key, lowest, highest = struct.unpack_from("!hhh", answer, at)
            offered[key] = (lowest, highest)
    except struct.error:
        raise Failure(NOT_KAFKA)  # noqa: B904 -- the text is all that travels
    if error:
        raise Failure(kafka_error(error))
    return offered


def ask_identity(sock: socket.socket, version: int, end: float) -> str:
    """Return the id of the broker at the other end; raises Failure."""
    answer = exchange(sock, identity_request(version), end)
    try:
        error, length = struct.unpack_from("!hh", answer, 8)
    except struct.error:
        raise Failure(NOT_KAFKA)  # noqa: B904 -- the text is all that travels
    if error == DENIED:
        raise Failure(NOT_ALLOWED, "unknown", "DescribeConfigs on Cluster")
    match = re.search(rb"expected (\d{1,10}) or empty", answer[12 : 12 + max(0, length)])
    if error != WRONG_ID or match is None:
        raise Failure(kafka_error(error), "unknown")
    return match.group(1).decode()


def walk(
    host: str, port: int, layers: "list[str]", seconds: float
) -> "list[tuple[str, str, str | None, str | None, str | None, int]]":
    """Return (layer, outcome, error, detail, needs, milliseconds) per layer, up to the first that does not work."""
    end = time.monotonic() + seconds
    steps: list[tuple[str, str, str | None, str | None, str | None, int]] = []
    started = time.monotonic()
    sock = None
    offered: dict[int, tuple[int, int]] = {}
    layer = "dns"
    try:
        for layer in layers:
            detail: str | None = None
            started = time.monotonic()
            if layer == "dns":
                addresses = resolve(host, port, seconds)
                detail = ",".join(sorted({one[1][0] for one in addresses}))
            elif layer == "tcp":
                sock = connect(addresses, end)
            elif layer == "api" and sock is not None:
                offered = ask_versions(sock, end)
                detail = f"{len(offered)} APIs"
            elif layer == "identity" and sock is not None:
                lowest, highest = offered.get(DESCRIBE_CONFIGS, (9, -1))
                if lowest > min(1, highest):
                    break  # not offered, so not asked
                detail = ask_identity(sock, min(1, highest), end)
            steps.append((layer, "ok", None, detail, None, since(started)))
    except Failure as failure:
        steps.append((layer,) + failure.step + (since(started),))  # noqa: RUF005 -- Python 3.6 knows no other way
    finally:
        if sock is not None:
            sock.close()
    return steps


def since(started: float) -> int:
    """Milliseconds since a time of time.monotonic()."""
    return round((time.monotonic() - started) * 1000)


def line(index: int, step: "tuple[object, ...]") -> str:
    """Return one layer as a line of tab-separated fields; None is empty."""
    fields = ["" if one is None else re.sub(r"\s", " ", str(one)) for one in step]
    return "\t".join([TAG, str(index)] + fields)  # noqa: RUF005 -- Python 3.6


def main(text: str, seconds: float) -> None:
    """Walk to all targets, a JSON list of [host, port, layers], some side by side, and print a line per layer."""
    waiting = list(enumerate(json.loads(text)))
    count = len(waiting)
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not waiting:
                    return
                index, (host, port, layers) = waiting.pop(0)
            steps = walk(host, port, layers, seconds)
            with lock:
                sys.stdout.write("".join(line(index, step) + "\n" for step in steps))
                sys.stdout.flush()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(SIDE_BY_SIDE, count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.flush()
    os._exit(0)  # a resolver that hangs on its thread must not keep the process

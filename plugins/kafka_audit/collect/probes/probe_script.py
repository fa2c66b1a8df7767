"""Probe advertised endpoints from here, layer by layer: dns, tcp, tls, sasl, api, identity.

A vantage receives the text of `collect/connections/sockets.py` and of this module on stdin, and its functions are
what the worker itself calls. So: standard library only, nothing else of the package, syntax of Python 3.6, annotations in
quotes, and no credential. Layers come in order; the first one that does not work is the last. `collect/probes/probe_script.sh`
does the same, without tls and sasl, where there is no Python.
"""

import json
import os
import re
import socket
import struct
import sys
import threading
import time
from typing import IO, Any, Callable  # noqa: UP035 -- Python 3.6

from kafka_audit.collect.connections.sockets import (
    CLOSED,
    TIMEOUT,
    Failure,
    TlsContexts,
    allowed,
    connect,
    failure_of,
    resolve,
    resolver,
    secure,
)

SASL_HANDSHAKE, API_VERSIONS, DESCRIBE_CONFIGS, BROKER_RESOURCE = 17, 18, 32, 4
WRONG_ID, DENIED, OTHER_MECHANISM = 42, 31, 33
UNKNOWN_ID = b"2147483647"  # no broker has this id: the error names the one that was asked
MOST_BYTES = 1 << 20  # of an answer: another protocol's banner reads as a size of a gigabyte
MOST_MECHANISMS, LONGEST_MECHANISM = 100, 255  # Kafka knows five, of 13 letters
SIDE_BY_SIDE = 32
TAG = "kafka-audit"
CERTIFICATE = "certificate"  # no layer: what the tls layer was shown, base64 as its detail
NEEDS_CA_FILE = "a ca_file for this listener in the cluster file"
NOT_KAFKA, NOT_ALLOWED, SKIPPED = "NOT_KAFKA", "NOT_AUTHORIZED", "skipped"
OF_KAFKA = {29: "NOT_AUTHORIZED", 31: "NOT_AUTHORIZED", 35: "UNSUPPORTED_VERSION"}


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
    body = struct.pack("!ibh", 1, BROKER_RESOURCE, len(UNKNOWN_ID)) + UNKNOWN_ID + struct.pack("!i", -1)
    return frame(DESCRIBE_CONFIGS, version, body + (b"\0" if version else b""))


def kafka_error(code: int) -> str:
    """Return the name of the failure that a Kafka error code means, with its number."""
    return f"{OF_KAFKA.get(code, 'KAFKA_ERROR')} error {code}"


def exchange(sock: socket.socket, request: bytes, end: float) -> bytes:
    """Send a request and return the answer after its correlation id; raises Failure."""
    try:
        send(sock, request, end)
        (size,) = struct.unpack("!i", read_exactly(sock, 4, end))
        if not 4 <= size <= MOST_BYTES:  # noqa: PLR2004 -- the correlation id
            raise Failure(NOT_KAFKA)
        return read_exactly(sock, size, end)[4:]
    except OSError as error:
        raise Failure(failure_of(error))  # noqa: B904 -- the name is all that travels


def send(sock: socket.socket, request: bytes, end: float) -> None:
    """Send a request; raises OSError, with the reason that the other side gave before it hung up, where it gave one."""
    sock.settimeout(max(0.001, end - time.monotonic()))
    try:
        sock.sendall(request)
    except OSError:
        sock.recv(1)
        raise


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
        raise Failure(NOT_KAFKA)  # noqa: B904 -- the name is all that travels
    if error:
        raise Failure(kafka_error(error))
    return offered


def ask_mechanisms(sock: socket.socket, offered: "dict[int, tuple[int, int]]", mechanism: str, end: float) -> str:
    """Return the offered SASL mechanisms; no credential is sent. Raises Failure."""
    name = mechanism.encode()
    version = min(1, offered.get(SASL_HANDSHAKE, (0, 0))[1])
    answer = exchange(sock, frame(SASL_HANDSHAKE, version, struct.pack("!h", len(name)) + name), end)
    try:
        error, count = struct.unpack_from("!hi", answer)
        if error not in (0, OTHER_MECHANISM):
            raise Failure(kafka_error(error))
        if not 0 <= count <= MOST_MECHANISMS:
            raise Failure(NOT_KAFKA)
        at, found = 6, []
        for _ in range(count):
            (length,) = struct.unpack_from("!h", answer, at)
            at += 2
            if not 0 <= length <= min(LONGEST_MECHANISM, len(answer) - at):
                raise Failure(NOT_KAFKA)
            found.append(answer[at : at + length].decode("ascii", "replace"))
            at += length
    except struct.error:
        raise Failure(NOT_KAFKA)  # noqa: B904 -- the name is all that travels
    return ",".join(found)


def ask_identity(sock: socket.socket, version: int, end: float) -> str:
    """Return the id of the broker at the other end; raises Failure."""
    answer = exchange(sock, identity_request(version), end)
    try:
        error, length = struct.unpack_from("!hh", answer, 8)
    except struct.error:
        raise Failure(NOT_KAFKA)  # noqa: B904 -- the name is all that travels
    if error == DENIED:
        raise Failure(NOT_ALLOWED, "unknown", "DescribeConfigs on Cluster")
    match = re.search(rb"expected (\d{1,10}) or empty", answer[12 : 12 + max(0, length)])
    if error != WRONG_ID or match is None:
        raise Failure(kafka_error(error), "unknown")
    return match.group(1).decode()


class EndpointProbe:
    """The probe of one endpoint, layer by layer."""

    def __init__(  # noqa: PLR0913, PLR0917 -- one place
        self,
        host: str,
        port: int,
        tls: "tuple[str, TlsContexts]",
        mechanism: str,
        named: bool = False,  # noqa: FBT001, FBT002 -- goes to vantages
        opened: "Callable[[socket.socket], None] | None" = None,
    ) -> None:
        """Take the endpoint; `go` probes it.

        tls is that of `secure`. mechanism is named and not used. named: the cluster file names this address. opened is that of
        `connect`.
        """
        self.steps: list[tuple[str, str, str | None, str | None, str | None, int]] = []
        self._host, self._port, self._tls_settings, self._mechanism = host, port, tls, mechanism
        self._named, self._opened = named, opened
        self._sock: socket.socket | None = None
        self._offered: dict[int, tuple[int, int]] = {}
        self._layer = ""
        self._seconds, self._end = 0.0, 0.0

    def go(self, layers: "list[str]", seconds: float) -> None:
        """Fill `steps` with (layer, outcome, error, detail, needs, milliseconds), up to the first layer that fails."""
        self._seconds, self._end = seconds, time.monotonic() + seconds
        started = time.monotonic()
        try:
            for layer in layers:
                self._layer, started = layer, time.monotonic()
                detail = getattr(self, "_" + layer)()
                # Without an authority, the handshake continues, but its result for a client is unknown.
                doubt = layer == "tls" and not self._tls_settings[1].verifies
                self.steps.append(
                    (layer, "unknown" if doubt else "ok", None, detail, NEEDS_CA_FILE if doubt else None, since(started))
                )
        except Failure as failure:
            outcome, error, detail, needs = failure.step
            if error == "CLIENT_CERTIFICATE_WANTED":
                outcome, error, needs = self._without_certificate()
            if outcome != SKIPPED:
                self.steps.append((self._layer, outcome, error, detail, needs, since(started)))
        finally:
            if self._sock is not None:
                self._sock.close()

    def _connection(self) -> socket.socket:
        if self._sock is None:
            raise Failure(CLOSED)
        return self._sock

    def _without_certificate(self) -> "tuple[str, str, str | None]":
        if self._tls_settings[1].identified:
            return "failed", "CLIENT_CERTIFICATE_REFUSED", None
        return "unknown", "CLIENT_CERTIFICATE_WANTED", "a client certificate, which goes to no vantage"

    def _dns(self) -> str:
        self._addresses = resolve(self._host, self._port, self._seconds)
        addresses, source = ",".join(sorted({address[1][0] for address in self._addresses})), resolver(self._host)
        return addresses + " " + source if source else addresses

    def _tcp(self) -> None:
        self._addresses = allowed(self._addresses, self._named)
        self._sock = connect(self._addresses, self._end, self._opened)

    def _tls(self) -> "str | None":
        secured, error, shown = secure(self._connection(), self._addresses, self._tls_settings, self._end, self._opened)
        self._sock = secured
        self.steps.append((CERTIFICATE,) + shown + (None, 0))  # noqa: RUF005 -- Python 3.6
        if error:
            raise Failure(error)
        return secured.version()

    def _sasl(self) -> str:
        self._layer = "api"  # ApiVersions comes first, and may fail
        self._offered = ask_versions(self._connection(), self._end)
        self._layer = "sasl"
        return ask_mechanisms(self._connection(), self._offered, self._mechanism, self._end)

    def _api(self) -> str:
        self._offered = self._offered or ask_versions(self._connection(), self._end)
        return f"{len(self._offered)} APIs"

    def _identity(self) -> str:
        lowest, highest = self._offered.get(DESCRIBE_CONFIGS, (9, -1))
        if lowest > min(1, highest):
            raise Failure(None, SKIPPED)  # not offered, so not asked
        return ask_identity(self._connection(), min(1, highest), self._end)


def since(started: float) -> int:
    """Milliseconds since a time of time.monotonic()."""
    return round((time.monotonic() - started) * 1000)


def probe_line(index: int, step: "tuple[object, ...]") -> str:
    """Return one layer as a line of tab-separated fields; None is empty."""
    fields = ["" if value is None else re.sub(r"\s", " ", str(value)) for value in step]
    return "\t".join([TAG, str(index)] + fields)  # noqa: RUF005 -- Python 3.6


def probe_all(given: "dict[str, Any]", seconds: float, out: "IO[str]", most_seconds: "float | None" = None) -> None:
    """Probe all targets, some in parallel, and write a line for each layer.

    given: {"targets": [[host, port, layers, name, key of trust or null, mechanism, named]], "trust": {key: PEM text}}; out: a
    text file; most_seconds: bound of all, after which nothing is begun or written.
    """
    waiting = list(enumerate(given["targets"]))
    contexts = {key: TlsContexts(pem, None) for key, pem in [(None, None), *given["trust"].items()]}
    count = len(waiting)
    until = None if most_seconds is None else time.monotonic() + most_seconds
    lock = threading.Lock()

    def left() -> "float | None":
        return None if until is None else max(0.0, until - time.monotonic())

    def work() -> None:
        while True:
            with lock:
                if not waiting or left() == 0:
                    return
                index, (host, port, layers, name, trust, mechanism, named) = waiting.pop(0)
            probe = EndpointProbe(host, port, (name, contexts[trust]), mechanism, named)
            probe.go(layers, seconds if until is None else min(seconds, left() or 0.001))
            with lock:
                if left() != 0:
                    out.write("".join(probe_line(index, step) + "\n" for step in probe.steps))
                    out.flush()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(SIDE_BY_SIDE, count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(left())


def main(text: str, seconds: float) -> None:
    """Probe all targets of a JSON text and print a line for each layer."""
    probe_all(json.loads(text), seconds, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # a resolver that hangs on its thread must not keep the process

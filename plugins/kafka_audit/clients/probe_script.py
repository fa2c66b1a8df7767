"""Probe advertised endpoints from here, layer by layer: dns, tcp, tls, sasl, api, identity, packets.

A vantage receives the text of `clients/sockets.py` and of this module on stdin, and its functions are
what the worker itself calls. So: standard library only, nothing else of the package, syntax of Python 3.6, annotations in
quotes, and no credential. Layers come in order; the first one that does not work is the last. `collect/probes/probe_script.sh`
does the same, without tls, sasl and packets, where there is no Python.
"""

import json
import os
import re
import socket
import ssl
import struct
import sys
import threading
import time
from typing import IO, Any, Callable  # noqa: UP035 -- Python 3.6

from kafka_audit.clients.sockets import (
    CLOSED,
    RESET,
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
WRONG_ID, DENIED, OTHER_MECHANISM, NO_SASL = 42, 31, 33, 34
UNKNOWN_ID = b"2147483647"  # no broker has this id: the error names the one that was asked
MOST_BYTES = 1 << 20  # of an answer: another protocol's banner reads as a size of a gigabyte
MOST_MECHANISMS, LONGEST_MECHANISM = 100, 255  # Kafka knows five, of 13 letters
MECHANISM = re.compile("[A-Z0-9_-]{1,20}")  # RFC 4422: any other name is no mechanism, and goes nowhere
PADDING = b"x" * 10000  # more than a packet of a network with jumbo frames; far below what listeners take before a login
UNKNOWN_TAG = 10000  # of a tagged field that no version of ApiVersions has
WITH_TAGS = 3  # the first version of ApiVersions in which they are skipped
CLOSES_S = 0.5  # in which a broker closes a connection above its limits
SIDE_BY_SIDE = 32
TAG = "kafka-audit"
CERTIFICATE = "certificate"  # no layer: what the tls layer was shown, base64 as its detail
ADDRESS = "address"  # no layer: one of several addresses of the name, how far it leads, and which broker answers there
MOST_ADDRESSES = 8  # of a name, that are probed one by one
NEEDS_CA_FILE = "a ca_file for this listener in the cluster file"
NOT_KAFKA, NOT_ALLOWED, SKIPPED = "NOT_KAFKA", "NOT_AUTHORIZED", "skipped"
OF_KAFKA = {29: "NOT_AUTHORIZED", 31: "NOT_AUTHORIZED", 35: "UNSUPPORTED_VERSION"}


def text16(text: bytes) -> bytes:
    """Return a text with its length in front, as Kafka writes it."""
    return struct.pack("!h", len(text)) + text


def frame(api: int, version: int, body: bytes = b"", client: bytes = b"kafka-audit") -> bytes:
    """Return a request: size, header version 1 with correlation id 7 and a client id that operators recognise, body."""
    request = struct.pack("!hhi", api, version, 7) + text16(client) + body
    return struct.pack("!i", len(request)) + request


def api_versions_request() -> bytes:
    """Return ApiVersions version 0, which every broker since 0.10 answers, before any login."""
    return frame(API_VERSIONS, 0)


def identity_request(version: int) -> bytes:
    """Return DescribeConfigs, version 0 or 1, of a broker that does not exist."""
    body = struct.pack("!ib", 1, BROKER_RESOURCE) + text16(UNKNOWN_ID) + struct.pack("!i", -1)
    return frame(DESCRIBE_CONFIGS, version, body + (b"\0" if version else b""))


def large_versions_request() -> bytes:
    """Return ApiVersions of `WITH_TAGS` with a tagged field that no broker knows, so that each skips it (KIP-482)."""
    size, left = len(PADDING), b""
    while size >= 128:  # noqa: PLR2004 -- seven bits a byte
        left, size = left + bytes([size & 127 | 128]), size >> 7
    tag = bytes([UNKNOWN_TAG & 127 | 128, UNKNOWN_TAG >> 7])
    name_and_release = b"\x0ckafka-audit\x020"
    return frame(API_VERSIONS, WITH_TAGS, b"\0" + name_and_release + b"\1" + tag + left + bytes([size]) + PADDING)


def large_configs_request(version: int, broker: str) -> bytes:
    """Return DescribeConfigs of a broker, all of it, and of a default setting that does not exist: no line is logged."""
    padded = struct.pack("!b", BROKER_RESOURCE) + text16(b"") + struct.pack("!i", 1) + text16(PADDING)
    everything = struct.pack("!b", BROKER_RESOURCE) + text16(broker.encode()) + struct.pack("!i", -1)
    return frame(DESCRIBE_CONFIGS, version, struct.pack("!i", 2) + padded + everything + (b"\0" if version else b""))


def handshake_request(version: int, mechanism: str, client: bytes = b"kafka-audit") -> bytes:
    """Return SaslHandshake. No party reads or keeps its client id, because no quota counts before a login."""
    return frame(SASL_HANDSHAKE, version, text16(mechanism.encode()), client)


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
    answer = exchange(sock, handshake_request(min(1, offered.get(SASL_HANDSHAKE, (0, 0))[1]), mechanism), end)
    try:
        error, count = struct.unpack_from("!hi", answer)
        if error not in (0, OTHER_MECHANISM):
            raise Failure("LOGIN_NOT_TAKEN" if error == NO_SASL else kafka_error(error))
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
    return ",".join(filter(MECHANISM.fullmatch, found))


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
        self.layers_of_address: list[str] = []
        self._host, self._port, self._tls_settings, self._mechanism = host, port, tls, mechanism
        self._named, self._opened = named, opened
        self._sock: socket.socket | None = None
        self._offered: dict[int, tuple[int, int]] = {}
        self._answered_by = ""
        self._offers: list[str] | None = None
        self._used, self._several = "", False
        self._layer = ""
        self._seconds, self._end = 0.0, 0.0

    def go(self, layers: "list[str]", seconds: float) -> None:
        """Fill `steps` with (layer, outcome, error, detail, needs, milliseconds), up to the first layer that fails.

        A party that does not report its id may still be asked for more than a packet carries. `layers_of_address`: those of each
        address of a name, where these are not `layers`.
        """
        self._seconds, self._end = seconds, time.monotonic() + seconds
        self.layers_of_address = [layer for layer in self.layers_of_address or layers if layer not in ("packets", ADDRESS)]
        try:
            for layer in layers:
                passes = self._passes(layer)
                if not passes and (layer not in ("identity", "packets") or self.steps[-1][:2] == ("identity", "failed")):
                    break
        finally:
            if self._sock is not None:
                self._sock.close()

    def _passes(self, layer: str) -> bool:
        """Probe a layer and keep its step, if it has one; return whether it works."""
        self._layer, started = layer, time.monotonic()
        try:
            detail = getattr(self, "_" + layer)()
        except Failure as failure:
            outcome, error, detail, needs = failure.step
            if error == "CLIENT_CERTIFICATE_WANTED":
                outcome, error, needs = self._without_certificate()
            if error in (CLOSED, RESET) and not self._offered and self._closes_unasked():
                error = "CLOSED_AT_ONCE"
            if outcome != SKIPPED:
                self.steps.append((self._layer, outcome, error, detail, needs, since(started)))
            return False
        # Without an authority, the handshake continues, but its result for a client is unknown.
        doubt = layer == "tls" and not self._tls_settings[1].verifies
        self.steps.append((layer, "unknown" if doubt else "ok", None, detail, NEEDS_CA_FILE if doubt else None, since(started)))
        return True

    def _closes_unasked(self) -> bool:
        """Return whether the other side closes a connection on which nothing was sent, as a broker does above its limits."""
        try:
            self._reconnect(self._end, secured=False)
            self._connection().settimeout(max(0.001, min(CLOSES_S, self._end - time.monotonic())))
            return not self._connection().recv(1)
        except Failure:
            return False
        except OSError as error:
            return failure_of(error) == RESET

    def _reconnect(self, end: float, secured: bool = True) -> None:  # noqa: FBT001, FBT002 -- goes to vantages
        """Open another connection in place of the one there is; raises Failure."""
        inside = secured and isinstance(self._sock, ssl.SSLSocket)
        self._connection().close()
        self._sock = connect(self._addresses, end, self._opened)
        if inside:
            self._sock = secure(self._sock, self._addresses, self._tls_settings, end, self._opened)[0]

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
        found, source = sorted({address[1][0] for address in self._addresses}), resolver(self._host)
        self._several, addresses = len(found) > 1, ",".join(found)
        return addresses + " " + source if source else addresses

    def _tcp(self) -> None:
        self._addresses = allowed(self._addresses, self._named)
        self._sock = connect(self._addresses, self._end, self._opened)
        self._used = self._sock.getpeername()[0]

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
        mechanisms = ask_mechanisms(self._connection(), self._offered, self._mechanism, self._end)
        self._offers = [name for name in mechanisms.split(",") if name]
        return mechanisms

    def _api(self) -> str:
        self._offered = self._offered or ask_versions(self._connection(), self._end)
        return f"{len(self._offered)} APIs"

    def _identity(self) -> str:
        lowest, highest = self._offered.get(DESCRIBE_CONFIGS, (9, -1))
        if lowest > min(1, highest):
            raise Failure(None, SKIPPED)  # not offered, so not asked
        self._answered_by = ask_identity(self._connection(), min(1, highest), self._end)
        return self._answered_by

    def _packets(self) -> str:
        """Send more than a packet carries, and ask for as much where the rights for that are there.

        Lost is what gets no answer while a small request still gets one: a process that hangs answers neither. Any other failure
        says nothing about the path.
        """
        request = self._large_request()
        try:
            if self._offers:  # after a handshake, a listener takes nothing but the login
                self._reconnect(self._end)
            answer = self._answer_to(request)
        except Failure:
            raise Failure(None, SKIPPED)  # noqa: B904 -- it is not the size
        if answer is None:
            raise Failure(TIMEOUT)
        return f"{len(request)} bytes sent, {len(answer)} received"

    def _address(self) -> None:
        """Probe each address of a name that has several: a client takes any of them. Keeps a step for each, and none for all."""
        places = list(dict.fromkeys(address[0] for _, address in self._addresses))
        others = [place for place in places if place != self._used][: MOST_ADDRESSES - 1]
        if self._several:
            self.steps.append((ADDRESS, "ok", None, f"{self._used} api {self._answered_by}".strip(), None, 0))
        for number, place in enumerate(others):
            started = time.monotonic()
            if started >= self._end:
                break
            probe = EndpointProbe(place, self._port, self._tls_settings, self._mechanism, self._named, self._opened)
            probe.go(self.layers_of_address, (self._end - started) / (len(others) - number))
            layer, outcome, error = deciding(probe.steps)
            detail = f"{place} {layer} {probe._answered_by}".strip()
            self.steps.append((ADDRESS, outcome, error, detail, None, since(started)))
        raise Failure(None, SKIPPED)  # the steps are there

    def _large_request(self) -> bytes:
        """Return a request that is answered without a line in a log; raises Failure if the other side takes none."""
        if self._answered_by:
            return large_configs_request(min(1, self._offered[DESCRIBE_CONFIGS][1]), self._answered_by)
        if self._offers:
            version = min(1, self._offered.get(SASL_HANDSHAKE, (0, 0))[1])
            return handshake_request(version, self._mechanism if self._mechanism in self._offers else self._offers[0], PADDING)
        if self._offers is None and self._offered.get(API_VERSIONS, (0, 0))[1] >= WITH_TAGS:
            return large_versions_request()
        raise Failure(None, SKIPPED)

    def _answer_to(self, request: bytes) -> "bytes | None":
        """Return an answer; None if half of the time gives none, and the other half a small one. Else raises Failure."""
        try:
            return exchange(self._connection(), request, (time.monotonic() + self._end) / 2)
        except Failure as failure:
            if failure.step[1] != TIMEOUT:
                raise
        self._reconnect(self._end)
        ask_versions(self._connection(), self._end)
        return None


def deciding(steps: "list[tuple[str, str, str | None, str | None, str | None, int]]") -> "tuple[str, str, str | None]":
    """Return layer, outcome and error of the first layer that fails, else of the last one, which works."""
    failed = [step[:3] for step in steps if step[1] == "failed" and step[0] != CERTIFICATE]
    return failed[0] if failed else (steps[-1][0], "ok", None)


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

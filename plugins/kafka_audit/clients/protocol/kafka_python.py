"""What is used of kafka-python beyond its public interface, all of it: another release is tried by the tests of this module.

- *Its connection, within bounds.* As it comes, kafka-python resolves names on its own and without a bound, waits for a TLS
  handshake without a limit, reads for as long as bytes come, and takes the memory that four bytes of a header announce.
- *Its decoders, within bounds.* Those that it generates read a number of variable length for as long as bytes say that more
  follow: time grows with the square of the answer, minutes for a few megabytes, and no deadline interrupts it.
- *Messages that it lacks*, in Kafka's own notation: the files of `messages` are those of kafka-clients, see `testbed.messages`.
"""

import mmap
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import Any

from kafka.errors import CorrelationIdError, InvalidReceiveError, KafkaConnectionError, KafkaError
from kafka.net.connection import KafkaConnection
from kafka.net.inet import KafkaNetSocket
from kafka.net.manager import KafkaConnectionManager
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.parser import KafkaProtocol
from kafka.protocol.sasl import SaslAuthenticateRequest
from kafka.protocol.schemas.fields.codecs.types import UnsignedVarInt32

from kafka_audit.clients.budget import Budget, end_connection
from kafka_audit.clients.protocol.kafka_errors import UNDECODABLE
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.scram_keys import ScramKeys

PRIVATE: Mapping[type, tuple[str, ...]] = MappingProxyType(
    {
        KafkaProtocol: ("_header", "_max_frame_size", "_process_response", "_rbuffer", "_receiving", "_reset_buffer"),
        KafkaConnection: ("_maybe_throttle",),
        KafkaConnectionManager: ("_build_transport", "_connect", "_conns", "_net"),
        KafkaTCPTransport: ("_sock", "_sock_recv"),
        KafkaSSLTransport: ("_sock", "_sock_recv"),
    }
)
"""Private names of kafka-python that this module uses or replaces, by the class that has them."""

_MIB = 1024 * 1024
MOST_BYTES: Mapping[int, int] = MappingProxyType(
    {
        15: 16 * _MIB,  # DescribeGroups: 100 groups of 50 members, each with 2 KB of assignment, are 10 MB
        16: 8 * _MIB,  # ListGroups: 100,000 groups of 60 bytes
        17: _MIB // 16,  # SaslHandshake: a few names
        18: _MIB // 16,  # ApiVersions: 80 APIs and a few features
        29: 16 * _MIB,  # DescribeAcls: 100,000 ACLs of 100 bytes
        32: 8 * _MIB,  # DescribeConfigs: 300 keys of a broker, or 4 of each of 500 topics with lists of throttled replicas
        35: 8 * _MIB,  # DescribeLogDirs: 100,000 replicas on one broker, 60 bytes each with the topics' names
        36: _MIB // 4,  # SaslAuthenticate: a Kerberos ticket is 64 KB at most
        46: 8 * _MIB,  # ListPartitionReassignments: 100,000 partitions that move, 80 bytes each
        55: _MIB // 4,  # DescribeQuorum: 2,000 nodes of 50 bytes
        **dict.fromkeys((69, 77, 89), 16 * _MIB),  # ConsumerGroupDescribe, of share groups, of streams groups: as DescribeGroups
    }
)
"""Largest answer taken, by API key; that of Metadata is `receive_message_max_bytes`."""

MOST_OTHER = _MIB
"""Largest answer of every other API: DescribeCluster and ListOffsets take a tenth of it."""

LARGE_ANSWER = 64 * 1024
"""Bytes from which few answers are objects at a time."""

_THROTTLED_BY_CLIENTS = (2, 0)  # the version of brokers from which clients do the waiting (KIP-219)
_SMALL = 256 * 1024
_AT_ONCE = 64 * 1024
_MOST_AT_ONCE = _MIB  # then time-outs have their turn
_TLS_RECORD = 16 * 1024  # bytes that TLS unpacks at a time

Addresses = Sequence[tuple[int, tuple[Any, ...]]]
"""Address families and addresses, resolved and allowed."""


class _Frame:
    """An answer as it arrives: it takes memory as the bytes come, whatever the header announced, and gives it back whole.

    A large one has its own memory map: buffers that grow on many threads would leave the process several times as large.
    """

    def __init__(self, announced: int) -> None:
        """Take how many bytes will come at most."""
        self._announced = announced
        self._held: bytearray | mmap.mmap = bytearray()
        self._size = self._at = 0

    def __len__(self) -> int:
        return self._size

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        begin = self._size
        self._size += len(data)
        if isinstance(self._held, bytearray):
            if self._size <= _SMALL:
                self._held += data
                return
            small, self._held = self._held, _map(self._announced)
            self._held[:begin] = small
        self._held[begin : self._size] = data

    def seek(self, at: int) -> None:
        """Go on reading there."""
        self._at = at

    def tell(self) -> int:
        """Return where reading goes on."""
        return self._at

    def read(self, size: int | None = None) -> bytes:
        """Return the next bytes, all that are left by default, fewer at the end."""
        start, stop = self._at, self._size if size is None else min(self._size, self._at + size)
        self._at = stop
        return bytes(self._held[start:stop])

    def rest(self) -> memoryview:
        """Return all bytes that are left, without a copy; they stay while the object exists."""
        start, self._at = self._at, self._size
        return memoryview(self._held)[start : self._size]


def _map(size: int) -> mmap.mmap:
    """Return a buffer of this size; a page takes memory after the first write."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    # Private: a shared one belongs to a file system in memory, whose pages cost twice the time.
    found = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without them
            found.madvise(mmap.MADV_HUGEPAGE)
    return found


class _FrameParser(KafkaProtocol):  # type: ignore[misc] # kafka-python is untyped
    """Puts answers together, counting what has arrived in the audit's budget."""

    _receiving: bool

    def __init__(self, budget: Budget, **config: Any) -> None:  # noqa: ANN401 -- kafka-python's own
        super().__init__(**config)
        self._budget = budget
        self._size = 0  # announced
        self._counted = 0
        self._large = False  # the last answer was, and may be objects still

    def receive_bytes(self, data: bytes | memoryview) -> list[tuple[int, Any]]:
        """Take bytes; return whole answers with their correlation ids. Raises KafkaError, and ReadError over the budget."""
        answers = []
        at = 0
        while at < len(data):
            if not self._receiving:
                part = data[at : at + 4 - self._header.tell()]
                self._header.write(part)
                at += len(part)
                if self._header.tell() < 4:  # noqa: PLR2004 -- a length is four bytes
                    break
                self._size = int.from_bytes(self._header[:4], signed=True)
                self._demand_expected(self._size)
                self._rbuffer, self._receiving = _Frame(self._size), True
            part = data[at : at + self._size - len(self._rbuffer)]
            self._budget.receive(len(part))
            self._counted += len(part)
            self._rbuffer.write(part)
            at += len(part)
            if len(self._rbuffer) == self._size:
                self._rbuffer.seek(0)
                try:
                    self._take_turn()
                    answers.append(self._process_response(self._rbuffer))
                finally:
                    self.forget()
        return answers

    def _demand_expected(self, size: int) -> None:
        if not self.in_flight_requests:
            msg = "an answer to no question"
            raise CorrelationIdError(msg)
        asked = self.in_flight_requests[0]  # kafka-python's header, ours, or none: a login without frames
        key = getattr(asked, "request_api_key", None) or getattr(asked, "api_key", SaslAuthenticateRequest.API_KEY)
        most = self._max_frame_size if key == MetadataRequest.API_KEY else MOST_BYTES.get(key, MOST_OTHER)
        if not 0 <= size <= min(most, self._max_frame_size):
            msg = f"Invalid frame length: {size}"
            raise InvalidReceiveError(msg)

    def _take_turn(self) -> None:
        self.give_turn()
        raw = not hasattr(self.in_flight_requests[0], "request_api_key")  # see `raw`: stays bytes
        if self._size > LARGE_ANSWER and not raw:
            self._budget.take_large()
            self._large = True

    def give_turn(self) -> None:
        """Record that the caller has converted the last answer to rows."""
        if self._large:
            self._large = False
            self._budget.give_large()

    def forget(self) -> None:
        """Hold the bytes of this connection no longer, and count them no longer."""
        self._reset_buffer()
        self._budget.release(self._counted)
        self._counted = 0


class _BoundedConnection(KafkaConnection):  # type: ignore[misc] # see above
    """Parses with `_FrameParser`.

    Attributes:
        throttled_ms: how long the last throttle of the broker is, in milliseconds; 0 where there was none.
        throttled_until: when it ends, of `time.monotonic()`.
        api_versions: the answer to ApiVersions, of which kafka-python keeps no features; None before it.
    """

    def __init__(self, budget: Budget, scram: ScramKeys | None, net: Any, **config: Any) -> None:  # noqa: ANN401 -- see above
        super().__init__(net, **config)
        self._budget = budget
        if scram is not None:
            self.config["scram_keys"] = scram  # becomes an argument of the mechanism
        self.throttled_ms = 0
        self.throttled_until = 0.0
        self.api_versions: Any = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 -- see above
        """Take the transport."""
        super().connection_made(transport)
        self.parser = _FrameParser(
            self._budget, client_id=self.config["client_id"], receive_message_max_bytes=self.config["receive_message_max_bytes"]
        )

    def data_received(self, data: bytes) -> None:
        """Take bytes; what is over the audit's budget, or makes no sense, ends the connection with that reason."""
        try:
            super().data_received(data)
        except (ReadError, KafkaError, *UNDECODABLE) as error:
            self.close(error)

    def _maybe_throttle(self, response: Any) -> None:  # noqa: ANN401 -- see above
        # It is called with every answer, ApiVersions among them.
        if getattr(response, "API_KEY", None) == ApiVersionsRequest.API_KEY:
            self.api_versions = response
        self.note_throttle(getattr(response, "throttle_time_ms", 0) or 0)

    def note_throttle(self, found: int) -> None:
        """Note a throttle in ms; kafka-python would fail every request until it ends, so the caller waits."""
        until = time.monotonic() + found / 1000
        before_2_0 = self.broker_version is not None and self.broker_version < _THROTTLED_BY_CLIENTS  # the answer waited there
        if found > 0 and not before_2_0 and until > self.throttled_until:
            self.throttled_ms, self.throttled_until = found, until

    def answered(self) -> None:
        """Note that nothing is left of the last answer but rows."""
        if self.parser is not None:
            self.parser.give_turn()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Note the end."""
        if self.parser is not None:
            self.parser.forget()
            self.parser.give_turn()
        super().connection_lost(exc)


class Manager(KafkaConnectionManager):  # type: ignore[misc] # see above
    """Makes the one connection of a conversation."""

    def __init__(self, net: Any, budget: Budget, scram: ScramKeys | None = None, **config: Any) -> None:  # noqa: ANN401 -- see above
        """Take the audit's budget, and what computes salted passwords; `take` takes where to dial."""
        super().__init__(net, **config)
        self._scram = scram
        self._addresses: Addresses = ()
        self._budget = budget
        self._socket: socket.socket | None = None

    def take(self, addresses: Addresses) -> None:
        """Take where to dial: of all addresses the first that takes a connection."""
        self._addresses = addresses

    def get_connection(self, node_id: str, timeout_ms: float, **_: Any) -> _BoundedConnection:  # noqa: ANN401 -- see above
        """Return a connection that is being made, within so many milliseconds."""
        node = self.cluster.broker_metadata(node_id)
        connection = _BoundedConnection(self._budget, self._scram, self._net, node_id=node_id, **self.config)
        self._conns[node_id] = connection
        timeout_at = time.monotonic() + timeout_ms / 1000
        self._net.call_soon(lambda: self._connect(node, connection, timeout_at=timeout_at))
        return connection

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:  # noqa: ANN401 -- see above
        self._socket = await self._dial(timeout_at)
        if self.ssl_enabled:
            settings = {key: value for key, value in self.config.items() if key.startswith("ssl_")}
            try:
                transport = KafkaSSLTransport(self._net, self._socket, host=node.host, **settings)
                self._keep(transport._sock)  # noqa: SLF001 -- there is no other place
                await self._shake_hands(transport, timeout_at)
            except (OSError, ValueError) as error:
                msg = f"Handshake failed: {error}"
                raise KafkaConnectionError(msg) from error
        else:
            transport = KafkaTCPTransport(self._net, self._socket, host=node.host)
        transport._sock_recv = _Receive(transport._sock)  # noqa: SLF001 -- see above
        return transport

    async def _dial(self, timeout_at: float | None) -> socket.socket:
        problem: Exception = KafkaConnectionError("no address")
        for family, address in self._addresses:
            connection = socket.socket(family, socket.SOCK_STREAM)
            self._keep(connection)
            try:
                connection.settimeout(0)
                for option in self.config["socket_options"]:
                    connection.setsockopt(*option)
                await KafkaNetSocket().sock_connect(self._net, connection, address, timeout_at=timeout_at)
            except (KafkaConnectionError, OSError) as error:
                connection.close()
                problem = KafkaConnectionError(f"unable to connect: {error}") if isinstance(error, OSError) else error
            else:
                return connection
        raise problem

    async def _shake_hands(self, transport: Any, timeout_at: float | None) -> None:  # noqa: ANN401 -- see above
        """Shake hands as the transport does, with a deadline."""
        while True:
            try:
                transport._sock.do_handshake()  # noqa: SLF001 -- see above
            except ssl.SSLWantReadError:
                await self._net.wait_read(transport._sock, timeout_at=timeout_at)  # noqa: SLF001
            except ssl.SSLWantWriteError:
                await self._net.wait_write(transport._sock, timeout_at=timeout_at)  # noqa: SLF001
            else:
                return

    def _keep(self, connection: socket.socket) -> None:
        if self._socket is not None:
            self._budget.closed(self._socket)
        self._socket = connection
        self._budget.opened(connection)

    def close(self, node_id: str | None = None, timeout_ms: float | None = None) -> None:
        """Close the connection."""
        super().close(node_id, timeout_ms)
        if self._socket is not None:
            self._budget.closed(self._socket)
            end_connection(self._socket)
            with suppress(OSError):
                self._socket.close()


class _Receive:
    """What a transport has received, instead of its own method.

    kafka-python reads for as long as bytes come, and drops what it has read when the end of the stream comes along with it, but
    a broker that refuses a login says why and hangs up at once. Here the end waits for the next call.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._buffer = bytearray(_AT_ONCE + _TLS_RECORD)

    def __call__(self) -> tuple[memoryview, Exception | None]:
        """Return the bytes that have come, which hold until the next call; or nothing, and why nothing will come."""
        view, size = memoryview(self._buffer), 0
        most = len(view) - _TLS_RECORD
        # Bytes that TLS has already decrypted would not wake the selector again.
        while size < most or (isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() and size < len(view)):
            try:
                count = self._socket.recv_into(view[size:])
            except (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                break
            except (OSError, ValueError) as error:
                return view[:size], None if size else KafkaConnectionError(error)
            if not count:
                return view[:size], None if size else KafkaConnectionError("socket disconnected")
            size += count
        if size >= most and len(view) < _MOST_AT_ONCE:
            self._buffer = bytearray(_MOST_AT_ONCE + _TLS_RECORD)
        return view[:size], None


_LAST_SHIFT = 28


def _emit_decoder(_: type, context: Any, name: str, indent: str) -> None:  # noqa: ANN401 -- kafka-python's generator is untyped
    """Emit what reads a number at `pos` of `data` into the variable `name`: of five bytes at most, as Kafka's protocol has it."""
    byte, shift = context.next_var("b"), context.next_var("sh")
    for line in (
        f"{name} = {shift} = 0",
        "while True:",
        f"    {byte} = data[pos]",
        "    pos += 1",
        f"    {name} |= ({byte} & 0x7f) << {shift}",
        f"    if {byte} < 0x80: break",
        f"    {shift} += 7",
        f"    if {shift} > {_LAST_SHIFT}: raise ValueError('a number of more than five bytes')",
    ):
        context.emit(indent, line)


UnsignedVarInt32.emit_decode_from = classmethod(_emit_decoder)  # for all decoders that are generated from now on


def _messages(name: str) -> tuple[Any, Any]:
    """Return the classes of a request and of its answer, which kafka-python's parser knows from then on."""
    kind, package = type(ApiMessage), f"{__package__}.messages"
    names = f"{name}Request", f"{name}Response"
    request, answer = (kind(name, (ApiMessage,), {}, load_json=import_module(package)) for name in names)
    return request, answer


ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse = _messages("ConsumerGroupDescribe")
DescribeDelegationTokenRequest, DescribeDelegationTokenResponse = _messages("DescribeDelegationToken")
DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse = _messages("DescribeShareGroupOffsets")
ShareGroupDescribeRequest, ShareGroupDescribeResponse = _messages("ShareGroupDescribe")
StreamsGroupDescribeRequest, StreamsGroupDescribeResponse = _messages("StreamsGroupDescribe")

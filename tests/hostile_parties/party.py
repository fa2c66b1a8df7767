"""What a hostile broker and a hostile ZooKeeper share: a server that keeps what arrives, and behaviours for its answers.

A behaviour is a function that takes an `Exchange`: one request, the answer that an honest party would give, and the connection.
What it returns is sent: bytes are the answer's body, behind the honest header; None sends nothing further. Behaviours, each as
it stands in a script (`broker.script[32] = …`, `zookeeper.script["/config/brokers/0"] = …`):

    hang                          no answer, the connection stays open
    hang_up                       the connection ends
    drip(2)                       the honest answer, 2 bytes a second
    drip(2, announced=10_000)     a header that announces 10,000 bytes, then 2 zeros a second
    announce(255 << 20)           a header that announces 255 MB, and nothing behind it
    announce(2**31 - 1, 1 << 30)  a header that announces 2 GB, then zeros as fast as they are taken, 1 GB at most
    wrong_correlation             the honest answer to another request: the correlation id (the xid of ZooKeeper) is another
    cut(7)                        a well-formed frame whose body ends 7 bytes early
    b"odd bytes"                  a well-formed frame with this body
    raw(b"HTTP/1.1 400 …")        these bytes, in no frame
    lambda exchange: …            anything
    null_arrays("configs")        (broker) the honest answer with these arrays null, at any depth; without names, the outermost
    undecodable_text()            (broker) the honest answer with texts that are no UTF-8
    changed(change)               (broker) the honest answer after `change(message)`, a message of kafka-python's

`NAMED` has those that need no code, for the command line of `serve.py`: "hang", "drip 2", "announce 1000000 0".
"""

import socket
import ssl
import struct
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial

CHUNK = b"\0" * 65536


class Party:
    """A server of its own threads: `with party:` or `start` and `close`; afterwards no thread and no socket is left.

    Fields: `host` and `port` (0: any that is free, the real one after `start`), `tls` (files of a certificate, as
    `testbed.certificates.Authority.issue` makes them), `received` (every byte that arrived, after TLS), `connections` (how many
    were made), `script` (see above; the key "accept" acts before anything is read).
    """

    def __init__(self, host="127.0.0.1", port=0, tls=None):
        self.host, self.port = host, port
        self.script = {}
        self.received = bytearray()
        self.connections = 0
        self.ended = threading.Event()
        self._context = None
        if tls is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(tls.certificate, tls.key)
        self._listener = None
        self._open = set()
        self._own = set()  # connections of `drained`
        self._threads = []
        self._lock = threading.Lock()

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def start(self):
        self.ended.clear()
        self._listener = socket.create_server((self.host, self.port))
        self.port = self._listener.getsockname()[1]
        self._spawn(self._accept, self._listener)
        return self

    def close(self):
        """Refuse connections and end those that are open."""
        self.ended.set()
        listener, self._listener = self._listener, None
        if listener is not None:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.drop()
        for thread in self._threads:
            thread.join(5)
        self._threads = [thread for thread in self._threads if thread.is_alive()]

    def drop(self):
        """End the connections that are open, and listen on."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def drained(self):
        """Return (connections, bytes) that were made and sent to it until now, once all those connections have ended.

        What the other side sent may arrive long after that has ended, on a busy machine: each connection is waited for.
        """
        with socket.socket() as last:
            last.bind((self.host, 0))
            self._own.add(last.getsockname())
            last.connect((self.host, self.port))
            last.recv(1)  # they are taken in turn: those before it are counted now
        while self._open:
            time.sleep(0.01)
        return self.connections, len(self.received)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    def serve(self, connection):
        """Answer on one connection until it ends; a party's own."""
        raise NotImplementedError

    def act(self, behaviour, exchange):
        """Send what a script wants; bytes and messages that a behaviour returns are sent in a frame."""
        answer = behaviour(exchange) if callable(behaviour) else behaviour
        if answer is not None:
            exchange.send_body(answer)

    def _spawn(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads = [*(thread for thread in self._threads if thread.is_alive()), thread]
        thread.start()

    def _accept(self, listener):
        with suppress(OSError):
            while True:
                connection, peer = listener.accept()
                if peer in self._own:
                    connection.close()
                    continue
                self.connections += 1
                with self._lock:
                    self._open.add(connection)
                self._spawn(self._guarded, connection)

    def _guarded(self, plain):
        with closing(plain), suppress(OSError):
            try:
                if self.ended.is_set():
                    return
                secured = self._context.wrap_socket(plain, server_side=True) if self._context else plain
                with closing(secured):
                    connection = Recorded(secured, self.received)
                    if "accept" in self.script:
                        self.act(self.script["accept"], Exchange(self, connection))
                        return
                    self.serve(connection)
            finally:
                with self._lock:
                    self._open.discard(plain)


class Recorded:
    """A connection whose incoming bytes are kept."""

    def __init__(self, connection, received):
        self._connection = connection
        self._received = received

    def recv(self, size):
        data = self._connection.recv(size)
        self._received += data
        return data

    def sendall(self, data):
        self._connection.sendall(data)

    def settimeout(self, seconds):
        """A party has all the time: it ends with `close`."""

    def exactly(self, size):
        """Return this many bytes, or b"" if the connection ends before."""
        parts, left = [], size
        while left > 0:
            part = self.recv(min(left, 1 << 20))
            if not part:
                return b""
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def frame(self):
        """Return the content of the next frame, b"" at the end."""
        head = self.exactly(4)
        return self.exactly(struct.unpack("!i", head)[0]) if head else b""


@dataclass
class Exchange:
    """One request and its honest answer: `honest` is the whole frame, of which `head` bytes are the size and the header."""

    party: Party
    connection: Recorded
    request: bytes = b""
    honest: bytes = b""
    head: int = 4
    about: dict = field(default_factory=dict)  # what was asked: `key` and `version`, or `opcode` and `paths`

    def send(self, data):
        self.connection.sendall(data)

    def send_body(self, body):
        """Send a frame with the header of the honest answer and this body."""
        content = self.honest[4 : self.head] + bytes(body)
        self.send(struct.pack("!i", len(content)) + content)

    def pause(self, seconds=None):
        """Wait, at most until the party closes; tell whether it did."""
        return self.party.ended.wait(seconds)


def hang(exchange):
    while exchange.connection.recv(4096):
        pass


def hang_up(_exchange):
    raise ConnectionAbortedError


def drip(per_second, announced=None):
    def behave(exchange):
        data = exchange.honest if announced is None else struct.pack("!i", announced) + b"\0" * announced
        for at in range(len(data)):
            exchange.send(data[at : at + 1])
            if exchange.pause(1 / per_second):
                return

    return behave


def announce(size, flood=0):
    def behave(exchange):
        exchange.send(struct.pack("!i", size))
        left = flood
        while left > 0 and not exchange.party.ended.is_set():
            exchange.send(CHUNK[:left])
            left -= len(CHUNK)
        hang(exchange)

    return behave


def wrong_correlation(exchange):
    (number,) = struct.unpack_from("!i", exchange.honest, 4)
    exchange.send(exchange.honest[:4] + struct.pack("!i", number + 1000) + exchange.honest[8:])


def cut(size):
    return lambda exchange: exchange.honest[exchange.head : -size]


def raw(data):
    return lambda exchange: exchange.send(data)


NAMED = {
    "hang": lambda: hang,
    "hang_up": lambda: hang_up,
    "drip": drip,
    "announce": announce,
    "wrong_correlation": lambda: wrong_correlation,
    "cut": cut,
    "raw": lambda text: raw(text.encode()),
}


def named(text):
    """Return a behaviour by its name and numbers, as "drip 2"."""
    name, *arguments = text.split()
    return partial(NAMED[name], *(int(argument) if argument.isdigit() else argument for argument in arguments))()

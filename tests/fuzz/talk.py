"""A conversation without sockets: honest answers in the real wire format, but for one API, whose answers an input holds."""

import functools
import struct
from contextlib import contextmanager
from unittest import mock

from kafka.protocol.admin import DescribeQuorumRequest, DescribeUserScramCredentialsRequest

from collect.fakes import Serving
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ListenerSecurity
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.protocol.kafka_errors import as_read_error
from kafka_audit.clients.protocol.kafka_python import _FrameParser

_API_VERSIONS = 18
_OFFERED = {2: (0, 7), 3: (0, 12), 15: (0, 5), 16: (0, 4), 29: (0, 3), 32: (0, 4), 35: (0, 4), 46: (0, 0), 60: (0, 2)}
_IN_KRAFT = {DescribeQuorumRequest.API_KEY: (0, 2), DescribeUserScramCredentialsRequest.API_KEY: (0, 0)}


@functools.cache
def _broker():
    broker = Serving(0)
    broker.brokers = {0: ("b0", 9092), 1: ("b1", 9092)}
    broker.topics = {"orders": {0: (0, [0, 1])}}
    broker.groups = {"billing": (0, "consumer", [("c", b"\0\1\0\0\0\1\0\6orders\0\0\0\1\0\0\0\0\0\0\0\0")])}
    broker.acls = [(2, "orders", 3, [("User:a", "*", 3, 3)])]
    broker.topic_configs = {"orders": {"min.insync.replicas": "1"}}
    broker.reassignments = {("orders", 0): ((0, 1), (1,), (0,))}
    return broker


_answers = {}  # honest ones, by request; the same are asked for in every conversation


class Talk:
    """Has what is used of `Conversation`; `hostile` is the API whose answers have `body` in them, in that version."""

    lost = None
    api_versions = None
    version = Conversation.version
    add_rows = Conversation.add_rows
    budget = Conversation.budget

    def __init__(self, hostile, version, body):
        self.apis = dict(_OFFERED) | ({hostile: (0, version)} if hostile != _API_VERSIONS else {})
        self._hostile, self._body = hostile, body
        self._options = ClientOptions(read_s=300)

    def ask(self, request):
        """Return the decoded answer, as `Conversation.ask` does."""
        parser = _FrameParser(Budget(), client_id="kafka-audit")
        with as_read_error(ListenerSecurity()):
            parser.send_request(request)
            sent = bytes(parser.send_bytes())
            (key,) = struct.unpack_from("!h", sent, 4)
            if key != self._hostile and sent in _answers:
                return _answers[sent]
            body = sent[8:12] + self._body  # after the correlation id
            hostile = key == self._hostile or key in _IN_KRAFT
            ((_, answer),) = parser.receive_bytes(struct.pack("!i", len(body)) + body if hostile else honest(sent))
            if not hostile:
                _answers[sent] = answer
            return answer

    def note_throttle(self, throttle_ms):
        """As `Conversation.note_throttle`; nothing is waited for here."""

    def ask_metadata(self, version, topics=None):
        """As `Conversation.ask_metadata`."""
        return Conversation.ask_metadata(self, version, topics)


def honest(sent):
    """Return the honest answer to a framed request."""
    kept = _Kept()
    _broker()._answer(kept, sent[4:])
    return kept.data


class _Kept:
    data = b""

    def sendall(self, data):
        self.data = bytes(data)


@contextmanager
def instead(module, talk):
    """Let a module have this conversation instead of one of its own."""

    @contextmanager
    def conversation(*_):
        yield talk

    with mock.patch.object(module, "Conversation", conversation):
        yield

"""A Kafka broker that is honest until its script says otherwise; it speaks the real wire format on loopback.

    with HostileBroker(1) as broker:                                   # honest; broker.address is "127.0.0.1:<port>"
        broker.brokers = {1: (broker.host, broker.port)}
        broker.script[32] = hang                                       # DescribeConfigs is never answered
        broker.script["identity"] = drip(2)                            # nor, in time, who it is (DescribeConfigs of a stranger)
        broker.script[3] = null_arrays("topics")
        broker.configs["ssl.principal.mapping.rules"] = ("RULE:(.|..)*#", False)

With a login: `HostileBroker(1, mechanisms=("PLAIN", "SCRAM-SHA-512"), users={"auditor": "secret"})`; `users=None` takes any
password at all, as an attacker does. `passwords` has what PLAIN handed over, `scram_messages` what SCRAM said; `iterations = 1`,
`salt = b"…"`, `signs_wrongly = True` and `says_nothing_last = True` are what a hostile server may do to SCRAM. `script[36]` acts
at the login. `refuses = True` refuses every login in the broker's own words.

Further behaviours are in `hostile_parties.party`. `fields` of FakeBroker (collect/fakes.py) say what an honest answer has in it.
"""

import inspect
import struct
from contextlib import ExitStack, contextmanager, suppress

import kafka.protocol.admin
import kafka.protocol.consumer
import kafka.protocol.metadata
import kafka.protocol.sasl
from kafka.protocol.admin import DescribeConfigsRequest

from collect.fakes import Caught, Serving
from collect.secured_fakes import SecuredBroker
from hostile_parties.party import NAMED, Exchange, Party

DESCRIBE_CONFIGS, LOGIN_APIS = 32, {17, 18, 36}
STRANGER = "2147483647"  # the broker that is asked for so that the refusal names the one that answers

_RESPONSES = {
    response.API_KEY: response
    for module in (kafka.protocol.metadata, kafka.protocol.admin, kafka.protocol.consumer, kafka.protocol.sasl)
    for name, response in inspect.getmembers(module, inspect.isclass)
    if name.endswith("Response") and hasattr(response, "API_KEY")
}


class HostileBroker(SecuredBroker, Serving, Party):
    """See above. `apis` offers what Kafka 3.9 has of what the auditor asks; KRaft's DescribeQuorum is not among it."""

    def __init__(self, broker_id, cluster_id="fake", *, host="127.0.0.1", port=0, tls=None, mechanisms=(), users=None):  # noqa: PLR0913
        Party.__init__(self, host, port, tls)
        super().__init__(broker_id, mechanisms, users)
        self.cluster_id = cluster_id
        self.apis |= {2: (0, 7), 15: (0, 5), 16: (0, 4), 29: (0, 3), 35: (0, 4), 46: (0, 0)}
        self.acls_error = 54  # SECURITY_DISABLED: no authorizer
        self.refuses = False
        self._takes_all = users is None

    def serve(self, connection):
        talk = {"state": "new" if self.mechanisms else "in"}
        while request := connection.frame():
            key, version = struct.unpack_from("!hh", request)
            honest, last = self._honest(talk, key, request)
            exchange = Exchange(self, connection, request, honest, _head(key, version, honest), {"key": key, "version": version})
            behaviour = self.script.get(self._about(key, version, request), self.script.get(key))
            if behaviour is not None:
                self.act(behaviour, exchange)
            elif honest:
                connection.sendall(honest)
            elif key not in self.mute:
                return
            if last:
                return

    def _honest(self, talk, key, request):
        """Return the honest answer, b"" where that is none, and whether the connection ends behind it."""
        if key in LOGIN_APIS and self.mechanisms:
            answer = self.login_step(talk, request)
            ends = bool(self.hangs_up and answer is not None and key == 36 and answer.error_code)
            return b"" if answer is None else bytes(answer.encode(framed=True, header=True)), ends
        kept = Caught()
        if talk["state"] == "in":
            with suppress(ConnectionAbortedError):
                self._answer(kept, request)
        return kept.data, False

    def _about(self, key, version, request):
        if key == DESCRIBE_CONFIGS:
            resources = DescribeConfigsRequest.decode(request, version=version, header=True).resources
            if resources[0].resource_name == STRANGER:
                return "identity"
        return key

    def _plain(self, mechanism, sent):
        known = super()._plain(mechanism, sent)
        return None if self.refuses else b"" if self._takes_all else known

    def _scram(self, talk, sent):
        return None if self.refuses and talk["scram"] is not None else super()._scram(talk, sent)


def _head(key, version, honest):
    response = _RESPONSES.get(key)
    flexible = response is not None and honest and key != 18 and response.flexible_version_q(version)
    return 9 if flexible else 8


def _changed(exchange, change):
    response = _RESPONSES[exchange.about["key"]]
    message = response.decode(exchange.honest[4:], version=exchange.about["version"], header=True)
    change(message)
    return bytes(message.encode())


def changed(change):
    """Return a behaviour: the honest answer after `change(message)`."""
    return lambda exchange: _changed(exchange, change)


def null_arrays(*names):
    """Return a behaviour: the honest answer with the arrays of these names null, without names the outermost ones."""

    def change(message):
        for part, depth in _parts(message):
            for name, value in _fields(part):
                if isinstance(value, list) and (name in names if names else depth == 0):
                    setattr(part, name, None)

    return changed(change)


def undecodable_text(*names):
    """Return a behaviour: the honest answer with the texts of these names, or all texts, no UTF-8."""

    def change(message):
        for part, _ in _parts(message):
            for name, value in _fields(part):
                if isinstance(value, str) and (not names or name in names):
                    setattr(part, name, _Undecodable(value))

    return changed(change)


class _Undecodable(str):
    __slots__ = ()

    def __str__(self):
        return self

    def encode(self, *_):
        return b"\xff\xfe" + super().encode()


def _fields(part):
    return [(name, getattr(part, name)) for name in part._struct.fields]


def _parts(message, depth=0):
    """Yield a message and all the structures within it; those within are taken first, for `change` may cut them off."""
    within = [item for _, value in _fields(message) if isinstance(value, list) for item in value if hasattr(item, "_struct")]
    for item in within:
        yield from _parts(item, depth + 1)
    yield message, depth


NAMED["null_arrays"] = null_arrays
NAMED["undecodable_text"] = undecodable_text


@contextmanager
def honest_brokers(count=3):
    """Start brokers that know each other, of which the first is the controller."""
    with ExitStack() as stack:
        made = [stack.enter_context(HostileBroker(number)) for number in range(count)]
        for broker in made:
            broker.brokers = {other.id: (other.host, other.port) for other in made}
            broker.controller_id = 0
        yield made

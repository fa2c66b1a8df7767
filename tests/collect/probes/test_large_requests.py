"""What no packet holds is asked for after little was answered; only a path that loses it, and nothing else, fails."""

import struct

import pytest
from kafka.protocol.admin import DescribeConfigsRequest
from kafka.protocol.metadata import ApiVersionsRequest
from kafka.protocol.sasl import SaslHandshakeRequest

from collect.fakes import FakeBroker, server
from collect.secured_fakes import SecuredBroker, tls_server
from kafka_audit.clients import probe_script, sockets
from kafka_audit.collect.probes import endpoint_probes
from testbed.certificates import Authority

PACKET = 1400
AMPLE_S = 60.0
SECONDS = 6.0
"""Where what is large is lost: half of it is waited for, and an honest answer has the other half."""

READS_CONFIGS, OLD = {18: (0, 3), 32: (0, 4)}, {18: (0, 2)}


class Dropping(FakeBroker):
    """A broker behind a path that drops packets above a size, in the direction of requests or of answers."""

    def __init__(self, broker_id=0, *, requests=False, answers=False):
        super().__init__(broker_id)
        self.configs |= {f"key.{number}": ("x" * 50, False) for number in range(200)}
        self._requests, self._answers = requests, answers

    def __call__(self, connection):
        super().__call__(Path(connection, self._requests, self._answers))


class Path:
    def __init__(self, connection, requests, answers):
        self._connection, self._requests, self._answers = connection, requests, answers

    def recv(self, size):
        if self._requests and size > PACKET:
            while self._connection.recv(size):
                pass  # until the other side gives up
            raise ConnectionAbortedError
        return self._connection.recv(size)

    def sendall(self, data):
        if not self._answers or len(data) <= PACKET:
            self._connection.sendall(data)


class Stalling(FakeBroker):
    """A process that answers no client from the first large request on."""

    stalled = False

    def _answer(self, connection, request):
        self.stalled = self.stalled or len(request) > PACKET
        if not self.stalled:
            super()._answer(connection, request)


class Strict(FakeBroker):
    """Another program that speaks Kafka, and hangs up on what is large."""

    def _answer(self, connection, request):
        if len(request) > PACKET:
            raise ConnectionAbortedError
        super()._answer(connection, request)


def steps(address, layers, tls=None, seconds=AMPLE_S):
    tls = tls or ("localhost", sockets.TlsContexts(None, None))
    probe = probe_script.EndpointProbe(*address, tls, "PLAIN")
    probe.go(list(layers), seconds)
    return probe.steps


def packets(broker, protocol="PLAINTEXT", seconds=AMPLE_S):
    with server(broker) as address:
        found = steps(address, endpoint_probes._LAYERS_BY_PROTOCOL[protocol], seconds=seconds)
    return [step[1:4] for step in found if step[0] == "packets"]


def test_a_broker_that_may_be_asked_for_its_settings_gives_a_large_answer():
    broker = Dropping()
    ((outcome, error, detail),) = packets(broker)
    assert (outcome, error) == ("ok", None)
    sent, received = map(int, detail.replace(" bytes sent, ", " ").split()[:2])
    assert sent > 9001
    assert received > 4096
    _, version, request = broker.requests[-1]
    padded, own = DescribeConfigsRequest.decode(request, version=version, header=True).resources
    assert (padded.resource_name, [len(key) for key in padded.configuration_keys]) == ("", [10000])
    assert (own.resource_name, own.configuration_keys) == ("0", None)


def test_without_the_right_only_the_request_is_large():
    broker = FakeBroker(0)
    broker.may_describe_configs = False
    ((outcome, _, detail),) = packets(broker)
    assert (outcome, int(detail.split()[0]) > 9001) == ("ok", True)
    key, version, request = broker.requests[-1]
    assert (key, version) == (18, 3)
    asked = ApiVersionsRequest.decode(request, version=3, header=True)
    assert (asked.client_software_name, asked.client_software_version) == ("kafka-audit", "0")


def test_a_release_that_reads_no_tags_is_not_asked():
    broker = FakeBroker(0)
    broker.apis = OLD
    assert packets(broker) == []
    assert {version for key, version, _ in broker.requests if key == 18} == {0}


def test_a_login_is_not_begun_but_its_handshake_is_large():
    broker = SecuredBroker(0, ("PLAIN", "SCRAM-SHA-512"))
    ((outcome, _, detail),) = packets(broker, "SASL_PLAINTEXT")
    assert (outcome, int(detail.split()[0]) > 9001) == ("ok", True)
    key, version, request = broker.requests[-1]
    assert (key, len(request) > 9001) == (17, True)
    assert SaslHandshakeRequest.decode(request, version=version, header=True).mechanism == "PLAIN"
    assert broker.logins == []


@pytest.mark.parametrize("lost", ["requests", "answers"])
def test_a_path_that_loses_what_is_large(lost):
    assert packets(Dropping(**{lost: True}), seconds=SECONDS) == [("failed", "TIMEOUT", None)]


@pytest.mark.parametrize("broker", [Stalling(0), Strict(0)], ids=["a process that stalls", "another program"])
def test_what_else_leaves_a_large_request_without_an_answer_says_nothing(broker):
    assert packets(broker, seconds=SECONDS) == []


def test_inside_tls(tmp_path):
    authority = Authority(tmp_path)
    tls = ("localhost", sockets.TlsContexts(authority.ca_file.read_text(), None))
    shown = authority.issue("right", ("localhost", "127.0.0.1"))
    with tls_server(SecuredBroker(0), shown) as address:
        found = steps(address, ("dns", "tcp", "tls", "sasl", "api", "packets"), tls)
    assert [step[0] for step in found] == ["dns", "tcp", "certificate", "tls", "sasl", "api", "packets"]
    assert found[-1][1] == "ok"


def test_the_tag_is_written_as_kip_482_has_it():
    request = probe_script.large_versions_request()
    assert struct.unpack_from("!i", request)[0] == len(request) - 4
    tail = request[: -len(probe_script.PADDING)]
    assert tail.endswith(b"\x01\x90\x4e\x90\x4e")  # one field, tag 10000, 10000 bytes

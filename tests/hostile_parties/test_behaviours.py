"""What a script makes of an answer arrives as it says, byte by byte."""

import json
import socket
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from kafka.protocol.admin import DescribeConfigsRequest, DescribeConfigsResponse
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, KazooException
from kazoo.handlers.threading import KazooTimeoutError

from hostile_parties.broker import STRANGER, HostileBroker, null_arrays, undecodable_text
from hostile_parties.party import announce, cut, drip, hang, hang_up, named, raw, wrong_correlation
from hostile_parties.zookeeper import GET_CHILDREN2, SRVR, HostileZookeeper

VERSIONS, CONFIGS = 18, 32
TESTS = Path(__file__).parents[1]
LONG_S = 120.0
"""What an honest party has for an answer, on the slowest machine."""
MOMENT_S = 0.2
"""In which nothing more comes."""


@pytest.fixture
def broker():
    with HostileBroker(1) as broker:
        yield broker


def dial(party):
    return socket.create_connection((party.host, party.port), timeout=LONG_S)


def versions():
    request = ApiVersionsRequest(version=0)
    request.with_header(correlation_id=7, client_id="test")
    return request.encode(framed=True, header=True)


def configs(name="1"):
    resource = DescribeConfigsRequest.DescribeConfigsResource(resource_type=4, resource_name=name, configuration_keys=None)
    request = DescribeConfigsRequest(version=1, resources=[resource])
    request.with_header(correlation_id=8, client_id="test")
    return request.encode(framed=True, header=True)


def told(party, request, size=None):
    """Return what comes, this many bytes or a frame, and what comes right behind it; and whether the connection was ended."""
    data = b""
    with dial(party) as connection:
        connection.sendall(request)
        while True:
            wanted = size if size is not None else 4 if len(data) < 4 else 4 + struct.unpack_from("!i", data)[0]
            connection.settimeout(LONG_S if len(data) < wanted else MOMENT_S)
            try:
                part = connection.recv(65536)
            except TimeoutError:
                return data, False
            except ConnectionResetError:
                part = b""
            if not part:
                return data, True
            data += part


def test_an_honest_answer_and_what_arrived(broker):
    data, ended = told(broker, versions())
    answer = ApiVersionsResponse.decode(data[4:], version=0, header=True)
    assert not ended
    assert {api.api_key for api in answer.api_keys} == {2, 3, 15, 16, 18, 17, 36, 29, 32, 35, 46, 60}
    assert bytes(broker.received) == bytes(versions())
    assert broker.connections == 1


@pytest.mark.parametrize(
    ("behaviour", "expected", "ends"),
    [
        (hang, b"", False),
        (hang_up, b"", True),
        (announce(255 << 20), struct.pack("!i", 255 << 20), False),
        (announce(1 << 30, 100_000), struct.pack("!i", 1 << 30) + b"\0" * 100_000, False),
        (b"odd", struct.pack("!ii", 7, 7) + b"odd", False),
        (raw(b"HTTP/1.1 400"), b"HTTP/1.1 400", False),
        (drip(0.001, announced=500), struct.pack("!i", 500)[:1], False),
        (lambda _: b"made", struct.pack("!ii", 8, 7) + b"made", False),
        (named("raw x"), b"x", False),
    ],
    ids=("hang", "hang_up", "announce", "flood", "odd", "raw", "drip", "function", "named"),
)
def test_bytes_of_a_behaviour(broker, behaviour, expected, ends):
    broker.script[VERSIONS] = behaviour
    assert told(broker, versions(), len(expected)) == (expected, ends)
    assert told(broker, configs())[0][4:8] == struct.pack("!i", 8), "only that API is scripted"


def test_an_answer_to_another_request_and_one_cut_short(broker):
    honest, _ = told(broker, versions())
    broker.script[VERSIONS] = wrong_correlation
    other, _ = told(broker, versions())
    assert (other[:4] + other[8:], other[4:8] != honest[4:8]) == (honest[:4] + honest[8:], True)
    broker.script[VERSIONS] = cut(7)
    short, _ = told(broker, versions())
    assert short == struct.pack("!i", len(honest) - 11) + honest[4:-7]


def test_null_arrays_and_undecodable_text(broker):
    broker.script[CONFIGS] = null_arrays()
    assert DescribeConfigsResponse.decode(told(broker, configs())[0][4:], version=1, header=True).results is None
    broker.script[CONFIGS] = null_arrays("configs")
    (result,) = DescribeConfigsResponse.decode(told(broker, configs())[0][4:], version=1, header=True).results
    assert (result.configs, result.resource_name) == (None, "1")
    broker.script[CONFIGS] = undecodable_text("name")
    with pytest.raises(UnicodeDecodeError):
        DescribeConfigsResponse.decode(told(broker, configs())[0][4:], version=1, header=True)


def test_the_question_who_answers_is_scripted_by_itself(broker):
    broker.script["identity"] = hang
    assert told(broker, configs(STRANGER), 0) == (b"", False)
    assert len(told(broker, configs())[0]) > 20


def test_acceptance_alone(broker):
    broker.script["accept"] = hang_up
    assert told(broker, versions(), 0)[1]
    assert not broker.received


def kazoo(zookeeper):
    client = KazooClient(zookeeper.address, timeout=LONG_S)
    client.start(LONG_S)
    return client


@pytest.mark.parametrize(
    ("behaviour", "error", "seconds"),
    [
        (hang, KazooTimeoutError, 0.5),
        (drip(0.001), KazooTimeoutError, 0.5),
        (hang_up, (ConnectionLoss, ConnectionClosedError), LONG_S),
        (lambda _: b"", Exception, 0.5),
    ],
    ids=("hang", "drip", "hang_up", "empty"),
)
@pytest.mark.parametrize("key", ["/a/b", GET_CHILDREN2])
def test_zookeeper_by_path_and_by_opcode(key, behaviour, error, seconds):
    with HostileZookeeper({"/a/b": b"x"}) as zookeeper:
        client = kazoo(zookeeper)
        try:
            zookeeper.script[key] = behaviour
            with pytest.raises(error):
                (client.get_children_async("/a/b", include_data=True)).get(timeout=seconds)
        finally:
            zookeeper.close()  # the library's stop() waits for a server that hangs
            client.stop()
            client.close()


def test_zookeeper_sends_odd_bytes_for_one_path_only():
    with HostileZookeeper({"/a": b"x", "/b": b"y"}) as zookeeper:
        zookeeper.script["/a"] = lambda exchange: struct.pack("!i", 3) + b"odd" + exchange.honest[-68:]
        client = kazoo(zookeeper)
        try:
            assert (client.get("/a")[0], client.get("/b")[0]) == (b"odd", b"y")
        finally:
            client.stop()
            client.close()


@pytest.mark.parametrize("key", ["connect", "accept"])
def test_zookeeper_grants_no_session(key):
    with HostileZookeeper({"/a": b""}) as zookeeper:
        zookeeper.script[key] = hang_up
        client = KazooClient(zookeeper.address, timeout=1)
        with pytest.raises((KazooTimeoutError, KazooException)):
            client.start(0.5)
        client.stop()
        client.close()


def test_zookeepers_word():
    with HostileZookeeper() as zookeeper:
        assert b"Zxid: 0x64" in told(zookeeper, b"srvr", len(SRVR) // 2)[0]
        zookeeper.srvr = "Zxid: 0xffffffffffffffff\nMode: leader\n"
        assert told(zookeeper, b"srvr", len(zookeeper.srvr))[0] == b"Zxid: 0xffffffffffffffff\nMode: leader\n"
        zookeeper.script["srvr"] = hang
        assert told(zookeeper, b"srvr", 0) == (b"", False)


def test_a_broker_in_a_process_of_its_own():
    described = {"broker_id": 9, "script": {"18": "raw x"}, "fields": {"brokers": {"9": ["127.0.0.1", 1]}}}
    command = [sys.executable, "-m", "hostile_parties.serve", json.dumps(described)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS) as process:
        where = SimpleNamespace(host="127.0.0.1", port=json.loads(process.stdout.readline())["port"])
        answers = [_told_first(where, versions())]
        process.stdin.write(json.dumps({"script": {}}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {}
        answers.append(_told_first(where, versions())[4:8])
        kept = json.loads(process.communicate()[0])
    assert answers == [b"x", struct.pack("!i", 7)]
    assert (kept["connections"], bytes.fromhex(kept["received"])) == (2, bytes(versions()) * 2)


def _told_first(where, request):
    with dial(where) as connection:
        connection.sendall(request)
        return connection.recv(65536)

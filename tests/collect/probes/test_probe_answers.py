"""What a probe makes of an answer, from here and from vantages: names and numbers that a broker may invent."""

import struct
import time
import tracemalloc

import pytest

from collect.fakes import server, silent
from kafka_audit.clients import probe_script
from kafka_audit.clients.sockets import Failure, TlsContexts
from kafka_audit.collect.probes import certificates, endpoint_probes
from testbed.certificates import Authority


class Answering:
    """Stands for a connection on which one answer comes."""

    def __init__(self, body):
        self._left = struct.pack("!ii", len(body) + 4, 7) + body

    def settimeout(self, _):
        pass

    def sendall(self, _):
        pass

    def recv(self, size):
        part, self._left = self._left[:size], self._left[size:]
        return part


def mechanisms(body):
    return probe_script.ask_mechanisms(Answering(body), {}, "PLAIN", time.monotonic() + 3600)


def names(*found):
    return b"".join(struct.pack("!h", len(answer)) + answer for answer in found)


@pytest.mark.parametrize("error", [0, 33])
def test_honest_mechanisms_are_told(error):
    found = (b"PLAIN", b"SCRAM-SHA-256", b"SCRAM-SHA-512", b"GSSAPI", b"OAUTHBEARER")
    assert mechanisms(struct.pack("!hi", error, 5) + names(*found)) == "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,GSSAPI,OAUTHBEARER"
    assert mechanisms(struct.pack("!hi", error, 0)) == ""


def test_names_of_negative_length_cost_no_memory():
    """Each was a slice from its place to nearly the end: 200 KB became 5 GB."""
    body = struct.pack("!hi", 0, 2**31 - 1) + b"\x80\0" * 20_000
    tracemalloc.start()
    try:
        with pytest.raises(Failure, match="NOT_KAFKA"):
            mechanisms(body)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "body",
    [
        struct.pack("!hi", 0, -1),
        struct.pack("!hi", 0, 101) + names(b"PLAIN") * 101,
        struct.pack("!hi", 0, 1) + names(b"x" * 256),
        struct.pack("!hi", 0, 2) + names(b"PLAIN") + b"\xff\xfe",
        struct.pack("!hi", 0, 1) + b"\0\x05PLAI",
        struct.pack("!hi", 0, 2) + names(b"PLAIN"),
    ],
    ids=["null", "too many", "too long", "negative", "cut", "missing"],
)
def test_mechanisms_that_make_no_sense_are_no_brokers(body):
    with pytest.raises(Failure, match="NOT_KAFKA"):
        mechanisms(body)


def test_a_certificate_with_a_name_of_the_wrong_type_is_none():
    """cryptography raises TypeError for a country that is a string of bits."""
    import base64  # noqa: PLC0415

    from fuzz.seeds import _certificate  # noqa: PLC0415

    honest = _certificate()
    country = bytes.fromhex("0603550406") + b"\x13\x02CH"
    assert country in honest
    assert certificates.decode_certificate(base64.b64encode(honest).decode(), "b0.example.com") is not None
    odd = honest.replace(country, bytes.fromhex("0603550406") + b"\x03\x02\x00H")
    assert certificates.decode_certificate(base64.b64encode(odd).decode(), "b0.example.com") is None


def test_the_key_of_the_issuer_is_read_where_the_certificate_names_it(tmp_path):
    """Two authorities of one name."""
    shown = []
    for authority in (Authority(tmp_path / "old", "bed"), Authority(tmp_path / "new", "bed")):
        for name in ("b0", "b1"):
            pem = authority.issue(name, ("b0.example.com",)).certificate.read_bytes()
            lines = pem.decode().split("-----")[2].split()
            shown.append(certificates.decode_certificate("".join(lines), "b0.example.com"))
    assert len({found["issuer"] for found in shown}) == 1
    keys = [found["issuer_key"] for found in shown]
    assert keys[0] == keys[1] != keys[2] == keys[3]
    assert len(keys[0]) == 40
    own = (tmp_path / "old" / "bed-ca.pem").read_text().split("-----")[2].split()
    assert certificates.decode_certificate("".join(own), "b0.example.com")["issuer_key"] is None


def sends(text):
    def behave(connection):
        connection.sendall(text)
        silent(connection)

    return behave


@pytest.mark.parametrize(
    ("layer", "failure", "needs"),
    [
        (
            "api",
            "CLOSED",
            "a Kafka broker that answers at z:2181: it accepts a connection and closes it (ZooKeeper? then --zookeeper z:2181)",
        ),
        ("tls", "CLOSED", "a port that speaks TLS: z:2181 ends the handshake as a listener without TLS does"),
        ("tls", "CERTIFICATE_NAME", "a certificate at z:2181 that ca_file of the cluster file and the advertised name accept"),
    ],
)
def test_what_is_needed_follows_from_how_a_layer_ended(layer, failure, needs):
    step = endpoint_probes.probe_step(layer, "failed", failure)
    assert endpoint_probes.read_error_of_probe(step, "z:2181").needs == needs


@pytest.mark.parametrize(
    ("behave", "seconds", "says"),
    [
        (sends(b"SSH-2.0-OpenSSH_8.9\r\n"), 60.0, "what answers there is not Kafka's protocol (TLS? another program?)"),
        (sends(b"HTTP/1.1 400 Bad Request\r\n\r\n"), 60.0, "what answers there is not Kafka's protocol (TLS? another program?)"),
        (silent, 0.2, "it accepts a connection and sends nothing (TLS? another program?)"),
    ],
    ids=["ssh", "http", "silent"],
)
def test_what_another_program_does_is_said_as_it_is(behave, seconds, says):
    with server(behave) as address:
        probe = probe_script.EndpointProbe(*address, ("localhost", TlsContexts(None, None)), "PLAIN")
        probe.go(["dns", "tcp", "api"], seconds)
    step = endpoint_probes.probe_step(*probe.steps[-1])
    assert endpoint_probes.read_error_of_probe(step, "there").needs == f"a Kafka broker that answers at there: {says}"

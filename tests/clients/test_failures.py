"""What errors mean, where they enter: real sockets, real handshakes, and the lines of kazoo."""

import socket
import ssl
import threading
import time
from contextlib import suppress

import pytest

from kafka_audit.clients import failures, sockets
from kafka_audit.model.read_failure import ReadFailure
from testbed.certificates import Authority

HOST = "127.0.0.1"


def server_context(pair, **settings):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(pair.certificate, pair.key)
    for name, value in settings.items():
        setattr(made, name, value)
    return made


def failure_of_handshake(client, serve, name="b1.example"):
    """Return what a handshake with a server that does this fails with."""
    ours, theirs = socket.socketpair()

    def answer():
        with theirs, suppress(OSError):
            serve(theirs)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        ours.settimeout(None)
        with pytest.raises((ssl.SSLError, ConnectionError)) as caught, client.wrap_socket(ours, server_hostname=name) as secured:
            secured.recv(1)  # TLS 1.3: the server's refusal comes after the handshake
    finally:
        ours.close()
        thread.join()
    return failures.of_error(caught.value)[0]


def shakes(context):
    def serve(connection):
        with context.wrap_socket(connection, server_side=True) as secured:
            secured.recv(1)

    return serve


def test_tls_versions_that_do_not_meet(authority):
    client = sockets.context(authority.ca_file.read_text())
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    server = server_context(authority.issue("new", ("b1.example",)), minimum_version=ssl.TLSVersion.TLSv1_3)
    assert failure_of_handshake(client, shakes(server)) is ReadFailure.TLS_VERSION


def test_a_server_that_speaks_no_tls():
    def serve(connection):
        connection.recv(1)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.recv(1000)

    assert failure_of_handshake(sockets.context(None), serve) is ReadFailure.NOT_TLS


def test_a_server_that_wants_a_client_certificate(authority):
    server = server_context(authority.issue("wants", ("b1.example",)), verify_mode=ssl.CERT_REQUIRED)
    server.load_verify_locations(authority.ca_file)
    client = sockets.context(authority.ca_file.read_text())
    assert failure_of_handshake(client, shakes(server)) is ReadFailure.CLIENT_CERTIFICATE_WANTED


def test_a_certificate_for_another_name(authority):
    server = server_context(authority.issue("named", ("b1.example",)))
    client = sockets.context(authority.ca_file.read_text())
    assert failure_of_handshake(client, shakes(server), "b2.example") is ReadFailure.CERTIFICATE_NAME


def test_a_certificate_of_another_authority(authority, tmp_path):
    server = server_context(Authority(tmp_path, "foreign").issue("foreign", ("b1.example",)))
    client = sockets.context(authority.ca_file.read_text())
    assert failure_of_handshake(client, shakes(server)) is ReadFailure.CERTIFICATE_UNTRUSTED


def test_a_port_that_nobody_listens_at():
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        address = taken.getsockname()
        with pytest.raises(sockets.Failure) as caught:
            sockets.connect([(socket.AF_INET, address)], time.monotonic() + 600)
    assert failures.of_report(str(caught.value))[0] is ReadFailure.REFUSED


def test_a_listed_address_that_leads_to_no_broker_is_named_with_its_kind():
    with pytest.raises(sockets.Failure) as caught:
        sockets.allowed([(socket.AF_INET, ("169.254.169.254", 80))], named=False)
    assert failures.of_report(str(caught.value)) == (ReadFailure.NOT_DIALLED, "not dialled: link-local address")


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("Connection dropped: socket connection error: Connection refused", ReadFailure.REFUSED),
        ("Connection dropped: socket connection error: No route to host", ReadFailure.NO_ROUTE),
        ("Connection dropped: socket connection error: Network is unreachable", ReadFailure.NETWORK_UNREACHABLE),
        ("Connection dropped: socket connection broken", ReadFailure.CLOSED),
        ("Connection dropped: socket connection error: Connection reset by peer", ReadFailure.RESET),
        ("Connection dropped: [SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)", ReadFailure.NOT_TLS),
        ("Cannot resolve zk1: [Errno -2] Name or service not known", ReadFailure.NAME_UNKNOWN),
        (None, ReadFailure.TIMEOUT),
    ],
)
def test_lines_of_kazoo(line, failure):
    assert failures.of_kazoo(line)[0] is failure

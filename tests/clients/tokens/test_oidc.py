"""Access tokens of a token endpoint: what is sent, what is said of each fault, and what is never said."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import jwt
import pytest

from collect.oidc_server import AUDIENCE, ISSUER, make_key, oidc_server
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.sockets import THIS_MACHINE, context
from kafka_audit.clients.tokens import oidc
from kafka_audit.clients.tokens.oidc import fetch_oidc_token, shown_endpoint
from kafka_audit.model.cluster import Oidc
from samples import sampled
from testbed.certificates import Authority

SECRET = "s3cr+t/with:odd=chars"  # noqa: S105 -- of a fake
CLIENTS = {"auditor": {"secret": SECRET, "audience": AUDIENCE, "scopes": ["kafka"]}}


@pytest.fixture(scope="module")
def key_file(tmp_path_factory):
    return make_key(tmp_path_factory.mktemp("oidc"))[0]


@pytest.fixture
def endpoint(key_file):
    with oidc_server(key_file, CLIENTS) as made:
        yield made


def fetch(url, secret=SECRET, seconds=300.0, scope=None, trust=THIS_MACHINE):
    return fetch_oidc_token(Oidc(token_endpoint=url, scope=scope), context(trust), "auditor", secret, seconds)


def refused(*args, **options):
    with pytest.raises(ReadError) as caught:
        fetch(*args, **options)
    error = caught.value
    assert SECRET not in f"{error} {error.message} {error.needs}"
    assert error.__cause__ is None
    return error.error, error.message, error.needs


def test_a_token_lives_as_long_as_the_endpoint_says_and_says_whose_it_is(endpoint):
    token = fetch(endpoint.url, scope="kafka")
    assert endpoint.issued == [token.value]
    assert endpoint.requests == [{"grant_type": "client_credentials", "scope": "kafka"}]
    assert jwt.get_unverified_header(token.value)["alg"] == "RS256"
    assert token.lifetime_s == 30
    assert token.about == f"issuer {ISSUER}, audience {AUDIENCE}, subject auditor, scope kafka"
    assert token.value not in repr(token)


def test_without_a_scope_none_is_sent(endpoint):
    fetch(endpoint.url)
    assert endpoint.requests == [{"grant_type": "client_credentials"}]


def test_a_wrong_secret_is_named_and_not_repeated_although_the_endpoint_repeats_it(endpoint):
    error, message, needs = refused(endpoint.url, "wrong-secret-99")
    assert error == "token refused"
    assert message == f"{endpoint.url} answers 401 invalid_client (Invalid client auditor or secret ***)"
    assert needs == f"the client ID and secret of a client that {endpoint.url} knows (auditor)"


def test_a_scope_that_the_client_may_not_request_is_named(endpoint):
    _, message, needs = refused(endpoint.url, scope="admin")
    assert message == f"{endpoint.url} answers 400 invalid_scope (Invalid scopes)"
    assert needs == f"a scope that client auditor may request at {endpoint.url}, instead of admin"


def test_an_endpoint_that_is_down_is_no_refusal():
    error, message, needs = refused("http://127.0.0.1:1/token")
    assert (error, message) == ("no token", "http://127.0.0.1:1/token does not answer (connection refused)")
    assert needs == "a connection from this worker to http://127.0.0.1:1/token"


def test_a_name_that_does_not_resolve():
    error, message, _ = refused("http://login.invalid/token", seconds=300.0)
    assert (error, message.partition(" (")[0]) == ("no token", "http://login.invalid/token does not answer")


ODD = {
    "an error page": ((404, b"<html>no</html>"), "token refused", "answers 404"),
    "a server error": ((503, b"later"), "no token", "answers 503"),
    "too many requests": ((429, {"error": "slow_down"}), "no token", "answers 429 slow_down"),
    "no JSON": ((200, b"hello"), "no token", "answers without an access token"),
    "a list": ((200, []), "no token", "answers without an access token"),
    "nested": ((200, b"[" * 100_000), "no token", "answers without an access token"),
    "a token that ends the message": ((200, {"access_token": "a\x01auth=b"}), "no token", "answers without an access token"),
    "a number": ((200, {"access_token": 5}), "no token", "answers without an access token"),
    "ended": ((200, {"access_token": "abc", "expires_in": 0}), "no token", "answers with an access token that has expired"),
    "large": ((200, b" " * 300_000), "no token", "answers with more than 262144 bytes"),
    "an odd code": ((400, {"error": "a\nb", "error_description": 5}), "token refused", "answers 400"),
}


@pytest.mark.parametrize(("answer", "error", "says"), ODD.values(), ids=ODD)
def test_an_odd_answer_is_one_sentence(endpoint, answer, error, says):
    endpoint.answer = answer
    found, message, needs = refused(endpoint.url)
    assert (found, message) == (error, f"{endpoint.url} {says}")
    assert endpoint.url in needs


def test_the_words_of_an_endpoint_are_one_short_line(endpoint):
    endpoint.answer = (400, {"error": "invalid_request", "error_description": "a\n\x1b[31mb" + "c" * 5000})
    message = refused(endpoint.url)[1]
    assert message.isprintable()
    assert len(message) < 300


def test_a_redirect_is_not_followed(endpoint, key_file):
    with oidc_server(key_file, CLIENTS) as other:
        endpoint.answer = lambda handler: handler.reply(307, b"", [("Location", other.url)])
        error, message, _ = refused(endpoint.url)
    assert (error, message) == ("token refused", f"{endpoint.url} answers 307: a redirect, which is not followed")
    assert other.requests == []


def test_a_proxy_of_the_environment_is_used(endpoint, monkeypatch):
    kept = []
    endpoint.answer = lambda handler: (kept.append(handler.path), handler.reply(200, b'{"access_token": "abc"}'))
    monkeypatch.setenv("HTTP_PROXY", endpoint.url.partition("/realms")[0])
    assert fetch("http://login.invalid/token").value == "abc"
    assert kept == ["http://login.invalid/token"]
    monkeypatch.setenv("NO_PROXY", "login.invalid")
    assert refused("http://login.invalid/token", seconds=300.0)[0] == "no token"


def drip(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while True:  # until the other side closes the connection
        handler.wfile.write(b"X")
        time.sleep(0.1)


def test_an_endpoint_that_drips_ends_on_time(endpoint):
    endpoint.answer = drip
    error, message, _ = refused(endpoint.url, seconds=0.5)
    assert (error, "does not answer (no answer for " in message) == ("no token", True)


# A server of its own process, so that what is counted here is ours: it begins as told and then sends a byte now and then.
DRIPPING = """
import socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)
print(listener.getsockname()[1], flush=True)
taken = []
while True:
    try:
        taken.append(listener.accept()[0])
        taken[-1].sendall(bytes.fromhex(sys.argv[1]))
    except BlockingIOError:
        pass
    for one in taken[:]:
        try:
            one.send(b"\\0")
        except OSError:
            taken.remove(one)
            one.close()
    time.sleep(0.005)
"""
BEGINNINGS = {
    "headers": ("http", b"HTTP/1.1 200 OK\r\nX-Y: "),
    "body": ("http", b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n{"),
    "handshake": ("https", b"\x16\x03\x03\x40\x00"),
}


def open_files():
    return len([*Path("/proc/self/fd").iterdir()])


@pytest.mark.parametrize(("scheme", "beginning"), sampled(BEGINNINGS.values(), every=len(BEGINNINGS), ids=BEGINNINGS))
def test_fifty_attempts_at_an_endpoint_that_drips_leave_neither_a_thread_nor_a_socket(scheme, beginning):
    command = [sys.executable, "-c", DRIPPING, beginning.hex()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = f"{scheme}://127.0.0.1:{process.stdout.readline().strip()}/token"
        refused(url, seconds=0.5)  # imports
        threads, files = threading.active_count(), open_files()
        with ThreadPoolExecutor(10) as pool:
            assert {error for error, _, _ in pool.map(lambda _: refused(url, seconds=0.5), range(50))} == {"no token"}
        while threading.active_count() > threads + 1 or open_files() > files + 2:
            time.sleep(0.05)
    finally:
        process.kill()
        process.communicate()


def test_the_end_of_a_token_is_its_own_where_the_endpoint_states_none(endpoint):
    now = time.time()
    endpoint.answer = (200, {"access_token": jwt.encode({"exp": now + 500}, endpoint.key, algorithm="RS256")})
    lifetime_s = fetch(endpoint.url).lifetime_s
    assert now + 500 - time.time() <= lifetime_s <= 500
    endpoint.answer = (200, {"access_token": "opaque"})
    assert fetch(endpoint.url).lifetime_s == 60
    endpoint.answer = (200, {"access_token": "opaque", "expires_in": "120"})
    assert fetch(endpoint.url).lifetime_s == 120


def test_tls_verifies_the_endpoint(tmp_path, key_file):
    authority = Authority(tmp_path)
    pair = authority.issue("login", ("127.0.0.1",))
    with oidc_server(key_file, CLIENTS, tls=(pair.certificate, pair.key)) as made:
        assert fetch(made.url, trust=authority.ca_file.read_text()).about
        error, message, needs = refused(made.url)
        assert (error, message) == ("no token", f"{made.url} cannot be trusted (certificate of an unknown issuer)")
        assert "oidc.ca_file (https.ca.location)" in needs
        other = refused(made.url.replace("127.0.0.1", "localhost"), trust=authority.ca_file.read_text())
        assert "cannot be trusted (certificate for another name)" in other[1]
        assert len(made.requests) == 1


def test_no_log_line_holds_the_secret_or_the_token(endpoint, caplog):
    with caplog.at_level("DEBUG"):
        token = fetch(endpoint.url)
    assert SECRET not in caplog.text
    assert token.value not in caplog.text
    assert "Basic" not in caplog.text


def test_a_query_of_the_endpoint_is_not_shown():
    assert shown_endpoint("https://u:p@login.example/token?key=hush") == "https://login.example/token"


def test_a_query_of_the_endpoint_is_in_no_log_line_either(endpoint, caplog):
    """httpx logs the URL of each request at the level of Airflow's tasks."""
    with caplog.at_level("DEBUG"), caplog.at_level("DEBUG", logger="httpx"):
        fetch(f"{endpoint.url}?key=hush")
        httpx.get(f"{endpoint.url}?theirs=1")
    assert "hush" not in caplog.text
    assert "theirs" in caplog.text  # requests of others in the process are logged as before


def test_what_is_sent_is_form_and_basic_login_as_librdkafka_sends_them(endpoint):
    kept = {}

    def keep(handler):
        kept.update(handler.headers.items())
        handler.reply(200, json.dumps({"access_token": "abc"}).encode())

    endpoint.answer = keep
    fetch(endpoint.url)
    assert kept["Content-Type"] == "application/x-www-form-urlencoded"
    assert kept["Accept"] == "application/json"
    assert kept["Authorization"].startswith("Basic ")


def test_httpx_is_imported_only_where_it_is_needed():
    assert "httpx" not in vars(oidc)

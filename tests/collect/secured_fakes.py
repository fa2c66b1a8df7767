"""Brokers that want a login or TLS, at the protocol's edge, and certificates that are right or wrong in a chosen way."""

import base64
import hashlib
import hmac
import os
import ssl
import struct
import time
from contextlib import contextmanager

from kafka.protocol.sasl import SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse

from collect.fakes import FakeBroker, exactly, server

SAID = "Authentication failed: Invalid username or password"


class SecuredBroker(FakeBroker):
    """Answers ApiVersions once, then a handshake and a login; everything else only after that. `logins` keeps who tried.

    Fields to change: `mechanisms`, `users` (name -> password), `echo` (refusals repeat what was sent, as no broker should),
    `hangs_up` (after a refusal, as every broker does); of SCRAM `iterations`, `salt`, `signs_wrongly` (the server's last message)
    and `says_nothing_last` (a login that ends without that message). `passwords` keeps (mechanism, user, password) of PLAIN and
    the tokens of other mechanisms, `scram_messages` what SCRAM clients sent.
    """

    def __init__(self, broker_id, mechanisms=("PLAIN",), users=None):
        super().__init__(broker_id)
        self.apis |= {17: (0, 1), 36: (0, 2)}
        self.mechanisms = mechanisms
        self.users = users or {}
        self.echo = False
        self.hangs_up = False
        self.iterations = 4096
        self.salt = None
        self.signs_wrongly = False
        self.says_nothing_last = False
        self.logins = []
        self.handshakes = []
        self.passwords = []
        self.scram_messages = []

    def __call__(self, connection):
        talk = {"state": "new"}
        while head := exactly(connection, 4):
            request = exactly(connection, struct.unpack("!i", head)[0])
            if not request:
                return
            key = struct.unpack_from("!h", request)[0]
            if key not in {17, 18, 36}:
                if talk["state"] != "in":
                    return
                self._answer(connection, request)
                continue
            answer = self.login_step(talk, request)
            if answer is None:
                return
            if self.hangs_up and key == 36 and answer.error_code:
                time.sleep(0.05)  # until the client waits, as a broker's delay of failed logins has it
                connection.sendall(answer.encode(framed=True, header=True))
                return
            connection.sendall(answer.encode(framed=True, header=True))

    def login_step(self, talk, request):
        """Return the answer to one request of a login, None for one that is out of turn; `talk` is the connection's state."""
        key, version, correlation = struct.unpack_from("!hhi", request)
        if key == 18 and talk["state"] != "new":
            return None  # a broker takes ApiVersions once before a login
        self.requests.append((key, version, request))
        answer = {17: self._handshake, 18: self._first, 36: self._authenticate}[key](talk, version, request)
        answer.with_header(correlation_id=correlation)
        return answer

    def _first(self, talk, version, request):
        answer = self._versions(version, request)
        if not answer.error_code:
            talk["state"] = "versions"
        return answer

    def _handshake(self, talk, version, request):
        mechanism = SaslHandshakeRequest.decode(request, version=version, header=True).mechanism
        self.handshakes.append(mechanism)
        talk |= {"state": "handshake", "mechanism": mechanism, "scram": None}
        code = 0 if mechanism in self.mechanisms else 33
        return SaslHandshakeResponse(version=version, error_code=code, mechanisms=list(self.mechanisms))

    def _authenticate(self, talk, version, request):
        sent = bytes(SaslAuthenticateRequest.decode(request, version=version, header=True).auth_bytes)
        answer = self._scram(talk, sent) if talk["mechanism"].startswith("SCRAM-") else self._plain(talk["mechanism"], sent)
        if answer is None:
            message = f"{SAID} {sent.decode()}" if self.echo else SAID
            return _authenticated(version, 58, message, b"")
        if not talk["mechanism"].startswith("SCRAM-") or talk["scram"] == "done":
            talk["state"] = "in"
        return _authenticated(version, 0, None, answer)

    def _plain(self, mechanism, sent):
        if mechanism != "PLAIN":
            self.passwords.append((mechanism, None, sent.decode(errors="replace")))
            return b""
        _, user, password = sent.decode().split("\0")
        self.passwords.append((mechanism, user, password))
        self.logins.append(user)
        return b"" if self.users.get(user) == password else None

    def _scram(self, talk, sent):
        algorithm = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}[talk["mechanism"]]
        text = sent.decode()
        self.scram_messages.append(text)
        if talk["scram"] is None:
            fields = dict(item.split("=", 1) for item in text.removeprefix("n,,").split(","))
            self.logins.append(fields["n"])
            salt = self.salt or os.urandom(8)
            first = f"r={fields['r']}{os.urandom(4).hex()},s={base64.b64encode(salt).decode()},i={self.iterations}"
            password = self.users.get(fields["n"], os.urandom(8).hex())
            salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, self.iterations)
            talk["scram"] = (salted, text.removeprefix("n,,"), first)
            return first.encode()
        salted, bare, first = talk["scram"]
        without, _, proof = text.rpartition(",p=")
        message = f"{bare},{first},{without}".encode()
        client_key = hmac.digest(salted, b"Client Key", algorithm)
        signature = hmac.digest(hashlib.new(algorithm, client_key).digest(), message, algorithm)
        if bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True)) != client_key:
            return None
        talk["scram"] = "done"
        if self.says_nothing_last:
            return b""
        server_key = hmac.digest(salted, b"another key" if self.signs_wrongly else b"Server Key", algorithm)
        return b"v=" + base64.b64encode(hmac.digest(server_key, message, algorithm))


def _authenticated(version, code, message, data):
    return SaslAuthenticateResponse(version=version, error_code=code, error_message=message, auth_bytes=data)


@contextmanager
def tls_server(behave, pair, *, client_auth=False):
    """Listen on loopback with a certificate of the bed's authority; yields (host, port)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    if client_auth:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(pair.truststore)

    def inside(connection):
        with context.wrap_socket(connection, server_side=True) as secured:
            behave(secured)

    with server(inside) as address:
        yield address

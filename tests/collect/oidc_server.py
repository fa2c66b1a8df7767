"""A small OIDC token server with real RS256 tokens, by client credentials or as a managed identity, in a thread or a process.

As a process: `python oidc_server.py`, with the arguments of `OidcServer` as JSON on stdin; it prints its URL when it listens.
"""

import base64
import json
import ssl
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

ISSUER, AUDIENCE, KEY_ID = "https://login.bed.test/realms/kafka", "kafka-brokers", "bed-1"


def make_key(folder):
    """Write a key for signing, and the key set that brokers verify with; return both paths."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private, keys = folder / "oidc-key.pem", folder / "jwks.json"
    pkcs8 = serialization.PrivateFormat.PKCS8
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, pkcs8, serialization.NoEncryption()))
    public = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    keys.write_text(json.dumps({"keys": [public | {"kid": KEY_ID, "use": "sig", "alg": "RS256"}]}))
    return private, keys


class OidcServer(ThreadingHTTPServer):
    """`clients`: ID -> {secret, audience}. `requests` keeps each form, `issued` each token; `answer` replaces all answers."""

    daemon_threads = True

    def __init__(self, key_file, clients, *, lifetime_s=30, port=0, tls=None, log=None):  # noqa: PLR0913 -- all are needed
        host = "127.0.0.1"
        super().__init__((host, port), _Handler)
        self.key = serialization.load_pem_private_key(Path(key_file).read_bytes(), None)
        self.clients, self.lifetime_s, self.log = clients, lifetime_s, log
        self.requests, self.issued, self.answer = [], [], None
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://{host}:{self.server_address[1]}/realms/kafka/token"

    def token(self, client, scope):
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": self.clients[client]["audience"], "sub": client, "iat": now, "exp": now + self.lifetime_s}
        claims |= {"jti": uuid.uuid4().hex} | ({"scope": scope} if scope else {})
        return jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": KEY_ID})

    def handle_error(self, request, client_address):
        """Stay silent where a client leaves."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        """Answer as the managed identity of Azure App Service does, with a token of the client whose audience is asked for."""
        resource = parse_qs(urlsplit(self.path).query).get("resource", [""])[0]
        client = next((name for name, known in self.server.clients.items() if known["audience"] == resource), None)
        if client is None or not self.headers.get("X-IDENTITY-HEADER"):
            self.reply(400, b'{"statusCode": 400, "message": "no identity"}')
            return
        ends = int(time.time()) + self.server.lifetime_s
        answer = {
            "access_token": self._issue(client, None),
            "token_type": "Bearer",
            "expires_on": str(ends),
            "resource": resource,
        }
        self.reply(200, json.dumps(answer).encode())

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(text).items()}
        self.server.requests.append(form)
        answer = self.server.answer
        if callable(answer):
            answer(self)
            return
        status, body = answer or self._granted(form)
        self.reply(status, json.dumps(body).encode() if not isinstance(body, bytes) else body)

    def _granted(self, form):
        _, _, credentials = self.headers.get("Authorization", "").partition(" ")
        client, _, secret = base64.b64decode(credentials).decode().partition(":")
        known = self.server.clients.get(client)
        if known is None or known["secret"] != secret:
            return 401, {"error": "invalid_client", "error_description": f"Invalid client {client} or secret {secret}"}
        if form.get("grant_type") != "client_credentials":
            return 400, {"error": "unsupported_grant_type"}
        if form.get("scope") not in {None, *known.get("scopes", ())}:
            return 400, {"error": "invalid_scope", "error_description": "Invalid scopes"}
        token = self._issue(client, form.get("scope"))
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.server.lifetime_s}

    def _issue(self, client, scope):
        token = self.server.token(client, scope)
        self.server.issued.append(token)
        if self.server.log:
            with Path(self.server.log).open("a", encoding="ascii") as log:
                log.write(f"{time.time():.1f} {client} {token}\n")
        return token

    def reply(self, status, body, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def oidc_server(*args, **options):
    """Run one on a thread."""
    with OidcServer(*args, **options) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


if __name__ == "__main__":
    with OidcServer(**json.load(sys.stdin)) as running:
        print(running.url, flush=True)  # noqa: T201 -- its only word
        running.serve_forever()

"""Endpoints of clouds on this machine, which the clouds' own libraries ask by HTTP: tokens, metadata, managed identities."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Endpoints(ThreadingHTTPServer):
    """`answers`: path -> (status, body) or what makes it of a request. `requests` keeps (path, headers, form or query)."""

    daemon_threads = True

    def __init__(self, answers, tls=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.answers, self.requests, self.issued = answers, [], []
        self.address = f"127.0.0.1:{self.server_address[1]}"

    def issue(self, prefix):
        """Return a new token, which `issued` keeps."""
        self.issued.append(f"{prefix}{len(self.issued)}-{time.monotonic_ns()}")
        return self.issued[-1]

    def handle_error(self, request, client_address):
        """Stay silent where a client leaves."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        parts = urlsplit(self.path)
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode() or parts.query
        form = {name: values[0] for name, values in parse_qs(text).items()}
        self.server.requests.append((parts.path, dict(self.headers), form))
        answer = self.server.answers.get(parts.path, (404, {"error": "not_found"}))
        status, body = answer(form) if callable(answer) else answer
        is_text = isinstance(body, str)
        data = body.encode() if is_text else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if is_text else "application/json")
        self.send_header("Metadata-Flavor", "Google")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET  # noqa: N815 -- a name of the class above

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def endpoints(answers, tls=None):
    """Run them on a thread."""
    with Endpoints(answers, tls) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()

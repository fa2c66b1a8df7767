"""Answer every request with a page, as a web server that someone started on a port of Kafka: ``web_server.py ADDRESS PORT``.

Run as a script inside a host; imports nothing of the package. Prints ``ready`` once it listens, and never ends by itself.
"""

import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(SimpleHTTPRequestHandler):
    """Logs nothing: no process reads its end of the pipe."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), QuietHandler)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    server.serve_forever()

"""A mail server and a Slack webhook on loopback: `alert_sink.py SMTP_PORT HTTP_PORT FILE`.

Each message becomes one JSON line of FILE. Says `ready` when both listen; ends with its standard input.
"""

import json
import sys
import threading
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from aiosmtpd.controller import Controller

LOCK = threading.Lock()


def keep(folder, **message):
    with LOCK, Path(folder).open("a", encoding="utf-8") as out:
        out.write(json.dumps(message) + "\n")


class Mailbox:
    def __init__(self, file):
        self.file = file

    async def handle_DATA(self, server, session, envelope):  # noqa: N802, ARG002 -- aiosmtpd's name and arguments
        mail = message_from_bytes(envelope.content, policy=default)
        body = mail.get_body(preferencelist=("html",)).get_content()
        attached = [part.get_filename() for part in mail.iter_attachments()]
        plain = mail.get_body(preferencelist=("plain",)).get_content()
        headers = [[k, str(v)] for k, v in mail.items()]
        keep(self.file, kind="mail", headers=headers, body=body, plain=plain, to=envelope.rcpt_tos, attached=attached)
        return "250 kept"


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        keep(sys.argv[3], kind="slack", path=self.path, text=body["text"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_args):
        """Stay quiet."""


def main():
    mail = Controller(Mailbox(sys.argv[3]), hostname="127.0.0.1", port=int(sys.argv[1]))
    mail.start()
    web = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Webhook)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    mail.stop()


if __name__ == "__main__":
    main()

"""Scripts of the bed that make connections: a forward that takes turns, and requests that are only announced."""

import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "testbed"
SECONDS = 600


@contextmanager
def script(name, *words):
    command = [sys.executable, "-I", str(FOLDER / name), *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def listener(address="127.0.0.1", port=0):
    found = socket.create_server((address, port))
    found.settimeout(SECONDS)
    return found


def answering(server, text, times):
    def answer():
        for _ in range(times):
            connection, _ = server.accept()
            connection.sendall(text)
            connection.close()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    return thread


def test_a_forward_to_several_hosts_takes_turns():
    with listener() as one, listener("127.0.0.2", one.getsockname()[1]) as other, listener() as free:
        answering(one, b"1", 2)
        answering(other, b"2", 1)
        port = free.getsockname()[1]
        free.close()
        with script("forwarder.py", "127.0.0.1", port, "127.0.0.1,127.0.0.2", one.getsockname()[1]):
            answers = []
            for _ in range(3):
                with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
                    answers.append(connection.recv(1))
    assert answers == [b"1", b"2", b"1"]


def test_requests_are_announced_and_do_not_come():
    with listener() as server, script("large_requests.py", "127.0.0.1", server.getsockname()[1], 95, 2):
        for _ in range(2):
            connection, _ = server.accept()
            with connection:
                connection.settimeout(SECONDS)
                assert connection.recv(8, socket.MSG_WAITALL) == (95 * 2**20).to_bytes(4, "big") + bytes(4)

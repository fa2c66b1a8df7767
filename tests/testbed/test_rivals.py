"""What the bed breaks rare causes with: a wrong clock, a thread that stands still, a web server, filters of packets."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import testbed
from testbed import cuts

FOLDER = Path(testbed.__file__).parent
TICKS = """
import ctypes, pathlib, sys, threading, time
def tick():
    pathlib.Path("/proc/thread-self/comm").write_text("a-thread-of-it")
    while True:
        pathlib.Path(sys.argv[1]).write_text(str(time.monotonic()))
        time.sleep(0.05)
threading.Thread(target=tick, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_process_with_the_library_has_a_wrong_clock(tmp_path):
    library = tmp_path / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, FOLDER / "shifted_clock.c", "-ldl"], check=True)
    shifted = {**os.environ, "LD_PRELOAD": str(library), "BED_CLOCK_SECONDS": "-172800"}
    asked = "import datetime, time; print(time.time(), datetime.datetime.now().timestamp())"
    completed = subprocess.run([sys.executable, "-c", asked], env=shifted, capture_output=True, text=True, check=True)
    assert [round((time.time() - float(age)) / 86_400, 1) for age in completed.stdout.split()] == [2.0, 2.0]


@pytest.mark.skipif(os.getuid() != 0, reason="Yama lets root alone stop a process that is no child")
def test_one_thread_of_a_process_stands_still_until_the_stopper_ends(tmp_path):
    beat = tmp_path / "beat"
    with subprocess.Popen(
        [sys.executable, "-c", TICKS, str(beat)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        stopper = [sys.executable, "-I", str(FOLDER / "thread_stopper.py"), str(process.pid), "a-thread"]
        with subprocess.Popen(stopper, stdout=subprocess.PIPE, text=True) as stopping:
            assert stopping.stdout.readline() == "ready\n"
            time.sleep(0.2)
            still = beat.read_text()
            time.sleep(0.3)
            assert beat.read_text() == still
            stopping.kill()
        while beat.read_text() == still:
            time.sleep(0.01)
        process.stdin.close()
    missing = subprocess.run([*stopper[:3], str(os.getpid()), "no-such"], capture_output=True, text=True, check=False)
    assert "has no thread no-such" in missing.stderr


def test_a_web_server_answers_what_is_no_request_as_well():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [sys.executable, "-I", str(FOLDER / "web_server.py"), "127.0.0.1", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"\x00\x00\x00\x05kafka\r\n\r\n")
            assert b"400" in connection.recv(1000)
        process.kill()


def run(program, packet):
    """Return the action of a classic BPF program on a packet: what `cuts` writes, executed as the kernel does."""
    count, *lines = program.split(",")
    instructions = [tuple(map(int, line.split())) for line in lines]
    assert int(count) == len(instructions)
    at = accumulator = index = 0
    while True:
        code, yes, no, value = instructions[at]
        at += 1
        match code:
            case 0x20:
                accumulator = int.from_bytes(packet[value : value + 4])
            case 0x30:
                accumulator = packet[value]
            case 0x80:
                accumulator = len(packet)
            case 0xB1:
                index = 4 * (packet[value] & 0xF)
            case 0x48:
                accumulator = int.from_bytes(packet[index + value : index + value + 2])
            case 0x15 | 0x35:
                at += yes if (accumulator == value if code == 0x15 else accumulator >= value) else no
            case 0x06:
                return value


def packet(source, length, port=9092):
    """Return an Ethernet frame with an IPv4 packet of TCP in it."""
    ip = bytes([0x45, 0]) + length.to_bytes(2) + bytes(5) + bytes([6]) + bytes(2) + socket.inet_aton(source) + bytes(4)
    return (bytes(14) + ip + bytes(2) + port.to_bytes(2)).ljust(14 + length, b"\0")


@pytest.mark.parametrize(
    ("frame", "narrow", "cut"),
    [
        (packet("10.99.0.10", 1400), True, True),
        (packet("10.99.0.10", 1399), False, True),
        (packet("10.99.0.11", 1500), False, False),
        (packet("10.99.0.10", 1500, port=40000), True, False),
    ],
)
def test_filters_drop_large_packets_of_a_source_or_all_that_it_sends_to_services(frame, narrow, cut):
    assert (run(cuts._drop_large("10.99.0.10"), frame) == cuts._DROP) is narrow
    assert (run(cuts._drop_to_services("10.99.0.10"), frame) == cuts._DROP) is cut

"""Java itself, asked once for many cases."""

import struct
import subprocess
from pathlib import Path

EOF = -1


def _asked(kind, cases):
    data = struct.pack("!i", len(cases)) + b"".join(struct.pack("!i", len(case)) + case for case in cases)
    command = ["java", "-Xshare:auto", str(Path(__file__).with_name("Oracle.java")), kind]
    completed = subprocess.run(command, input=data, capture_output=True, check=False)
    assert completed.returncode == 0, completed.stderr.decode()
    return _Reader(completed.stdout)


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        self.at += 4
        return struct.unpack_from("!i", self.data, self.at - 4)[0]

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size : self.at].decode("utf-16-be", "replace")


def properties(cases):
    """Return the properties that Java reads from each file, None where it refuses."""
    answer = _asked("properties", cases)
    found = []
    for _ in cases:
        count = answer.number()
        found.append(None if count < 0 else {answer.text(): answer.text() for _ in range(count)})
    return found


def tokens(cases):
    """Return what Java's tokenizer, set up as Kafka does, makes of each text: pairs of type and text."""
    answer = _asked("jaas", [case.encode() for case in cases])
    found = []
    for _ in cases:
        cut = []
        while (kind := answer.number()) != EOF:
            cut.append((kind, answer.text()))
        found.append(cut)
    return found

"""`kafka-audit watch` beside a cluster of the bed: what it suspects, and how long after a fault."""

import json
import sys
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace


class Watching:
    """A running `kafka-audit watch --format json`; `readings` are its lines, each with the time at which it came."""

    def __init__(self, process):
        self._process = process
        self.readings = []
        self._came = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def end(self):
        """Wait for the last line."""
        self._reader.join(20)

    def _read(self):
        for line in self._process.stdout:
            with self._came:
                self.readings.append(SimpleNamespace(at=time.monotonic(), said=json.loads(line)))
                self._came.notify_all()
        with self._came:
            self._came.notify_all()

    def await_reading(self, wanted, seconds):
        """Return the first reading for which `wanted` holds; fails after this many seconds."""
        end, seen = time.monotonic() + seconds, 0
        with self._came:
            while True:
                for reading in self.readings[seen:]:
                    if wanted(reading.said):
                        return reading
                seen = len(self.readings)
                left = end - time.monotonic()
                assert left > 0, [reading.said["suspicions"] for reading in self.readings[-3:]]
                assert self._process.poll() is None, self._process.stderr.read()
                self._came.wait(left)

    def await_all_answer(self, seconds=300):
        """Wait until every broker of three answers, lists all, and nothing is suspected."""
        return self.await_reading(
            lambda reading: not reading["suspicions"] and [broker["lists"] for broker in reading["brokers"]] == [[0, 1, 2]] * 3,
            seconds,
        )

    def suspected(self, since=0.0):
        """Return the sentences of everything that was suspected from a time on."""
        return {
            suspicion["sentence"] for reading in self.readings if reading.at >= since for suspicion in reading.said["suspicions"]
        }

    def seconds_until(self, fault, what, broker):
        """Cause a fault; return after how many seconds it is suspected of a broker, by one of these names."""
        began = time.monotonic()
        fault()
        caused = time.monotonic()
        found = self.await_reading(
            lambda reading: any(
                suspicion["what"] in what and suspicion["broker"] == broker for suspicion in reading["suspicions"]
            ),
            90 + caused - began,
        )
        sys.stdout.write(f"suspected {found.at - began:.1f} s after the fault: {found.said['suspicions']}\n")
        return found.at - began


@contextmanager
def watching(bed, audits, name="far", *options):
    """Watch a cluster from the worker until the end."""
    command = [sys.executable, "-m", "kafka_audit.cli", "watch", name, *audits.config(name), "--format", "json", *options]
    with bed.worker.popen(command, env=audits.environment(), stdout=-1, stderr=-1) as process:
        watch = Watching(process)
        try:
            yield watch
        finally:
            process.terminate()
            process.wait()
            watch.end()

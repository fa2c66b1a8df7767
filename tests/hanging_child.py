"""A function that hangs in a child process of `bounds.child_process`, and a limit of time that passes at that moment.

An honest function in the same child has all the time that it needs, whatever the machine does: the clock does not end it.
"""

import os
import select
import time
from types import SimpleNamespace

from kafka_audit.bounds import child_process


class HangingChild:
    """Replaces the wait for a child's messages: it ends where `forever` was called, and nowhere else.

    Attributes:
        waits: the limits of the waits, in seconds, as the product passes them on.
    """

    def __init__(self, monkeypatch):
        self._reading, self._writing = os.pipe()
        self.waits = []
        monkeypatch.setattr(child_process, "select", SimpleNamespace(select=self.select))

    def forever(self):
        """Hang, in the child."""
        os.write(self._writing, b"h")
        while True:
            time.sleep(3600)

    def close(self):
        """Close its files."""
        os.close(self._reading)
        os.close(self._writing)

    def select(self, reading, _writing, _failing, seconds):
        """Wait as `select.select` does, without a clock."""
        assert seconds > 0, "without a limit the wait would never end"
        self.waits.append(seconds)
        ready = select.select([*reading, self._reading], [], [])[0]
        if set(ready) & set(reading):
            return reading, [], []
        os.read(self._reading, 1)
        return [], [], []

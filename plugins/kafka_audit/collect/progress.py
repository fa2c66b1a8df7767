"""Lines about brokers that are asked: one for each of a few, now and then one about all of many."""

import threading
import time
from collections.abc import Callable, Iterable

from kafka_audit.clients.read_error import clean_line
from kafka_audit.model.tables import BrokerView, Row, SourceRead
from kafka_audit.model.text import counted

MANY = 10
"""Brokers up to which each has its own line when it is asked."""

EACH_S = 5.0


class BrokerProgress:
    """Reports how many of many brokers have answered, and which did not; takes answers from any thread."""

    def __init__(self, say: Callable[[str], None], brokers: int) -> None:
        """Take where lines go, and how many brokers are asked in this sample."""
        self._say = say
        self._brokers = brokers
        self._many = brokers > MANY
        self._lock = threading.Lock()
        self._answered = 0
        self._said = time.monotonic()
        if self._many:
            say(f"asking {counted(brokers, 'broker')} …")

    def ask(self, broker: str, addresses: Iterable[str]) -> None:
        """Report that a broker is asked at these addresses, where there are few brokers."""
        if not self._many:
            name = "the broker" if broker.startswith("broker@") else clean_line(broker)  # one whose id is not known yet
            self._say(f"asking {name} at {', '.join(map(clean_line, addresses))} …")

    def note(self, broker: str, rows: Iterable[Row]) -> None:
        """Report what a broker's rows show, where there are many brokers: that it gave no view, else now and then a number."""
        if not self._many:
            return
        found = [*rows]
        answered = any(isinstance(row, BrokerView) for row in found)
        failed = next((row for row in found if isinstance(row, SourceRead) and row.outcome == "failed"), None)
        with self._lock:
            self._answered += answered
            if not answered and failed is not None:
                self._say(f"{clean_line(broker)} did not answer at {clean_line(failed.target)} ({failed.error})")
            elif time.monotonic() - self._said >= EACH_S:
                self._said = time.monotonic()
                self._say(f"{self._answered} of {self._brokers} brokers answered")

"""The ends of the logs of brokers that did not answer lately: whether their starts fail, or they ended by themselves."""

import time
from collections.abc import Collection, Mapping
from functools import partial

from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError
from kafka_audit.cluster.processes import ProcessState, process_by_log
from kafka_audit.collect.logs.process import process_rows
from kafka_audit.collect.logs.rows import Tail, zone
from kafka_audit.collect.logs.sources import LogSource, log_places, read_log_tail
from kafka_audit.collect.nodes import Nodes
from kafka_audit.collect.probes.command_vantages import command_environment
from kafka_audit.model.cluster import Cluster

LATELY_S = 300.0
"""Seconds for which the log of a broker is read after it did not answer: one whose start fails may answer in between."""

MOST_LOGS = 16
"""Brokers whose logs one reading reads; those that have not answered for longest come first."""

MOST_BYTES = 256 * 1024
"""Of the end of one log."""

_ENDED = frozenset({ProcessState.REFUSED, ProcessState.LOOPS, ProcessState.ENDED})


class SilentLogs:
    """Reads the logs that the cluster file names, of few brokers."""

    def __init__(self, cluster: Cluster, read_s: float) -> None:
        """Keep the cluster; nothing is read yet."""
        self._cluster = cluster
        self._read_s = read_s
        self._silent: dict[int, float] = {}

    def read(self, silent: Mapping[int | None, bool], passwords: Collection[str]) -> Mapping[int | None, str]:
        """Return what became of processes whose logs say that they failed.

        Args:
            silent: the brokers that were asked, and whether they gave no answer; None for one whose id is unknown.
            passwords: no command gets a variable with one of them.
        """
        now, logs = time.monotonic(), self._cluster.logs
        if logs is None:
            return {}
        self._silent |= {broker: now for broker, failed in silent.items() if failed and broker is not None}
        self._silent = {broker: at for broker, at in self._silent.items() if broker in silent and now - at < LATELY_S}
        brokers = sorted(self._silent, key=lambda broker: (not silent[broker], self._silent[broker]))[:MOST_LOGS]
        if not brokers:
            return {}
        places, _ = log_places(logs, Nodes(brokers=tuple(brokers)))
        environment = command_environment(self._cluster, passwords, logs.env)
        questions = [partial(self._tails, place, environment) for place in places]
        found: dict[int, list[Tail]] = {}
        for place, tails in zip(places, side_by_side(questions, MOST_LOGS, now + self._read_s), strict=True):
            found.setdefault(place.broker, []).extend(tails if isinstance(tails, tuple) else ())
        return {broker: text for broker, of_it in found.items() if (text := _became(broker, of_it, answers=not silent[broker]))}

    def _tails(self, place: LogSource, environment: Mapping[str, str]) -> tuple[Tail, ...]:
        try:
            return read_log_tail(place, self._read_s, environment, MOST_BYTES)
        except ReadError:
            return ()  # an audit says why


def _became(broker: int, tails: list[Tail], *, answers: bool) -> str | None:
    party, rows = f"broker {broker}", process_rows(broker, tails, zone(tails, None), 1)
    process = process_by_log(broker, party, rows, runs=answers, refuses=False)
    return process.sentence(party) if process.state in _ENDED else None

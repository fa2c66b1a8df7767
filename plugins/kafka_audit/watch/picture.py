"""Who answers what, as a picture for a terminal, as lines of what changed, and as JSON. Pure."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kafka_audit.model.text import clean, counted, ranges, start_upper
from kafka_audit.watch.judgement import WatchState
from kafka_audit.watch.reading import BrokerReading, ControllerReading, Reading, WatchAnswer, WatchOutcome, ZookeeperReading
from kafka_audit.watch.suspicions import Suspicion

_COLUMNS = ("", "ApiVersions", "Metadata", "lists brokers", "controller", "quorum", "last change")
_LONGEST_CELL = 28
_DASH = "-"

Cells = tuple[str, ...]


def cells(reading: Reading) -> dict[str, Cells]:
    """Return a row of the picture for each party, by its name: what it answers to each question, without times."""
    rows = {}
    if reading.zookeeper is not None:
        rows["zookeeper"] = _zookeeper(reading.zookeeper)
    for broker in reading.brokers:
        name = f"broker {broker.broker_id}" if broker.broker_id is not None else f"at {clean(broker.address, 40)}"
        rows[name] = _broker(broker, kraft=reading.kraft)
    for controller in reading.controllers:
        rows[f"controller {clean(controller.address, 40)}"] = _controller(controller)
    return rows


def _zookeeper(reading: ZookeeperReading) -> Cells:
    if not reading.answer.answered:
        return (_DASH, _DASH, _word(reading.answer), _DASH, _DASH)
    registry = reading.registry
    controller = "KRaft" if reading.claimed else _known(None if registry is None else registry.controller_id)
    epoch = "" if registry is None or registry.controller_epoch is None else f", epoch {registry.controller_epoch}"
    return (_DASH, _DASH, ranges(reading.brokers) or "none", f"{controller}{epoch}", _DASH)


def _broker(reading: BrokerReading, *, kraft: bool) -> Cells:
    if not reading.metadata.answered:
        return (_word(reading.api_versions), _word(reading.metadata), _DASH, _DASH, _DASH)
    listed = ranges(reading.lists or ()) or "none"
    controller = _DASH if kraft else _known(reading.controller_id)
    quorum = f"leader {_known(leader_of(reading))}" if reading.quorum.answered else _word(reading.quorum)
    return (_word(reading.api_versions), _word(reading.metadata), listed, controller, quorum)


def _controller(reading: ControllerReading) -> Cells:
    if not reading.answer.answered:
        return (_DASH, _DASH, _DASH, _DASH, _word(reading.answer))
    # Only the leader describes the quorum.
    return (_DASH, _DASH, _DASH, _DASH, "does not lead" if reading.led is None else f"leader {_known(leader_of(reading))}")


def leader_of(reading: BrokerReading | ControllerReading) -> int | None:
    """Return the leader of the quorum that a party reports, -1 for none; None where it reports nothing."""
    return None if reading.led is None else reading.led.leader_id


def _known(number: int | None) -> str:
    return "none" if number is None or number < 0 else str(number)


def _word(answer: WatchAnswer) -> str:
    if answer.answered:
        return "ok"
    error = clean(answer.error or "", _LONGEST_CELL)
    if answer.outcome is WatchOutcome.UNKNOWN:
        return f"? {error}" if error else _DASH
    return error or "no answer"


class WatchPicture:
    """What the last readings showed, and since when each row of it is as it is."""

    def __init__(self, cluster: str, every_s: float) -> None:
        """Start empty."""
        self._cluster = clean(cluster)
        self._every_s = every_s
        self._rows: dict[str, Cells] = {}
        self._since: dict[str, int] = {}
        self._suspected: dict[str, Suspicion] = {}

    def changes(self, reading: Reading, state: WatchState) -> list[str]:
        """Take a reading; return a line for everything that is not as it was, with its time."""
        rows = cells(reading)
        found = []
        first = not self._rows
        for name in [*rows, *(name for name in self._rows if name not in rows)]:
            before, now = self._rows.get(name), rows.get(name)
            if before != now:
                self._since[name] = reading.at_ms
                found.append(f"{name}: {_row_text(now)}")
        if first and rows:
            found.insert(0, f"{self._cluster}: {counted(len(rows), 'party', 'parties')} read every {self._every_s:g} s")
        suspected = {suspicion.observation.key: suspicion for suspicion in state.suspicions}
        new = [f"SUSPECTED {suspicion.sentence()}" for key, suspicion in suspected.items() if key not in self._suspected]
        found += [*new, f"next: kafka-audit run {self._cluster}"] if new else []
        found += [
            f"no longer suspected: {suspicion.sentence()}" for key, suspicion in self._suspected.items() if key not in suspected
        ]
        self._rows, self._suspected = rows, suspected
        return [f"{utc_time(reading.at_ms)}  {line}" for line in found]

    def screen(self, reading: Reading, state: WatchState, width: int) -> str:
        """Return the picture after `changes` has taken the reading; no line is wider than `width`.

        Columns without any answer are left out; sentences are wrapped, and the table is cut.
        """
        mode = "KRaft" if reading.kraft else "ZooKeeper" if reading.zookeeper is not None else "no ZooKeeper"
        title = f"{self._cluster}  {mode}  {utc_time(reading.at_ms)}  every {self._every_s:g} s"
        table = [_COLUMNS, *((name, *row, _when(self._since[name], reading.at_ms)) for name, row in self._rows.items())]
        shown = [column for column in zip(*table, strict=True) if any(cell != _DASH for cell in column[1:])]
        lines = [title, "", *(line[:width] for line in _aligned([*zip(*shown, strict=True)])), ""]
        if state.suspicions:
            lines += [
                "Suspected",
                *(f"  {_when(suspicion.since_ms, reading.at_ms)}  {suspicion.sentence()}" for suspicion in state.suspicions),
            ]
        waiting = [symptom for symptom in state.symptoms.values() if not symptom.suspected]
        if not waiting and not state.suspicions:
            lines.append("Nothing is suspected.")
        if waiting:
            lines += [
                "Waiting for a second reading",
                *(f"  {_when(w.since_ms, reading.at_ms)}  {w.observation.sentence()}" for w in waiting),
            ]
        return "\n".join(part for line in lines for part in (textwrap.wrap(line, width, subsequent_indent=" " * 13) or [""]))


def _row_text(row: Cells | None) -> str:
    if row is None:
        return "no longer read"
    named = [f"{title} {cell}" for title, cell in zip(_COLUMNS[1:], row, strict=False) if cell != _DASH]
    return start_upper(", ".join(named)) if named else "not asked"


def _aligned(table: Sequence[Cells]) -> list[str]:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def _when(at_ms: int, now_ms: int) -> str:
    day, _, time = utc_time(at_ms).partition("T")
    return time if utc_time(now_ms).startswith(day) else day


def utc_time(at_ms: int) -> str:
    """Return a time in UTC, to the second."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def suspicions_json(suspicions: Iterable[Suspicion]) -> list[dict[str, Any]]:
    """Return suspicions as JSON values."""
    return [
        {
            "what": suspicion.what.value,
            "broker": suspicion.broker,
            "since": utc_time(suspicion.since_ms),
            "sentence": suspicion.sentence(),
        }
        for suspicion in suspicions
    ]


def document(cluster: str, reading: Reading, state: WatchState) -> dict[str, Any]:
    """Return a reading and what is suspected after it as JSON values."""
    zookeeper = reading.zookeeper
    return {
        "cluster": cluster,
        "at": utc_time(reading.at_ms),
        "suspicions": suspicions_json(state.suspicions),
        "zookeeper": None if zookeeper is None else _zookeeper_json(zookeeper),
        "brokers": [_broker_json(broker, kraft=reading.kraft) for broker in reading.brokers],
        "controllers": [
            {"address": controller.address, "answer": _answer_json(controller.answer), "leader": leader_of(controller)}
            for controller in reading.controllers
        ],
    }


def _zookeeper_json(reading: ZookeeperReading) -> Mapping[str, Any]:
    registry = reading.registry
    return {
        "answer": _answer_json(reading.answer),
        "brokers": sorted(reading.brokers),
        "controller": registry and registry.controller_id,
        "controller_epoch": registry and registry.controller_epoch,
        "cluster_id": registry and registry.kafka_cluster_id,
    }


def _broker_json(reading: BrokerReading, *, kraft: bool) -> Mapping[str, Any]:
    return {
        "broker": reading.broker_id,
        "address": reading.address,
        "api_versions": _answer_json(reading.api_versions),
        "metadata": _answer_json(reading.metadata),
        "quorum": _answer_json(reading.quorum),
        "lists": None if reading.lists is None else sorted(reading.lists),
        "controller": None if kraft else reading.controller_id,
        "cluster_id": reading.cluster_id,
        "quorum_leader": leader_of(reading),
        "quorum_epoch": reading.led and reading.led.leader_epoch,
    }


def _answer_json(answer: WatchAnswer) -> Mapping[str, str | None]:
    return {"outcome": answer.outcome.value, "error": answer.error}

"""Read the logs that the cluster file names, all nodes side by side; what fails is a row."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked_command
from kafka_audit.collect.logs.lines import scan
from kafka_audit.collect.logs.process import process_matches, process_rows
from kafka_audit.collect.logs.rows import Tail
from kafka_audit.collect.probes import command_vantages
from kafka_audit.collect.properties.sources import error_without_login, located, may_be_raised, path_without_login, unread_file
from kafka_audit.collect.rows.source_reads import now_ms
from kafka_audit.model.read_failure import ReadFailure

if TYPE_CHECKING:
    from upath import UPath
from collections.abc import Collection, Iterable
from functools import partial

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.collect.logs import rows
from kafka_audit.collect.nodes import BROKER, CONTROLLER, Nodes, filled, placeholder_in
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.cluster import Cluster, Logs
from kafka_audit.model.tables import LogLine, ProcessLine, RegisteredBroker, Row

MOST_BYTES = 2 * 1024 * 1024
"""Of one log: at Kafka's usual 150 bytes a line some 14,000 lines."""

COMMAND = "command"
_FILES = 2  # of one log: the newest may have been begun a minute ago
_LOGS = 8  # of one pattern
_MOST_FILES = 1000


@dataclass(frozen=True, kw_only=True)
class LogSource:
    """Where the logs of one broker are: a path, perhaps with `*` in it, or a command."""

    broker: int
    path: str | None = None
    command: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The place, for a row."""
        return clean_line(" ".join(masked_command(self.command)) if self.path is None else path_without_login(self.path))

    @property
    def log(self) -> str:
        """The last part of the place, for the name of the read."""
        return COMMAND if self.path is None else clean_line(self.path.rpartition("/")[2])


def read_log_tail(
    place: LogSource, seconds: float, environment: Mapping[str, str], most_bytes: int = MOST_BYTES
) -> tuple[Tail, ...]:
    """Return the tails at a place; raises ReadError where there is none, or none that can be read.

    Args:
        place: the path or URL.
        seconds: bound of a command.
        environment: for a command, without credentials.
        most_bytes: of the end of each file.
    """
    return _of_command(place, seconds, environment) if place.path is None else _of_files(place, place.path, most_bytes)


def _of_command(place: LogSource, seconds: float, environment: Mapping[str, str]) -> tuple[Tail, ...]:
    output = command_vantages.run_vantage_command(place.command, "", seconds, environment, last=True)
    if output.status != 0:
        message = f"{place.target}: {output.first_line()}"
        failure = ReadFailure.TIMEOUT if output.status is None else ReadFailure.COMMAND_FAILED
        raise ReadError(failure, message, f"a log on the stdout of {place.target}")
    process = process_matches(COMMAND, output.text.encode())
    return (Tail(log=COMMAND, scan=scan(output.text, place.broker), read_ms=now_ms(), process=process),)


def _of_files(place: LogSource, path: str, most_bytes: int) -> tuple[Tail, ...]:
    try:
        paths = _newest(path)
        if not paths:
            raise ReadError(ReadFailure.NO_FILE, f"{place.target}: there is none", f"a log at {place.target}")
        return tuple(_of_file(path, place.broker, most_bytes) for path in paths)
    except may_be_raised() as error:
        message = f"{place.target}: {error_without_login(error, path)}"
        raise unread_file(error, message, f"a readable log at {place.target}") from error


def _newest(path: str) -> "Sequence[UPath]":
    """Return the files of a pattern that were written last, a few of each log, the oldest of them first."""
    folder, _, pattern = path.rpartition("/")
    if "*" not in path and "?" not in path:
        file = located(path)
        file.stat()
        return (file,)
    files = (file for file in located(folder or ".").glob(pattern) if file.is_file() and not file.name.endswith(".gz"))
    by_log: defaultdict[str, list[UPath]] = defaultdict(list)
    for file in sorted(files, key=lambda file: (file.stat().st_mtime, file.name), reverse=True)[:_MOST_FILES]:
        by_log[file.name.partition(".log")[0]].append(file)
    newest = [files[:_FILES] for files in [*by_log.values()][:_LOGS]]
    return [file for files in newest for file in reversed(files)]


def _of_file(path: "UPath", broker: int, most_bytes: int) -> Tail:
    status = path.stat()
    read_ms = now_ms()
    with path.open("rb") as stream:
        stream.seek(max(0, status.st_size - most_bytes))
        data: bytes = stream.read(most_bytes)
    # A copy in an object store has the time of the copy.
    local = path.protocol in {"", "file", "local"}
    written = round(status.st_mtime * 1000) if local and status.st_mtime <= time.time() else None
    name, text = clean_line(path.name), data.decode(errors="replace")
    process = process_matches(name, data)
    return Tail(log=name, scan=scan(text, broker), read_ms=read_ms, written_ms=written, process=process)


_LANES = 16
_NEEDS = {"brokers": "an answer from ZooKeeper or a broker", "controllers": "an answer to DescribeQuorum"}

_Answer = tuple[Tail, ...] | ReadError


def operation(place: LogSource) -> str:
    """Return the name of a read."""
    return f"logs {place.log}"


def read_logs(  # noqa: PLR0913, PLR0917 -- where, whose, until when, and what to keep from commands
    cluster: Cluster,
    nodes: Nodes,
    registered: Iterable[RegisteredBroker],
    sample: int,
    budget: Budget,
    passwords: Collection[str] = (),
) -> tuple[Row, ...]:
    """Return what brokers and controllers wrote, and a `SourceRead` row for each log and each failure.

    If one read does not show the time zone of a host, and it matters, its logs are read again after `limits.settle_s`.

    Args:
        cluster: an entry of the cluster file that has `logs`.
        nodes: all known ids.
        registered: ZooKeeper's newest rows; none in KRaft.
        sample: number of the sample of the rows.
        budget: the audit's: its end, and the rows of all logs.
        passwords: of the cluster file; no variable with one of them gets to a command.
    """
    if cluster.logs is None:
        return ()
    reader = _LogReader(cluster, budget.deadline, command_vantages.command_environment(cluster, passwords, cluster.logs.env))
    places, failed = log_places(cluster.logs, nodes)
    found: list[Row] = [_asking(place, sample).failed(operation(place), error) for place, error in failed]
    answers = reader.read(places)
    reported = {row.broker_id: row for row in registered}
    by_broker = _tails(places, answers)
    unclear = [number for number, of_broker in by_broker.items() if _unclear(of_broker, reported.get(number))]
    again = [place for place in places if place.broker in unclear]
    later = _tails(again, reader.read(again)) if again and reader.wait(cluster.limits.settle_s) else {}
    for place, answer in zip(places, answers, strict=True):
        asking = _asking(place, sample)
        failure = answer if isinstance(answer, ReadError) else None
        found.append(asking.answered(operation(place)) if failure is None else asking.failed(operation(place), failure))
    newest = {broker: later.get(broker, of_broker) for broker, of_broker in by_broker.items()}
    zones = {broker: rows.zone(of_broker, reported.get(broker), by_broker[broker]) for broker, of_broker in newest.items()}
    own = {broker: rows.start_ms(of_broker, zones[broker]) for broker, of_broker in newest.items()}
    # A controller registers nowhere. If the end of its log does not show its last start, all of it was written since then.
    starts = dict.fromkeys(nodes.controllers, 0)
    starts |= {broker: start for broker, start in own.items() if start is not None}
    starts |= {broker: row.registered_ms for broker, row in reported.items()}
    # ZooKeeper has each registration; in KRaft mode only the log of a broker shows it, of which the end is read.
    begun = {} if reported else {broker: rows.begun_ms(of_broker, zones[broker]) for broker, of_broker in newest.items()}
    for broker, of_broker in newest.items():
        reads: list[Row] = []
        asking = Asking(sample=sample, observer=f"logs:{broker}", target=", ".join(clean_line(tail.log) for tail in of_broker))
        lines = partial(_lines, broker, of_broker, zones[broker], starts, sample, budget, begun.get(broker))
        line_rows = asking.read(reads, "logs, what they say", lines)
        found += reads if line_rows is None else line_rows  # that they were read has its row already
    return tuple(found)


def _lines(  # noqa: PLR0913, PLR0917 -- see `read_logs`
    broker: int,
    some: Sequence[Tail],
    zone: rows.Zone,
    starts: Mapping[int, int],
    sample: int,
    budget: Budget,
    begun: int | None,
) -> tuple[LogLine | ProcessLine, ...]:
    signs: tuple[LogLine, ...] = tuple(rows.log_rows(broker, some, zone, starts, sample, begun))
    found: tuple[LogLine | ProcessLine, ...] = (*signs, *process_rows(broker, some, zone, sample))
    budget.add_rows(len(found), sum(len(row.text) for row in found))
    return found


class _LogReader:
    """Reads places within bounds."""

    def __init__(self, cluster: Cluster, deadline: float, environment: Mapping[str, str]) -> None:
        self._read_s = cluster.limits.read_s
        self._deadline = deadline
        self._environment = environment

    def wait(self, seconds: float) -> bool:
        """Let some time pass; return whether there was enough of it."""
        if time.monotonic() + seconds + self._read_s > self._deadline:
            return False
        time.sleep(seconds)
        return True

    def read(self, places: Sequence[LogSource]) -> list[_Answer]:
        turns = 1 + len(places) // _LANES
        until = min(self._deadline, time.monotonic() + (self._read_s + command_vantages.START_S) * turns)
        answers = side_by_side([partial(self._one, place, until) for place in places], _LANES, until)
        return [
            ReadError(ReadFailure.TIMEOUT, f"{place.target}: not read in time", f"{place.target} within limits.read_s")
            if answer is None
            else answer
            for place, answer in zip(places, answers, strict=True)
        ]

    def _one(self, place: LogSource, until: float) -> _Answer:
        try:
            return read_log_tail(place, min(self._read_s, max(0.0, until - time.monotonic())), self._environment)
        except ReadError as error:
            return error


def log_places(logs: Logs, nodes: Nodes) -> tuple[list[LogSource], list[tuple[LogSource, ReadError]]]:
    """Return the places to read, and the places of an unknown node."""
    places: list[LogSource] = []
    failed: list[tuple[LogSource, ReadError]] = []
    for source in (logs.command,) if logs.command else tuple((path,) for path in logs.paths):
        placeholder = placeholder_in(source)
        ids = nodes.of(placeholder or BROKER)
        if ids and (placeholder or len(ids) == 1):
            places += [_place(logs, source, node) for node in ids]
            continue
        whose = "controllers" if placeholder == CONTROLLER else "brokers"
        reason = f"one place for {len(ids)} brokers" if ids else f"the {whose} are unknown"
        needs = f"{BROKER} in `logs` of the cluster file" if ids else _NEEDS[whose]
        place = _place(logs, source, None)
        failed.append((place, ReadError(ReadFailure.NO_BROKER_ID, f"{place.target}: {reason}", needs)))
    return places, failed


def _place(logs: Logs, given: Sequence[str], node: int | None) -> LogSource:
    words = tuple(given) if node is None else filled(given, node)
    number = -1 if node is None else node
    return LogSource(broker=number, command=words) if logs.command else LogSource(broker=number, path=words[0])


def _asking(place: LogSource, sample: int) -> Asking:
    whose = place.target if place.broker < 0 else place.broker
    return Asking(sample=sample, observer=f"logs:{whose}", target=place.target)


def _tails(places: Iterable[LogSource], answers: Iterable[_Answer]) -> Mapping[int, tuple[Tail, ...]]:
    found: dict[int, tuple[Tail, ...]] = {}
    for place, answer in zip(places, answers, strict=True):
        if not isinstance(answer, ReadError):
            found[place.broker] = (*found.get(place.broker, ()), *answer)
    return found


def _unclear(tails: Sequence[Tail], registration: RegisteredBroker | None) -> bool:
    """Return whether matching lines have times whose zone only another read can show."""
    of_interest = [match for tail in tails for match in tail.scan.matches if match.sign.shows(match.line, match.exception or "")]
    local = [match for match in of_interest if match.stamp is not None and not match.stamp.zoned]
    return bool(local) and rows.zone(tails, registration).offset_ms is None

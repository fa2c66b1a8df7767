"""The end of a log, wherever it is: a file's last bytes, or what a command writes last."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked_command
from kafka_audit.collect.logs.lines import scan
from kafka_audit.collect.logs.rows import Tail
from kafka_audit.collect.probes import command_vantages
from kafka_audit.collect.properties.sources import error_without_login, located, may_be_raised, path_without_login, unread_file
from kafka_audit.collect.rows.source_reads import now_ms
from kafka_audit.model.read_failure import ReadFailure

if TYPE_CHECKING:
    from upath import UPath

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


def read_log_tail(place: LogSource, seconds: float, environment: Mapping[str, str]) -> tuple[Tail, ...]:
    """Return the tails at a place; raises ReadError where there is none, or none that can be read.

    Args:
        place: the path or URL.
        seconds: bound of a command.
        environment: for a command, without credentials.
    """
    return _of_command(place, seconds, environment) if place.path is None else _of_files(place, place.path)


def _of_command(place: LogSource, seconds: float, environment: Mapping[str, str]) -> tuple[Tail, ...]:
    output = command_vantages.run_vantage_command(place.command, "", seconds, environment, last=True)
    if output.status != 0:
        message = f"{place.target}: {output.first_line()}"
        failure = ReadFailure.TIMEOUT if output.status is None else ReadFailure.COMMAND_FAILED
        raise ReadError(failure, message, f"a log on the stdout of {place.target}")
    return (Tail(log=COMMAND, scan=scan(output.text, place.broker), read_ms=now_ms()),)


def _of_files(place: LogSource, path: str) -> tuple[Tail, ...]:
    try:
        paths = _newest(path)
        if not paths:
            raise ReadError(ReadFailure.NO_FILE, f"{place.target}: there is none", f"a log at {place.target}")
        return tuple(_of_file(path, place.broker) for path in paths)
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


def _of_file(path: "UPath", broker: int) -> Tail:
    status = path.stat()
    read_ms = now_ms()
    with path.open("rb") as stream:
        stream.seek(max(0, status.st_size - MOST_BYTES))
        data: bytes = stream.read(MOST_BYTES)
    # A copy in an object store has the time of the copy.
    local = path.protocol in {"", "file", "local"}
    written = round(status.st_mtime * 1000) if local and status.st_mtime <= time.time() else None
    return Tail(log=clean_line(path.name), scan=scan(data.decode(errors="replace"), broker), read_ms=read_ms, written_ms=written)

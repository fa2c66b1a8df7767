"""Read the files of server.properties that the cluster file names, wherever they are; what fails is a row with file and line."""

import secrets
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_audit.bounds import regular_files
from kafka_audit.bounds.regular_files import FileRefusedError
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.collect.nodes import BROKER, CONTROLLER, Nodes, filled, placeholder_in
from kafka_audit.collect.properties import rows
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.configuration.files import java
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerProperty, Row

if TYPE_CHECKING:
    from upath import UPath

OPERATION = "properties"
MOST_BYTES = 1024 * 1024
_LANES = 16
_OWN = (OSError, ImportError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, EOFError)
# What file systems of fsspec let through of the libraries below them, where these are loaded: they have no common base.
_FOREIGN = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("google.auth.exceptions", "GoogleAuthError"),
    ("gcsfs.retry", "HttpError"),
    ("azure.core.exceptions", "AzureError"),
    ("aiohttp", "ClientError"),
    ("requests.exceptions", "RequestException"),
    ("paramiko.ssh_exception", "SSHException"),
)
_RAISED = (
    (FileNotFoundError, ReadFailure.NO_FILE, "no such file"),
    (NotADirectoryError, ReadFailure.NO_FILE, "no such file"),
    (PermissionError, ReadFailure.FILE_DENIED, "permission denied"),
    (IsADirectoryError, ReadFailure.FILE_NOT_READ, "a folder"),
    (ImportError, ReadFailure.FILE_NOT_READ, "no file system"),
)


@dataclass(frozen=True, kw_only=True)
class _File:
    """A file to read; `broker_id` is the id of the node that its path was filled with."""

    path: str
    source: str
    broker_id: int | None
    started: float = field(default_factory=time.monotonic)

    def asking(self, sample: int, broker: int | None = None) -> Asking:
        known = self.broker_id if broker is None else broker
        observer = f"properties:{self.source if known is None else known}"
        return Asking(sample=sample, observer=observer, target=self.source, started=self.started)


@dataclass(frozen=True, kw_only=True)
class _Content:
    """A file that was read."""

    broker_id: int
    properties: Mapping[str, Property]


def read_properties_files(  # noqa: PLR0913, PLR0917 -- what, and within which bounds
    paths: Sequence[str], nodes: Nodes, sample: int, read_s: float, deadline: float, budget: Budget | None = None
) -> tuple[Row, ...]:
    """Return the settings and logins of all files, and a `SourceRead` row for each file and each failure.

    Args:
        paths: paths or URLs; `{broker_id}`, `{controller_id}` or `{node_id}` is filled with each of these ids.
        nodes: all known ids.
        sample: number of the sample of the rows.
        read_s: bound of each file, in seconds.
        deadline: bound of all, of `time.monotonic()`.
        budget: the audit's, for rows: those of files are counted before they are opened.
    """
    budget = budget or Budget()
    files = _files(paths, nodes)
    found: list[Row] = [_unfilled(path, of, sample) for path in paths if (of := placeholder_in([path])) and not nodes.of(of)]
    try:
        budget.add_rows(len(files))
    except ReadError as error:
        return (*found, _File(path="", source=f"{len(files)} files", broker_id=None).asking(sample).failed(OPERATION, error))
    turns = 1 + len(files) // _LANES
    until = min(deadline, time.monotonic() + read_s * turns)
    contents = side_by_side([partial(_content, file) for file in files], _LANES, until)
    by_broker: defaultdict[int, list[tuple[_File, _Content]]] = defaultdict(list)
    for file, content in zip(files, contents, strict=True):
        if isinstance(content, _Content):
            by_broker[content.broker_id].append((file, content))
        else:
            late = ReadError(ReadFailure.TIMEOUT, f"{file.source}: not read in time", f"{file.source} within limits.read_s")
            found.append(file.asking(sample).failed(OPERATION, content or late))
    key = secrets.token_bytes(32)
    for broker, of_broker in sorted(by_broker.items()):
        try:
            with any_answer():
                own = _rows_of(of_broker[0], sample, key) if len(of_broker) == 1 else _ambiguous(of_broker, sample)
                budget.add_rows(len(own), sum(len(row.value or "") for row in own if isinstance(row, BrokerProperty)))
                found += own
        except ReadError as error:
            found.append(of_broker[0][0].asking(sample, broker).failed(OPERATION, error))
    return tuple(found)


def _files(paths: Iterable[str], nodes: Nodes) -> list[_File]:
    found: dict[str, int | None] = {}
    for path in paths:
        if of := placeholder_in([path]):
            found |= {filled([path], node)[0]: node for node in nodes.of(of)}
        else:
            found[path] = None
    return [_File(path=path, source=path_without_login(path), broker_id=node) for path, node in found.items()]


def _login(path: str) -> str:
    """Return user, password and the @ behind them of a URL, "" where there are none; keys of AWS hold slashes."""
    _, scheme, rest = path.partition("://")
    before = rest.partition("/")[0]
    colon, secret = before.partition(":")[1:]
    goes_on = colon and "@" not in before and not secret.isdigit()  # digits are a port
    login, at, _ = (rest if goes_on else before).rpartition("@")
    return f"{login}@" if scheme and at else ""


def error_without_login(error: Exception, path: str) -> str:
    """Return the text of an error about a path, without the user and password in that."""
    login = _login(path)
    return str(error).replace(login, "") if login else str(error)


def path_without_login(path: str) -> str:
    """Return a path, or a URL without the user and password in it."""
    login = _login(path)
    return path.replace(f"://{login}", "://", 1) if login else path


def _unfilled(path: str, placeholder: str, sample: int) -> Row:
    source = path_without_login(path)
    whose, asked = ("controllers", "DescribeQuorum") if placeholder == CONTROLLER else ("brokers", "Metadata")
    needs = f"an answer to {asked}, or paths without {placeholder}"
    if placeholder == BROKER:
        needs = f"an answer from ZooKeeper or a broker, or paths without {BROKER}"
    error = ReadError(ReadFailure.NO_BROKER_ID, f"{source}: the {whose} are unknown", needs)
    return _File(path=path, source=source, broker_id=None).asking(sample).failed(OPERATION, error)


def _content(file: _File) -> _Content | ReadError:
    """Read and decode one file; a failure is returned, for it must not end the others' lanes."""
    try:
        properties = java.parse_properties(_bytes(file))
        broker = rows.broker_id_of_file(properties, file.source)
    except PropertiesError as error:
        return ReadError(
            ReadFailure.UNREADABLE, f"{file.source}, {error}", f"a file that Java can read: {file.source}, line {error.line}"
        )
    except ReadError as error:
        return error
    if file.broker_id in {None, broker}:
        return _Content(broker_id=broker, properties=properties)
    line = next(properties[key].line for key in rows.IDS if key in properties)
    where = f"{file.source}, line {line}: the id is {broker}, not {file.broker_id}"
    return ReadError(ReadFailure.ANOTHER_FILE, where, f"the file of broker {file.broker_id} at {file.source}")


def located(path: str) -> "UPath":
    """Return a file or folder that the cluster file names, on this machine or at a URL."""
    from upath import UPath  # noqa: PLC0415 -- takes 90 ms with fsspec, and many cluster files name no file

    return UPath(path).expanduser()


def _bytes(file: _File) -> bytes:
    try:
        path = located(file.path)
        if isinstance(path, Path):  # on this machine, where it may be a pipe that never ends
            return regular_files.read_regular_file(path, MOST_BYTES)
        with path.open("rb") as stream:
            data: bytes = stream.read(MOST_BYTES + 1)
    except FileRefusedError as error:
        raise _refused(file, str(error)) from error
    except may_be_raised() as error:
        reason = error_without_login(error, file.path)
        raise unread_file(error, f"{file.source}: {reason}", f"a readable file at {file.source}") from error
    if len(data) > MOST_BYTES:
        raise _refused(file, "larger")
    return data


def _refused(file: _File, why: str) -> ReadError:
    larger = why.startswith("larger")
    reason = f"more than {MOST_BYTES} bytes" if larger else why
    return ReadError(
        ReadFailure.TOO_LARGE if larger else ReadFailure.UNREADABLE,
        f"{file.source}: {reason}",
        f"a server.properties at {file.source}",
    )


def may_be_raised() -> tuple[type[Exception], ...]:
    """Return what file systems raise where a file is not there, closed to us, or of no kind that they know."""
    found = [getattr(sys.modules.get(module), name, None) for module, name in _FOREIGN]
    return (*_OWN, *(row for row in found if isinstance(row, type) and issubclass(row, Exception)))


def unread_file(error: Exception, message: str, needs: str) -> ReadError:
    """Return why a file was not read, from what its file system raised."""
    failure, text = next(
        ((failure, text) for kind, failure, text in _RAISED if isinstance(error, kind)),
        (ReadFailure.FILE_NOT_READ, type(error).__name__),
    )
    return ReadError(failure, message, needs, error=text)


def _rows_of(held: tuple[_File, _Content], sample: int, key: bytes) -> list[Row]:
    file, content = held
    asking = file.asking(sample, content.broker_id)
    logins = rows.login_rows(content.properties, file.source, content.broker_id, key)
    return [
        asking.answered(OPERATION),
        *rows.setting_rows(content.properties, file.source, content.broker_id),
        *(login if isinstance(login, Row) else asking.failed(f"{OPERATION} {login[0]}", login[1]) for login in logins),
    ]


def _ambiguous(held: Sequence[tuple[_File, _Content]], sample: int) -> list[Row]:
    """Return the row of a broker with several files: the file that it uses is unknown."""
    (file, content), *_ = held
    names = " and ".join(sorted(file.source for file, _ in held))
    error = ReadError(
        ReadFailure.TWO_FILES, f"{names} both name broker {content.broker_id}", f"one file for broker {content.broker_id}"
    )
    return [file.asking(sample, content.broker_id).failed(OPERATION, error)]

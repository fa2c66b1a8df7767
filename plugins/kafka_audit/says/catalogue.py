"""The catalogue: templates of lines (`lines.txt`, generated) and their meanings (`meanings/`, written by hand)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

from kafka_audit.model.package_yaml import package_yaml

LINES = "lines.txt"
NEW = "new"
"""The section of lines that are not classified yet; a test wants none."""

ROOMS = (
    "start_and_stop", "configuration", "storage", "replication", "controller", "quorum", "connections", "coordinators",
    "tiered_storage", "clients", "zookeeper_client", "zookeeper_server", "zookeeper_ensemble", "progress", "exceptions",
)  # fmt: skip
"""The files of meanings."""

KINDS = ("sign", "consequence", "progress", "harmless", "nothing")
"""What a line is: sign of a fault, consequence of one, a step of something ordinary, harmless, or nothing on its own."""


class Template(NamedTuple):
    """A line that a release can write.

    Attributes:
        meaning: the name of its meaning.
        level: F(ATAL), E(RROR), W(ARN), I(NFO), or T for the message of an exception (T(HROWN)).
        since: the first minor release with it, `z` before it if it is ZooKeeper's; `j` for Java's own.
        until: the last one.
        loggers: simple names of classes, or of exceptions.
        text: with … for what only the running program knows.
    """

    meaning: str
    level: str
    since: str
    until: str
    loggers: tuple[str, ...]
    text: str

    @property
    def releases(self) -> str:
        """The releases in words."""
        if self.since == "j":
            return "Java"
        program, since = ("ZooKeeper", self.since[1:]) if self.since[0] == "z" else ("Kafka", self.since)
        return f"{program} {since}" if since == self.until else f"{program} {since} to {self.until}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """What lines mean, in plain English; the fields are those of the YAML files."""

    id: str
    room: str
    says: str
    kind: str
    party: str
    normal: str = ""
    confused: str = ""
    edge: str = ""
    checks: tuple[str, ...] = ()
    next: str = ""
    reads: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # lines of it that an audit judges by (`signs`)


def read_lines(text: str) -> Iterator[Template]:
    """Yield the templates of a file; a line that is none is an error of the file (ValueError)."""
    meaning = NEW
    for line in text.splitlines():
        if line.startswith("["):
            meaning = line[1:-1]
        elif line and line[0] != "#":
            start, _, words = line.partition("|")
            level, span, loggers = start.split(" ")
            since, _, until = span.partition("-")
            yield Template(meaning, level, since, until or since, tuple(loggers.split(",")), words)


@cache
def templates() -> tuple[Template, ...]:
    """Return all templates."""
    return tuple(read_lines(files(__package__).joinpath(LINES).read_text(encoding="utf-8")))


@cache
def meanings() -> Mapping[str, Meaning]:
    """Return all meanings by their names."""
    found: dict[str, Meaning] = {}
    for room in ROOMS:
        found.update(_of_room(room))
    return MappingProxyType(found)


def is_ordinary(name: str) -> bool:
    """Return whether a meaning is ordinary or says nothing by itself."""
    return meanings()[name].kind not in {"sign", "consequence"}


def _of_room(room: str) -> Iterator[tuple[str, Meaning]]:
    data: Mapping[str, Any] = package_yaml(__package__, "meanings", f"{room}.yaml")
    for name, fields in data["meanings"].items():
        yield name, Meaning(id=name, room=data["room"], **{**fields, "checks": tuple(fields.get("checks", ()))})

"""The calls in classes by which Kafka and ZooKeeper log, and the exceptions that they make with a message of their own."""

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from testbed.says.class_file import ClassFile, Member, Method
from testbed.says.code import HOLE, Closure, Made, Texts, closure_texts, follow, substituted, texts_of

LEVELS = ("FATAL", "ERROR", "WARN", "INFO")
THROWN = "THROWN"
"""Stands for the level of the message of an exception."""

_NAMES = {level.lower() for level in LEVELS}
_SIGNS = (b"warn", b"error", b"fatal", b"info", b"Exception", b"handleFault")  # what the constants of such a class have
_IGNORED = re.compile(
    r"kafka/(?:tools|consumer|producer|javaapi|docker)/|.*/(?:MirrorMaker|generated/)|org/apache/kafka/(?:common/message|shaded)/"
)
"""Command line tools, the clients that Kafka 1.0 has in Scala, and classes that are generated from the protocol."""

STATE_CHANGES = "state.change.logger"
_HELPERS = {
    "maybeAddOfflineLogDir": ("ERROR", "LogDirFailureChannel"),
    "maybeHandleIOException": ("ERROR", "LogDirFailureChannel"),
    "processException": ("ERROR", "Processor"),
    "logAndRethrow": ("ERROR", "ZkMigrationClient"),
    "removeInvalidProps$1": ("ERROR", "DynamicBrokerConfig"),
    "maybeLogError": ("ERROR", "SharePartition"),
    "apiErrorFrom": ("ERROR", "ZkAdminManager"),
    "Utils.swallow": ("WARN", ""),
}
"""Methods that log a text which they are given, with their levels and loggers, where that is not the caller's.

A name that other classes have for something else is behind its class.
"""

_SPACE, _HOLES = re.compile(r"\s+"), re.compile(r"…(?:\s?…)+")
_NUMBERED = re.compile(r"\{\d\}")  # of MessageFormat


Site = tuple[str, str, str]
"""The first letter of a level, the logger, and what is known of the text.

It is `known`, `given` by callers that are known, only a `variable`, or `passed_on` by a method that is itself one of a logger.
"""


@dataclass(frozen=True, order=True)
class Line:
    """What one call can write: its level, its logger (the simple name of a class, or an exception), and its text.

    In the text, … stands for what only the running program knows.
    """

    level: str
    logger: str
    text: str


def lines_of(jars: list[Path]) -> tuple[set[Line], Counter[Site]]:
    """Return the lines that the classes of jars can write, and their calls at WARN and above."""
    found: set[Line] = set()
    sites: Counter[Site] = Counter()
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class") and not is_left_out(name):
                    data = archive.read(name)
                    if any(sign in data for sign in _SIGNS):
                        lines, calls = _lines_of_class(ClassFile(data))
                        found |= lines
                        sites += calls
    return found, sites


def is_left_out(name: str) -> bool:
    """Return whether a class, by its name with slashes, is none of a server."""
    return bool(_IGNORED.match(name))


def _lines_of_class(of: ClassFile) -> tuple[set[Line], Counter[Site]]:
    found: set[Line] = set()
    sites: Counter[Site] = Counter()

    def call(method: Method, member: Member, arguments: list[object]) -> None:
        for level, logger, texts in _said(of, member, arguments):
            plain = {plain for text in texts if (plain := _plain(text))}
            found.update(Line(level, logger, text) for text in plain)
            if member.name in _NAMES and level != "INFO":
                passes = method.name.rstrip("$") in _NAMES
                names = [
                    method.name,
                    *(part for one in arguments if isinstance(one, Closure) for part in one.method.name.split("$")),
                ]
                given = any(_helper(of.name, name) for name in names)
                kind = "known" if plain else "passed_on" if passes else "given" if given else "variable"
                sites[level[0], logger, kind] += 1

    follow(of, call)
    return found, sites


def _said(of: ClassFile, member: Member, arguments: list[object]) -> Iterator[tuple[str, str, Texts]]:
    """Yield level, logger and texts of a call that logs or makes an exception."""
    name, types, values = member.name, member.descriptor, arguments[1:]
    own = simple_name(of.name)
    if name == "handleFault" and values:
        # `FaultHandler` of KRaft: which of the handlers it is, and so the first words, is decided when the node starts.
        yield "ERROR", own, frozenset(f"Encountered {HOLE} fault: {text}" for text in texts_of(values[0]))
    elif (helper := _helper(member.owner, name)) or (name == "accept" and own == "ActivationRecordsGenerator"):
        given = (closure_texts(of, value) if isinstance(value, Closure) else texts_of(value) for value in arguments)
        level, logger = helper or ("WARN", "QuorumController")
        yield level, logger or own, frozenset(text for texts in given for text in texts if " " in text)
    elif name == "<init>" and member.owner == "org/apache/zookeeper/server/ServerCnxn$EndOfStreamException":
        yield "WARN", own, texts_of(values[0])  # only its message is logged
    elif name in _NAMES and types.startswith("(Lscala/Function0;"):
        said = closure_texts(of, values[0]) if isinstance(values[0], Closure) else texts_of(values[0])
        yield name.upper(), STATE_CHANGES if member.owner.endswith("StateChangeLogger") else own, said
    elif (
        name in _NAMES
        and member.owner.endswith("Logger")
        and re.match(r"\((?:Lorg/slf4j/Marker;)?Ljava/lang/(?:String|Object);", types)
    ):
        marked = "Marker;" in types
        pattern, *rest = values[1:] if marked else values
        if len(rest) == 1 and isinstance(rest[0], list):
            rest = rest[0]
        said = frozenset(text for one in texts_of(pattern) for text in substituted(one, rest))
        yield (
            "FATAL" if marked and name == "error" else name.upper(),
            STATE_CHANGES if member.owner.endswith("StateChangeLogger") else own,
            said,
        )
    elif (
        name == "<init>"
        and member.owner.endswith(("Exception", "Error"))
        and isinstance(arguments[0], Made)
        and values
        and isinstance(values[0], frozenset)
    ):
        yield THROWN, f"{simple_name(member.owner)}@{of.name}", values[0]


def _helper(owner: str, name: str) -> tuple[str, str] | None:
    return _HELPERS.get(name) or _HELPERS.get(f"{simple_name(owner)}.{name}")


def simple_name(name: str) -> str:
    """Return the name of a class without its package and without classes inside."""
    return name.rpartition("/")[2].partition("$")[0]


def _plain(text: str) -> str:
    """Return a text as a line of the catalogue, nothing if no word of it is known."""
    plain = _HOLES.sub("…", _SPACE.sub(" ", _NUMBERED.sub("…", text.replace(HOLE, "…")))).strip()
    return plain if re.search(r"[A-Za-z]{3}", plain) else ""

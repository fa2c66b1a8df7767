"""What the nodes of a log say, counted: meanings, faults, starts and stops, and lines that are not known."""

import re
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from kafka_audit.collect.logs.lines import Stamp, line_stamp
from kafka_audit.collect.logs.pieces import SETTINGS, LogFile, LogPiece, LogStream
from kafka_audit.says.log_faults import LogFault, log_faults
from kafka_audit.says.others import program_of
from kafka_audit.says.process_lines import event_in, part_in
from kafka_audit.says.reading import read_record
from kafka_audit.says.records import records

_MOST_SHAPES = (
    20_000  # different lines that are compared with the catalogue: one takes a millisecond, one that is known microseconds
)
_MOST_UNKNOWN, _MOST_VALUES, _MOST_EVENTS = 200, 20, 2_000
_BACK_MS = 120_000
"""By so much no log goes back by itself, but at the end of summer time, where both parts name the same node."""
_PAUSE_MS = 300_000
"""After so long a pause lines of one kind are of another time that it happened."""
_MOST_PARTS = 100
_NUMBERS = re.compile(r"\d+|0x[0-9a-f]+")
_OWN_ID = re.compile(
    r"\[(?:(?:Partition|LogLoader|Log) \S{1,270}|[A-Z]\w{2,60})(?: listenerType=\w{1,20},)?,? ?(?:dir=\S{1,200} )?"
    r"(?:id|nodeId|brokerId|broker|replicaId)=(?P<id>\d{1,9})[\],: ]|\[KafkaApi-(?P<api>\d{1,9})\]|\bmyid[=:] ?(?P<my>\d{1,3})\b"
)
_OWN_FILE = re.compile(r"(?:server|controller|state-change|log-cleaner|kafka-authorizer|kafka-request|kafkaServer|console)\b")
_SET_ID = re.compile(r"^[ \t]{0,40}(?:node|broker)\.id = (\d{1,9})$", re.MULTILINE)
_RELEASE = re.compile(r"Kafka version ?: ?(\d{1,2}\.\d{1,2}(?:\.\d{1,3}){0,2})")
_ROLES = tuple(
    (role, re.compile(pattern))
    for role, pattern in (
        ("zookeeper", r"org\.apache\.zookeeper\.server|QuorumPeer|\[myid:"),
        ("controller", r"\[(?:ControllerServer|QuorumController|ControllerApis|SocketServer listenerType=CONTROLLER)\b"),
        (
            "broker",
            (
                r"KafkaServer|BrokerServer|\[(?:SocketServer listenerType=(?:ZK_)?BROKER|BrokerLifecycleManager|ReplicaManager"
                r"|ReplicaFetcher|GroupCoordinator|KafkaApi|Controller id)"
            ),
        ),
    )
)


class Event(NamedTuple):
    """A start or a stop of a process, or a part of one."""

    kind: str
    stamp: Stamp | None
    place: tuple[str, int]
    part: str = ""


@dataclass(slots=True)
class Seen:
    """Lines of one kind: how many, when, and the first of them."""

    where: str
    text: str
    place: tuple[str, int]
    count: int = 0
    first: Stamp | None = None
    last: Stamp | None = None
    again: Stamp | None = None  # the first one after the last long pause
    last_place: tuple[str, int] = ("", 0)
    bad: bool = False  # at ERROR or FATAL

    def add(self, stamp: Stamp | None, piece: LogPiece) -> None:
        """Count one more line."""
        self.count += 1
        self.last_place = (piece.file, piece.line)
        if stamp is not None:
            self.again = stamp if self.last is not None and stamp.ms - self.last.ms > _PAUSE_MS else self.again
            self.first = stamp if self.first is None or stamp.ms < self.first.ms else self.first
            self.last = stamp if self.last is None or stamp.ms > self.last.ms else self.last


class Shape(NamedTuple):
    """What lines are that differ in numbers only: their meanings, the faults they show, and what they say of their writer."""

    meanings: tuple[str, ...]
    faults: tuple[LogFault, ...]
    ended: tuple[LogFault, ...]  # those that are over by such a line
    bad: bool  # at ERROR or FATAL
    known: bool
    program: str  # another one than Kafka and ZooKeeper
    event: str | None
    roles: tuple[str, ...]
    names_node: bool


_Key = TypeVar("_Key")
FaultKey = tuple[LogFault, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class NodeTally:
    """What one node says, in one or several files."""

    ids: Counter[int] = field(default_factory=Counter)
    roles: set[str] = field(default_factory=set)
    release: str = ""
    first: Stamp | None = None
    last: Stamp | None = None
    lines: int = 0
    sources: list[str] = field(default_factory=list)
    meanings: dict[str, Seen] = field(default_factory=dict)
    bad: set[str] = field(default_factory=set)  # meanings of which a line is at ERROR or FATAL
    faults: dict[FaultKey, Seen] = field(default_factory=dict)
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=_MOST_EVENTS))
    over: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[tuple[str, int], Stamp | None]] = field(default_factory=dict)
    unknown: dict[str, Seen] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    settings: tuple[int, str] = (-1, "")  # those of the last start, and when it was

    def merge(self, other: "NodeTally") -> None:
        """Take over what another stream of the same node says."""
        self.ids += other.ids
        self.roles |= other.roles
        self.release = self.release or other.release
        stamps = [stamp for stamp in (self.first, other.first, self.last, other.last) if stamp is not None]
        self.first, self.last = min(stamps, default=None), max(stamps, default=None)
        self.lines += other.lines
        self.sources += other.sources
        self.bad |= other.bad
        _merge(self.meanings, other.meanings)
        _merge(self.faults, other.faults)
        _merge(self.unknown, other.unknown)
        self.over |= other.over
        self.events.extend(other.events)
        self.others += other.others
        self.settings = max(self.settings, other.settings)


def _merge(mine: dict[_Key, Seen], theirs: Mapping[_Key, Seen]) -> None:
    for key, seen in theirs.items():
        known = mine.setdefault(key, seen)
        if known is not seen:
            known.count += seen.count
            known.first = min((one for one in (known.first, seen.first) if one is not None), default=None)
            known.again = max((one for one in (known.again, seen.again) if one is not None), default=None)
            known.last = max((one for one in (known.last, seen.last) if one is not None), default=None)


class LogTally:
    """Counts pieces of logs by who wrote them."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.writers: dict[tuple[str, str, int], NodeTally] = {}
        self._parts: dict[tuple[str, str], tuple[int, Stamp | None]] = {}  # of each stream: which, and its newest line so far
        self.errors: list[str] = []
        self.unread = 0  # lines that were not compared with the catalogue, because there were too many different ones
        self._shapes: dict[str, Shape] = {}

    def read(self, log: LogFile) -> None:
        """Count a whole log."""
        for piece in log.pieces():
            self._count(piece)
        for who, stream in log.streams.items():
            self._close(log.name, who, stream)
        if log.error:
            self.errors.append(log.error)

    def _writer(self, file: str, who: str, part: int = 1) -> NodeTally:
        writer = self.writers.get((file, who, part))
        if writer is None:
            named = f"{who} part {part}".strip() if part > 1 else who
            writer = self.writers[file, who, part] = NodeTally(sources=[f"{file}: {named}" if named else file])
        return writer

    def _part(self, piece: LogPiece, stamp: Stamp | None) -> NodeTally:
        """Return whose line it is: where time goes back by minutes, another log was appended (`cat broker-*/server.log`)."""
        stream = (piece.file, piece.who)
        part, newest = self._parts.get(stream, (1, None))
        if stamp is not None:
            if newest is not None and newest.ms - stamp.ms > _BACK_MS:
                part, newest = part + 1, None
            newest = stamp if newest is None or stamp.ms > newest.ms else newest
            self._parts[stream] = (min(part, _MOST_PARTS), newest)
        writer = self._writer(*stream, min(part, _MOST_PARTS))
        if stamp is not None:
            writer.first = stamp if writer.first is None or stamp.ms < writer.first.ms else writer.first
            writer.last = newest
        return writer

    def _close(self, file: str, who: str, stream: LogStream) -> None:
        writer = self._writer(file, who)
        writer.lines = stream.lines
        if self._parts.get((file, who), (1, None))[0] == 1:
            stamps = [stamp for stamp in (line_stamp(stream.first), line_stamp(stream.last)) if stamp is not None]
            writer.first, writer.last = min(stamps, default=None), max(stamps, default=None)

    def _count(self, piece: LogPiece) -> None:
        stamp = line_stamp(piece.text)
        writer, text = self._part(piece, stamp), piece.whole
        if SETTINGS in piece.text:
            writer.settings, text = (stamp.ms if stamp else 0, text), piece.text
        key = _NUMBERS.sub("#", text)
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self.unread += 1
                return
            shape = self._shapes[key] = _read_shape(text)
        _take_facts(writer, shape, piece, stamp)
        for name in shape.meanings:
            _seen(writer.meanings, name, piece).add(stamp, piece)
        writer.bad.update(shape.meanings if shape.bad else ())
        _take_faults(writer, shape, piece, text, stamp)
        if shape.program:
            writer.others[shape.program] += 1
        elif not shape.known and (key in writer.unknown or len(writer.unknown) < _MOST_UNKNOWN):
            seen = _seen(writer.unknown, key, piece)
            seen.bad = shape.bad
            seen.add(stamp, piece)


def _take_faults(writer: NodeTally, shape: Shape, piece: LogPiece, text: str, stamp: Stamp | None) -> None:
    """Count the faults that a line shows, and take which of them are over by it."""
    for fault in shape.faults:
        if (values := fault.values_in(text)) is not None:
            known = (fault, tuple(sorted(values.items())))
            if known not in writer.faults and sum(one is fault for one, _ in writer.faults) >= _MOST_VALUES:
                known = next(one for one in writer.faults if one[0] is fault)
            _seen(writer.faults, known, piece).add(stamp, piece)
    for fault in (*shape.faults, *shape.ended):  # a line that differs from one that shows it in a number only may end it
        if fault.over is not None and (over := fault.over.search(text)) is not None:
            writer.over[fault.name, tuple(sorted(over.groupdict().items()))] = (piece.file, piece.line), stamp


def _take_facts(writer: NodeTally, shape: Shape, piece: LogPiece, stamp: Stamp | None) -> None:
    """Take what a line says of its writer: its id, role and release, and that it starts or stops."""
    if shape.names_node and (own := _OWN_ID.search(piece.text)) is not None:
        writer.ids[int(own["id"] or own["api"] or own["my"])] += 1
    if SETTINGS in piece.text and (configured := _SET_ID.findall(piece.whole)):
        writer.ids[max(map(int, configured))] += 1_000  # surer than any prefix; one of both keys may be -1
    if not writer.release and (release := _RELEASE.search(piece.text)) is not None:
        writer.release = release[1]
    writer.roles.update(shape.roles)
    if shape.event is not None:
        writer.events.append(Event(shape.event, stamp, (piece.file, piece.line), part_in(piece.text)))


def _seen(known: dict[_Key, Seen], key: _Key, piece: LogPiece) -> Seen:
    seen = known.get(key)
    if seen is None:
        seen = known[key] = Seen(f"{piece.file}:{piece.line}", piece.whole, (piece.file, piece.line))
    return seen


def _read_shape(text: str) -> Shape:
    """Return what a line is by the catalogue, and which faults its words show."""
    first = text.partition("\n")[0]
    read = [read_record(record) for record in records(text)]
    found = [template.meaning for one in read for template in (*one.found, *(t for below in one.below for t in below))]
    levels = {one.record.level for one in read}
    # An exception below a line of another program has a meaning, too.
    of_others = not any(template.level != "T" for one in read for template in one.found)
    program = next((known for one in read if (known := program_of(one.record)) is not None), None) if of_others else None
    return Shape(
        meanings=tuple(dict.fromkeys(found)),
        faults=tuple(fault for fault in log_faults() if fault.values_in(text) is not None)
        if found or program is None or program.may_show_faults
        else (),
        ended=tuple(fault for fault in log_faults() if fault.over is not None and fault.over.search(text)),
        bad=bool(levels & {"ERROR", "FATAL"}),
        known=bool(found) or not levels & {"ERROR", "FATAL", "WARN"},
        program=program.name if program else "",
        event=event_in(first),
        roles=tuple(role for role, pattern in _ROLES if pattern.search(first)),
        names_node=_OWN_ID.search(first) is not None,
    )


def nodes_of(tally: LogTally) -> Mapping[str, NodeTally]:
    """Return the nodes by their names: streams with one id are one node; one without is named by its source."""
    ids = {(_folder(source), _id_of(writer)) for source, writer in tally.writers.items() if _folder(source) and writer.ids}
    folders = Counter(folder for folder, _ in ids)
    of_folder = {folder: known for folder, known in ids if folders[folder] == 1}
    found: dict[object, NodeTally] = {}
    for source, writer in tally.writers.items():
        first = tally.writers.get((source[0], source[1], 1), writer)
        known = _id_of(writer) or _id_of(first) or of_folder.get(_folder(source)) or _folder(source) or None
        key: object = known or source[:2]  # a part that names no node goes on with the log
        if key in found:
            found[key].merge(writer)
        elif writer.lines or writer.meanings or writer.faults or writer.unknown:
            found[key] = writer
    named: dict[str, NodeTally] = {}
    for writer in found.values():
        name = _name(writer, alone=len(found) == 1)
        named[f"{name} ({writer.sources[0]})" if name in named else name] = writer
    return named


def _id_of(writer: NodeTally) -> tuple[bool, int] | None:
    return ("zookeeper" in writer.roles, writer.ids.most_common(1)[0][0]) if writer.ids else None


def _folder(source: tuple[str, str, int]) -> str:
    """Return the folder of a file that Kafka's own configuration of logs names, where all are of one node."""
    folder, _, name = source[0].rpartition("/")
    return folder if not source[1] and _OWN_FILE.match(name) else ""


_KINDS = {"zookeeper": "ZooKeeper server", "controller": "controller", "broker": "broker"}


def _name(writer: NodeTally, *, alone: bool) -> str:
    if not writer.ids:
        file, _, who = writer.sources[0].partition(": ")
        return (
            "ZooKeeper server"
            if writer.roles == {"zookeeper"}
            else ""
            if alone
            else who or f"node of {'/'.join(file.split('/')[-2:])}"
        )
    role = next((_KINDS[role] for role in writer.roles), "node") if len(writer.roles) == 1 else "node"
    return f"{role} {writer.ids.most_common(1)[0][0]}"

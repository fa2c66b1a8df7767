"""Lines of a log with what belongs to them, each kept only until the next one: a file of any size takes the same memory."""

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from kafka_audit.model.text import both_ends

_LONGEST = 8_000  # characters of a line
_MOST_LINES = 40  # of a line with its exceptions
_MOST_STREAMS = 200
# docker compose, kubectl --prefix, a service wrapper of Windows, journald and syslog: whose line it is
_WHO = re.compile(
    r"(?P<container>[\w.-]{1,80}) {0,20}\| |\[pod/(?P<pod>[\w./-]{1,200})\] "
    r"|(?:INFO|WARN|ERROR|STATUS) {0,4}\|[^|]{1,60}\|(?P<service>[^|]{0,60}?)(?:\| {0,2}| )"
    r"\d[\d/-]{7,9} \d\d:\d\d:\d\d {0,2}\| ?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<host>[\w.-]{1,100} [\w./@-]{1,100})(?:\[\d{1,10}\])?: "
)
_HEAD = re.compile(r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\{|\[?\d\d:\d\d:\d\d[.,]\d|\[?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
_BESIDE_HEADS = re.compile(rb"\n(?!\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\{|\Z)")
"""Where a line begins that has no time in front: one that belongs to the line before it, or whose writer is in front."""
_BLOCK = 1 << 18
_WORTH = (
    rb"WARN|ERROR|FATAL|SEVERE|\"warn\"|\"error\"|\"fatal\"|Exception|OutOfMemory|starting \(kafka|started \(kafka|Server started"
    rb"|SHUTDOWN|shut(?:ting)? down|signal|Kafka version|KafkaConfig values|Fencing|unfence|is Denied|ailed authentication"
    rb"|Log4jController|Starting controller|unregistered|Unable to register|STALE_BROKER|Session expired"
    rb"|connection setup timeout|due to request timeout|ZooKeeperServerMain|as it has seen zxid"
    rb"|myid|is out of range|ed as the controller|\) Pause |: error: |deleted brokers: \d|Newly added brokers: \d|New topics: \["
    rb"|replicas=\[\d+\]|with config: HashMap\(\)|entityPath: brokers/|Updating broker|cluster configuration : |throttled\.rate"
    rb"|unclean\.leader\.election\.enable [-t]|min\.insync\.replicas [-t]|cleanup\.policy [-t]|Acl change noti"
).split(b"|")
"""What is read of lines: those at WARN and above, and the few at INFO by which starts, stops and elections are known.

Each pattern is searched by itself: one that begins with a literal is found twice as fast as any of them at once.
"""
_THROWN = re.compile(r"(?:Caused by: )?(?:[\w$]{1,80}\.){1,12}[\w$]{1,100}(?:Exception|Error)\b|java\.lang\.|Error: ")
_BEGINS = re.compile(
    r"# (?:A fatal error has been|There is insufficient memory)|Exception in thread "
    r"|qemu: |exec |standard_init_linux|(?:/[\w.-]{1,80}){1,8}: line \d"
    r"|(?:Java HotSpot|OpenJDK)[\w() -]{1,40} VM warning: (?:INFO: os::commit|Attempt to protect)"
    r"|(?:mkdir|chown|chmod|sed|rm|cp|mv|touch): |\[Errno \d|Command \[|/\S{1,200} file (?:not|does) "
    r"|[A-Z][A-Z_]{3,60} (?:is required\b|environment variable not set|is not supported)"
    r"|\[[ \d]{1,12}\.\d{6}\] |(?:Memory cgroup out|Out) of memory: |[\w.@-]{1,80}\.service: "
)
"""Lines without a head that belong to none before them: what scripts, the JVM, systemd and the kernel say around a process."""
_ON_ONE_LINE = re.compile(r" at (?!\S{1,100}persistence\.File)(?:[\w$]{1,80}\.){2,15}[\w$<>]{1,80}\([\w$.]{1,80}(?::\d{1,6})?\)")
"""A frame of a stack whose lines were joined, as the launch script of Kafka's image does."""
_OF_FILES = "persistence.File"  # frames by which the data of ZooKeeper is known from a request
_SETTING, _MOST_SETTINGS = re.compile(r"\s[\w.-]{1,200} = "), 600
SETTINGS = "KafkaConfig values"
"""What is in the line that announces all settings of a process; they stand below it."""


@dataclass(slots=True)
class LogPiece:
    """A line and what stands below it: exceptions, and the rest of a wrapped message. Frames of a stack are left out."""

    who: str  # the container, pod or host in front of the line
    file: str
    line: int
    text: str  # without what collectors put in front
    below: list[str] = field(default_factory=list)

    @property
    def whole(self) -> str:
        """The line and what stands below it."""
        return "\n".join((self.text, *self.below)) if self.below else self.text


@dataclass(slots=True)
class LogStream:
    """One writer in a file: its first and its last line with a time, and how many lines it has."""

    first: str = ""
    last: str = ""
    lines: int = 0
    piece: LogPiece | None = None

    def takes(self, line: str) -> bool:
        """Put a line below the one before it; return whether it belongs there: in a text without heads, only the first few do."""
        if self.piece is None:
            return False
        count = len(self.piece.below)
        if count < _MOST_LINES or (count < _MOST_SETTINGS and SETTINGS in self.piece.text and _SETTING.match(line)):
            self.piece.below.append(line[:1000])
            return True
        return bool(self.first)


class LogFile:
    """A log, compressed or not: its pieces, and afterwards what each writer in it had."""

    def __init__(self, name: str, stream: BinaryIO, worth: Sequence[bytes] = _WORTH) -> None:
        """Keep the stream, and which lines with a head are read; nothing is read yet."""
        self._worth, self._each = re.compile(b"|".join(worth)), [re.compile(one) for one in worth]
        self.name = name
        self.streams: dict[str, LogStream] = {}
        self.error = ""  # why it was not read to its end
        self._stream, self._read = stream, 0

    def pieces(self) -> Iterator[LogPiece]:
        """Yield what may matter, line by line."""
        try:
            for block in _blocks(self._stream):
                yield from self._pieces_of(block)
        except (OSError, EOFError, zlib.error) as error:
            self.error = f"{self.name} was read up to line {self._read} only: {error}"
        for stream in self.streams.values():
            if stream.piece:
                yield stream.piece

    def _pieces_of(self, block: bytes) -> Iterator[LogPiece]:
        """Yield what may matter of whole lines: those with a time in front and nothing that is read are only counted."""
        starts = {found.end() for found in _BESIDE_HEADS.finditer(block)}
        if _BESIDE_HEADS.match(b"\n" + block[:40]):
            starts.add(0)
        for one in self._each:
            starts.update(block.rfind(b"\n", 0, found.start()) + 1 for found in one.finditer(block))
        place = 0
        for start in sorted(starts):
            yield from self._passed(block[place:start])
            place = block.find(b"\n", start) + 1 or len(block)
            self._read += 1
            yield from self._next(self._read, _text(block[start:place]))
        yield from self._passed(block[place:])

    def _passed(self, lines: bytes) -> Iterator[LogPiece]:
        if not lines:
            return
        stream = self.streams.setdefault("", LogStream())
        count = lines.count(b"\n") + (not lines.endswith(b"\n"))
        self._read += count
        stream.lines += count
        stream.first = stream.first or _text(lines[: lines.find(b"\n") + 1 or len(lines)])
        stream.last = _text(lines[lines.rfind(b"\n", 0, -1) + 1 :])
        if stream.piece:
            yield stream.piece
        stream.piece = None

    def _writer(self, mark: re.Match[str]) -> str:
        """Return whose line it is; of the kernel and systemd it is about a process of their host."""
        who = mark["container"] or mark["pod"] or mark["service"] or mark["host"] or ""
        host = who.partition(" ")[0] + " "
        about = who.endswith((" kernel", " systemd"))
        return next((known for known in self.streams if known.startswith(host)), who) if about else who

    def _next(self, number: int, line: str) -> Iterator[LogPiece]:
        if (mark := _WHO.match(line)) is not None:
            line = line[mark.end() :]
        who = self._writer(mark) if mark else ""
        stream = self.streams.get(who)
        if stream is None:
            if len(self.streams) >= _MOST_STREAMS:
                self.error = f"{self.name} has lines of more than {_MOST_STREAMS} writers"
                return
            stream = self.streams[who] = LogStream()
        is_head = _HEAD.match(line) is not None
        if is_head:
            stream.lines += 1
            stream.first = stream.first or line
            stream.last = line
        elif line.startswith(("\tat ", "    at ")) and _OF_FILES not in line:
            return
        if ".java:" in line or ".scala:" in line:
            line = _ON_ONE_LINE.sub("", line)
        begins = is_head or _BEGINS.match(line) is not None
        if not begins and stream.takes(line):
            return
        if begins or _THROWN.match(line) or not stream.first:
            if stream.piece:
                yield stream.piece
            worth = not is_head or self._worth.search(line.encode("utf-8", "replace"))
            stream.piece = LogPiece(who, self.name, number, line) if worth else None


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines, many at a time; what is far beyond 8,000 characters of one is left out."""
    head = stream.peek(2)[:2] if hasattr(stream, "peek") else b""
    source: Any = gzip.GzipFile(fileobj=stream) if head == b"\x1f\x8b" else stream
    rest = b""
    while read := source.read1(_BLOCK):
        whole, end, rest = (rest + read).rpartition(b"\n")
        rest = rest[:_LONGEST]
        if end:
            yield whole + end
    if rest:
        yield rest


def _text(line: bytes) -> str:
    """Return a line without its end; of one beyond 8,000 characters the middle is left out."""
    return both_ends(line.decode("utf-8", "replace").rstrip("\r\n"), _LONGEST)

"""Lines of a log with what belongs to them, each kept only until the next one: a file of any size takes the same memory."""

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

_LONGEST = 8_000  # characters of a line
_MOST_LINES = 40  # of a line with its exceptions
_MOST_STREAMS = 200
# docker compose, kubectl --prefix, journald and syslog: whose line it is
_WHO = re.compile(
    r"(?P<container>[\w.-]{1,80}) {0,20}\| |\[pod/(?P<pod>[\w./-]{1,200})\] "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<host>[\w.-]{1,100} [\w./@-]{1,100})(?:\[\d{1,10}\])?: "
)
_HEAD = re.compile(r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\{|\[?\d\d:\d\d:\d\d[.,]\d|\[?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
_WORTH = re.compile(
    r"WARN|ERROR|FATAL|SEVERE|\"(?:warn|error|fatal)\"|Exception|OutOfMemory|starting \(kafka|started \(kafka|Server started"
    r"|SHUTDOWN|shut(?:ting)? down|signal|Kafka version|KafkaConfig values|Fencing|unfence|is Denied|ailed authentication"
    r"|Log4jController|Starting controller|unregistered|Unable to register|STALE_BROKER|Session expired|connection setup timeout"
    r"|myid|is out of range|ed as the controller|\) Pause |: error: "
)
"""What is read of lines: those at WARN and above, and the few at INFO by which starts, stops and elections are known."""
_THROWN = re.compile(r"(?:Caused by: )?(?:[\w$]{1,80}\.){1,12}[\w$]{1,100}(?:Exception|Error)\b|java\.lang\.|Error: ")
_SETTING = re.compile(r"\s(?:broker\.id|node\.id|process\.roles|log\.dirs|zookeeper\.connect) = ")


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
        if len(self.piece.below) < _MOST_LINES or _SETTING.match(line):
            self.piece.below.append(line[:1000])
            return True
        return bool(self.first)


class LogFile:
    """A log, compressed or not: its pieces, and afterwards what each writer in it had."""

    def __init__(self, name: str, stream: BinaryIO, worth: re.Pattern[str] = _WORTH) -> None:
        """Keep the stream, and which lines with a head are read; nothing is read yet."""
        self._worth = worth
        self.name = name
        self.streams: dict[str, LogStream] = {}
        self.error = ""  # why it was not read to its end
        self._stream = stream

    def pieces(self) -> Iterator[LogPiece]:
        """Yield what may matter, line by line."""
        number = 0
        try:
            for number, raw in enumerate(_lines(self._stream), 1):
                yield from self._next(number, raw)
        except (OSError, EOFError, zlib.error) as error:
            self.error = f"{self.name} was read up to line {number} only: {error}"
        for stream in self.streams.values():
            if stream.piece:
                yield stream.piece

    def _next(self, number: int, line: str) -> Iterator[LogPiece]:
        who = ""
        if (mark := _WHO.match(line)) is not None:
            who, line = mark["container"] or mark["pod"] or mark["host"], line[mark.end() :]
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
        elif line.startswith(("\tat ", "    at ")) or stream.takes(line):
            return
        if is_head or _THROWN.match(line) or not stream.first:
            if stream.piece:
                yield stream.piece
            stream.piece = LogPiece(who, self.name, number, line) if self._worth.search(line) or not is_head else None


def _lines(stream: BinaryIO) -> Iterator[str]:
    """Yield lines without their ends; what is beyond 8,000 characters of one is left out."""
    head = stream.peek(2)[:2] if hasattr(stream, "peek") else b""
    source = gzip.GzipFile(fileobj=stream) if head == b"\x1f\x8b" else stream
    while raw := source.readline(_LONGEST):
        yield raw.decode("utf-8", "replace").rstrip("\r\n")
        while raw and not raw.endswith(b"\n"):
            raw = source.readline(_LONGEST)

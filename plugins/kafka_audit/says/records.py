"""Pasted text as records: a line of a log with the lines that belong to it, without what collectors and layouts put in front."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_audit.model.text import both_ends

_LONGEST, _MOST_LINES, _LONGEST_LINE = 40_000, 400, 4_000
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
# docker compose, kubectl --prefix, stern, a service wrapper, journald and syslog, the time that `docker logs -t` and CRI write
_COLLECTORS = (
    re.compile(r"(?:INFO|WARN|ERROR|STATUS) {0,4}(?:\|[^|]{1,60}){1,2}\| {0,2}\d[\d/-]{7,9} \d\d:\d\d:\d\d {0,2}\| ?"),
    re.compile(r"[\w.-]{1,80} {0,20}\| "),
    re.compile(r"\[pod/[\w./-]{1,200}\] "),
    re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,100} [\w./@-]{1,100}(?:\[\d{1,10}\])?: "),
    re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?"),
)
_TIME = re.compile(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?: ?[+-]\d\d:?\d\d|Z)?\]?|\[?\d\d:\d\d:\d\d[.,]\d{3}\]?"
)
_LEVEL = re.compile(
    r"\b(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE|trace|debug|info|warn|warning|error|fatal)\b[\]|]{0,2} ?"
)
_HEAD = 160  # characters in which the level of a line is
_AT_LINE = re.compile(r"(?P<logger>\w{2,80})@(?:\d{1,6}|\?)\]")  # ZooKeeper's layout: [thread:Class@line]
_LOGGER_LAST = re.compile(
    r"\s?\((?P<logger>(?:[a-z]\w{0,40}\.){1,12}[A-Z][\w$]{1,100}|state\.change\.logger|kafka\.[a-z]{1,20}\.logger)"
    r"(?::\d{1,6})?\)(?: \[[^\]]{0,200}\])?$"
)
_LOGGER_FIRST = re.compile(
    r"(?:\d{1,10} --- )?(?:\[[^\]]{0,200}\] {1,3}){0,3}(?P<logger>(?:[a-z]\w{0,40}\.){1,12}[A-Z][\w$]{1,100})"
    r"(?::\d{1,6})?(?: {0,40}[-:]|\]) "
)
_THREAD_FIRST = re.compile(r"\[[^\]]{1,120}\] (?=(?:TRACE|DEBUG|INFO|WARN|ERROR) (?:[a-z]\w{0,40}\.){1,12}[A-Z])")  # slf4j-simple
_ABBREVIATED = re.compile(r"o\.a\.(?=[kz]\.)")  # of Spring Boot
_FRAME = re.compile(r"\s{1,20}at (?!\S{1,100}persistence\.File)[\w.$<>/]{1,300}\(|\s{0,20}\.\.\. \d{1,6} (?:more|common frames)")
_EXCEPTION = re.compile(r"(?:^|[ :(])(?P<name>(?:[a-zA-Z_]\w{0,60}\.){0,12}[A-Z][\w$]{0,100}(?:Exception|Error))(?=$|[:)\s])")
_FIELDS = {
    "text": ("message", "msg", "log", "@message", "textPayload"),
    "level": ("level", "severity", "log.level", "level_name"),
    "logger": ("logger_name", "logger", "loggerName", "log.logger", "class", "name"),
}
_JSON_TEXT = re.compile(r'"(?:message|msg|log)"\s{0,4}:\s{0,4}"((?:[^"\\]|\\.){0,4000})')
_LEVELS = {"WARNING": "WARN", "SEVERE": "ERROR"}


@dataclass
class Record:
    """A line of a log: its message with what belongs to it, level and logger where they are known, and exceptions below it."""

    line: str  # as it was pasted, on one line
    text: str  # without time, level and logger
    whole: str  # without what collectors put in front
    level: str = ""
    logger: str = ""  # its full name
    further: list[str] = field(default_factory=list)  # lines below it, if the message was wrapped
    exceptions: list[tuple[str, str]] = field(default_factory=list)  # simple name and message, the cause last
    has_head: bool = False  # whether a time or a level is in front

    @property
    def with_exceptions(self) -> str:
        """The line and what stands below it."""
        return "\n".join((self.whole, *self.further, *(f"{name}: {message}" for name, message in self.exceptions)))


def records(pasted: str) -> list[Record]:
    """Return the records of a pasted text; what is beyond 40,000 characters or 400 lines is not read."""
    found: list[Record] = []
    for raw in pasted[:_LONGEST].splitlines()[:_MOST_LINES]:
        line = _without_collectors(_COLOUR.sub("", both_ends(raw, _LONGEST_LINE)))
        if line.strip() in {"", "--"}:  # between the places that grep -A shows
            continue
        if found and _FRAME.match(line):
            continue
        stripped = line.strip()
        cause = stripped.removeprefix("Caused by: ").removeprefix("Suppressed: ")
        exception = _EXCEPTION.match(cause)
        wrapped = bool(found) and not found[-1].logger and _LOGGER_LAST.search(stripped)  # within the name of an exception
        if found and exception and not wrapped and (cause != stripped or found[-1].has_head):
            found[-1].exceptions.append(_named(exception, cause))
            continue
        record = _record(stripped)
        if found and found[-1].has_head and not record.has_head:
            found[-1].further.append(line.rstrip())
        else:
            found.append(record)
    return [_unwrapped(record) for record in found]


def _unwrapped(record: Record) -> Record:
    """Return a record with the logger that stands at its end, where the line was wrapped."""
    if not record.further or record.logger:
        return record
    joined = _record("".join([record.line, *record.further]))
    record.logger = joined.logger
    return record


def _without_collectors(line: str) -> str:
    for _ in range(3):
        match = next((match for prefix in _COLLECTORS if (match := prefix.match(line))), None)
        if match is None:
            return line
        line = line[match.end() :]
    return line


def _named(match: re.Match[str], text: str) -> tuple[str, str]:
    """Return an exception's simple name, and its message."""
    return match["name"].rpartition(".")[2].rpartition("$")[2], text[match.end() :].removeprefix(":").strip()


def exceptions_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield the exceptions that a line names, each with what follows its name."""
    for match in _EXCEPTION.finditer(text):
        yield _named(match, text)


def _record(line: str) -> Record:
    if line.startswith("{"):
        return _of_json(line)
    text, level, logger = line, "", ""
    time = _TIME.match(line) or _THREAD_FIRST.match(line)
    rest = line[time.end() :].lstrip(" -") if time else line
    found = _LEVEL.search(rest[:_HEAD])
    # without a time, only a level that comes first is one: messages have such words, too
    if found and (time or not rest[: found.start()].strip("[]()| ")) and (found[1].isupper() or time):
        level, text = found[1].upper(), rest[found.end() :].lstrip(" -:")
    elif time:
        text = rest
    if at := _AT_LINE.search(rest[:400]):
        logger, text = at["logger"], rest[at.end() :].lstrip(" -")
    elif (last := _LOGGER_LAST.search(text)) and not last["logger"].endswith(("Exception", "Error")):
        logger, text = last["logger"], text[: last.start()]
    elif (time or level) and (first := _LOGGER_FIRST.match(text)) and not first["logger"].endswith(("Exception", "Error")):
        logger, text = _ABBREVIATED.sub("org.apache.", first["logger"]), text[first.end() :].lstrip(" -")
    return Record(line, text, line, _LEVELS.get(level, level), logger, has_head=bool(time or level))


def _of_json(line: str) -> Record:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        cut = _JSON_TEXT.search(line)
        return _record(cut[1].replace('\\"', '"').replace("\\n", " ")) if cut else Record(line, line, line)
    known = {name: next((value for key in keys if isinstance(value := data.get(key), str)), "") for name, keys in _FIELDS.items()}
    first, *others = known["text"].strip().splitlines() or [""]
    inner = _record(first) if not first.startswith("{") else Record(first, first, first)
    level = known["level"].upper()
    trace = "\n".join([*others, *(value for value in data.values() if isinstance(value, str) and "\tat " in value)])
    causes = [_named(match, cause) for cause in _causes(trace) if (match := _EXCEPTION.match(cause))]
    return Record(
        first,
        inner.text,
        first,
        _LEVELS.get(level, level) or inner.level,
        known["logger"] if "." in known["logger"] or not inner.logger else inner.logger,
        exceptions=causes,
        has_head=True,
    )


def _causes(trace: str) -> Iterator[str]:
    for line in trace[:_LONGEST].splitlines()[:_MOST_LINES]:
        if not _FRAME.match(line):
            yield line.strip().removeprefix("Caused by: ")

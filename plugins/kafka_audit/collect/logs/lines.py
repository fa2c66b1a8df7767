"""Parse the text of a log: times, lines that the catalogue knows as signs, the last registration of the broker. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from kafka_audit.model.names import NameKind, can_be_name
from kafka_audit.model.text import both_ends
from kafka_audit.says.signs import SIGNS, Sign, unused_sign

MOST_LINES = 50_000
LONGEST_LINE = 4_000
"""Characters of a line that are matched: its beginning and, because a request of the controller has megabytes, its end."""

_END = 1_000

_MOST_ID = 2**31 - 1
_BELOW = 3  # lines after a match that can contain its exception
_BAD, _LEVEL_IN = re.compile(r"\b(?:ERROR|FATAL)\b"), 160  # characters in which the level of a line is
_NUMBERS, _MOST_UNUSED = re.compile(r"\d+"), 20
_TIME = re.compile(
    r"\[?(?P<day>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d)(?:[,.](?P<part>\d{1,9}))?(?P<zone>Z|[+-]\d\d:?\d\d)?(?=[\]\s]|$)"
)
_JSON_TIME = re.compile(r'"(?:@timestamp|timestamp|time|ts)"\s*:\s*"(?P<text>[^"]{19,40})"')
_EXCEPTION = re.compile(r"(?:Caused by: )?[\w.$]{1,200}(?:Exception|Error)\b")
_PRINCIPAL = re.compile(r"(?:\bsession=Session\(|\bprincipal=)(?P<name>[^\s()]{1,200}?)(?:,/|, listenerName=)")
_REGISTERED = re.compile(
    r"Registered broker (\d{1,10}) at path \S{1,300} with addresses: .{0,2000}?(?:czxid \(broker epoch\): (\d{1,19})|$)"
    r"|Successfully registered broker (\d{1,10}) with broker epoch"
    r"|\[ControllerServer id=(\d{1,10})\] Starting controller\b|Starting controller \(kafka\.server\.ControllerServer\)"
)

_STARTS = ("Transition from SHUTDOWN to STARTING", "starting (kafka.server.KafkaServer)")
"""What a process logs when it starts: in KRaft mode, with ZooKeeper."""


class Stamp(NamedTuple):
    """A line's own time: milliseconds as if the host's zone were UTC, or of the epoch where the line names its zone."""

    ms: int
    zoned: bool
    text: str


class SignMatch(NamedTuple):
    """A line that is a sign."""

    sign: Sign
    part: str | None
    about: int | None
    address: str | None
    detail: str | None
    line: str
    exception: str | None  # the line below that has one
    stamp: Stamp | None


class ProcessMatch(NamedTuple):
    """A line by which the state of a process is known, with what is below it, and where it stands among them."""

    kind: str
    text: str
    part: str
    stamp: Stamp | None
    place: int


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What one log says, or several one after the other.

    `newest` is the latest time in it, `begun` the first one, or that of the last start of its broker in it. `registered` is the
    last registration of the broker: when, and the znode's czxid if the line has it; of a controller, which registers nowhere, its
    last start.
    """

    matches: tuple[SignMatch, ...]
    newest: Stamp | None
    begun: Stamp | None
    registered: tuple[Stamp, int | None] | None


def line_stamp(line: str) -> Stamp | None:
    """Return a line's time: log4j's default, Strimzi's, ISO 8601, or that of a JSON layout; None where there is none."""
    match = _TIME.match(line)
    if match is None and line.startswith("{"):
        inside = _JSON_TIME.search(line)
        match = _TIME.match(inside["text"]) if inside else None
    if match is None:
        return None
    digits, zone = (match["part"] or "0")[:3].ljust(3, "0"), match["zone"]
    try:
        moment = datetime.fromisoformat(f"{match['day']}T{match['time']}.{digits}{zone or '+00:00'}")
        return Stamp(round(moment.astimezone(UTC).timestamp() * 1000), zone is not None, match[0].strip("[]"))
    except (ValueError, OverflowError):
        return None


def scan(text: str, broker: int) -> Scan:
    """Return what the tail of a broker's log says; a cut first line matches nothing."""
    lines = [both_ends(line, LONGEST_LINE) for line in text.splitlines()[-MOST_LINES:]]
    matches: list[SignMatch] = []
    others = _UnusedLines()
    current: Stamp | None = None
    newest: Stamp | None = None
    begun: Stamp | None = None
    registered: tuple[Stamp, int | None] | None = None
    for number, line in enumerate(lines):
        current = line_stamp(line) or current
        if current is not None and (newest is None or current.ms > newest.ms):
            newest = current
        if begun is None or any(marker in line for marker in _STARTS):
            begun = current
        found = [*_matches(lines, number, current, broker)]
        matches.extend(found)
        if not found and _BAD.search(line[:_LEVEL_IN]) is not None:
            below = next(_below(lines, number), None)
            if below is None or not any(sign.marker in below and sign.pattern.search(below) for sign in SIGNS.values()):
                others.add(line, below, current, broker)
        match = _REGISTERED.search(line) if "egistered broker" in line or "Starting controller" in line else None
        if match is not None and current is not None and int(match[1] or match[3] or match[4] or broker) == broker:
            registered = (current, int(match[2]) if match[2] else None)
    return Scan(matches=(*matches, *others.matches), newest=newest, begun=begun, registered=registered)


class _UnusedLines:
    """Lines at ERROR by which nothing is judged: a few different ones, for an incident that no known fault explains."""

    def __init__(self) -> None:
        self.matches: list[SignMatch] = []
        self._signs: dict[str, Sign | None] = {}

    def add(self, line: str, below: str | None, when: Stamp | None, broker: int) -> None:
        """Keep a line, unless there were too many different ones before it."""
        shape = _NUMBERS.sub("#", line)
        if shape not in self._signs:
            if len(self._signs) >= _MOST_UNUSED:
                return
            self._signs[shape] = unused_sign(f"{line}\n{below or ''}")
        if (sign := self._signs[shape]) is not None:
            self.matches.append(SignMatch(sign, None, broker, None, None, line, below, when))


def _matches(lines: Sequence[str], number: int, when: Stamp | None, broker: int) -> Iterator[SignMatch]:
    line = lines[number]
    for sign in SIGNS.values():
        if sign.marker in line and (match := sign.pattern.search(line)):
            below = next(_below(lines, number), None)
            reported = {key: value for key, value in match.groupdict().items() if value is not None}
            yield SignMatch(
                sign=sign,
                part=next((reported[key] for key in ("part", "part_f", "part_q") if key in reported), sign.part),
                about=broker if sign.own else _about(reported),
                address=_address(reported),
                detail=_detail(sign, reported, line, below),
                line=line,
                exception=below,
                stamp=when,
            )


def _below(lines: Sequence[str], number: int) -> Iterator[str]:
    """Yield the exceptions directly below a line that belong to it."""
    for line in lines[number + 1 : number + 1 + _BELOW]:
        if line_stamp(line) is not None:
            return
        if _EXCEPTION.match(line):
            yield line


def _detail(sign: Sign, reported: Mapping[str, str], line: str, below: str | None) -> str | None:
    found = reported.get("detail", reported.get("code"))
    if found is None and sign.names_principal:
        match = _PRINCIPAL.search(f"{line[-_END:]} {(below or '')[:_END]}")
        return match["name"] if match else None
    return below if found is None else found


def _about(reported: Mapping[str, str]) -> int | None:
    number = next((reported[key] for key in ("about", "about_f", "node") if key in reported), None)
    return None if number is None or number.startswith("-") or int(number) > _MOST_ID else int(number)


def _address(reported: Mapping[str, str]) -> str | None:
    """Return host:port as it is advertised, None for a host that no cluster has.

    `host/10.0.0.1:9092` names both what was given and what that resolved to.
    """
    if "port" in reported:
        host, port = reported["host"], reported["port"]
    elif "address" in reported:
        given, _, resolved = reported["address"].rpartition("/")
        host, _, port = resolved.rpartition(":")
        host = given or host
    else:
        return None
    return f"{host}:{port}" if can_be_name(NameKind.HOST, host) and port.isdecimal() else None

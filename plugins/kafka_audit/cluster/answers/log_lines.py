"""Which lines of brokers' logs count, and how they are quoted.

A line counts where it is newer than the registrations of the broker that wrote it and of the one that it is about; where Kafka
repeats it for as long as the fault lasts, it must have been going on when the log was read: a start that went well leaves dozens
of such lines, too. What was silent for longer than it lasted is over. A line of unknown time never counts.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import cached_property

from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.samples import Samples
from kafka_audit.compare.addresses import address_text, canonical_text
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import clean, counted
from kafka_audit.says.signs import NO_PRINCIPAL, SIGNS, ZOOKEEPER_CLIENT, shown_by

SOON_MS = 10_000
"""How long ago the last of lines that are repeated many times a second may be, if they lasted as long; clocks differ by less."""

_OFTEN = 3  # intervals between lines after which another one is missed
_TWICE = 2
_SENDS = ("controller_connection_unsuccessful", "update_refused")
_EITHER = "controller_connection_unsuccessful"  # also written where a login is broken off in the middle
_QUOTED = 300
_BETWEEN = ("Controller", "ReplicaFetcher")


class LogLines:
    """The lines of one snapshot, by what they show."""

    def __init__(self, samples: Samples, between: InterBroker) -> None:
        """Keep the snapshot and its inter-broker listeners; nothing is read yet."""
        self._samples = samples
        self._between = between

    @cached_property
    def _rows(self) -> tuple[LogLine, ...]:
        rows = self._samples.of(LogLine)
        last = max((row.sample for row in rows), default=0)
        return tuple(row for row in rows if row.sample == last)

    def lines_of(self, code: str, broker: int) -> tuple[LogLine, ...]:
        """Return every line that shows the fault of a check at a broker, whether it counts or not; none of a mere client."""
        about = (row for row in self._rows if row.about_broker == broker and not _leads_elsewhere(row))
        own = (row for row in about if shown_by(row) == code)
        return tuple(row for row in own if row.signature != NO_PRINCIPAL or self.refused(row))

    def counting(self, code: str, broker: int, listener: str | None = None) -> tuple[LogLine, ...]:
        """Return the lines that count, the controller's first; `listener` leaves out those that name another one's address."""
        found = (row for row in self.lines_of(code, broker) if self._counts(row) and self._concerns(row, broker, listener))
        return tuple(sorted(found, key=lambda row: (row.broker_id != self._between.controller, row.signature == _EITHER)))

    def refused(self, row: LogLine) -> tuple[int, ...]:
        """Return the brokers whose login fails by a line: the one that wrote it, or those that show the certificate in it."""
        return self._between.shown_by(row.detail or "") if row.signature == NO_PRINCIPAL else (row.broker_id,)

    def to_controllers(self, broker: int) -> tuple[LogLine, ...]:
        """Return the lines of a KRaft broker about its connections to the controllers that count."""
        return self._elsewhere(broker, to_zookeeper=False, codes={"KA302", "KA412"})

    def to_zookeeper(self, broker: int) -> tuple[LogLine, ...]:
        """Return the lines of a broker about its connections to ZooKeeper, and its rights there, that count."""
        return self._elsewhere(broker, to_zookeeper=True, codes={"KA302", "KA401", "KA412"})

    def _elsewhere(self, broker: int, *, to_zookeeper: bool, codes: Collection[str]) -> tuple[LogLine, ...]:
        own = (row for row in self._rows if row.broker_id == broker and _leads_elsewhere(row))
        meant = (row for row in own if (row.part == ZOOKEEPER_CLIENT) is to_zookeeper)
        return tuple(row for row in meant if shown_by(row) in codes and self._counts(row))

    def of_nodes(self, code: str) -> tuple[LogLine, ...]:
        """Return the lines of all nodes, of controllers above all, that show the fault of a check and count."""
        return self._counting_by_code.get(code, ())

    def of_other_faults(self, nodes: Collection[int], codes: Collection[str]) -> tuple[LogLine, ...]:
        """Return the lines of these nodes that count, and show the fault of none of these checks."""
        own = (row for row in self._rows if row.broker_id in nodes)
        return tuple(row for row in own if shown_by(row) not in codes and self._counts(row))

    def since_start(self, code: str) -> tuple[LogLine, ...]:
        """Return the lines of all nodes that show it and are newer than the starts of both nodes, repeated or not."""
        return tuple(row for row in self._rows if row.since_start and shown_by(row) == code)

    @cached_property
    def _counting_by_code(self) -> Mapping[str, tuple[LogLine, ...]]:
        found: dict[str, list[LogLine]] = {}
        for row in self._rows:
            if (code := shown_by(row)) is not None and self._counts(row):
                found.setdefault(code, []).append(row)
        return {code: tuple(rows) for code, rows in found.items()}

    def _counts(self, row: LogLine) -> bool:
        if row.since_start is None or row.last_ms is None or row.last_ms > row.read_ms + SOON_MS:
            return False
        by_controller = row.part == "Controller" or row.signature in _SENDS
        if by_controller and not self._between.kraft and row.broker_id != self._between.controller:
            return False  # of its time in office
        sign = SIGNS.get(row.signature)  # None for a line by which nothing is judged, and one of a later version
        return _goes_on(row) if sign is not None and sign.repeats else row.since_start > 0

    def _concerns(self, row: LogLine, broker: int, listener: str | None) -> bool:
        """Return whether a line names an address that the broker advertises, or another broker, as far as it names one."""
        if row.signature == NO_PRINCIPAL:
            used = map(self._between.listener, (other for other in self.refused(row) if other != broker))
            return any(used_listener is not None and listener in {None, used_listener.name} for used_listener in used)
        ends = self._between.endpoints.get(broker, {}).values()
        meant = [end for end in ends if listener in {None, end.listener}]
        if row.address is not None and meant:
            named = canonical_text(row.address)
            meant = [end for end in meant if canonical_text(address_text(end.host, end.port)) == named]
            if not meant:
                return False
        if row.signature == _EITHER and shown_by(row) == "KA302":
            return bool(meant) and all(end.protocol == "PLAINTEXT" for end in meant)
        return True

    def host(self, broker: int) -> str:
        """Return where a broker runs, as it advertises it: `broker 0 at b0`."""
        ends = sorted(self._between.endpoints.get(broker, {}).values(), key=lambda end: end.listener)
        return f"broker {broker}{f' at {clean(ends[0].host)}' if ends else ''}"


def _leads_elsewhere(row: LogLine) -> bool:
    """Return whether a line is about a connection to a controller's listener or ZooKeeper: none about listeners of brokers."""
    return bool(row.part) and not (row.part or "").startswith(_BETWEEN)


def _goes_on(row: LogLine) -> bool:
    if row.since_start is None or row.since_start < _TWICE or row.last_ms is None or row.since_ms is None:
        return False
    lasted = row.last_ms - row.since_ms
    usual = lasted / (row.since_start - 1)
    return row.read_ms - row.last_ms <= max(min(SOON_MS, lasted), _OFTEN * usual)


def has_lasted(row: LogLine) -> bool:
    """Return whether what is repeated was so for longer than a start takes: controllers that start together log it, too."""
    if not SIGNS[row.signature].repeats:
        return True
    return row.last_ms is not None and row.since_ms is not None and row.last_ms - row.since_ms >= SOON_MS


def says(row: LogLine, party: str = "broker") -> str:
    """Return the content of a line, for a sentence: `server.log of broker 0 says Authentication failed`."""
    what = f"{SIGNS[row.signature].means}: {row.detail}" if row.detail and SIGNS[row.signature].own else row.detail
    what = what or SIGNS[row.signature].means
    return f"{_log(row)} of {party} {row.broker_id} says {clean(what)}"


def quoted(row: LogLine) -> str:
    """Return a line with its log, its number of occurrences, its time, and its text, without that time where it is the same."""
    often = counted(row.since_start or row.matches, "time")
    since = "" if row.since_start is None else " since the start" if row.since_start else " before the start"
    stamp, _, text = row.text.removeprefix("[").partition("] ")
    text = text if f"{stamp.partition(',')[0]} UTC" == when(row) else row.text
    return f"{_log(row)}, {often}{since}, last {when(row)}: {clean(text, _QUOTED)}"


def _log(row: LogLine) -> str:
    return "the log" if row.log == "command" else clean(row.log)


def when(row: LogLine) -> str:
    """Return when the newest of these lines was written, as far as that is known."""
    if row.last_ms is None:
        return f"at {clean(row.written)} (time zone unknown)" if row.written else "at an unknown time"
    return f"{datetime.fromtimestamp(row.last_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"

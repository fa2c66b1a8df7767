"""What brokers wrote themselves: the lines of their logs that say why something fails, and nothing else of them."""

from dataclasses import dataclass

from kafka_audit.model.tables.row import Row


@dataclass(frozen=True, kw_only=True)
class LogLine(Row):
    """Lines of one kind in the tail of one log of one broker; the newest of them is quoted.

    Times are null if a line has no readable time, or if the time zone of the broker's host is unknown.
    """

    sample: int
    broker_id: int  # whose log it is
    log: str  # the file's name, or "command"
    signature: str  # an id of `model.log_signatures`
    supports: str | None  # the check whose fault it shows
    part: str | None  # of the broker: Controller, ReplicaFetcher, …; None if unknown
    about_broker: int | None  # the broker at fault
    address: str | None  # host:port that it names
    detail: str | None  # reason, principal or folder, whichever it names
    text: str  # the newest of them and the exception below it; secrets are masked, and it is cut
    written: str | None  # the newest one's time in the line's own words
    matches: int  # in the tail
    first_ms: int | None
    last_ms: int | None
    since_start: int | None  # how many are newer than the registrations of writer and broker at fault; null: undecided
    since_ms: int | None  # the first of those
    zone: str  # how the zone is known: line, registration, file, growth, or "not known"
    read_ms: int  # when the tail was read
    login_fault: str | None = None  # why the login fails: certificate, mechanism or credential; null for other lines

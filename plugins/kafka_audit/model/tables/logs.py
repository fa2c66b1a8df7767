"""Recognised lines of the logs of nodes. Other lines are not stored."""

from kafka_audit.model.tables.row import Long, Row


class LogLine(Row, filled_by=("logs",)):
    """Lines of one kind in the tail of one log of one broker; the newest of them is quoted.

    The row has no meaning: `says` has that of each signature, so that an old snapshot is judged as a new one.
    Times are null if a line has no readable time, or if the time zone of the broker's host is unknown.
    """

    sample: int
    broker_id: int  # the broker that wrote the log
    log: str  # the name of the file, or "command"
    signature: str  # a name in `reads` of a meaning (`says`); else the meaning, or not_recognised
    part: str | None  # of the broker: Controller, ReplicaFetcher, …; None if unknown
    about_broker: int | None  # the broker at fault
    address: str | None  # host:port in the line
    detail: str | None  # the reason, principal or folder in the line
    text: str  # the newest line and the exception below it; secrets are masked, long text is cut
    written: str | None  # the time of the newest line, as the line has it
    matches: int  # number of lines in the tail
    first_ms: Long | None
    last_ms: Long | None
    since_start: int | None  # lines newer than the registrations of the writer and of the broker at fault; null: unknown
    since_ms: Long | None  # the time of the first of those lines
    zone: str  # how the zone is known: line, registration, file, growth, or "not known"
    read_ms: Long  # when the tail was read
    exception: str | None = None  # the exception below the newest line; null also in earlier versions, which have it in `text`


BELOW, END, ERROR = " / ", "end", "error"
"""What separates a line from those below it; the kinds of the last line of a log, and of one at ERROR that is no other kind."""


class ProcessLine(Row, filled_by=("logs",)):
    """Lines of a log by which the state of its process is known; earlier versions have none."""

    sample: int
    broker_id: int  # the broker or controller whose log it is
    log: str  # the name of the file, or "command"
    place: int  # in the order of the lines of all logs of the node
    kind: str  # see `says.process_lines`; or "error", or "end" for the last line of a log
    part: str  # the class that wrote it
    text: str  # with the lines below it; secrets are masked, long text is cut
    at_ms: Long | None  # null: the time zone of the host is unknown
    local_ms: Long | None  # as if the zone were UTC
    written: str | None  # the time as the line has it
    read_ms: Long

"""Lines by which starts and ends of a process are known, and how far a start has come."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

STARTING, STARTED, RECOVERING, SIGNAL = "starting", "started", "recovering", "signal"
"""It starts; the start went well; logs are loaded or recovered; it is asked to stop, or stops."""
STOPPED, FAILED, SILENT = "stopped", "failed", "without a word"
"""It has stopped; it ends by a fault; another start follows, and nothing says why."""

_EVENTS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            FAILED,
            (
                r"Fatal error during \w{1,20} startup|Exiting Kafka due to fatal exception|Encountered fatal fault"
                r"|(?:Exiting|Halting) Kafka\.|Shutdown broker because |unable to register with the controller quorum"
                r"|(?:Terminating|Aborting) due to java\.lang\.OutOfMemoryError"
                r"|A fatal error has been detected by the Java Runtime Environment"
            ),
        ),
        (
            STARTING,
            (
                r"\bstarting \(kafka\.server\.KafkaServer\)|from SHUTDOWN to STARTING|\] Starting controller \(kafka\.server\."
                r"|Registered `?kafka:type=kafka\.Log4jController`? MBean|Starting quorum peer, myid"
                r"|Starting server \(org\.apache\.zookeeper|\bZooKeeperServerMain@\d{1,5}\] - Starting server"
            ),
        ),
        (STARTED, r"\] started \(kafka\.server\.KafkaServer\)|from STARTING to STARTED|Kafka Server started"),
        (SIGNAL, r"Terminating process due to signal|from STARTED to SHUTTING_DOWN|\] shutting down \(kafka\.server\."),
        (STOPPED, r"\] shut down completed|from SHUTTING_DOWN to SHUTDOWN|App info kafka\.server for \d{1,10} unregistered"),
        (
            RECOVERING,
            (
                r"\bLoading logs|Attempting recovery for all logs|Recovering \d{1,9} logs from"
                # Each start of a KRaft node writes it of the metadata log.
                r"|Recovering unflushed segment(?! \d{1,20}\. \d{1,9}(?:/\d{1,9})? recovered for __cluster_metadata-)"
                r"|\(\d{1,9}/\d{1,9} (?:completed|loaded) in "
            ),
        ),
    )
)
_DONE = re.compile(r"\((?P<done>\d{1,9})/(?P<all>\d{1,9}) (?:completed|loaded) in (?P<folder>.{1,300})\) \(")


_PART = re.compile(r"\(([\w.$]{1,200})\)\s{0,9}$")


class ProcessEvent(Protocol):
    """What a line reports of its process; `part` is the server in it, as a node of KRaft may have two."""

    @property
    def kind(self) -> str: ...  # noqa: D102

    @property
    def part(self) -> str: ...  # noqa: D102


_E = TypeVar("_E", bound=ProcessEvent)


@dataclass(kw_only=True)
class ProcessRun(Generic[_E]):
    """A process from its start to its end, by what it wrote; `ended` is how: failed, stopped, silent, None where it may go on."""

    events: list[_E] = field(default_factory=list)
    ended: str | None = None
    came_up: bool = False

    def has(self, *kinds: str) -> bool:
        """Return whether one of these was reported."""
        return any(event.kind in kinds for event in self.events)


def process_runs(events: Iterable[_E]) -> list[ProcessRun[_E]]:
    """Return the runs of a process, in the order of their lines; a log that begins later has no start of the first one."""
    found: list[ProcessRun[_E]] = []
    for event in events:
        run = found[-1] if found else None
        begins = event.kind in {STARTING, RECOVERING}
        if run is not None and event.kind == STARTING and not run.ended:
            again = any(known.kind == STARTING and known.part == event.part for known in run.events)
            run.ended = SILENT if again or (run.came_up and not run.has(STARTING)) else None
        if run is None or (run.ended and (begins or (event.kind == FAILED and run.ended != FAILED))):
            found.append(run := ProcessRun())
        run.events.append(event)
        run.came_up |= event.kind == STARTED
        if event.kind == FAILED:
            run.ended = FAILED
        elif event.kind == STOPPED and run.ended != FAILED:
            run.ended = STOPPED
    for run in found:  # what a log without a start of it says of one that ran before
        run.came_up |= not run.has(STARTING, RECOVERING, FAILED)
    return found


def part_in(line: str) -> str:
    """Return which server of a process a line is of."""
    found = _PART.search(line)
    return found[1] if found else ""


def event_in(line: str) -> str | None:
    """Return which of these a line reports."""
    return next((kind for kind, pattern in _EVENTS if pattern.search(line)), None)


def recovered(line: str) -> tuple[int, int] | None:
    """Return how many logs of a log dir are loaded, and of how many; None where a line does not say it."""
    found = _DONE.search(line)
    return (int(found["done"]), int(found["all"])) if found else None

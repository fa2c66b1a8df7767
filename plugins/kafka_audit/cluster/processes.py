"""What became of the process of a broker or controller that does not answer: by its own log, and by who reaches its port.

A log says how a process ended only by what it wrote last. That it ended without a word is known where its port
refuses connections; without that, the state is unknown. A process that answers, or fetches the metadata log, runs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import address_text, canonical_text
from kafka_audit.model.finding import Confidence
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import ControllerProbe, ProcessLine, SourceRead
from kafka_audit.model.tables.logs import BELOW, END, ERROR
from kafka_audit.model.text import LONGEST_HEADLINE, clean, our_line, start_upper
from kafka_audit.says.log_faults import LogFault, log_faults
from kafka_audit.says.process_lines import (
    FAILED,
    RECOVERING,
    SIGNAL,
    SILENT,
    STARTING,
    STOPPED,
    ProcessRun,
    process_runs,
    recovered,
)


class ProcessState(StrEnum):
    """What became of a process."""

    RUNS = "runs"
    NEVER_STARTED = "never started"
    REFUSED = "does not start"
    LOOPS = "starts again and again"
    STARTING = "is starting"
    RECOVERING = "recovers its logs"
    STOPPED = "was stopped"
    KILLED = "was killed"
    HUNG = "hangs"
    ENDED = "ended by itself"
    UNKNOWN = "unknown"


_SOON_MS, _AT_START_MS, _NEAR_MS = 120_000, 180_000, 300_000  # a log that goes on; a start that takes long; lines of one end
_HELD_MS = 30_000  # a start that is refused for so long waits for more than an election
_RESTART_MS = 10_000  # after a kill, a process that is started again logs within less
_LOOP, _LOOP_MS = 3, 900_000  # starts in a row within so long are a loop
_GONE = frozenset({ProcessState.REFUSED, ProcessState.STOPPED, ProcessState.KILLED, ProcessState.ENDED})
_Run = ProcessRun[ProcessLine]
_BY = re.compile(r"due to signal (SIG[A-Z]{1,9})")
_WORDS = {
    ProcessState.LOOPS: "ends again after each start",
    ProcessState.STARTING: "has not come up yet: it is still starting",
    ProcessState.RECOVERING: "is recovering its logs",
    ProcessState.STOPPED: "was shut down",
    ProcessState.KILLED: "was killed without a word",
    ProcessState.HUNG: "hangs: it holds its port and answers nothing",
}


@dataclass(frozen=True, kw_only=True)
class Process:
    """The process of one node; `error` and `needs` where its state is unknown.

    Attributes:
        node: of whom.
        state: what became of it.
        confidence: how sure that is.
        fault: what its log names as the cause, and the values in that line.
        lines: what shows it.
        since: the time of the first of them, as the log has it.
        starts: how often it was started in the loop, and within how many seconds.
        done: how many logs are recovered, and of how many, where the log says it.
        begun: the first line of that start.
        stops: of one that runs, the line by which it was asked to stop, if its log goes on.
        accepts: whether it is a broker that is not registered, takes connections and answers nothing.
    """

    node: int
    state: ProcessState
    confidence: Confidence = Confidence.MEASURED
    fault: LogFault | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    lines: Sequence[ProcessLine] = ()
    starts: tuple[int, int] | None = None
    done: tuple[int, int] | None = None
    begun: ProcessLine | None = None
    stops: ProcessLine | None = None
    accepts: bool = False
    error: str | None = None
    needs: str | None = None

    def sentence(self, party: str) -> str:
        """Return what became of it, as a headline."""
        who = start_upper(party)
        if self.fault is not None:
            values = {key: clean(value) for key, value in self.values.items()}
            return our_line(self.fault.headline_of({**values, "node": who}), LONGEST_HEADLINE)
        words = _WORDS.get(self.state, self.state.value)
        signals = [match[1] for line in self.lines if (match := _BY.search(line.text))]
        if self.state is ProcessState.STOPPED and signals:
            words = f"was stopped by {signals[0]}"
        if self.done is not None:
            words += f": {self.done[0]} of {self.done[1]} are loaded"
        elif self.starts is not None:
            words += f": {self.starts[0]} starts in {self.starts[1]} s"
        return f"{who} {words}"

    @property
    def since(self) -> str | None:
        """When it came to this, as its log has it."""
        return next((clean(line.written) for line in self.lines if line.written), None)


class Processes:
    """The processes of all nodes that are registered, expected or were there, by what one view shows."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; nothing is judged yet."""
        self._view = view

    @cached_property
    def all(self) -> Mapping[int, Process]:
        """Brokers and controllers by their ids."""
        view = self._view
        brokers = view.known_brokers | view.followers | set(self._lines) - view.controller_nodes
        return {node: self._of(node) for node in sorted(brokers | view.controller_nodes) if node >= 0}

    @cached_property
    def _lines(self) -> Mapping[int, Sequence[ProcessLine]]:
        rows = self._view.of(ProcessLine)
        last = max((row.sample for row in rows), default=0)
        found: dict[int, list[ProcessLine]] = {}
        for row in sorted((row for row in rows if row.sample == last), key=lambda row: row.place):
            found.setdefault(row.broker_id, []).append(row)
        return found

    def is_gone(self, node: int) -> bool:
        """Return whether a node is seen to have no process: its port refuses connections, or its log has its end."""
        return not self.runs(node) and (self._refuses(node) or (node in self.all and self.all[node].state in _GONE))

    def runs(self, node: int) -> bool:
        """Return whether a node answers, or its leader sees it fetch the metadata log."""
        view, now = self._view, self._view.quorum.now
        answers = bool(view.views_of(node)) or any(row.answered_by == node for row in view.identities.values())
        answers |= node in now.probed
        behind = now.behind_ms.get(node)
        return answers or node in view.followers or (node in now.replicas and behind is not None and node not in now.late)

    def _of(self, node: int) -> Process:
        lines, runs = self._lines.get(node, ()), self.runs(node)
        if lines or runs:
            refuses, accepts = not runs and self._refuses(node), not runs and self._accepts(node, lines)
            return process_by_log(node, self._view.party(node), lines, runs=runs, refuses=refuses, accepts=accepts)
        return replace(self._unread(node), accepts=self._accepts(node, ()))

    def _unread(self, node: int) -> Process:
        view, party = self._view, self._view.party(node)
        reads = view.reads.of_logs.get(node, ())
        failed = next((read for read in reversed(reads) if read.outcome == "failed"), None)
        if failed is None:
            error = "its log has no line that shows it" if reads else "its log was not read"
            return _undecided(node, error, f"server.log of {party}, in `logs` of the cluster file")
        others = any(read.outcome == "answered" for other in view.reads.of_logs.values() for read in other)
        if others and failed.failure is ReadFailure.NO_FILE and node not in view.brokers_earlier:
            error = "it possibly never started: it has no log where those of other nodes are"
            return Process(node=node, state=ProcessState.NEVER_STARTED, error=error, needs=failed.needs or f"a log of {party}")
        return _undecided(node, f"its log was not read: {failed.error}", failed.needs or f"server.log of {party}")

    def _refuses(self, node: int) -> bool:
        """Return whether nothing listens at an address of a node: the host is there and refuses connections."""
        view = self._view
        probes = (probe.failed for probe in view.probes if probe.broker_id == node)
        if any(row is not None and ReadFailure.of(row.reason, row.error) is ReadFailure.REFUSED for row in probes):
            return True
        return any(read.failure is ReadFailure.REFUSED for read in self._failed_reads(node))

    def _accepts(self, node: int, lines: Sequence[ProcessLine]) -> bool:
        """Return whether the port of a node takes connections on which nothing is answered, though it should be at work.

        A broker is then not registered. A controller does not follow, and writes no line: one that is cut off from the others, or
        that this worker asks in another protocol, goes on with elections, and writes of them. Once its queue of connections is
        full, the same port takes no more: then that it did, in the previous snapshot, and that its log has no newer line.
        """
        view = self._view
        if node not in view.controller_nodes:
            return node not in view.brokers and any(map(_is_silent, self._failed_reads(node)))
        ends = [line for line in lines if line.kind == END and line.at_ms is not None]
        if not ends or _is_fresh(ends, _RESTART_MS):
            return False
        samples = [frozenset(row.address for row in rows if _is_silent(row)) for rows in map(self._probed, view.samples)]
        if any(read.target in samples[0] & samples[1] for read in self._failed_reads(node)):
            return True
        earlier = () if view.previous is None else view.previous.of(ProcessLine)
        newest = max(line.at_ms or 0 for line in ends)
        unchanged = any(line.broker_id == node and line.kind == END and line.at_ms == newest for line in earlier)
        failed = {read.target for read in self._failed_reads(node) if read.failure is ReadFailure.TIMEOUT}
        return unchanged and any(row.address in failed and _is_silent(row) for row in view.earlier(ControllerProbe))

    def _probed(self, sample: int | None) -> Sequence[ControllerProbe]:
        return [row for row in self._view.of(ControllerProbe) if row.sample == sample]

    def _failed_reads(self, node: int) -> Iterator[SourceRead]:
        """Yield the reads that failed at addresses of a node."""
        view = self._view
        own = {canonical_text(address_text(row.host, row.port)) for row in view.addresses_earlier if row.broker_id == node}
        own |= {canonical_text(end.address) for end in view.endpoints.of(node)}
        own |= {canonical_text(address_text(host, port)) for host, port in addresses_of(self._set_addresses(node))}
        asked = (f"broker:{node}", f"controller@{node}")
        for read in view.last_reads:
            if read.outcome == "failed" and read.target and (read.observer in asked or canonical_text(read.target) in own):
                yield read

    def _set_addresses(self, node: int) -> str:
        """Return the addresses in the settings of a node, without the names of its listeners."""
        listeners = (self._view.settings.get(node, key).value or "" for key in ("advertised.listeners", "listeners"))
        voter = self._view.voter_addresses.get(node)
        texts = (*listeners, address_text(*voter) if voter else "")
        return ",".join(part.rpartition("//")[2] for text in texts for part in text.split(","))


def _is_silent(row: SourceRead | ControllerProbe) -> bool:
    """Return whether a connection opened, and nothing was answered on it: not even to the first message of TLS."""
    return (
        row.outcome == "failed" and row.layer in {"tls", "api"} and ReadFailure.of(row.reason, row.error) is ReadFailure.TIMEOUT
    )


def process_by_log(  # noqa: PLR0913 -- what its port shows
    node: int, party: str, lines: Sequence[ProcessLine], *, runs: bool, refuses: bool, accepts: bool = False
) -> Process:
    """Return what became of a process.

    Args:
        node: its id.
        party: what it is called.
        lines: of its log, in their order.
        runs: it answers; then only a crash loop is of interest.
        refuses: nothing listens at its port.
        accepts: its port takes connections, and nothing is answered.
    """
    events = process_runs(line for line in lines if line.kind not in {END, ERROR})
    ends = [line for line in lines if line.kind == END]
    loop = _loop(events, ends)
    if loop is not None:
        return _ended(node, lines, events, ProcessState.LOOPS, starts=loop)
    run = events[-1] if events else _Run(came_up=True)
    if runs:
        asked = (
            next((line for line in run.events if line.kind == SIGNAL), None) if run.ended is None and _is_fresh(ends) else None
        )
        return Process(node=node, state=ProcessState.RUNS, stops=asked)
    if run.ended == FAILED:
        return _ended(node, lines, events, ProcessState.ENDED if run.came_up else ProcessState.REFUSED)
    if run.ended == STOPPED or (run.has(SIGNAL) and not _is_fresh(ends)):
        shown = [line for line in run.events if line.kind in {SIGNAL, STOPPED}]
        return Process(node=node, state=ProcessState.STOPPED, lines=(*shown[:1], *shown[1:][-1:]))
    if run.has(SIGNAL):
        return _undecided(node, "it is stopping", "another audit")
    held = [] if run.came_up else [line for line in lines if line.kind == ERROR and line.place > run.events[0].place]
    return _held_up(node, run, held, ends) or _open_end(node, party, run, ends, refuses=refuses, accepts=accepts)


def _held_up(node: int, run: _Run, errors: Sequence[ProcessLine], ends: Sequence[ProcessLine]) -> Process | None:
    """Return what keeps a start from its end, by errors that go on until the last line: controllers that refuse it, say."""
    newest = max(ends, key=lambda line: line.local_ms or 0, default=None)
    if newest is None or not _is_fresh(ends) or _lasted(run, ends) < _HELD_MS:
        return None
    fault, values, line = _cause((line for line in errors if _apart(line, newest) < _RESTART_MS), lasting=True)
    shown = () if line is None else (line,)
    return Process(node=node, state=ProcessState.STARTING, fault=fault, values=values, lines=shown) if fault else None


def _open_end(  # noqa: PLR0913 -- as above
    node: int, party: str, run: _Run, ends: Sequence[ProcessLine], *, refuses: bool, accepts: bool
) -> Process:
    """Return what became of a process whose log neither says that it stopped nor that it failed."""
    fresh = _is_fresh(ends)
    newest = max(ends, key=lambda line: line.local_ms or 0, default=None)
    if not run.came_up and fresh:
        recovering = [line for line in run.events if line.kind == RECOVERING]
        if recovering:
            done = next((found for line in reversed(recovering) if (found := recovered(line.text))), None)
            return Process(node=node, state=ProcessState.RECOVERING, lines=recovering[-1:], done=done, begun=run.events[0])
        if _lasted(run, ends) < _AT_START_MS:
            return _undecided(node, "it is starting", "another audit")
        return Process(node=node, state=ProcessState.STARTING, lines=run.events[:1])
    if accepts and run.came_up:
        return Process(node=node, state=ProcessState.HUNG, confidence=Confidence.INFERRED, lines=run.events[-1:], accepts=True)
    if refuses and not _is_fresh(ends, _RESTART_MS if run.came_up else _SOON_MS):
        shown = (*run.events[-1:], *((newest,) if newest else ()))
        return Process(node=node, state=ProcessState.KILLED, confidence=Confidence.INFERRED, lines=shown)
    why = "its log goes on" if fresh else "its log ends without a word of a stop or an error"
    return _undecided(node, why, f"a look at the process on the host of {party}, or at its port")


def _ended(
    node: int,
    lines: Sequence[ProcessLine],
    runs: Sequence[_Run],
    state: ProcessState,
    starts: tuple[int, int] | None = None,
) -> Process:
    """Return the cause that the last run names which failed."""
    failed = [number for number, run in enumerate(runs) if run.ended == FAILED]
    run = runs[failed[-1]] if failed else runs[-1]
    before = runs[failed[-1] - 1].events[-1].place if failed and failed[-1] else -1
    ends = [line for line in run.events if line.kind == FAILED]
    own = [line for line in lines if line.place > before and (line.kind == ERROR or line in ends)]
    near = [line for line in own if state is not ProcessState.ENDED or not ends or _apart(line, ends[0]) <= _NEAR_MS]
    fault, values, line = _cause(near)
    shown = (line,) if line else (*(ends or run.events)[:1],)
    return Process(node=node, state=state, fault=fault, values=values, lines=shown, starts=starts)


def _undecided(node: int, error: str, needs: str) -> Process:
    return Process(node=node, state=ProcessState.UNKNOWN, error=error, needs=needs)


def _is_fresh(ends: Iterable[ProcessLine], within_ms: int = _SOON_MS) -> bool:
    return any(line.at_ms is not None and line.read_ms - line.at_ms < within_ms for line in ends)


def _lasted(run: _Run, ends: Iterable[ProcessLine]) -> int:
    begun = next((line.local_ms for line in run.events if line.local_ms is not None), None)
    last = max((line.local_ms for line in ends if line.local_ms is not None), default=None)
    return last - begun if begun is not None and last is not None else 0


def _apart(one: ProcessLine, other: ProcessLine) -> int:
    return abs(one.local_ms - other.local_ms) if one.local_ms is not None and other.local_ms is not None else 0


def _loop(runs: Sequence[_Run], ends: Sequence[ProcessLine]) -> tuple[int, int] | None:
    """Return how many starts in a row ended by themselves in the last quarter of an hour of the log, and in how many seconds."""
    last = max((line.local_ms for line in ends if line.local_ms is not None), default=None)
    begun: list[int] = []
    up = bool(runs) and runs[-1].ended is None and runs[-1].came_up
    for run in reversed(runs):
        first = next((line.local_ms for line in run.events if line.kind in {STARTING, FAILED}), None)
        if first is None or last is None or last - first > _LOOP_MS or (begun and run.ended not in {FAILED, SILENT}):
            break
        if (not begun and run.ended == STOPPED) or (up and not run.came_up):
            break  # it was stopped; or the start after those that failed went well
        if not begun and run.ended is None and run.came_up and last - first > _NEAR_MS:
            break  # it has lasted
        begun.append(first)
    return (len(begun), (begun[0] - begun[-1]) // 1000) if len(begun) >= _LOOP else None


def _cause(
    lines: Iterable[ProcessLine], *, lasting: bool = False
) -> tuple[LogFault | None, Mapping[str, str], ProcessLine | None]:
    """Return the fault that lines show which explains the others, its values, and the line."""
    found = [
        (not fault.of_start, fault.general, -line.place, fault.name, fault, values, line)
        for line in lines
        for fault in log_faults()
        if (lasting or not fault.lasts) and (values := fault.values_in(line.text.replace(BELOW, "\n"))) is not None
    ]
    best = min(found, default=None, key=lambda one: one[:4])
    return (best[4], best[5], best[6]) if best else (None, {}, None)

"""A diagnosis from nothing but logs: what is broken at which node, how sure that is, what is ordinary, and what is not known.

Its document is the contract of `kafka-audit logs --format json`; docs/logs-alone.md describes it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from kafka_audit.clients.secrets.masking import masked
from kafka_audit.collect.logs.lines import Stamp
from kafka_audit.logs.tally import Event, LogTally, NodeTally, Seen, nodes_of
from kafka_audit.model.finding import Severity
from kafka_audit.model.text import LONGEST_HEADLINE, clean, counted, listing, our_line, start_upper
from kafka_audit.says.catalogue import is_ordinary, meanings
from kafka_audit.says.log_faults import LogFault, log_faults, step_command, with_values
from kafka_audit.says.others import programs
from kafka_audit.says.process_lines import FAILED, SIGNAL, STARTED, STARTING, STOPPED, ProcessRun, process_runs

_QUOTED, _LONGEST_VALUE, _MOST_UNKNOWN, _MOST_VALUES = 400, 200, 20, 5
_LISTED = 3
_LONG_S, _DEAD_MS = 15, 10_000
_ALONE_S, _SILENT_S, _OFTEN = 600, 30, 10  # silence after which a fault is over: of one line, at least, in usual intervals
_TURNS, _TURN_MS = {STARTING, STARTED, SIGNAL, STOPPED}, 60_000  # around which connections fail in an ordinary way


@dataclass(frozen=True, kw_only=True)
class LogCause:
    """A fault that a node's log shows: now, or before a later start that went well.

    Where it does not say which node it is, `programs` are those beside Kafka that wrote in it, too.
    """

    node: str
    fault: LogFault
    values: Mapping[str, str]
    seen: Seen
    confidence: str
    past: bool
    programs: Sequence[str] = ()

    @property
    def subject(self) -> str:
        """Who has the fault."""
        return self.node or ("a process" if self.programs else "a node")

    @property
    def headline(self) -> str:
        """The fault in a sentence."""
        return our_line(start_upper(self.fault.headline_of({**self.values, "node": self.subject})), LONGEST_HEADLINE)

    @property
    def effect(self) -> str:
        """The fault in a sentence, where another one is its cause."""
        if not self.fault.effect:
            return self.headline
        text = with_values(self.fault.effect, {**self.values, "node": self.subject})
        return our_line(start_upper(text), LONGEST_HEADLINE)


def log_document(tally: LogTally, redact: Callable[[str], str] = str) -> dict[str, Any]:
    """Return the diagnosis as JSON reads it; `redact` is applied to each text that comes from a log."""
    nodes = nodes_of(tally)

    def shown(text: str, limit: int = 1000) -> str:
        return our_line(redact(text), limit)

    def quoted(seen: Seen) -> str:
        return clean(redact(masked(" / ".join(seen.text.split("\n")[:6]))), _QUOTED)

    stopped = {name.rpartition(" ")[2] for name, node in nodes.items() if _was_stopped(node)}
    turns = {
        name: [event.stamp.ms for event in node.events if event.stamp and event.kind in _TURNS] for name, node in nodes.items()
    }
    every = [cause for name, node in nodes.items() for cause in _causes(name, node, nodes, turns)]
    found = [cause for cause in every if not cause.fault.is_risk]
    causes = [_of_other(cause, nodes) for cause in found if not (cause.fault.lasts and cause.values.get("other") in stopped)]
    leading, behind = _leading([cause for cause in causes if not cause.past])
    return {
        "nodes": [_node(name, node, causes) for name, node in nodes.items() if not _is_foreign(node)],
        "order": _order(nodes),
        "incidents": [_incident(cause, behind.get(id(cause), ()), shown, quoted) for cause in leading],
        "earlier": [shown(text) for text in _earlier([cause for cause in causes if cause.past])],
        "risks": [*_risks([cause for cause in every if cause.fault.is_risk and not cause.past], shown)],
        "ordinary": [shown(text) for text in _ordinary(nodes, causes)],
        "lines": _totals(nodes),
        "by_node": [
            _counts(name, node, meaning, seen) for name, node in nodes.items() for meaning, seen in node.meanings.items()
        ],
        "signs": [] if leading else [*_signs(nodes, turns, quoted)],
        "unknown": [*_unknown(nodes, quoted)],
        "other_programs": dict(sum((node.others for node in nodes.values()), Counter())),
        "not_read": [*map(shown, tally.errors), *_unread(tally)],
    }


def exit_code(document: Mapping[str, Any]) -> int:
    """Return 3 where a cause is named, 4 where something at ERROR is not explained or not read, or there was nothing, else 0."""
    open_ends = (
        document["signs"] or document["not_read"] or not document["nodes"] or any(one["error"] for one in document["unknown"])
    )
    return 3 if document["incidents"] else 4 if open_ends else 0


def _is_foreign(node: NodeTally) -> bool:
    """Return whether all that a log has is of other programs."""
    said = node.meanings or node.faults or node.roles or node.unknown or node.events
    return not said and sum(node.others.values()) >= node.lines > 0


def _causes(name: str, node: NodeTally, nodes: Mapping[str, NodeTally], turns: Mapping[str, Sequence[int]]) -> Iterator[LogCause]:
    for (fault, values), seen in node.faults.items():
        lasted = (seen.last.ms - seen.first.ms) / 1000 if seen.first and seen.last else 0.0
        until_end = (node.last.ms - seen.last.ms) / 1000 if node.last and seen.last else 0.0
        span = (max(node.last.ms, seen.last.ms if seen.last else 0) - node.first.ms) / 1000 if node.last and node.first else 0.0
        silent = max(_SILENT_S, _OFTEN * lasted / (seen.count - 1)) if seen.count > 1 else _ALONE_S
        plain = {key: clean(masked(value), _LONGEST_VALUE) for key, value in values}
        peer = next((one for one in nodes if one.rpartition(" ")[2] == plain.get("other")), "")
        started = bool(fault.lasts and peer) and _went_well(nodes[peer], seen)
        ended = _went_well(node, seen) or started or _ended(node, fault, dict(values), seen)
        over = ended or (fault.lasts and until_end > silent)
        if fault.absent and (
            over or _was_stopped(node) or (peer and (_was_stopped(nodes[peer]) or _went_well(nodes[peer], seen)))
        ):
            continue
        if over and peer and _at_a_turn(seen, peer, {}, turns) and (not started or lasted <= _TURN_MS / 1000):
            continue  # what others saw of a node while it started or stopped
        brief = fault.lasts and lasted < fault.quiet_s
        if brief and seen.count == 1 and span > _LONG_S:  # alone in what is more than a pasted piece
            continue
        often = seen.count >= _OFTEN and lasted >= _LONG_S and until_end <= _LONG_S  # as far as the log goes
        last = seen.count > 1 and until_end <= _LONG_S and not over and _outlasts_turns(seen, name, dict(values), turns)
        if brief and not (often or last) and (over or span >= fault.quiet_s or _at_a_turn(seen, name, dict(values), turns)):
            continue
        if seen.count < fault.least or (fault.least > 1 and lasted > _TURN_MS / 1000 * (seen.count - 1)):
            continue
        if not fault.lasts and fault.quiet_s and (over or _after_start(node, seen, fault.quiet_s)):
            continue
        confidence = "suspected" if brief or fault.undecided else "measured"
        plain |= {"peer": peer or f"node {plain['other']}"} if "other" in plain else {}
        beside = () if name else _beside(node)
        yield LogCause(node=name, fault=fault, values=plain, seen=seen, confidence=confidence, past=over, programs=beside)


def _beside(node: NodeTally) -> Sequence[str]:
    """Return the programs whose log it may be, where no line of it is about a role of Kafka."""
    return () if node.roles else sorted(set(node.others) - {known.name for known in programs() if known.around})


def _of_other(cause: LogCause, nodes: Mapping[str, NodeTally]) -> LogCause:
    """Return that the other node is down, where its own log ended before the last of these lines, not by a stop or an error."""
    name = next((name for name in nodes if name.rpartition(" ")[2] == cause.values.get("other")), "")
    other, last = nodes.get(name), cause.seen.last
    if cause.past or other is None or last is None or other.last is None or last.ms - other.last.ms < _DEAD_MS:
        return cause
    runs = process_runs(_sorted(other.events))
    if not runs or runs[-1].ended or runs[-1].has(SIGNAL):
        return cause
    fault = next(fault for fault in log_faults() if fault.name == "ended_without_a_word")
    return LogCause(node=name, fault=fault, values={}, seen=cause.seen, confidence="suspected", past=False)


def _turns_near(name: str, values: Mapping[str, str], turns: Mapping[str, Sequence[int]]) -> list[int]:
    """Return when this node, and the one that lines name, started and stopped."""
    other = values.get("other", "")
    return [ms for node, own in turns.items() if node == name or node.rpartition(" ")[2] == other for ms in own]


def _outlasts_turns(seen: Seen, name: str, values: Mapping[str, str], turns: Mapping[str, Sequence[int]]) -> bool:
    """Return whether lines go on for seconds after the last start or stop of this node, and of the one that they name."""
    near = _turns_near(name, values, turns)
    return seen.last is not None and seen.last.ms - max(near, default=0) > _DEAD_MS / 2


def _at_a_turn(seen: Seen, name: str, values: Mapping[str, str], turns: Mapping[str, Sequence[int]]) -> bool:
    """Return whether lines were written while this node, or the one that they name, started or stopped."""
    near = _turns_near(name, values, turns)
    first, last = seen.first, seen.last
    return first is not None and last is not None and any(first.ms - _TURN_MS <= ms <= last.ms + _TURN_MS for ms in near)


def _is_brief(seen: Seen) -> bool:
    return seen.first is not None and seen.last is not None and seen.last.ms - seen.first.ms <= _TURN_MS


def _went_well(node: NodeTally, seen: Seen) -> bool:
    """Return whether the process started well after it wrote these lines."""
    return any(event.kind == STARTED and _is_after(event, seen) for event in node.events)


def _ended(node: NodeTally, fault: LogFault, values: Mapping[str, str], seen: Seen) -> bool:
    """Return whether a later line says that it is over."""
    lines = ((dict(found), line) for (name, found), line in node.over.items() if name == fault.name)
    return any(
        found.items() <= values.items() and _is_after(Event("over", stamp, place), seen) for found, (place, stamp) in lines
    )


def _is_after(event: Event, seen: Seen) -> bool:
    if event.stamp is not None and seen.last is not None:
        return event.stamp.ms > seen.last.ms
    return event.place[0] == seen.last_place[0] and event.place[1] > seen.last_place[1]


def _after_start(node: NodeTally, seen: Seen, seconds: int) -> bool:
    begun = [event.stamp.ms for event in node.events if event.kind == STARTING and event.stamp]
    last = seen.last
    return last is not None and any(0 <= last.ms - start <= seconds * 1000 for start in begun)


def _leading(causes: Sequence[LogCause]) -> tuple[list[LogCause], dict[int, list[LogCause]]]:
    """Return the causes that lead, the worst first, and by each of them those that it explains."""
    down = {cause.values.get("other", cause.node.rpartition(" ")[2]): cause for cause in causes if _ends(cause)}
    leading: list[LogCause] = []
    behind: dict[int, list[LogCause]] = {}
    for cause in causes:
        target = cause.values.get("other", "")
        at_node = [
            one for one in causes if one is not cause and (one.node == cause.node or (cause.fault.absent and _is_at(one, target)))
        ]
        same = next((one for one in leading if one.fault is cause.fault and _same_place(one, cause)), None)
        first = next((one for one in at_node if _explains(one.fault, cause.fault)), None)
        other = down.get(target) if cause.fault.lasts else None
        start = next(
            (one for one in at_node if one.fault.of_start > cause.fault.of_start and one.seen.where == cause.seen.where), None
        )
        explained_by = same or start or (other if other is not cause else None) or first
        if explained_by is None:
            leading.append(cause)
        else:
            behind.setdefault(id(explained_by), []).append(cause)
    for cause in [one for one in causes if id(one) in behind and one not in leading]:  # of a chain, the first one has all
        top = next((one for one in leading if cause in behind.get(id(one), ())), None)
        if top is not None:
            behind[id(top)].extend(behind[id(cause)])
    return sorted(leading, key=_worst_first), behind


def _explains(one: LogFault, fault: LogFault) -> bool:
    """Return whether a fault explains a more general one of the same node: what disturbs one client is no cause of an outage."""
    worst = max(Severity[one.severity].value, Severity.MEDIUM.value)
    return one.general < fault.general and (worst > Severity.MEDIUM.value or Severity[fault.severity].value <= worst)


def _is_at(cause: LogCause, number: str) -> bool:
    return cause.node.rpartition(" ")[2] == number


def _same_place(one: LogCause, cause: LogCause) -> bool:
    """Return whether the same node says both, or both say it of the same other node."""
    return one.node == cause.node or one.values.get("other", one.node) == cause.values.get("other", cause.node)


def _ends(cause: LogCause) -> bool:
    return cause.fault.of_start or cause.fault.absent or cause.fault.name == "fenced_without_heartbeats"


def _worst_first(cause: LogCause) -> tuple[int, bool, float]:
    return -Severity[cause.fault.severity].value, not cause.fault.of_start, cause.seen.first.ms if cause.seen.first else 0.0


def _incident(
    cause: LogCause, behind: Iterable[LogCause], shown: Callable[..., str], quoted: Callable[[Seen], str]
) -> dict[str, Any]:
    fault, values = cause.fault, {**cause.values, "node": cause.node or "the node"}
    doubt = f" Lines of {listing(cause.programs)} are in its log, so it may be that program." if cause.programs else ""
    steps = [_step(step, values, shown) for step in fault.steps]
    if fault.of_start:
        steps.append({"kind": "prove", "text": "Start it again: its log says that it started.", "commands": [], "cost": None})
    alike: Counter[str] = Counter()
    for one in behind:
        alike[one.effect] += one.seen.count
    more = [f"{effect} ({counted(count, 'line')})" for effect, count in alike.items()]
    return {
        "headline": shown(cause.headline, LONGEST_HEADLINE),
        "cause": fault.check or None,
        "fault": fault.name,
        "node": cause.node,
        "severity": fault.severity,
        "confidence": cause.confidence,
        "confidence_why": "Its own log says it."
        if cause.confidence == "measured"
        else "Its log ends while others go on; who looks at its process decides."
        if not fault.says
        else "Its own log says that it fails, and not at which end."
        if fault.undecided
        else "The log is too short to tell whether it lasts.",
        "since": _iso(cause.seen.again or cause.seen.first),
        "first": _iso(cause.seen.first),
        "last": _iso(cause.seen.last),
        "why": shown(with_values(fault.why, values) + doubt),
        "evidence_for": [
            {
                "observer": f"log of {cause.node or 'the node'}",
                "text": f"{cause.seen.where} ({counted(cause.seen.count, 'line')}): {quoted(cause.seen)}",
            }
        ],
        "also": [*dict.fromkeys(shown(text) for text in more)][:_MOST_VALUES],
        "remediation": steps,
    }


def _earlier(causes: Iterable[LogCause]) -> Iterator[str]:
    """Yield faults that are over by the time of their last lines, each once."""
    alike: dict[str, list[Seen]] = {}
    for cause in sorted(causes, key=lambda one: one.seen.last.ms if one.seen.last else 0, reverse=True):
        alike.setdefault(cause.headline, []).append(cause.seen)
    for headline, found in reversed(alike.items()):
        times = f", {len(found)} times, the last" if len(found) > 1 else ""
        yield f"{headline}{times}{_at(found[0].last)}"


def _risks(causes: Iterable[LogCause], shown: Callable[..., str]) -> Iterator[dict[str, Any]]:
    alike: dict[tuple[object, ...], dict[str, LogCause]] = {}
    said: set[str] = set()
    for cause in sorted(causes, key=lambda one: -Severity[one.fault.severity].value):
        if cause.headline not in said:  # each broker writes what is changed, and most brokers are set alike
            said.add(cause.headline)
            alike.setdefault((cause.fault.name, *sorted(cause.values.items())), {})[cause.headline] = cause
    for group in alike.values():
        first, *others = group.values()
        also = f" (also {listing(cause.node or 'a node' for cause in others)})" if others else ""
        headline = f"{shown(first.headline, LONGEST_HEADLINE)}{shown(also)}"
        yield {"node": first.node, "severity": first.fault.severity, "check": first.fault.check or None, "headline": headline}


def _step(step: Mapping[str, str], values: Mapping[str, str], shown: Callable[..., str]) -> dict[str, Any]:
    kind = next(key for key in ("see", "quick", "lasting", "do_not", "prove") if key in step)
    run = [shown(step_command(step["run"], values))] if "run" in step else []
    return {"kind": kind, "text": shown(with_values(step[kind], values)), "commands": run, "cost": step.get("cost")}


def _node(name: str, node: NodeTally, causes: Iterable[LogCause]) -> dict[str, Any]:
    own = [cause for cause in causes if cause.node == name and cause.fault.of_start]
    return {
        "node": name or "not known",
        "role": " and ".join(sorted(node.roles)) or None,
        "release": node.release or None,
        "files": node.sources[:20],
        "lines": node.lines,
        "from": _iso(node.first),
        "until": _iso(node.last),
        "starts": [*_starts(node, own)],
    }


def _starts(node: NodeTally, causes: Sequence[LogCause]) -> Iterator[dict[str, Any]]:
    """Yield the starts of a process: when, how it ended (None: it goes on), and why."""
    for run in process_runs(_sorted(node.events)):
        if run.has(STARTING, FAILED):
            cause = next((cause.fault.name for cause in causes), None) if run.ended == FAILED else None
            yield {"at": _iso(run.events[0].stamp), "ended": run.ended or _ending(run), "cause": cause}


def _ending(run: ProcessRun[Event]) -> str | None:
    return STOPPED if run.has(SIGNAL) else None


def _sorted(events: Iterable[Event]) -> list[Event]:
    """Return events by their time; those without one stay where they are."""
    found = list(events)
    return sorted(found, key=lambda event: event.stamp.ms if event.stamp else 0) if all(one.stamp for one in found) else found


def _order(nodes: Mapping[str, NodeTally]) -> str:
    """Return what is known of the order of lines of several nodes."""
    stamps = [node.first for node in nodes.values()]
    if len(nodes) < 2:  # noqa: PLR2004 -- one node is in order with itself
        return ""
    if any(stamp is None for stamp in stamps):
        return "Some logs have no times: the order between nodes is not known."
    if all(stamp.zoned for stamp in stamps if stamp):
        return "Each line names its time zone: times are compared in UTC."
    return (
        "The lines name no time zone: times of two nodes can be compared only if their hosts have the same zone and right clocks."
    )


def _was_stopped(node: NodeTally) -> bool:
    """Return whether a log ends with an orderly stop of a process that had started."""
    last = _sorted(node.events)[-10:]
    return bool(last) and last[-1].kind == STOPPED and all(event.kind != FAILED for event in last)


def _came_up(events: Sequence[Event]) -> bool:
    """Return whether a start did not fail, by what follows its beginning; one that still goes on did not."""
    return next((event.kind for event in events if event.kind in {STARTED, FAILED}), STARTED) == STARTED


def _ordinary(nodes: Mapping[str, NodeTally], causes: Sequence[LogCause]) -> Iterator[str]:
    rolled: list[str] = []
    away: list[tuple[int, int]] = []
    for name, node in nodes.items():
        who, events = start_upper(name) or "The node", _sorted(node.events)
        pairs = [
            (one, two)
            for at, (one, two) in enumerate(pairwise(events))
            if (one.kind, two.kind) == (STOPPED, STARTING) and _came_up(events[at + 2 :])
        ]
        if len(pairs) > _LISTED:
            yield f"{who} stopped in an orderly way and started again {counted(len(pairs) - _LISTED, 'time')} before these:"
        for stopped, starting in pairs[-_LISTED:]:
            took = f" after {(starting.stamp.ms - stopped.stamp.ms) // 1000} s" if starting.stamp and stopped.stamp else ""
            yield f"{who} stopped in an orderly way{_at(stopped.stamp)}, and started again{took}."
        if pairs and any(event.kind == STARTED for event in events):
            rolled.append(name)
            away += [(one.stamp.ms, two.stamp.ms) for one, two in pairs if one.stamp and two.stamp]
        if _was_stopped(node):
            yield f"{who} was stopped in an orderly way{_at(events[-1].stamp)}, and its log ends there."
        quiet = {key[0].name: seen for key, seen in node.faults.items() if key[0].lasts and seen.count >= key[0].least}
        shown = {cause.fault.name for cause in causes if cause.node == name}
        for fault, seen in quiet.items():
            if fault not in shown:
                lines = f"{counted(seen.count, 'line')} of `{fault}`{f', the last{_at(seen.last)}' if seen.last else ''}"
                yield f"{who}: {lines}. They stopped, or the other node was stopped."
    if len(rolled) > 1:
        at_once = any(later[0] < earlier[1] for earlier, later in pairwise(sorted(away)))
        how = "some of them at the same time" if at_once else "one after the other as far as their times tell"
        yield f"Nodes were restarted in an orderly way, {how}: {listing(rolled)}."


def _totals(nodes: Mapping[str, NodeTally]) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in nodes.values():
        for name, seen in node.meanings.items():
            found[name] = found.get(name, 0) + seen.count
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def _counts(name: str, node: NodeTally, meaning: str, seen: Seen) -> dict[str, Any]:
    return {
        "node": name or "not known",
        "meaning": meaning,
        "says": meanings()[meaning].says,
        "kind": meanings()[meaning].kind,
        "error": meaning in node.bad,
        "count": seen.count,
        "first": _iso(seen.first),
        "last": _iso(seen.last),
    }


def _signs(
    nodes: Mapping[str, NodeTally], turns: Mapping[str, Sequence[int]], quoted: Callable[[Seen], str]
) -> Iterator[dict[str, Any]]:
    """Yield lines at ERROR that are the sign of a fault, where no fault of ours is named by them."""
    for name, node in nodes.items():
        for meaning, seen in sorted(node.meanings.items(), key=lambda one: -one[1].count):
            if _was_stopped(node) and _is_brief(seen) and _at_a_turn(seen, name, {}, turns):
                continue  # while the node was stopped on purpose: the last one of a cluster cannot give its leaders away
            if meaning in node.bad and not is_ordinary(meaning) and not _went_well(node, seen):
                known = meanings()[meaning]
                yield {
                    "node": name or "not known",
                    "meaning": meaning,
                    **{key: getattr(known, key) for key in ("says", "normal", "next")},
                    "checks": [*known.checks],
                    "count": seen.count,
                    "last": _iso(seen.last),
                    "where": seen.where,
                    "text": quoted(seen),
                }


def _unknown(nodes: Mapping[str, NodeTally], quoted: Callable[[Seen], str]) -> Iterator[dict[str, Any]]:
    for name, node in nodes.items():
        for seen in sorted(node.unknown.values(), key=lambda one: -one.count)[:_MOST_UNKNOWN]:
            file, line = seen.place
            yield {
                "node": name or "not known",
                "text": quoted(seen),
                "file": file,
                "line": line,
                "count": seen.count,
                "error": seen.bad,
            }


def _unread(tally: LogTally) -> Iterator[str]:
    if tally.unread:
        yield f"{counted(tally.unread, 'line')} at WARN and above, because there are too many different ones."


def _iso(stamp: Stamp | None) -> str | None:
    """Return a time as it is in the log, or in UTC where the line names its zone."""
    if stamp is None:
        return None
    text = datetime.fromtimestamp(stamp.ms / 1000, UTC).isoformat(timespec="seconds").removesuffix("+00:00")
    return f"{text}Z" if stamp.zoned else text


def _at(stamp: Stamp | None) -> str:
    return f" at {_iso(stamp)}" if stamp else ""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.incident import Case, StoryFacts
from kafka_audit.checks.repair import last_in_sync, single_copies
from kafka_audit.cluster.held_up_by import all_waiting_known, waiting_for
from kafka_audit.cluster.processes import Process, Processes, ProcessState
from kafka_audit.model.commands import command, remark
from kafka_audit.model.finding import Evidence, Finding, Step
from kafka_audit.model.quorum import majority
from kafka_audit.model.text import clean, counted, listing, our_line, start_upper
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.words import how_far, summary
from kafka_audit.says.log_faults import with_values

_UP = {ProcessState.RUNS}
_OPEN = {ProcessState.UNKNOWN, ProcessState.NEVER_STARTED}
_QUOTED, _LOOPS = 300, ProcessState.LOOPS.name.lower()


@check(code="KA116", severity=Severity.HIGH)
def process_down(view: ClusterView) -> Judgements:
    """The process of a broker or controller does not run: it does not start, was stopped or killed, or ended by itself."""
    processes = view.derived(Processes).all
    if not processes:
        yield view.unknown("cluster", "no broker is known", "an answer from ZooKeeper or a broker", who="the brokers")
    again, stopping = (
        {row.parties[0]: row for row in progress_of(view).of_kind(kind) if row.state == "standing"}
        for kind in ("start", "shutdown")
    )
    for node, process in processes.items():
        party = view.party(node)
        evidence: dict[str, Any] = {"node": node, "who": party, "state": process.state.value}
        resource = party.replace(" ", "/")
        if process.state in _UP and resource in again:
            evidence |= {"state": ProcessState.LOOPS.value, "cause": _LOOPS, "since": again[resource].since}
            evidence["headline"] = f"{start_upper(party)} starts again and again: it registers anew in each audit"
            yield view.judge(resource, Status.FAIL, evidence)
        elif process.state in _UP and process.stops is not None and view.kraft and node in view.quorum.now.late:
            evidence |= {"state": "does not end", "cause": "stop_without_controller", "since": clean(process.stops.written or "")}
            evidence["headline"] = f"{start_upper(party)} was asked to stop, and does not end: it does not follow the controllers"
            yield view.judge(resource, Status.FAIL, evidence, severity=Severity.MEDIUM)
        elif process.state in _UP and resource in stopping:
            evidence |= {
                "state": "is stopping",
                "cause": "stopping",
                "since": process.stops and clean(process.stops.written or ""),
            }
            evidence["headline"] = our_line(summary(stopping[resource]), _QUOTED)
            yield view.judge(resource, Status.FAIL, evidence, severity=Severity.MEDIUM)
        elif process.state in _UP and process.stops is not None and not all_waiting_known(view):
            yield view.unknown(resource, "it was asked to stop; what it leads was not read", "the states of partitions", evidence)
        elif process.state in _UP:
            yield view.judge(resource, Status.PASS, evidence, subject=start_upper(party))
        elif process.state in _OPEN:
            yield view.unknown(resource, process.error, process.needs, evidence)
        else:
            evidence |= {"headline": process.sentence(party), "since": process.since, "cause": _cause(process)}
            evidence |= {"starts": process.starts and process.starts[0], "done": process.done and process.done[0]}
            severity = _severity(view, node)
            yield view.judge(resource, Status.FAIL, evidence, severity=severity, confidence=process.confidence)


def _cause(process: Process) -> str:
    """Return what findings of one incident have in common: the fault in their logs, or their state."""
    return process.state.name.lower() if process.fault is None else process.fault.name


def _severity(view: ClusterView, node: int) -> Severity | None:
    """Return CRITICAL where partitions or the quorum wait for it, MEDIUM where nothing hangs on it."""
    if node in view.controller_nodes:
        now = view.quorum.now
        spare = len(now.voters) - len(now.late) - majority(len(now.voters))
        return Severity.MEDIUM if now.voters and spare > 0 else None
    if waiting_for(view, node):
        return Severity.CRITICAL
    return None if node in view.partitions.assigned or not all_waiting_known(view) else Severity.MEDIUM


def how_it_went(case: Case) -> StoryFacts:
    """Return what the logs of these nodes say of their ends, and the steps of the fault that they name."""
    view = case.view
    found = [view.derived(Processes).all[root.number("node")] for root in case.roots]
    first, them = found[0], listing(view.party(process.node) for process in found)
    resources = {view.party(process.node).replace(" ", "/") for process in found}
    loops = [process.starts for process in found if process.starts is not None]
    facts: dict[str, object] = {
        "them": them,
        "places": [dict(zip(("role", "node"), view.party(process.node).split(" "), strict=True)) for process in found],
        "named": first.fault is not None,
        "named_partitions": any(one.resource.topic_partition for one in case.explained),
        "why_of_fault": with_values(first.fault.why, first.values) if first.fault else "",
        "loop": f"{counted(loops[0][0], 'start')} within {loops[0][1]} s" if loops else "",
        "log_steps": tuple(_steps(first)),
        "start": last_in_sync(case, them) if any(waiting_for(view, process.node) for process in found) else (),
        "alone": single_copies(case),
        "leaderless": len(frozenset().union(*(waiting_for(view, process.node) for process in found))),
        "spare": next((other.text("spare") for other in case.explained if other.code == "KA209"), ""),
        "after": _comes_first(case) if first.node not in view.controller_nodes else "",
        "is_controller": first.node in view.controller_nodes,
        "far": "; ".join(how_far(row) for row in progress_of(view).of_kind("recovery") if row.parties[0] in resources),
    }
    return StoryFacts(facts=facts, evidence=tuple(_quotes(case, found)))


def _comes_first(case: Case) -> str:
    """Return what must be there before a broker can start and before an ISR changes, where it is gone; "" where it is not."""
    failed = {f.code for f in case.findings if f.status is Status.FAIL and f.severity is Severity.CRITICAL}
    if case.view.kraft:
        return "a controller leads" if "KA201" in failed else ""
    return "ZooKeeper answers" if "KA802" in failed and not case.view.zookeeper_read else ""


def _quotes(case: Case, found: list[Process]) -> Iterator[Evidence]:
    for process in found:
        yield from quotes_of(case.view, process)
    for other in case.explained:
        if other not in case.roots:
            yield Evidence(observer=other.code, text=other.message)


def quotes_of(view: ClusterView, process: Process) -> Iterator[Evidence]:
    """Yield the lines of its log that show what became of a process."""
    for line in process.lines:
        text = clean(line.text, _QUOTED) if line.text else "its last line; nothing says that it stops, or why"
        log = "the log" if line.log == "command" else clean(line.log)
        when = clean(line.written) if line.written else "at an unknown time"
        place = log if text.startswith(f"[{when}]") else f"{log}, {when}"
        yield Evidence(observer=f"log of {view.party(process.node)}", text=f"{place}: {text}")


def revivals(view: ClusterView, dead: Sequence[Process]) -> Iterator[Step]:
    """Yield how each of these processes runs again: what ended by itself, or is refused, by the fault that its log names."""
    for process in dead:
        who = view.party(process.node)
        at = remark("on the host of {role} {node}", **dict(zip(("role", "node"), who.split(" "), strict=True)))
        start = command("kafka-server-start.sh -daemon server.properties")
        if process.state is ProcessState.HUNG:
            text = f"End {who}, which hangs: a normal stop does not. Then start it. A suspended one (STAT T) may go on instead."
            yield Step(
                kind="quick",
                text=text,
                commands=(at, command("kill -9 PID"), start, remark("or, if it is suspended"), command("kill -CONT PID")),
            )
        elif process.state in {ProcessState.KILLED, ProcessState.STOPPED}:
            yield Step(kind="quick", text=f"Start {who}, which {process.state.value}.", commands=(at, start))
        elif process.fault is not None:
            of_fault = (step for step in _steps(process) if step.kind in {"see", "quick"})
            yield from (replace(step, text=f"{start_upper(who)}: {step.text}") for step in of_fault)
        else:
            text = f"Read why {who} {process.state.value} (reads only), and correct it."
            yield Step(kind="see", text=text, commands=(at, command("grep -nE -A8 'FATAL|ERROR' server.log | tail -n 40")))


def _steps(process: Process) -> Iterator[Step]:
    """Yield the steps of the fault that the log names, as `kafka-audit logs` prints them."""
    values: Mapping[str, str] = process.values
    for step in process.fault.steps if process.fault else ():
        kind = next(key for key in ("see", "quick", "lasting", "do_not", "prove") if key in step)
        run = tuple(command(part, **values) for part in step.get("run", "").split("; ") if part)
        text = step[kind].removeprefix("Do not ") if kind == "do_not" else step[kind]  # as in stories: pages write it before it
        yield Step(kind=kind, text=our_line(with_values(text, values), 1000), commands=run, cost=step.get("cost"))


def are_all_missing(case: Case, symptom: Finding) -> bool:
    """Explain that fewer brokers are registered than expected, where these are all that are missing."""
    failed = (f for f in case.findings if f.code == symptom.code and f.status is Status.FAIL and not f.evidence.get("never"))
    return symptom.resource.name == "cluster" and {f.resource.broker for f in failed} - {None} <= {*case.brokers}

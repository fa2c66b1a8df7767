"""The answer to one step: the gravest of what stands against it, with its command where nothing does."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.incidents.tools import Tools
from kafka_audit.may.rules import Asked, objections
from kafka_audit.may.step import TypedStep
from kafka_audit.migration.finalizing import finalizing_lines
from kafka_audit.migration.quorum.facts import QuorumFacts
from kafka_audit.migration.quorum.planned_steps import StepCommands
from kafka_audit.migration.quorum.voter_changes import voter_change_steps
from kafka_audit.model import quoting
from kafka_audit.model.commands import Command, Line, command, remark
from kafka_audit.what_if.steps.nodes import hangs, is_down
from kafka_audit.what_if.steps.objections import Objection, Permit

EXIT_CODES = {Permit.GO: 0, Permit.NOT_NOW: 3, Permit.NEVER: 3, Permit.UNKNOWN: 4}
_GRAVEST = (Permit.NEVER, Permit.NOT_NOW, Permit.UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class StepAnswer:
    """Whether a step may be taken now.

    Attributes:
        step: what was asked.
        permit: the answer.
        reasons: what stands against it, the gravest first; what is not known comes last.
        remarks: what it costs.
        lines: its command, only where nothing stands against it.
    """

    step: TypedStep
    permit: Permit
    reasons: tuple[Objection, ...]
    remarks: tuple[Objection, ...]
    lines: tuple[Line, ...]

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return EXIT_CODES[self.permit]

    def to_plain(self) -> dict[str, Any]:
        """Return it as JSON has it; a field without a text is null."""
        both = (*self.reasons, *self.remarks)
        texts = {key: "; ".join(dict.fromkeys(filter(None, (getattr(one, key) for one in both)))) or None for key in _TEXTS}
        return {
            "step": self.step.text,
            "answer": str(self.permit),
            "why": [reason.why for reason in self.reasons],
            "because": [*dict.fromkeys(mark for reason in self.reasons for mark in reason.because)],
            **texts,
            "command": "\n".join(quoting.lines(self.lines)) or None,
        }


_TEXTS = ("waits_for", "loses", "read_first")


def answer_step(asked: Asked) -> StepAnswer:
    """Return the answer to a step: GO where all that decides was read, and nothing stands against it."""
    found = objections(asked)
    reasons = tuple(one for permit in _GRAVEST for one in found if one.permit is permit)
    permit = reasons[0].permit if reasons else Permit.GO
    return StepAnswer(
        step=asked.step,
        permit=permit,
        reasons=reasons,
        remarks=tuple(one for one in found if one.permit is Permit.GO),
        lines=tuple(_lines(asked.step, asked.view)) if permit is Permit.GO else (),
    )


def _lines(step: TypedStep, view: ClusterView) -> Iterator[Line]:  # noqa: C901 -- a branch for each step
    facts = QuorumFacts(view)
    run = StepCommands(facts)
    here = remark(
        "on the host of {kind} {node}", kind="node" if step.node is None else view.party(step.node).split()[0], node=step.node
    )
    match step.kind:
        case "stop" | "restart":
            lines = [*_stop(view, step.node or 0)]
            lines += [command("kafka-server-start.sh -daemon server.properties")] if step.kind == "restart" else []
            yield from (here, *lines) if lines else ()
        case "upgrade":
            yield run(
                "kafka-audit before-migration {cluster} --kind rolling-upgrade --kafka-version {version}", version=step.version
            )
        case "migrate":
            yield run("kafka-audit before-migration {cluster} --kind zookeeper-to-kraft")
        case "finalize":
            yield from finalizing_lines(view)
        case "delete-znode":
            tool = "deleteall" if behaviour("zookeeper_deleteall").holds(Tools.of(view).release or (0,)) else "rmr"
            yield run(
                "zookeeper-shell.sh {zookeeper} {tool} {path}", zookeeper=Tools.of(view).zookeeper, tool=tool, path=step.name
            )
        case "remove-voter":
            wanted = [voter for voter in facts.voters if voter != step.node]
            found = (line for one in voter_change_steps(facts, wanted) for line in one.lines)
            yield from (line for line in found if isinstance(line, Command) and "remove-controller" in line.stages[0])
        case "unregister":
            yield run("kafka-cluster.sh unregister --bootstrap-server {broker} --id {node}", node=step.node)
        case "format" if view.kraft:
            yield here
            form = "kafka-storage.sh format --cluster-id {id} --config server.properties"
            controls = step.node not in {*view.known_brokers, *view.quorum.now.fenced}  # a new broker may have it, too
            yield run(f"{form} --no-initial-controllers" if controls and facts.is_dynamic else form, id=view.cluster_id)
        case "format":
            words = "on the host of broker {node}, where meta.properties has cluster.id={id}: empty its log.dirs, and start it"
            yield remark(words, node=step.node, id=view.cluster_id)
        case "reassign":
            yield run(
                "kafka-reassign-partitions.sh --bootstrap-server {broker} --reassignment-json-file {file} --execute",
                file=step.name,
            )
        case "delete-topic":
            yield run("kafka-topics.sh --bootstrap-server {broker} --delete --topic {topic}", topic=step.name)
        case _:
            yield _setting_line(step, run)


def _stop(view: ClusterView, node: int) -> Iterator[Line]:
    """Yield how a process is ended, and that it has ended: the next start needs its locks."""
    if hangs(view, node):
        # Other nodes may run on this host: whose process is killed is for a person to see.
        yield remark("PID is the process of node {node} in this list", node=node)
        yield from map(command, ("pgrep -af kafka[.]Kafka", "jstack -l PID", "kill -9 PID", "tail -f /dev/null --pid=PID"))
    elif not is_down(view, node):
        yield command("kafka-server-stop.sh")
        yield command("pgrep -f kafka[.]Kafka | xargs -r -I PID tail -f /dev/null --pid=PID")


def _setting_line(step: TypedStep, run: StepCommands) -> Line:
    value = f"[{step.value}]" if "," in step.value else step.value
    entity = "topics" if step.name else "brokers"
    who = "--entity-default" if not step.name and step.node is None else "--entity-name {name}"
    template = f"kafka-configs.sh --bootstrap-server {{broker}} --alter --entity-type {entity} {who} --add-config {{pair}}"
    return run(template, name=step.name or step.node, pair=f"{step.key}={value}")

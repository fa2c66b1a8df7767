"""The steps of a change of the quorum: what to do, with commands for this cluster, and the state between it and the next one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from kafka_audit.incidents.tools import Tools
from kafka_audit.migration.quorum.facts import QuorumFacts
from kafka_audit.model import quoting
from kafka_audit.model.commands import Line, command
from kafka_audit.model.quorum import majority
from kafka_audit.model.report import PlannedChange, report_json
from kafka_audit.model.text import counted, listing
from kafka_audit.report import remedies


@dataclass(frozen=True, kw_only=True)
class PlannedStep:
    """One step. `halfway` is what holds, and what breaks, until the next step; "" where nothing differs from the step before."""

    text: str
    halfway: str = ""
    lines: tuple[Line, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the step for JSON, as reports have the steps of a repair."""
        step: dict[str, Any] = report_json(
            PlannedChange(
                text=self.text,
                halfway=self.halfway,
                commands=tuple(quoting.lines(self.lines)),
                lines=remedies.reported_parts(self.lines),
            )
        )
        return step


class StepCommands:
    """Commands with addresses of this cluster, and with the file of a login where its listeners need one."""

    def __init__(self, facts: QuorumFacts, *, without: Iterable[int] = (), release: tuple[int, int] | None = None) -> None:
        """Choose the broker and the controller that are asked: a voter that stays, the leader if it does.

        `release`: of the tools; None for those of the oldest broker.
        """
        left_out = frozenset(without)
        staying = sorted(facts.voters.keys() - left_out, key=lambda node: (node != facts.leader, node in facts.late, node))
        self._tools = Tools.of(facts.view) if release is None else replace(Tools.of(facts.view), release=release)
        self._cluster = facts.view.snapshot.cluster
        self._broker = self._tools.server
        self._controller = facts.address(staying[0]) if staying else "CONTROLLER:9093"

    def __call__(self, template: str, **values: object) -> Line:
        """Return a command; its template may name {broker}, {controller} and {cluster}."""
        known = {"broker": self._broker, "controller": self._controller, "cluster": self._cluster}
        return self._tools.line(command(template, **known, **values))

    def replication(self) -> Line:
        """Return the command that shows who follows, and how far behind."""
        return self("kafka-metadata-quorum.sh --bootstrap-server {broker} describe --replication")

    def status(self) -> Line:
        """Return the command that shows the voters with their directories and endpoints."""
        return self("kafka-metadata-quorum.sh --bootstrap-server {broker} describe --status")

    def comparison(self, expected: str) -> PlannedStep:
        """Return the last step of every plan."""
        return PlannedStep(
            text=f"Compare the cluster with the baseline of this gate. Expected: {expected}.",
            lines=(self("kafka-audit after-migration {cluster}"),),
        )


def leader_last(facts: QuorumFacts, nodes: Iterable[int]) -> tuple[int, ...]:
    """Return nodes in the order in which they are restarted, so that leadership moves once."""
    return tuple(sorted(nodes, key=lambda node: (node == facts.leader, node)))


def one_by_one(nodes: Iterable[int], kind: str) -> str:
    """Return `On controllers 201, 202 and 200, in this order and one at a time`."""
    found = tuple(nodes)
    if len(found) == 1:
        return f"On {kind} {found[0]}"
    return f"On {kind}s {listing(found, 30)}, in this order and one at a time"


def while_one_restarts(facts: QuorumFacts) -> str:
    """Return what the quorum tolerates while one of its voters restarts."""
    size = len(facts.voters)
    spare = size - 1 - majority(size)
    if spare < 0:
        return (
            f"While a controller restarts, {size - 1} of {counted(size, 'voter')} follow and {majority(size)} are required: no "
            "partition leader is elected and no topic is created until it is back."
        )
    also = "none of the others may fail" if not spare else f"{spare} of the others may fail"
    return f"While a controller restarts, {size - 1} of {size} voters follow and {majority(size)} are required: {also}."

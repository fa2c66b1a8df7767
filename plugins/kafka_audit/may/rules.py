"""Which gates, findings, losses and rules are asked about a step."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from kafka_audit.checks import catalogue
from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.may.step import TypedStep
from kafka_audit.migration.before import report_before_change
from kafka_audit.migration.finalizing import finalizing_items, finalizing_lines
from kafka_audit.migration.items import HeadedItem
from kafka_audit.migration.plan import Kind, Plan
from kafka_audit.migration.predictions import OF_EDGES
from kafka_audit.migration.proposed_listeners import ProposedListeners
from kafka_audit.migration.quorum.facts import QuorumFacts, quorum_is_read
from kafka_audit.migration.quorum.planned_steps import StepCommands
from kafka_audit.migration.quorum.voter_changes import voter_change_items
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Severity, Status, fingerprint
from kafka_audit.model.report import Report, ReportedFinding
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import counted, listing
from kafka_audit.report import gate
from kafka_audit.report.text import time_span
from kafka_audit.report.what_if import losses
from kafka_audit.store.manifest import taken_at
from kafka_audit.what_if.answer import answer
from kafka_audit.what_if.losses import BROKER, CONTROLLER, PartyLoss, every, loss_named
from kafka_audit.what_if.quorums import quorum_gap
from kafka_audit.what_if.steps import nodes, settings, topics
from kafka_audit.what_if.steps.objections import Objection, Permit, costs, not_now, unknown_whether, unread

_SENTENCE_ENDS = re.compile(r"[.:]\s")
_PHASE, _LEFT, _MOST_REASONS, _FRESH_S, _SHORT = "KA909", "KA917", 3, 900, 200
_STARTS = frozenset({"KA310", "KA311", "KA406"})
"""Checks of what the next start refuses that need more than files, or that `lint` runs by itself."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A step, and the audit that answers.

    Attributes:
        step: what is asked.
        view: the cluster, measured with the topics of the step.
        document: the report on it.
        bootstrap: the addresses of the cluster file.
        oldest_client: the oldest client of an upgrade.
        node_ids: of the controllers that a migration adds.
        newer: the newest audit of the cluster, if that is another one.
        now: with a time zone.
    """

    step: TypedStep
    view: ClusterView
    document: Report
    bootstrap: tuple[str, ...] = ()
    oldest_client: str | None = None
    node_ids: tuple[int, ...] = ()
    newer: str | None = None
    now: datetime

    @property
    def node(self) -> int:
        """The node that the step names."""
        assert self.step.node is not None  # noqa: S101 -- by `parse_step`
        return self.step.node


def objections(asked: Asked) -> tuple[Objection, ...]:
    """Return what stands against a step, and remarks on what it costs; raises UsageError for a node that there is not."""
    return tuple(dict.fromkeys((*_RULES[asked.step.kind](asked), *_age(asked))))


def _age(asked: Asked) -> Iterator[Objection]:
    """Yield that a stored audit is old, or that there is a newer one: it says no GO."""
    again = f"`kafka-audit may {asked.view.snapshot.cluster} {asked.step.kind} …`, which audits anew"
    if asked.newer is not None:
        yield unknown_whether(f"what has changed since this audit: {asked.newer} is newer", again)
    info, taken = asked.view.info, taken_at(asked.view.snapshot_id)
    lasted = 0 if info is None else (info.finished_ms - info.started_ms) / 1000
    age = _FRESH_S + 1 if taken is None else (asked.now - taken).total_seconds() - lasted
    if age > _FRESH_S:
        yield unknown_whether(f"what has changed since this audit, {time_span(age)} ago", again)


def _loss(asked: Asked) -> PartyLoss:
    view, node = asked.view, asked.node
    other = {BROKER: view.controller_nodes, CONTROLLER: view.known_brokers - {*view.quorum.now.voters}}
    if node in other.get(asked.step.role, ()):
        msg = f"node {node} is no {asked.step.role}: it is {view.party(node)}"
        raise UsageError(msg)
    kind = CONTROLLER if node in view.controller_nodes else BROKER
    known = node in {*view.known_brokers, *view.quorum.now.fenced, *view.quorum.now.replicas}
    known |= asked.step.kind == "format"  # of a new node, too
    if kind == BROKER and not known and view.gap("topics") is None and view.gap("brokers") is None:
        msg = f"the cluster has no node {node}; it has {listing(sorted({*view.known_brokers, *view.controller_nodes}), 20)}"
        raise UsageError(msg)
    return loss_named(view, f"{kind}:{node}")


def _who_votes(asked: Asked) -> Iterator[Objection]:
    """Yield that a node may be a controller of a quorum that was not read."""
    gap = quorum_gap(asked.view)
    if gap is not None and asked.node not in asked.view.known_brokers:
        yield unknown_whether(gap.what, gap.needs)


def _stopped(asked: Asked) -> Iterator[Objection]:
    if unread_quorum := [*_who_votes(asked)]:
        yield from unread_quorum
        return
    view, node, stops = asked.view, asked.node, asked.step.kind == "stop"
    yield from nodes.zookeeper_is_needed(view)
    yield from _without(asked, _loss(asked))
    yield from nodes.controller_is_needed(view, node)
    if nodes.is_down(view, node):
        yield from nodes.downtime(view, node, starts=not stops)
    elif stops:
        yield from _next_start(asked, "it could not be started again")


def _without(asked: Asked, loss: PartyLoss, when: str = "") -> Iterator[Objection]:
    """Yield what stops without a node, what has one copy then, and what is not known of it."""
    found = answer(asked.view, loss, bootstrap=asked.bootstrap)
    waits = nodes.waits_of_loss(found)
    for about, reason in losses.reasons(found):
        yield not_now(f"{when}{reason}", waits[about])
    for question in found.not_known:
        if question.decides:
            yield unknown_whether(f"{when}{question.what}", question.needs)
    yield from (replace(one, why=f"{when}{one.why}") for one in nodes.stopping(asked.view, found))


def _restarted(asked: Asked) -> Iterator[Objection]:
    """Yield the same, and what its next start fails for, as its last one, its file or its settings show."""
    yield from nodes.refused_start(asked.view, asked.node)
    if nodes.serves_nothing(asked.view, asked.node):
        led = counted(asked.view.partitions.led_by((asked.node,)), "partition")
        yield costs(f"broker {asked.node} serves nothing now: it lists no broker, and denies the {led} that it leads", "")
        yield from nodes.zookeeper_is_needed(asked.view)
    else:
        yield from _stopped(asked)
    yield from _next_start(asked, "after the restart")
    if asked.node not in asked.view.settings.every_file and not _unread_file(asked):
        yield costs("its server.properties was not read", "whether it starts with a file that has changed since its last start")


def _next_start(asked: Asked, when: str) -> Iterator[Objection]:
    """Yield what the next start of a node fails for, as findings on its file and its settings say.

    What it runs with, and harms it already, a restart does not make worse; it may be what repairs it.
    """
    of_start = {code for code, check in catalogue().items() if check.by_files or code in _STARTS}
    place, harmed = asked.view.party(asked.node).replace(" ", "/"), _harmed_now(asked)
    for finding in _failing(asked, Severity.HIGH):
        if finding.code not in of_start or not f"{finding.resource.name}/".startswith(f"{place}/"):
            continue
        if finding.evidence.get("until_restart"):
            continue
        why = f"{when}: {finding.message.rstrip('.')}"
        if finding.code not in _STARTS and finding.fingerprint in harmed:
            yield costs(f"{why}, as now, unless that is corrected first", "")
        else:
            waits = "its repair before the restart" if finding.code in OF_EDGES else "a file that Kafka accepts"
            yield not_now(why, f"{waits} ({finding.code})", finding.fingerprint)
    if failed := _unread_file(asked):
        yield unknown_whether(f"what its server.properties has: {failed[0].error}", failed[0].needs or "the file")


def _harmed_now(asked: Asked) -> frozenset[str]:
    """Return the findings of incidents that a node which answers shows itself, by more than files."""
    place = asked.view.party(asked.node).replace(" ", "/")
    if not asked.view.views_of(asked.node):
        return frozenset()
    seen = {
        finding.fingerprint
        for finding in _failing(asked, Severity.HIGH)
        if finding.resource.name == place and not catalogue()[finding.code].by_files
    }
    return frozenset(mark for incident in asked.document.incidents if seen & {*incident.inside} for mark in incident.inside)


def _unread_file(asked: Asked) -> list[SourceRead]:
    file = f"properties:{asked.node}"
    return [read for read in asked.view.last_reads if read.observer == file and read.outcome == "failed"]


def _failing(asked: Asked, least: Severity) -> Iterator[ReportedFinding]:
    return (finding for finding in asked.document.findings if gate.fails_gate(finding, least))


def _open(asked: Asked) -> Iterator[Objection]:
    """Yield what fails now, and what fails soon at the controllers, which carry the step out."""
    checks, critical = catalogue(), Severity.CRITICAL.name
    for finding in _failing(asked, Severity.HIGH):
        if finding.severity == critical or checks[finding.code].family == "controller":
            yield _first_repaired(asked, finding.fingerprint, finding.message, finding.remediation)


def _first_repaired(asked: Asked, mark: str, message: str, remedy: str) -> Objection:
    """Return that a failure is repaired first: once for each incident, by its headline."""
    incident = next((one for one in asked.document.incidents if mark in one.inside), None)
    if incident is not None:
        steps = (step.text for step in incident.remediation if step.kind in {"quick", "lasting"} and step.text.isprintable())
        short = (text.rstrip(".") for text in steps if len(text) <= _SHORT)
        return not_now(incident.headline, next(short, "its repair, as the report has it"), *incident.findings)
    first = _SENTENCE_ENDS.split(remedy, maxsplit=1)[0].removeprefix("Required: ").rstrip(".")
    return not_now(message, first or "its repair, as the report has it", mark)


def _before(asked: Asked, plan: Plan) -> Iterator[Objection]:
    report = report_before_change(asked.document, asked.view, plan, ProposedListeners(), asked.now)
    for item in report["blockers"]:
        mark = _print(asked, item["code"], item["resource"])
        yield _first_repaired(asked, mark, item["message"], item["remedy"])
    for item in (item for item in report["not_known"] if item["source"] != "audit"):
        needs = item["remedy"].removeprefix("Needed: ") or f"`kafka-audit explain {item['code']}`"
        yield unknown_whether(item["message"], needs, _print(asked, item["code"], item["resource"]))
    coverage = report["coverage"]
    if coverage["answered"] < coverage["asked"]:
        yield unknown_whether(f"{coverage['asked'] - coverage['answered']} reads failed", "`kafka-audit run`, which lists them")


def _print(asked: Asked, code: str, resource: str) -> str:
    return fingerprint(code, asked.view.cluster_id, resource)


def _upgraded(asked: Asked) -> Iterator[Objection]:
    minor, *patch = version_numbers(asked.step.version)[:2], *version_numbers(asked.step.version)[2:]
    if patch == [0] and {minor_releases(asked.view, one) for one in asked.view.inter_broker.brokers} == {(minor, minor)}:
        yield not_now(f"every broker runs Kafka {'.'.join(map(str, minor))} already", "a later release, such as a patch of it")
        return
    plan = Plan(kind=Kind.ROLLING_UPGRADE, version=asked.step.version, oldest_client=asked.oldest_client)
    yield from _before(asked, plan)
    for kind in (BROKER, CONTROLLER) if asked.view.kraft else (BROKER,):
        for loss in every(asked.view, kind):
            found = _without(asked, loss, f"while {loss.name.replace(':', ' ')} restarts: ")
            stops = (
                one for one in found if kind == BROKER or one.permit is Permit.NOT_NOW
            )  # of quorums the gate says what is open
            yield from islice(stops, _MOST_REASONS)


def _migrated(asked: Asked) -> Iterator[Objection]:
    if asked.view.kraft:
        yield not_now("the cluster runs in KRaft mode already", "nothing: nothing is left to migrate")
        return
    yield from _before(asked, Plan(kind=Kind.ZOOKEEPER_TO_KRAFT, node_ids=asked.node_ids))


def _items(asked: Asked, items: Iterable[HeadedItem]) -> Iterator[Objection]:
    for heading, item in items:
        text = item.remedy.rstrip(".")
        mark = _print(asked, item.code, item.resource)
        if heading == "blockers":
            yield not_now(item.message, text or f"{item.code} to pass", mark)
        elif heading == "not_known":
            yield unknown_whether(item.message, text.removeprefix("Needed: ") or "another audit", mark)
        else:
            yield costs(item.message, text)


def _finalized(asked: Asked) -> Iterator[Objection]:
    found = [*_items(asked, finalizing_items(asked.view))]
    is_done = not [*finalizing_lines(asked.view)] and all(one.permit is Permit.GO for one in found)
    if not is_done:
        yield from _open(asked)
    yield from unread(asked.view, "brokers", "which brokers there are")
    yield from found


def _voter_removed(asked: Asked) -> Iterator[Objection]:
    facts = QuorumFacts(asked.view)
    if unread := [*quorum_is_read(facts)]:
        yield from _items(asked, unread)
    elif asked.node not in facts.voters:
        yield not_now(f"node {asked.node} is no voter of the metadata quorum", f"one of {', '.join(map(str, facts.voters))}")
    elif len(facts.voters) == 1:
        yield not_now(f"controller {asked.node} is the only voter: Kafka refuses", "another voter")
    else:
        yield from _items(asked, voter_change_items(facts, [voter for voter in facts.voters if voter != asked.node]))


def _formatted(asked: Asked) -> Iterator[Objection]:
    if unread_quorum := [*_who_votes(asked)]:
        yield from unread_quorum
        return
    yield from nodes.formatting(asked.view, asked.node, answer(asked.view, _loss(asked), bootstrap=asked.bootstrap))


def _znode_deleted(asked: Asked) -> Iterator[Objection]:
    row = next((finding for finding in asked.document.findings if finding.code == _PHASE), None)
    if row is not None and row.status is Status.UNKNOWN:
        yield unknown_whether(row.message, str(row.evidence.get("needs", "a ZooKeeper that answers")), row.fingerprint)
    phase = None if row is None or row.status is not Status.FAIL else str(row.evidence["phase"])
    left = [finding for finding in asked.document.findings if finding.code == _LEFT and finding.status is Status.FAIL]
    yield from nodes.znode_deletion(asked.view, asked.step.name, nodes.ROLLED_BACK if left else phase)


def _reassigned(asked: Asked) -> Iterator[Objection]:
    yield from topics.reassignment(asked.view, asked.step.moves)
    targets = {broker for move in asked.step.moves for broker in move.replicas}
    for finding in _failing(asked, Severity.HIGH):
        if catalogue()[finding.code].family == "audit":
            continue  # of gaps each rule says what counts
        kind, _, rest = finding.resource.name.partition("/")
        name = rest.partition("/")[0]
        if kind == "broker" and name.isdecimal() and int(name) in targets:
            yield _first_repaired(asked, finding.fingerprint, finding.message, finding.remediation)


def _set(asked: Asked) -> Iterator[Objection]:
    step = asked.step
    if step.name:
        return settings.topic_setting(asked.view, step.name, step.key, step.value)
    return settings.broker_setting(asked.view, step.node, step.key, step.value)


_RULES: Mapping[str, Callable[[Asked], Iterator[Objection]]] = {
    "stop": _stopped,
    "restart": _restarted,
    "upgrade": _upgraded,
    "finalize": _finalized,
    "migrate": _migrated,
    "delete-znode": _znode_deleted,
    "remove-voter": _voter_removed,
    "unregister": lambda asked: nodes.unregistration(asked.view, asked.node),
    "format": _formatted,
    "reassign": _reassigned,
    "delete-topic": lambda asked: topics.deletion(asked.view, asked.step.name, StepCommands(QuorumFacts(asked.view))),
    "set": _set,
}

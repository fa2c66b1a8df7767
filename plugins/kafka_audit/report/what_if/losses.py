"""What becomes of a cluster if parties are lost, in words: the one sentence, its reasons, and commands that raise the margin."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.tools import Tools
from kafka_audit.model import quoting
from kafka_audit.model.commands import Command, Line, command
from kafka_audit.model.text import brokers, clean, counted, listing, start_upper
from kafka_audit.what_if import topics, ways
from kafka_audit.what_if.answer import Answer
from kafka_audit.what_if.losses import BROKER, CONTROLLER, DISK, ZOOKEEPER
from kafka_audit.what_if.ways import Way

_STOPPED = {BROKER, CONTROLLER, ZOOKEEPER}
_REASONS = 3
"""Reasons in the one sentence; all are listed below it."""

_BECOMES = {
    topics.OFFLINE: "would have no leader",
    topics.UNCLEAN: "would lose records: the next leader is out of sync",
    topics.UNREACHED: "would have no leader in reach of clients",
    topics.NOT_WRITABLE: "would refuse acks=all",
    topics.BELOW_MARGIN: "would have fewer copies than the margin asks for",
    topics.AT_RISK: "would have one copy left",
}


def parties_lost(names: Sequence[str]) -> str:
    """Return who goes, for the middle of a sentence."""
    return listing(map(_named, names), 5)


def _named(name: str) -> str:
    kind, _, rest = name.partition(":")
    if kind == DISK:
        broker, _, path = rest.partition(":")
        return f"disk {clean(path)} of broker {broker}"
    return f"{ {ZOOKEEPER: 'ZooKeeper server'}.get(kind, kind) } {clean(rest)}"


def loss_sentence(found: Answer) -> str:
    """Return whether these parties may go, and why not."""
    who = parties_lost(found.loss.names)
    stopped = all(name.partition(":")[0] in _STOPPED for name in found.loss.names)
    if found.safe is False:
        head = f"Do not stop {who}" if stopped else f"The cluster does not survive the loss of {who}"
        return f"{head}: {reasons_of(found)}"
    if found.safe is None:
        asked = f"{who} may be stopped" if stopped else f"the cluster survives the loss of {who}"
        return f"Not decided whether {asked}: {reasons_of(found)}"
    if found.is_down:
        return f"{start_upper(who)} {'is' if len(found.loss.names) == 1 else 'are'} down already: nothing more stops"
    alone = topics.LAST_COPY in found.effects  # `may` does not stop it then
    good = f"{start_upper(who)} may be stopped" if stopped and not alone else f"The cluster survives the loss of {who}"
    return f"{good}: {'; '.join(keeps(found))}"


def reasons_of(found: Answer) -> str:
    """Return the first reasons for which a loss is not safe, or what is not known; nothing of a safe one."""
    if found.safe is None:
        return next(f"not known {question.what}" for question in found.not_known if question.decides)
    return "; ".join(list(stops(found))[:_REASONS])


def keeps(found: Answer) -> Iterator[str]:
    """Yield what goes on working."""
    if found.loss.brokers or found.loss.disks:
        more = f" with {counted(found.margin, 'copy', 'copies')} to spare" if found.margin else ""
        refuse = found.already.get(topics.NOT_WRITABLE, topics.NONE).partitions
        others = f"; {counted(refuse, 'partition')} {'refuses' if refuse == 1 else 'refuse'} acks=all already" if refuse else ""
        yield f"every {'other ' if refuse else ''}partition that has a leader keeps one and accepts acks=all{more}{others}"
        risk = found.effects.get(topics.AT_RISK, topics.NONE).partitions
        if risk:
            yield f"{counted(risk, 'partition')} would have one copy left"
    if found.quorum.lost:
        kind = "controllers" if found.quorum.kind == "kraft" else "ZooKeeper servers"
        needed = f"{counted(found.quorum.majority, 'is', 'are')} needed"
        yield f"{found.quorum.left} of {found.quorum.voters} {kind} are left; {needed}"
    elif not (found.loss.brokers or found.loss.disks):
        yield "it has no vote"


def stops(found: Answer) -> Iterator[str]:
    """Yield every reason for which the loss is not safe."""
    return (reason for _, reason in reasons(found))


def reasons(found: Answer) -> Iterator[tuple[str, str]]:
    """Yield them, each after what it is about: partitions, brokers, the quorum, entries or the controller."""
    if found.none_left:
        yield "brokers", "no broker would be left"
    for kind in topics.UNSAFE:
        if kind in found.effects:
            yield topics.PARTITIONS, f"{found.effects[kind].text} {_BECOMES[kind]}"
    quorum = found.quorum
    if quorum.elects is False and quorum.lost:
        kind = "controllers" if quorum.kind == "kraft" else "ZooKeeper servers"
        left = f"{quorum.left} of {quorum.voters} {kind}" if quorum.left else f"no {kind.removesuffix('s')}"
        if quorum.left >= quorum.majority:
            yield "quorum", f"{left} would be left, which do not reach each other to elect a leader"
        else:
            yield "quorum", f"{left} would be left; {counted(quorum.majority, 'is', 'are')} needed"
    for entry in found.entry_points:
        if entry.closed:
            yield "entries", f"{_entry(entry.kind, entry.name)} would have no broker left"
    for candidate in found.controller.cut:
        them = brokers(candidate.unreached)
        yield "controller", f"if node {candidate.node} becomes the controller, {them} would get no updates"


def _entry(kind: str, name: str) -> str:
    return {"listener": f"listener {clean(name)}", "vantage": f"clients at {clean(name)}"}.get(kind, "the bootstrap addresses")


def how_bad(found: Answer) -> tuple[object, ...]:
    """Return by what the worst loss is the worst."""
    offline, *others = (found.effects.get(kind, topics.NONE).partitions for kind in topics.LISTED)
    # Without a quorum clients go on for now; without a leader they do not.
    return (found.safe is False, found.safe is None, offline, found.quorum.elects is False, *others)


def ways_with_commands(found: Answer, view: ClusterView) -> Sequence[tuple[str, Line]]:
    """Return what raises the margin: a sentence, and a command for this release."""
    tools = Tools.of(view)
    return [(_said(way), tools.line(_COMMANDS[way.kind](way))) for way in found.ways]


def _said(way: Way) -> str:
    number, has, first = way.number, "it has" if len(way.brokers) == 1 else "they have", clean(way.topic)
    return {
        ways.START: f"Start {brokers(way.brokers)}: {has} copies of {number} that a loss stops",
        ways.REJOIN: f"See why {brokers(way.brokers)} can run without a registration: {has} copies of {number} that a loss stops",
        ways.WAIT: f"Bring {brokers(way.brokers)} back in sync in {number}: wait for a catch-up, or repair what prevents it",
        ways.REACH: f"Repair the connections to {brokers(way.brokers)}: {number} would need them",
        ways.MORE_REPLICAS: f"Add replicas to {number} that this loss stops, of {first} first: what they have is in sync",
        ways.FEWER_AT_ONCE: f"Stop fewer at once: {number} lose{'s' if way.partitions == 1 else ''} too many copies together",
    }[way.kind]


def _describe(way: Way) -> Command:
    return command("kafka-topics.sh --bootstrap-server BROKER:9092 --describe --topic {topic}", topic=way.topic)


def _under_replicated(_way: Way) -> Command:
    return command("kafka-topics.sh --bootstrap-server BROKER:9092 --describe --under-replicated-partitions")


_COMMANDS: Mapping[str, Callable[[Way], Command]] = {
    ways.START: _under_replicated,
    ways.REJOIN: _under_replicated,
    ways.WAIT: _under_replicated,
    ways.REACH: _describe,
    ways.MORE_REPLICAS: _describe,
    ways.FEWER_AT_ONCE: _describe,
}


def loss_document(found: Answer, view: ClusterView) -> dict[str, Any]:
    """Return an answer as JSON has it, with the sentence and the commands."""
    document = found.to_plain()
    for way, (text, line) in zip(document["raises_margin"], ways_with_commands(found, view), strict=True):
        way |= {"text": text, "commands": [*quoting.lines([line])]}
    return {"without": document.pop("without"), "safe": document.pop("safe"), "sentence": loss_sentence(found)} | document

"""What the gate predicts of a change, kept with its baseline, and what became of it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafka_audit.checks.migration.common import pinned_protocol
from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.lint.rolled import LISTENER, EdgeFault, Roll
from kafka_audit.migration.items import GateItem, HeadedItem
from kafka_audit.migration.plan import Kind, Plan
from kafka_audit.migration.rolling_upgrade import upgraded_view
from kafka_audit.model.finding import Resource, Status
from kafka_audit.model.report import Report
from kafka_audit.model.text import brokers, listing

_SOURCE = "half-rolled states"
_MOST = 4  # reasons in a sentence


def roll_items(roll: Roll) -> Iterator[HeadedItem]:
    """Yield what a roll breaks, or the order that breaks nothing."""
    broken = [fault for fault in roll.final if not fault.unknown]
    if broken:
        yield _item("blockers", broken[0].code, f"With all new files, {_sentence(broken)}", "Correct the proposed files.")
    elif roll.nodes and roll.order is None:
        for node in roll.nodes:
            cut = [fault for fault in roll.alone[node] if not fault.unknown]
            if cut:
                message = f"No order keeps all brokers connected: while only broker {node} has its new file, {_sentence(cut)}"
                yield _item("blockers", cut[0].code, message, _way_out(cut), f"broker/{node}")
    elif len(roll.nodes) > 1:
        waits = [node for node in roll.nodes if any(not fault.unknown for fault in roll.alone[node])]
        order = listing(roll.order or (), 30)
        message = f"In the order {order}, all brokers stay connected while they restart one by one"
        if not waits:
            message = "All brokers stay connected while they restart one by one, in any order"
        yield _item("information", LISTENER, message, f"Restart {brokers(waits)} in this order." if waits else "")
    yield from _open_items(roll)


def _open_items(roll: Roll) -> Iterator[HeadedItem]:
    found = {fault.text: fault for faults in (*roll.alone.values(), roll.final) for fault in faults if fault.unknown}
    for text, fault in found.items():
        source, target = fault.edge
        message = f"Cannot determine whether broker {source} reaches broker {target} during the change: {text}"
        needs = "Needed: the present and the proposed server.properties of every broker (`properties`, `--proposed`)"
        yield _item("not_known", fault.code, message, needs, f"broker/{target}")


def _way_out(faults: Sequence[EdgeFault]) -> str:
    if any(fault.code == LISTENER for fault in faults):
        return (
            "Roll three times instead: add the new listener to `listeners`, `advertised.listeners` and the map of every broker "
            "under a new name and port; then switch `inter.broker.listener.name` on every broker; then remove the old listener."
        )
    return (
        "Roll three times instead: let every broker accept both logins (mechanisms, users, rights); then switch every broker to "
        "the new one; then remove the old one."
    )


def _sentence(faults: Sequence[EdgeFault]) -> str:
    texts = [f"broker {fault.edge[0]} does not reach broker {fault.edge[1]} ({fault.text})" for fault in faults]
    more = f", and {len(texts) - _MOST} more connections" if len(texts) > _MOST else ""
    return "; ".join(texts[:_MOST]) + more


def _item(heading: str, code: str, message: str, remedy: str, resource: str = "cluster") -> HeadedItem:
    item = GateItem(source=_SOURCE, code=code, resource=resource, message=message, remedy=remedy)
    return HeadedItem(heading, item)


HELD, NOT_HELD, NOT_KNOWN = "held", "not held", "not known"

_RELEASE, _PROTOCOL, _REFUSAL, _EDGES = "release", "protocol", "refusal", "edges"
_REFUSALS = frozenset({"KA912", "KA914"})
OF_EDGES = frozenset({"KA302", "KA312", "KA401", "KA403", "KA404", "KA412"})
"""Checks that report that brokers do not reach, or do not accept, each other."""

_INTER_BROKER = "inter.broker.protocol.version"


def predictions(view: ClusterView, plan: Plan, roll: Roll | None, blockers: Iterable[GateItem]) -> Iterator[dict[str, str]]:
    """Yield what is to be seen after the change: a kind, a resource, a sentence, and the expected value."""
    if plan.kind is Kind.ROLLING_UPGRADE and plan.version is not None:
        release = ".".join(map(str, version_numbers(plan.version)[:2]))
        planned = upgraded_view(view, plan)
        for broker in view.inter_broker.brokers:
            yield _prediction(_RELEASE, broker, f"Broker {broker} runs Kafka {release}", release)
            if not view.kraft and (protocol := pinned_protocol(planned, broker)):
                text = f"Broker {broker} keeps protocol {protocol} until it is raised"
                yield _prediction(_PROTOCOL, broker, text, protocol)
        for item in blockers:
            if item.source == "gate" and item.code in _REFUSALS:
                text = f"Kafka {plan.version} does not start as it is now: {item.message}"
                yield {"kind": _REFUSAL, "resource": item.resource, "text": text, "expected": release}
    if roll is not None:
        cut = {fault.edge[1] for fault in roll.final if not fault.unknown}
        for node in roll.nodes:
            text = f"With all new files, every other broker reaches broker {node}"
            if node in cut:
                text = f"With all new files, some brokers do not reach broker {node}"
            yield _prediction(_EDGES, node, text, "broken" if node in cut else "works")


def _prediction(kind: str, broker: int, text: str, expected: str) -> dict[str, str]:
    return {"kind": kind, "resource": f"broker/{broker}", "text": text, "expected": expected}


def outcomes(kept: Iterable[Mapping[str, str]], view: ClusterView, document: Report) -> Iterator[dict[str, str]]:
    """Yield each prediction with what became of it: `held`, and what is seen instead, or what is needed to know."""
    for prediction in kept:
        outcome, seen = _outcome(prediction, view, document)
        yield {**prediction, "outcome": outcome, "seen": seen}


def _outcome(prediction: Mapping[str, str], view: ClusterView, document: Report) -> tuple[str, str]:
    broker, expected = Resource.of(prediction["resource"]).broker, prediction["expected"]
    if prediction["kind"] == _REFUSAL:
        return _refusal(view, view.inter_broker.brokers if broker is None else (broker,), expected)
    if broker is not None and prediction["kind"] == _RELEASE:
        return _release(view, broker, expected)
    if broker is not None and prediction["kind"] == _PROTOCOL:
        return _protocol(view, broker, expected)
    if broker is not None and prediction["kind"] == _EDGES:
        return _edges(view, broker, expected, document)
    return NOT_KNOWN, "a prediction from another version of kafka-audit"


def _refusal(view: ClusterView, nodes: Sequence[int], expected: str) -> tuple[str, str]:
    found = [_release(view, node, expected) for node in nodes]
    runs = [seen for outcome, seen in found if outcome == HELD]
    if runs:
        return NOT_HELD, f"a broker runs {runs[0]}"
    held = bool(found) and all(outcome == NOT_HELD for outcome, _ in found)
    return (HELD, f"no broker runs Kafka {expected}") if held else (NOT_KNOWN, "an answer to ApiVersions from every broker")


def _protocol(view: ClusterView, broker: int, expected: str) -> tuple[str, str]:
    row = view.settings.answers.get(broker, {}).get(_INTER_BROKER)
    if row is None or not row.value:
        return NOT_KNOWN, f"DescribeConfigs on Cluster, answered by broker {broker}"
    return (HELD if _minor(row.value) == _minor(expected) else NOT_HELD), f"protocol {row.value}"


def _minor(text: str) -> tuple[int, ...]:
    return version_numbers(text.partition("-")[0])[:2]


def _release(view: ClusterView, broker: int, expected: str) -> tuple[str, str]:
    found = minor_releases(view, broker)
    if found is None:
        return NOT_KNOWN, f"an answer from broker {broker} to ApiVersions"
    oldest, newest = (".".join(map(str, numbers)) for numbers in found)
    seen = f"Kafka {oldest}" if oldest == newest else f"Kafka {oldest} to {newest}"
    wanted = version_numbers(expected)
    if oldest == newest:
        return (HELD if found[0] == wanted else NOT_HELD), seen
    return (NOT_KNOWN if found[0] <= wanted <= found[1] else NOT_HELD), seen


def _edges(view: ClusterView, broker: int, expected: str, document: Report) -> tuple[str, str]:
    if broker not in view.inter_broker.brokers:
        return NOT_KNOWN, f"broker {broker} is not in the cluster"
    own = [
        finding
        for finding in document.findings
        if finding.code in OF_EDGES and Resource.of(finding.resource.name).broker == broker
    ]
    failed = [finding.code for finding in own if finding.status is Status.FAIL]
    unknown = [finding.code for finding in own if finding.status is Status.UNKNOWN]
    if failed:
        return (HELD if expected == "broken" else NOT_HELD), f"{failed[0]} fails"
    if unknown:
        return NOT_KNOWN, f"{unknown[0]} is not known"
    return (HELD if expected == "works" else NOT_HELD), "no check of connections fails"

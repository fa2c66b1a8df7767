"""The states between an old configuration and a new one: which nodes no longer reach which, and in which order none is cut off.

A change is rolled node by node. Whether node A reaches node B depends on the files of these two alone: so what is broken while
some nodes have their new files is known once each node was put in alone, and all of them together. Pure.
"""

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_audit.cluster.listeners.inter_broker import InterBroker, Listener
from kafka_audit.cluster.settings import Setting
from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.authorizers import pairs_at
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.solver import diagnosed
from kafka_audit.lint.against import changed_view, view_by_settings
from kafka_audit.lint.members import Member
from kafka_audit.migration.items import GateItem, HeadedItem
from kafka_audit.model.text import brokers, clean, listing

CODES = frozenset({"KA312", "KA401", "KA412"})
"""Checks that judge each proposed file alone, which is answered here for every state of the roll."""

_KINDS = {"listener": "KA312", "login": "KA412", "rights": "KA401"}
_ENABLED, _TLS_VERSIONS = "ssl.enabled.protocols", "TLSv1.2,TLSv1.3"
_KEY_STORES = ("ssl.keystore.location", "ssl.keystore.certificate.chain")
_SOURCE = "half-rolled states"
_MOST = 4  # reasons in a sentence
_MOST_EDGES = 20  # of a state in the report; all are counted

Edge = tuple[int, int]
"""Who connects to whom."""


@dataclass(frozen=True, kw_only=True)
class EdgeFault:
    """Why one node does not reach, or is not accepted by, another. `kind`: listener, login, rights."""

    edge: Edge
    kind: str
    text: str
    unknown: bool = False  # it may work; what decides was not read


@dataclass(frozen=True, kw_only=True)
class Roll:
    """A change as it is rolled.

    Attributes:
        nodes: those with a new file.
        order: in which no state breaks a connection that works now; None if there is none.
        alone: faults while one node has its new file and no other, by that node; none that exist now.
        final: faults with all new files; none that exist now.
    """

    nodes: tuple[int, ...]
    order: tuple[int, ...] | None
    alone: Mapping[int, tuple[EdgeFault, ...]]
    final: tuple[EdgeFault, ...]

    @property
    def sequence(self) -> tuple[int, ...]:
        """The order, or that of the ids where none breaks nothing."""
        return self.nodes if self.order is None else self.order

    def faults_after(self, changed: Sequence[int]) -> tuple[EdgeFault, ...]:
        """Return the faults while these nodes have their new files and the others do not."""
        if set(changed) >= set(self.nodes):
            return self.final
        new = set(changed)
        mixed = [fault for node in changed for fault in self.alone[node] if len(new & set(fault.edge)) == 1]
        both = [fault for fault in self.final if set(fault.edge) <= new]
        return (*mixed, *both)

    def as_dict(self) -> dict[str, Any]:
        """Return the states for JSON, in the order of the roll."""
        states = [self.sequence[: count + 1] for count in range(len(self.sequence))]
        return {"order": None if self.order is None else list(self.order), "states": [*map(self._state, states)]}

    def _state(self, changed: Sequence[int]) -> dict[str, Any]:
        faults = self.faults_after(changed)
        broken = [fault for fault in faults if not fault.unknown]
        not_known = [fault for fault in faults if fault.unknown]
        return {
            "changed": list(changed),
            "broken_connections": len(broken),
            "broken": [*map(_as_dict, broken[:_MOST_EDGES])],
            "not_known_connections": len(not_known),
            "not_known": [*map(_as_dict, not_known[:_MOST_EDGES])],
        }


def _as_dict(fault: EdgeFault) -> dict[str, Any]:
    return {"from": fault.edge[0], "to": fault.edge[1], "why": fault.text}


def rolled(view: ClusterView, proposed: Sequence[Member]) -> Roll:
    """Return what a roll of proposed files does to the connections between brokers."""
    key, serving = secrets.token_bytes(32), [member for member in proposed if member.serves]
    now = {(fault.edge, fault.text) for fault in edge_faults(view_by_settings(view, view.snapshot.rows))}

    def new_faults(changed: Sequence[Member]) -> tuple[EdgeFault, ...]:
        found = edge_faults(changed_view(view, changed, key), {member.broker_id for member in changed})
        return tuple(fault for fault in found if (fault.edge, fault.text) not in now)

    nodes = tuple(sorted(member.broker_id for member in serving))
    alone = {member.broker_id: new_faults([member]) for member in serving}
    final = new_faults(serving) if len(serving) > 1 else alone[nodes[0]] if nodes else ()
    return Roll(nodes=nodes, order=_order(nodes, alone, final), alone=alone, final=final)


def _order(nodes: Sequence[int], alone: Mapping[int, Sequence[EdgeFault]], final: Sequence[EdgeFault]) -> tuple[int, ...] | None:
    """Return an order in which no connection breaks: a node that breaks one with another waits until that one is new."""
    if any(not fault.unknown for fault in final):
        return None
    waits: dict[int, set[int]] = {node: set() for node in nodes}
    for node, faults in alone.items():
        for fault in faults:
            if not fault.unknown:
                waits[node] |= set(fault.edge) - {node}
    if any(not others <= waits.keys() for others in waits.values()):
        return None
    found: list[int] = []
    while ready := [node for node in nodes if node not in found and waits[node] <= set(found)]:
        found.append(ready[0])
    return tuple(found) if len(found) == len(nodes) else None


def edge_faults(view: ClusterView, about: Collection[int] | None = None) -> tuple[EdgeFault, ...]:
    """Return the connections between brokers that settings, logins and ACLs do not allow, and those that they leave open.

    `about`: those from or to one of these brokers; None for all.
    """
    between = view.inter_broker
    return tuple(fault for target in between.brokers for fault in _faults_at(view, target, about))


def _faults_at(view: ClusterView, target: int, about: Collection[int] | None) -> Iterator[EdgeFault]:
    between, reached = view.inter_broker, []
    asked = between.brokers if about is None or target in about else tuple(about)
    sources = [source for source in asked if source != target]
    for source in sources:
        fault = _listener_fault(between, source, target)
        if fault is None:
            reached.append(source)
        else:
            yield fault
    for name in dict.fromkeys(used.name for source in reached if (used := between.listener(source)) is not None):
        users = [source for source in reached if (used := between.listener(source)) is not None and used.name == name]
        yield from _login_faults(view, target, users)
    if between.authorizer(target).state != "unset":
        for pair in pairs_at(view, target):
            if pair.allowed:
                continue
            for source in pair.sources:
                if source in reached:
                    text = f"its principal {clean(pair.name)} has no ClusterAction there: {clean(pair.why)}"
                    yield EdgeFault(edge=(source, target), kind="rights", text=text, unknown=pair.allowed is None)


def _listener_fault(between: InterBroker, source: int, target: int) -> EdgeFault | None:
    """Return why a source finds no listener at a target that it can use, by the settings of both."""
    edge, used, offered = (source, target), between.listener(source), between.offered(target)
    if used is None:
        return EdgeFault(
            edge=edge, kind="listener", text=f"the inter-broker listener of broker {source} is unknown", unknown=True
        )
    if offered is None:
        return EdgeFault(edge=edge, kind="listener", text=f"the listeners of broker {target} are unknown", unknown=True)
    if used.name not in offered:
        return EdgeFault(edge=edge, kind="listener", text=f"broker {target} has no listener {clean(used.name)}")
    protocol = between.protocol(target, used.name)
    if protocol is None or used.protocol is None:
        text = f"the security protocol of listener {clean(used.name)} is unknown"
        return EdgeFault(edge=edge, kind="listener", text=text, unknown=True)
    if protocol != used.protocol:
        text = f"listener {clean(used.name)} is {clean(protocol)} there, and broker {source} uses {clean(used.protocol)}"
        return EdgeFault(edge=edge, kind="listener", text=text)
    return None


def _login_faults(view: ClusterView, target: int, users: Sequence[int]) -> Iterator[EdgeFault]:
    """Yield why brokers that use the same listener do not log in to a target."""
    between, used = view.inter_broker, view.inter_broker.listener(users[0])
    if used is None:
        return
    facts = facts_of(view)
    of_login = diagnosed(facts, facts.edges.log_in(target, used)).of_check("KA412")
    # TLS versions are compared below, with those that are not set.
    for shown in (shown for one in of_login if one.fault.name != "tls_versions_differ" for shown in one.shown_by):
        for source in users:
            if not shown.of_log and source in (shown.sources or users):
                yield EdgeFault(edge=(source, target), kind="login", text=clean(shown.text))
    if used.encrypted:
        yield from filter(None, (_handshake_fault(view, source, target, used) for source in users))
    if not used.logs_in:
        return
    offered = view.logins.offered_mechanisms(target, used.name)
    for source in users:
        mechanism = between.mechanism(source)
        if offered is None or not mechanism.known:
            subject = f"the mechanisms of broker {target}" if offered is None else f"the mechanism of broker {source}"
            text = f"{subject} on listener {clean(used.name)} cannot be read"
            yield EdgeFault(edge=(source, target), kind="login", text=text, unknown=True)


def _handshake_fault(view: ClusterView, source: int, target: int, used: Listener) -> EdgeFault | None:
    """Return why two brokers do not agree on TLS, by the settings of both."""

    def read(node: int, key: str) -> Setting:
        return view.settings.running_at(node, used.name, key)

    versions = [
        {part.strip() for part in (found.value or _TLS_VERSIONS).split(",")} if (found := read(node, _ENABLED)).known else None
        for node in (source, target)
    ]
    if None not in versions and not set.intersection(*filter(None, versions)):
        text = f"on listener {clean(used.name)} the two enable no TLS version in common"
        return EdgeFault(edge=(source, target), kind="login", text=text)
    required = (read(target, "ssl.client.auth").value or "").lower() == "required"
    if used.protocol == "SSL" and required and all(read(source, key).state == "unset" for key in _KEY_STORES):
        text = f"listener {clean(used.name)} requires a certificate there, and broker {source} has no key store"
        return EdgeFault(edge=(source, target), kind="login", text=text)
    return None


def roll_items(roll: Roll) -> Iterator[HeadedItem]:
    """Yield what a roll breaks, or the order that breaks nothing."""
    broken = [fault for fault in roll.final if not fault.unknown]
    if broken:
        yield _item("blockers", broken[0].kind, f"With all new files, {_sentence(broken)}", "Correct the proposed files.")
    elif roll.nodes and roll.order is None:
        for node in roll.nodes:
            cut = [fault for fault in roll.alone[node] if not fault.unknown]
            if cut:
                message = f"No order keeps all brokers connected: while only broker {node} has its new file, {_sentence(cut)}"
                yield _item("blockers", cut[0].kind, message, _way_out(cut), f"broker/{node}")
    elif len(roll.nodes) > 1:
        waits = [node for node in roll.nodes if any(not fault.unknown for fault in roll.alone[node])]
        order = listing(roll.order or (), 30)
        message = f"In the order {order}, all brokers stay connected while they restart one by one"
        if not waits:
            message = "All brokers stay connected while they restart one by one, in any order"
        yield _item("information", "listener", message, f"Restart {brokers(waits)} in this order." if waits else "")
    yield from _open_items(roll)


def _open_items(roll: Roll) -> Iterator[HeadedItem]:
    found = {fault.text: fault for faults in (*roll.alone.values(), roll.final) for fault in faults if fault.unknown}
    for text, fault in found.items():
        source, target = fault.edge
        message = f"Cannot determine whether broker {source} reaches broker {target} during the change: {text}"
        needs = "Needed: the present and the proposed server.properties of every broker (`properties`, `--proposed`)"
        yield _item("not_known", fault.kind, message, needs, f"broker/{target}")


def _way_out(faults: Sequence[EdgeFault]) -> str:
    if any(fault.kind == "listener" for fault in faults):
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


def _item(heading: str, kind: str, message: str, remedy: str, resource: str = "cluster") -> HeadedItem:
    item = GateItem(source=_SOURCE, code=_KINDS[kind], resource=resource, message=message, remedy=remedy)
    return HeadedItem(heading, item)

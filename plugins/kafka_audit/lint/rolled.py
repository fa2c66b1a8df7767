"""A change as it is rolled, node by node: the cluster while some have their new files, and who then does not reach whom. Pure.

Whether node A reaches node B depends on the files of these two alone: so what is broken while some nodes have their new files is
known once each node was put in alone, and all of them together. Lint and the gate before a change ask the same.

Views, logs and differences show how the cluster works as it runs, not how it would work after the change. They are left out on
both sides: now and after the change are judged by settings, ACLs and registrations alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kafka_audit.cluster.listeners.inter_broker import InterBroker, Listener
from kafka_audit.cluster.settings import Setting
from kafka_audit.cluster.view import ClusterView
from kafka_audit.faults.authorizers import pairs_at
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.solver import diagnosed
from kafka_audit.lint import members
from kafka_audit.lint.members import Member
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, entries, protocols_by_listener
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerProperty,
    BrokerView,
    Certificate,
    LogLine,
    Probe,
    PropertyLogin,
    RegisteredEndpoint,
    Row,
)
from kafka_audit.model.text import brokers, clean
from kafka_audit.words.sentences import NamedList, fill

LISTENER, LOGIN, RIGHTS = "KA312", "KA412", "KA401"
CODES = frozenset({LISTENER, LOGIN, RIGHTS})
"""Checks whose question, whether brokers reach each other, is answered here for every state of the roll."""

_RUNNING = (BrokerView, LogLine)
_REPLACED = (BrokerConfig, BrokerProperty, PropertyLogin, Probe, Certificate)
_ENABLED, _TLS_VERSIONS = "ssl.enabled.protocols", "TLSv1.2,TLSv1.3"
_KEY_STORES = ("ssl.keystore.location", "ssl.keystore.certificate.chain")
_MOST_EDGES = 20  # of a state in the report; all are counted

Edge = tuple[int, int]
"""Who connects to whom."""


@dataclass(frozen=True, kw_only=True)
class EdgeFault:
    """Why one node does not reach, or is not accepted by, another.

    Attributes:
        edge: who connects to whom.
        code: of the check that reports it.
        text: the reason, for a sentence about the edge.
        listener: of the target; "" where it is unknown.
        unknown: it may work; what decides was not read.
        needs: what would decide it.
        repair: what mends a login.
        principal: of the source, where rights are missing.
    """

    edge: Edge
    code: str
    text: str
    listener: str = ""
    unknown: bool = False
    needs: str = ""
    repair: str = ""
    principal: str = ""


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


def view_by_settings(view: ClusterView, rows: Iterable[Row]) -> ClusterView:
    """Return a view of rows without what shows how the cluster works as it runs; in KRaft views say which brokers there are."""
    left_out = (LogLine,) if view.kraft else _RUNNING
    return ClusterView.of_files(replace(view.snapshot, rows=tuple(row for row in rows if not isinstance(row, left_out))))


def rolled(view: ClusterView, changed: Sequence[Member], key: bytes) -> ClusterView:
    """Return the cluster as it would be with some brokers restarted with their new files.

    What was measured at them says nothing of that. `key`: of the HMAC that passwords become.
    """
    ids = {member.broker_id for member in changed}
    now, _ = view.samples
    kept = [row for row in view.snapshot.rows if not _stale(row, ids, now)]
    added: list[Row] = [row for member in changed for row in members.configuration_rows(member, key)]
    registered = view.in_zookeeper
    added += [row for member in changed if member.broker_id in registered for row in advertised_by_member(member, now or 0)]
    return view_by_settings(view, (*kept, *added))


def _stale(row: Row, ids: set[int], now: int | None) -> bool:
    if isinstance(row, RegisteredEndpoint):
        return row.broker_id in ids and row.sample == now
    return isinstance(row, _REPLACED) and row.broker_id in ids


def advertised_by_member(member: Member, sample: int) -> Iterator[RegisteredEndpoint]:
    """Yield the advertised addresses of a broker with its new settings; listeners of controllers are left out."""
    if KEY in member.broker.unknown:
        return  # what contains a placeholder is not what `listeners` says
    mapped = protocols_by_listener(member.broker.value("listener.security.protocol.map"))
    for entry in entries({key: member.broker.value(key) for key in (KEY, INSTEAD, CONTROLLERS)}):
        if entry.port is not None:
            yield RegisteredEndpoint(
                sample=sample,
                broker_id=member.broker_id,
                listener=entry.listener,
                protocol=mapped.get(entry.listener, entry.listener),
                host=entry.host or "",
                port=entry.port,
            )


def roll_of(view: ClusterView, proposed: Sequence[Member], key: bytes) -> Roll:
    """Return what a roll of proposed files does to the connections between brokers; `key`: as `rolled` takes it."""
    serving = [member for member in proposed if member.serves]
    now = {(fault.edge, fault.text) for fault in edge_faults(view_by_settings(view, view.snapshot.rows))}

    def new_faults(changed: Sequence[Member]) -> tuple[EdgeFault, ...]:
        found = edge_faults(rolled(view, changed, key), {member.broker_id for member in changed})
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
    return tuple(fault for target in view.inter_broker.brokers for fault in _faults_at(view, target, about))


def _faults_at(view: ClusterView, target: int, about: Collection[int] | None) -> Iterator[EdgeFault]:
    between, reached = view.inter_broker, []
    asked = between.brokers if about is None or target in about else tuple(about)
    for source in (source for source in asked if source != target):
        fault = _listener_fault(between, source, target)
        if fault is None:
            reached.append(source)
        else:
            yield fault
    used = {source: listener for source in reached if (listener := between.listener(source)) is not None}
    for name in dict.fromkeys(listener.name for listener in used.values()):
        yield from _login_faults(view, target, [source for source in used if used[source].name == name])
    for pair in pairs_at(view, target) if between.authorizer(target).state != "unset" else ():
        for source in pair.sources if not pair.allowed else ():
            if source in used:
                yield EdgeFault(
                    edge=(source, target),
                    code=RIGHTS,
                    text=f"its principal {clean(pair.name)} has no ClusterAction there: {clean(pair.why)}",
                    listener=used[source].name,
                    unknown=pair.allowed is None,
                    needs=pair.needs,
                    principal=pair.name,
                )


def _listener_fault(between: InterBroker, source: int, target: int) -> EdgeFault | None:
    """Return why a source finds no listener at a target that it can use, by the settings of both."""
    used, offered = between.listener(source), between.offered(target)
    if used is None or offered is None:
        node, what = (source, "inter-broker listener of") if used is None else (target, "listeners of")
        verb = "is" if used is None else "are"
        needs = f"DescribeConfigs on Cluster, or server.properties of broker {node}"
        text = f"the {what} broker {node} {verb} unknown"
        return EdgeFault(edge=(source, target), code=LISTENER, text=text, unknown=True, needs=needs)
    name, protocol = clean(used.name), between.protocol(target, used.name)
    text, unknown = "", False
    if used.name not in offered:
        text = f"broker {target} has no listener {name}"
    elif protocol is None or used.protocol is None:
        text, unknown = f"the security protocol of listener {name} is unknown", True
    elif protocol != used.protocol:
        text = f"listener {name} is {clean(protocol)} there, and broker {source} uses {clean(used.protocol)}"
    needs = f"DescribeConfigs on Cluster, or server.properties of {brokers((source, target))}"
    found = EdgeFault(edge=(source, target), code=LISTENER, text=text, listener=used.name, unknown=unknown, needs=needs)
    return found if text else None


def _login_faults(view: ClusterView, target: int, users: Sequence[int]) -> Iterator[EdgeFault]:
    """Yield why brokers that use the same listener do not log in to a target."""
    between, used = view.inter_broker, view.inter_broker.listener(users[0])
    if used is None:
        return
    facts = facts_of(view)
    of_login = diagnosed(facts, facts.edges.log_in(target, used)).of_check(LOGIN)
    # TLS versions are compared below, with those that are not set.
    for one in (candidate for candidate in of_login if candidate.fault.name != "tls_versions_differ"):
        for shown in (observation for observation in one.shown_by if not observation.of_log):
            for source in (source for source in users if source in (shown.sources or users)):
                known = {"target": target, "sources": NamedList([source]), **shown.details}
                repair, text = fill(one.fault.remedy, known), clean(shown.text)
                yield EdgeFault(edge=(source, target), code=LOGIN, text=text, listener=used.name, repair=repair)
    if used.encrypted:
        yield from filter(None, (_handshake_fault(view, source, target, used) for source in users))
    offered = view.logins.offered_mechanisms(target, used.name)
    for source in users if used.logs_in else ():
        mechanism = between.mechanism(source)
        if offered is None or not mechanism.known:
            wanted = f"broker {source} would log in with {mechanism.value}; " if mechanism.value else ""
            what = f"the mechanisms of broker {target}" if offered is None else f"the mechanism of broker {source}"
            text = f"{wanted}{what} on listener {clean(used.name)} {'are' if offered is None else 'is'} unknown"
            needs = f"DescribeConfigs on Cluster, server.properties of broker {target}, or a probe of the listener"
            yield EdgeFault(edge=(source, target), code=LOGIN, text=text, listener=used.name, unknown=True, needs=needs)


def _handshake_fault(view: ClusterView, source: int, target: int, used: Listener) -> EdgeFault | None:
    """Return why two brokers do not agree on TLS, by the settings of both."""

    def read(node: int, key: str) -> Setting:
        return view.settings.running_at(node, used.name, key)

    versions = [
        {part.strip() for part in (found.value or _TLS_VERSIONS).split(",")} if (found := read(node, _ENABLED)).known else None
        for node in (source, target)
    ]
    text = repair = ""
    required = (read(target, "ssl.client.auth").value or "").lower() == "required"
    if None not in versions and not set.intersection(*filter(None, versions)):
        text = f"on listener {clean(used.name)} the two enable no TLS version in common"
        repair = f"set {_ENABLED} so that broker {target} and broker {source} have a version in common"
    elif used.protocol == "SSL" and required and all(read(source, key).state == "unset" for key in _KEY_STORES):
        text = f"listener {clean(used.name)} requires a certificate there, and broker {source} has no key store"
        repair = f"give broker {source} a key store first"
    fault = EdgeFault(edge=(source, target), code=LOGIN, text=text, listener=used.name, repair=repair)
    return fault if text else None

"""What the file around a container says against its settings: published ports, names of services, ids of the cluster. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kafka_audit.cluster.hosts import means_itself
from kafka_audit.compare.addresses import address_text
from kafka_audit.configuration.files.described import Container
from kafka_audit.lint import volumes
from kafka_audit.lint.members import Group, Member
from kafka_audit.model.addresses.advertised_listeners import (
    CONTROLLERS,
    INSTEAD,
    KEY,
    AdvertisedListener,
    entries,
    protocols_by_listener,
)
from kafka_audit.model.addresses.voters import VOTERS, named_voters
from kafka_audit.model.finding import Judgement, Severity, Status, Value
from kafka_audit.model.text import listing

MEND = "mend"
"""The evidence that is the remedy of a finding here; `{KEY}` stands for the file's name of a key."""

_LOOPBACK = re.compile(r"localhost|127\.[0-9.]+|::1", re.IGNORECASE)
_BETWEEN = "inter.broker.listener.name"
_NOWHERE = "no node finds a controller there"


@dataclass(frozen=True, kw_only=True)
class _AddressFault:
    """What is wrong with an advertised address, the key to change, and how."""

    kind: str
    key: str
    mend: str


def surrounding_faults(group: Group) -> Iterator[Judgement]:
    """Yield the faults of nodes that their files show beside the settings."""
    taken: defaultdict[str, set[str]] = defaultdict(set)  # places on volumes, by file
    for member in group:
        if member.broker.container is not None:
            before = taken[member.source.path]
            yield from _endpoints(member, member.broker.container, group)
            yield from _directories(member, member.broker.container, before)
            before.update(place for place, _ in volumes.places(member.broker))
            yield from _quorum(member, member.broker.container, group)


def _endpoints(member: Member, container: Container, group: Group) -> Iterator[Judgement]:
    settings = {key: member.broker.value(key) for key in (KEY, INSTEAD, CONTROLLERS)}
    if not settings[INSTEAD] or not member.serves or KEY in member.broker.unknown:
        return
    bound = {entry.listener: entry for entry in entries({KEY: settings[INSTEAD]})}
    advertised = [entry for entry in entries(settings) if entry.host and entry.port is not None and entry.listener in bound]
    targets = {target for target, _ in container.ports.values()}
    published = any(means_itself(entry.host or "") and entry.port in container.ports for entry in advertised)
    forgotten = not published and any(entry.port in targets for entry in bound.values())
    protocols = protocols_by_listener(member.broker.value("listener.security.protocol.map"))
    there = {(entry.host, protocols.get(entry.listener, entry.listener), bound[entry.listener].port) for entry in advertised}
    for entry in advertised:
        if (
            bound[entry.listener].port != entry.port
            and (entry.host, protocols.get(entry.listener, entry.listener), entry.port) in there
        ):
            continue  # another listener is there, which sends clients to the same host
        fault = _fault(entry, bound, container, forgotten=forgotten)
        if fault is None and entry.listener == member.broker.value(_BETWEEN) and means_itself(entry.host or ""):
            fault = _between(entry, container, group)
        if fault is not None:
            evidence: dict[str, Value] = {"broker": member.broker_id, "listener": entry.listener, "host": entry.host or ""}
            evidence |= {"port": entry.port or 0, "kind": fault.kind, "key": fault.key, MEND: fault.mend}
            yield _fail("KA303", f"broker/{member.broker_id}/listener/{entry.listener}", evidence)


def _fault(
    entry: AdvertisedListener, bound: Mapping[str, AdvertisedListener], container: Container, *, forgotten: bool
) -> _AddressFault | None:
    own, local = bound[entry.listener], means_itself(entry.host or "")
    at = own.host or ""
    target = container.ports.get(entry.port or 0, (None, 0))[0]
    if _LOOPBACK.fullmatch(at) and (not local or (target is not None and target == own.port)):
        kind = f"and listens on {address_text(at, own.port or 0)}, which its container alone reaches"
        return _AddressFault(kind=kind, key=INSTEAD, mend=f"In `{{{INSTEAD}}}`, let {entry.listener} listen on `0.0.0.0`.")
    if entry.host in container.own and own.port not in {None, entry.port}:
        kind = f"a port on which it does not listen: containers reach {entry.host} at {own.port}"
        return _AddressFault(kind=kind, key=KEY, mend=f"In `{{{KEY}}}`, give {entry.listener} the port {own.port}.")
    other = next((name for name, listener in bound.items() if listener.port == target), None)
    if entry.host not in container.own and target not in {None, own.port} and (other is not None or local):
        where = f"listener {other}" if other else f"{target}, where no listener is"
        mend = f"In `ports`, lead {entry.port} to {own.port}, where {entry.listener} listens: `{entry.port}:{own.port}`."
        return _AddressFault(kind=f"a port that `ports` lead to {where}", key=KEY, mend=mend)
    if local and (client := next((client for client in container.clients if client.port == own.port), None)) is not None:
        host = min(container.own)
        kind = f"which is {client.name} itself: it connects to port {client.port} of {host} and is sent there"
        mend = (
            f"In `{{{KEY}}}`, advertise `{host}:{client.port}` to containers. Clients of the host need a listener of their own."
        )
        return _AddressFault(kind=kind, key=KEY, mend=mend)
    if local and forgotten:
        mend = f"In `ports`, publish {entry.port}: `{entry.port}:{own.port}`. Or advertise the port that is published."
        return _AddressFault(kind="a port that the file does not publish", key=KEY, mend=mend)
    return None


def _between(entry: AdvertisedListener, container: Container, group: Group) -> _AddressFault | None:
    """Return that brokers of other containers are sent to themselves."""
    others = [one.broker.container for one in group if one.serves and one.broker.container is not container]
    if not container.own or not any(other is not None and other.own and other.own.isdisjoint(container.own) for other in others):
        return None
    mend = f"In `{{{KEY}}}`, advertise `{min(container.own)}` at {entry.listener}, or name another one in `{{{_BETWEEN}}}`."
    return _AddressFault(kind="which is each other broker itself: brokers are sent there", key=KEY, mend=mend)


def _directories(member: Member, container: Container, taken: Collection[str]) -> Iterator[Judgement]:
    """Yield why the data of a broker is not on its volumes."""
    found = volumes.volume_fault(member.broker, container, taken)
    if found is not None:
        kind = "broker" if member.serves else "controller"
        evidence: dict[str, Value] = {"broker": member.broker_id, "who": f"{kind} {member.broker_id}", "key": "log.dirs"}
        evidence |= {"fault": found.fault, MEND: found.mend, "line": found.line}
        yield _fail("KA720", f"{kind}/{member.broker_id}", evidence, found.severity)


def _quorum(member: Member, container: Container, group: Group) -> Iterator[Judgement]:
    fault = next(_quorum_faults(member, container, group), None)
    if fault is not None:
        what, effect, mend = fault
        kind = "broker" if member.serves else "controller"
        evidence: dict[str, Value] = {"node": member.broker_id, "fault": what, "effect": effect, "key": VOTERS, MEND: mend}
        yield _fail("KA213", f"{kind}/{member.broker_id}", evidence | {"source": member.source.path})


def _quorum_faults(member: Member, container: Container, group: Group) -> Iterator[tuple[str, str, str]]:
    """Yield what a node names, what follows, and the remedy."""
    named = named_voters(member.broker.value(VOTERS))
    shared = [address for address, count in Counter(named.values()).items() if count > 1]
    if shared:
        voters = listing([str(voter) for voter, address in named.items() if address == shared[0]])
        mend = f"In `{{{VOTERS}}}` of all nodes, give each voter its own address."
        yield f"voters {voters} at one address, {address_text(*shared[0])}", "one controller listens there", mend
    nodes = {other.broker_id: other.broker.container for other in group}
    for voter, (host, port) in named.items():
        own = nodes.get(voter)
        mend = f"In `{{{VOTERS}}}` of all nodes, name the service of each voter: {voter}@SERVICE:{port}."
        if own is None or not own.own or "." in host or ":" in host:
            continue
        if means_itself(host):
            if len(group) > 1:
                yield f"voter {voter} at {address_text(host, port)}, which is each container itself", _NOWHERE, mend
        elif host not in own.own:
            effect = "another service has that name" if host in member.broker.neighbours else _NOWHERE
            yield f"voter {voter} at {address_text(host, port)}, and its service is {listing(sorted(own.own))}", effect, mend
    yield from _waiting(named, container)
    mine = named.get(member.broker_id)
    listens = [entry for entry in entries({KEY: member.broker.value(INSTEAD)}) if mine and entry.port == mine[1]]
    if mine and not means_itself(mine[0]) and any(_LOOPBACK.fullmatch(entry.host or "") for entry in listens):
        mend = f"In `{{{INSTEAD}}}`, let the listener of controllers listen on `0.0.0.0`, or on no host."
        yield f"itself at {address_text(*mine)}, but listens on localhost", _NOWHERE, mend
    first = next((node for node in group if node.broker.container and node.broker.container.cluster_id), None)
    if first is not None and first.broker.container and container.cluster_id and first.broker.container.cluster_id:
        there = first.broker.container.cluster_id.value
        if container.cluster_id.value != there and named:
            mend = "Give all nodes of the cluster one cluster id, and format the log directories of those that had another one."
            yield f"another cluster id than node {first.broker_id}", "nodes of two cluster ids refuse each other", mend


def _waiting(named: Mapping[int, tuple[str, int]], container: Container) -> Iterator[tuple[str, str, str]]:
    """Yield what keeps the first start of pods from ending: each is ready when it has a leader, which needs the others."""
    if not container.probed or not container.probed.isdisjoint({port for _, port in named.values()}):
        return  # controllers listen before they have a leader
    own = {voter: at for voter, at in named.items() if container.service and container.service in at[0].split(".")[:2]}
    for voter, (host, port) in own.items():
        alone = len(named) == 1 and ".svc" in host  # Kubernetes writes a pod's own full name to its /etc/hosts
        if not container.published and not alone:
            mend = f"Set `publishNotReadyAddresses: true` in the Service {container.service}."
            what = f"voter {voter} at {address_text(host, port)}, a name that {container.service} has only when the pod is ready"
            yield what, "no pod is ready before its controllers have a leader", mend
    if container.one_by_one and len(own) > 1:
        mend = "Set `podManagementPolicy: Parallel` in the StatefulSet."
        yield f"{len(named)} voters, and its pods start one by one", "the first is never ready without the others", mend


def _fail(code: str, resource: str, evidence: Mapping[str, Value], severity: Severity = Severity.HIGH) -> Judgement:
    return Judgement(
        snapshot_id="lint", code=code, resource=resource, status=Status.FAIL, severity=severity, evidence=dict(evidence)
    )

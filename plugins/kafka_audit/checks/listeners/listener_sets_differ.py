from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, no_registrations
from kafka_audit.cluster.listeners.principals import file_of
from kafka_audit.model.tables import RegisteredBroker, RegisteredEndpoint


@check(code="KA305", severity=Severity.MEDIUM)
def listener_sets_differ(view: ClusterView) -> Judgements:
    """Brokers have different listeners, or different protocols for the same listener."""
    known = _by_settings(view) if view.kraft else _registered(view)
    gap = tuple(_unknown_listeners(view, known) if view.kraft else no_registrations(view))
    yield from gap
    if any(judgement.resource == "cluster" for judgement in gap):
        return
    brokers = sorted(broker for broker, protocols_of in known.items() if protocols_of is not None)
    listeners: dict[str, dict[int, str]] = defaultdict(dict)
    for broker, protocols_of in known.items():
        for listener, protocol in (protocols_of or {}).items():
            listeners[listener][broker] = protocol
    for listener in sorted({*listeners, *view.lacking}):
        yield from _of_listener(view, listener, listeners[listener], brokers)


def _of_listener(view: ClusterView, listener: str, protocols: dict[int, str], brokers: Sequence[int]) -> Judgements:
    """Judge one listener at brokers whose listeners are known, and at those that views show to lack it."""
    moving, lacking = _moving(view), view.lacking.get(listener, frozenset())
    for broker in lacking & protocols.keys():
        del protocols[broker]  # its settings are newer than its registration
    having = {*protocols, *(held.broker_id for held in view.held_views if lacking and held.row.listener == listener)}
    asked = sorted({*brokers, *having, *lacking})
    usual = min(Counter(protocols.values()).items(), key=lambda item: (-item[1], item[0]), default=("", 0))[0]
    for broker in asked:
        has = protocols.get(broker)
        if has is None and broker in having:
            continue  # it answered there, and its settings are unknown
        fault = _fault(usual, has, having=len(having), of=len(asked), internal=listener in view.inter_broker.users)
        evidence = {"who": f"broker {broker}", "broker": broker, "listener": listener, "protocol": has or "none"}
        evidence |= {"shown": _shown(view, broker) if broker in lacking else ""}
        resource = f"broker/{broker}/listener/{listener}"
        if fault is None and has is not None:
            yield view.judge(resource, Status.PASS, evidence)
        elif fault is not None and broker in moving:
            yield view.judge(resource, Status.UNKNOWN, evidence | MOVING)
        elif fault is not None:
            yield replace(view.judge(resource, Status.FAIL, evidence, fault=fault[0]), severity=fault[1])


def _moving(view: ClusterView) -> frozenset[int]:
    """Return the brokers whose registration changed between the samples, where there are two."""
    if view.samples[1] is None:
        return view.endpoints.moved
    changed = (brokers ^ view.lacking_before.get(listener, frozenset()) for listener, brokers in view.lacking.items())
    return view.endpoints.moved.union(*changed)


def _shown(view: ClusterView, broker: int) -> str:
    """Return what shows that a broker which Metadata does not list is registered."""
    behind = view.quorum.now.behind_ms.get(broker)
    follows = "" if behind is None else f" and follows the metadata log ({behind / 1000:.1f} s behind)"
    return f"; it is registered: it is in ISRs{follows}, but Metadata on this listener does not list it"


def _registered(view: ClusterView) -> Mapping[int, Mapping[str, str] | None]:
    """Return protocols by listener of each registered broker."""
    reported: dict[int, dict[str, str]] = {row.broker_id: {} for row in view.newest(RegisteredBroker)}
    for endpoint in view.newest(RegisteredEndpoint):
        reported.setdefault(endpoint.broker_id, {})[endpoint.listener] = endpoint.protocol
    return reported


def _unknown_listeners(view: ClusterView, reported: Mapping[int, Mapping[str, str] | None]) -> Judgements:
    for broker in sorted(broker for broker, listeners in reported.items() if listeners is None):
        needs = f"DescribeConfigs on Cluster, answered by broker {broker}, or {file_of(broker)}"
        error = f"its {'other ' if broker in view.unlisted else ''}listeners are unknown"
        evidence = {"who": f"broker {broker}", "error": error, "needs": needs}
        yield view.judge(f"broker/{broker}", Status.UNKNOWN, evidence)
    if not reported:
        evidence = {"who": "any broker", "error": "no broker answered", "needs": "a broker that answers"}
        yield view.judge("cluster", Status.UNKNOWN, evidence)


def _by_settings(view: ClusterView) -> Mapping[int, Mapping[str, str] | None]:
    """Return protocols by listener of each broker, None if they are unknown."""
    between = view.inter_broker
    reported: dict[int, Mapping[str, str] | None] = {}
    listed = {endpoint.broker_id for endpoint in view.endpoints.all}
    for broker in sorted({*between.brokers, *listed, *view.unlisted, *view.followers}):
        own = {name: between.protocol(broker, name) for name in between.offered(broker) or ()}
        known = {name: protocol for name, protocol in own.items() if protocol is not None}
        reported[broker] = known if known and len(known) == len(own) else None
    return reported


def _fault(usual: str, has: str | None, *, having: int, of: int, internal: bool) -> tuple[str, Severity] | None:
    """Return what is wrong with a broker's listener that `having` of `of` brokers have, most with protocol `usual`; else None."""
    if 2 * having < of and not internal:
        return None if has is None else (f"only {having} of {of} brokers have this listener", Severity.LOW)
    if has is None:
        use, severity = (", and others use it for inter-broker traffic", Severity.CRITICAL) if internal else ("", Severity.MEDIUM)
        return f"it lacks this listener, which {having} of {of} brokers have{use}", severity
    return None if has == usual else (f"its protocol is {has}, most brokers have {usual}", Severity.MEDIUM)

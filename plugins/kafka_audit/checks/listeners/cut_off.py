"""The incident of KA302: a broker runs, and other brokers cannot reach the address that it advertises."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kafka_audit.checks import log_quotes
from kafka_audit.checks.audit.unread_sources import failed_reads
from kafka_audit.checks.candidates import edges_of
from kafka_audit.checks.controller import behind_controllers
from kafka_audit.checks.incident import (
    Case,
    StoryFacts,
    at_the_broker,
    edges_behind,
    evidence_of,
    evidence_of_edges,
    in_partitions_of,
)
from kafka_audit.checks.listeners.new_listener import new_listener
from kafka_audit.checks.listeners.right_address import right_addresses, worked_before, wrong_endpoints
from kafka_audit.checks.repair import advertise, connect_commands, prove
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.compare.addresses import is_among, is_number
from kafka_audit.compare.host_kinds import means_itself
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.fault import Fault, known_faults
from kafka_audit.faults.read import reading_of
from kafka_audit.faults.solver import diagnoses_into
from kafka_audit.model import quoting
from kafka_audit.model.commands import Command, Line, command, remark
from kafka_audit.model.finding import Confidence, Evidence, Finding, Severity, Status, Step
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Probe
from kafka_audit.model.text import brokers, clean, listing, ranges
from kafka_audit.words.sentences import Written

_CODE = "KA302"
_FIRST = 10
"""Endpoints of which the report says that nothing was measured; the others are counted."""

_EACH = 3
"""Number of endpoints up to which each has its own command; above it, they share one log line."""


def sources(case: Case, root: Finding) -> tuple[int, ...]:
    """Return who cannot reach the endpoint: the controller where it is among those that the check names, else all of these.

    Where the controller's side was not measured, it is the controller if the broker's own view is empty. The broker itself is
    not among them, unless no other is: its replicas do not wait for it.
    """
    found, controller = root.numbers("from"), case.view.controller
    others = tuple(sorted({*found} - {root.resource.broker})) or tuple(sorted(found))
    if _followers_alone(case, root):
        return others
    if controller is not None and (not found or controller in found or _implied(case, root)):
        return (controller,)
    return others


def _followers_alone(case: Case, root: Finding) -> bool:
    """Return whether only followers show that the broker cannot be reached: it has what the controller sent."""
    broker = root.resource.broker
    return (
        bool(root.numbers("from"))
        and root.confidence is not Confidence.MEASURED
        and broker is not None
        and _updated(case, broker)
    )


def _updated(case: Case, broker: int) -> bool:
    return facts_of(case.view).accepted(broker) is not None


def _implied(case: Case, root: Finding) -> bool:
    """Return whether only the empty view shows that the controller cannot reach the broker either."""
    named = {*root.numbers("from"), *root.numbers("open")}
    return case.view.controller not in named and root.resource.broker in case.empty


def _confidence(case: Case) -> Confidence:
    """Return how sure the headline is: of a controller that no probe measured, its broker's view is the only witness."""
    facts, implied = facts_of(case.view), [root for root in case.roots if case.by_controller and _implied(case, root)]
    edges = (facts.edges.into(root.resource.broker)[:1] for root in implied if root.resource.broker is not None)
    return min(
        (case.confidence(), *(reading_of(facts, _CODE, edge).confidence for edge in edges)), key=[*reversed(Confidence)].index
    )


def cuts_by_side(case: Case) -> Iterable[Case]:
    """Split by the side that cannot connect: a controller that reaches no broker is one fault, a cut between two brokers another.

    Where several causes are left and none stands out, the symptom is reported instead. In KRaft, a broker that no
    longer follows its controllers is the greater fault, and the cut is a part of it.
    """
    late = behind_controllers.followed_no_more(case)
    groups: dict[tuple[int, ...], list[Finding]] = defaultdict(list)
    for root in case.roots:
        if late.roots and behind_controllers.at_either_end(late, root):
            continue
        if not root.texts("undecided"):
            groups[sources(case, root)].append(root)
    cuts = [replace(case, roots=tuple(roots), sources=broker_ids) for broker_ids, roots in groups.items()]
    kept: list[Case] = []
    for cut in sorted(cuts, key=lambda one: (not one.by_controller, len(one.brokers), one.brokers)):
        roots = tuple(root for root in cut.roots if not any(is_the_way_back(one, root) for one in kept))
        if roots:
            kept.append(replace(cut, roots=roots))
    return kept


def is_the_way_back(case: Case, symptom: Finding) -> bool:
    """Explain the same cut as its other side measures it: who does not reach a broker cannot be reached from there either."""
    back = {*symptom.numbers("from")}
    return (
        bool(back)
        and symptom.confidence is Confidence.MEASURED
        and back <= {*case.brokers}
        and all(symptom.resource.broker in root.numbers("from") for root in case.roots if root.resource.broker in back)
    )


def holds_up(case: Case, symptom: Finding) -> bool:
    """Explain a partition that a broker of the cut leads or holds up, unless its leader is cut off from those that it lacks."""
    key = symptom.resource.topic_partition
    if key is None:
        return at_the_broker(case, symptom) or _is_given_up_there(case, symptom)
    state = case.view.partitions.state(*key)
    if state is None or not in_partitions_of(case, symptom):
        return False
    cuts = (one for one in case.findings if one.code == _CODE and one.status is Status.FAIL and one not in case.roots)
    nearer = any(
        one.resource.broker == state.leader and {*one.numbers("from")} & {*state.missing} and not is_the_way_back(case, one)
        for one in cuts
    )
    return case.by_controller or state.leader in case.brokers or not nearer


def _is_given_up_there(case: Case, symptom: Finding) -> bool:
    """Return whether a follower that does not get to these brokers possibly gave up partitions, and they lead all of these."""
    places = (name.rpartition("-") for name in symptom.texts("partitions"))
    states = [case.view.partitions.state(topic, int(number)) for topic, _, number in places if number.isdecimal()]
    away = {source for root in case.roots for source in root.numbers("from")}
    follows = symptom.confidence is Confidence.SUSPECTED and symptom.resource.broker in away
    return follows and bool(states) and all(state is not None and state.leader in case.brokers for state in states)


def _of_the_way_back(case: Case) -> tuple[Finding, ...]:
    return tuple(one for one in case.explained if one.code == _CODE and one not in case.roots)


def _both_ways(case: Case) -> bool:
    """Return whether each pair of a side that cannot connect and a broker that is cut off is cut in both directions."""
    back = {(source, one.resource.broker) for one in _of_the_way_back(case) for source in one.numbers("from")}
    return bool(back) and back >= {(broker, source) for broker in case.brokers for source in case.sources}


def views_concerned(case: Case, symptom: Finding) -> bool:
    """Explain views of brokers that receive no updates (the controller cannot reach them) or cannot fetch (KRaft).

    In ZooKeeper mode a cut between two other brokers stops replication, and leaves every view as it is.
    """
    broker = symptom.resource.broker
    if case.view.kraft:
        return broker in {*case.brokers, *case.sources}
    return broker in case.brokers and (case.by_controller or case.view.controller is None)


def asked_for_the_controller(case: Case, symptom: Finding) -> bool:
    """Explain, with ZooKeeper, a source of which only what the controller answers was not read.

    A new controller answers late, or that it is none yet: it begins by sending to all brokers, those that it cannot reach among
    them.
    """
    return not case.view.kraft and symptom.text("reads") == "ListPartitionReassignments"


def _of_cause(case: Case, kind: str) -> bool:
    """Return whether something else than the address keeps the others away: a kind of faults."""
    return all(root.text("cause") == kind for root in case.roots)


def sets_the_limit(case: Case, symptom: Finding) -> bool:
    """Explain a limit that is too low for brokers where connections are closed because of one."""
    return _of_cause(case, "limit") and at_the_broker(case, symptom)


def reads_at_the_address(case: Case, symptom: Finding) -> bool:
    """Explain reads of the broker that failed at the very address: another program answers there, or no probe reaches it."""
    places = {(endpoint.host, endpoint.port) for endpoint in _ends(case)}
    names = {endpoint.resource for endpoint in case.endpoints}
    missed = {one.resource.name for one in case.findings if one.code == "KA301" and one.status is Status.FAIL}
    return (
        (_of_cause(case, "protocol") or names <= missed)
        and at_the_broker(case, symptom)
        and all(is_among(place, places) for read in failed_reads(case, symptom) for place in addresses_of(read.target))
    )


_SHOWN_BY = ("KA718", "KA001")
"""Checks of these two causes, which are evidence of them."""


def cut_off(case: Case) -> StoryFacts:
    """Return the facts: the broker that is cut off, and the brokers that cannot reach it."""
    confidence, other = _confidence(case), _other_cause(case)
    partitions, layers = case.view.partitions, sorted({root.text("layer") for root in case.roots if root.text("error")})
    facts: dict[str, object] = {
        "by_controller": case.by_controller,
        "shown": any(
            one.resource.topic_partition or (one.code == _CODE and one.severity is Severity.CRITICAL)
            for one in (*case.explained, *case.besides)
        ),
        "both_ways": _both_ways(case),
        "itself": case.by_controller and case.brokers == case.sources,
        "who": f"controller {case.sources[0]}" if case.by_controller else brokers(case.sources),
        "sources": case.sources,
        "own_host": _own_host(case),
        "fault": other.sentence if other else "",
        "led": partitions.led_by(case.brokers) if case.by_controller and not any(_updated(case, b) for b in case.brokers) else 0,
        "partitions": partitions.count.partitions,
        "every_isr_full": _every_isr_full(case),
        "by_log": not layers and bool(log_quotes.counting_lines(case, (_CODE,))),
        "layers": tuple(layers),
        "by_view_alone": case.confidence() is Confidence.MEASURED,
        "measured_at": tuple({source for root in case.roots for source in root.numbers("from")}),
        "rivals": " or ".join(case.roots[0].texts("rivals")),
        "repair": _steps_of(other, case) if other else (),
    }
    return StoryFacts(
        facts=facts | _not_measured(case) | _repair(case),
        story="other_cause" if other else None,
        evidence=(
            *_probes(case),
            *_lines(case),
            *_own_views(case),
            *_symptoms(case),
            *_registered(case),
            *_out_of_isr(case),
            *(evidence_of(one for one in case.explained if one.code in _SHOWN_BY) if other else ()),
        ),
        against=(*_registry_looks_whole(case), *_clients_reach(case)),
        confidence=confidence,
        edges=edges_of(case),
    )


def _own_host(case: Case) -> tuple[str, ...]:
    """Return the addresses if each host takes all of them for itself, and the cluster has several hosts (KA303, HIGH)."""
    failed = (f for f in case.findings if f.code == "KA303" and f.status is Status.FAIL)
    far = {f.resource.name for f in failed if f.severity >= Severity.HIGH}
    own = tuple(end.address for end in case.endpoints if end.resource in far and means_itself(end.host))
    return own if len(own) == len(case.endpoints) else ()


def _other_cause(case: Case) -> Fault | None:
    """Return what keeps the others away though the address can be reached, where the check names it."""
    named = {root.text("cause") for root in case.roots}
    found = (fault for fault in known_faults() if fault.kind in named and fault.remedy)
    return next(found, None) if len(named) == 1 else None


def _lines(case: Case) -> Iterable[Evidence]:
    idle = () if _confidence(case) is Confidence.MEASURED else log_quotes.idle(case, (_CODE,))
    return (*log_quotes.evidence(case, (_CODE,)), *idle)


def _probes(case: Case) -> Iterable[Evidence]:
    failed = edges_behind(case, (*case.roots, *_of_the_way_back(case)))
    failed.sort(key=lambda edge: (edge.source not in case.sources, edge.source or 0, edge.endpoint))
    return evidence_of_edges(failed)


def _own_views(case: Case) -> Iterable[Evidence]:
    view = case.view
    empty = [b for b in case.brokers if b in case.empty]
    if empty:
        ids = {controller for b in empty if (own := case.own_view(b)) for controller in own.controllers}
        view_lists = "own view lists" if len(empty) == 1 else "own views list"
        text = f"{view_lists} no broker; controller {listing(sorted(ids, key=str))}"
        yield Evidence(observer=brokers(empty), text=text)
    filled = {b: own for b in view.named_brokers if b not in case.brokers and b not in case.empty and (own := case.own_view(b))}
    full = [*filled]
    if full and empty:
        counts = sorted({count for own in filled.values() for count in own.listed})
        view_lists = "own view lists" if len(full) == 1 else "own views list"
        yield Evidence(observer=brokers(full), text=f"{view_lists} {listing(counts)} brokers: the controller reaches them")


def _registered(case: Case) -> Iterable[Evidence]:
    if not case.view.zookeeper_read:
        return
    by_listener: dict[str, list[AdvertisedEndpoint]] = defaultdict(list)
    for endpoint in _ends(case):
        by_listener[endpoint.listener].append(endpoint)
    for listener, ends in by_listener.items():
        single = len(ends) == 1
        # Every id, however many: a headline may only count them.
        subject = f"broker{'' if single else 's'} {ranges(e.broker_id for e in ends)} {'is' if single else 'are'} registered"
        where = f"{'advertises' if single else 'advertise'} {clean(listener)} at {listing((e.address for e in ends), 3)}"
        yield Evidence(observer="zookeeper", text=f"{subject} and {where}")


def _symptoms(case: Case) -> Iterable[Evidence]:
    """Return the signs of the cut if no view is empty: stale views, and followers outside the ISR."""
    quiet = [b for b in case.brokers if b not in case.empty]
    symptoms = {root.text("symptom") for root in case.roots if root.resource.broker in quiet}
    for symptom in sorted(symptoms - {""})[:3]:
        yield Evidence(observer="views and ISR", text=clean(symptom))


def _out_of_isr(case: Case) -> Iterable[Evidence]:
    shares = {} if case.view.kraft else case.view.partitions.shares
    for broker in case.brokers[:10]:
        share = shares.get(broker)
        if share is not None and share.in_sync < share.replicas:
            text = f"broker {broker} is in the ISR of {share.in_sync} of {share.replicas} partitions"
            yield Evidence(observer="zookeeper", text=text)


def _registry_looks_whole(case: Case) -> Iterable[Evidence]:
    count = case.view.partitions.count
    if case.view.kraft or not count.partitions:
        return
    whole = ", every ISR full" if _every_isr_full(case) else ""
    text = (
        f"a leader for {count.led} of {count.partitions} partitions{whole}. It shows this also when brokers did not receive it: "
        "the controller writes leaders to ZooKeeper before it sends them to brokers"
    )
    yield Evidence(observer="zookeeper", text=text)


def _every_isr_full(case: Case) -> bool:
    return not case.view.partitions.count.incomplete and not case.view.partitions.count.leaderless


def _clients_reach(case: Case) -> Iterable[Evidence]:
    reached: dict[str, list[str]] = defaultdict(list)
    for endpoint in case.endpoints:
        for edge in case.edges.to(endpoint):
            if "tcp" in edge.passed:
                reached[edge.vantage].append(endpoint.address)
    for vantage, addresses in sorted(reached.items()):
        text = f"connects to {listing(addresses, 3)}; this is no proof: it uses another network route than the {_side(case)}"
        yield Evidence(observer=f"vantage {clean(vantage)}", text=text)


def _side(case: Case) -> str:
    return "controller" if case.by_controller else "brokers"


def _measured(case: Case) -> set[tuple[int, int]]:
    """Return broker and source of each side that the check measured, open or closed."""
    return {
        (root.resource.broker, source)
        for root in case.roots
        if root.resource.broker is not None
        for source in (*root.numbers("open"), *(root.numbers("from") if root.confidence is Confidence.MEASURED else ()))
    }


def _not_measured(case: Case) -> dict[str, Any]:
    """Return the facts of what no probe and no log line shows: addresses, each with its probe, and possible next controllers."""
    measured = _measured(case)
    lines = log_quotes.counting_lines(case, (_CODE,))
    known = measured | {(line.about_broker, line.broker_id) for line in lines if line.about_broker is not None}
    open_ends = [end for end in case.endpoints if case.sources and (end.broker_id, case.sources[0]) not in known]
    stops = [edge.stop for end in open_ends for edge in case.edges.to(end, "broker") if edge.failed_at is None and edge.stop]
    others = {*case.view.named_brokers} - {*case.sources, *(source for _, source in measured)}
    return {
        "unmeasured": [(end.address, Written(quoting.plain_prose(connect_commands((end,))))) for end in open_ends[:_FIRST]],
        "more": max(len(open_ends) - _FIRST, 0),
        "probe_needs": clean(next((stop.needs for stop in stops if stop.needs), "")),
        "no_vantage": case.view.info is not None and case.view.info.broker_vantages == 0,
        "next": tuple(others) if case.by_controller else (),
    }


def _repair(case: Case) -> dict[str, Any]:
    """Return the facts of the repair, with the exact addresses, listeners and ports of the brokers at fault."""
    endpoint = next(iter(case.endpoints), None)
    own = endpoint and case.view.settings.get(endpoint.broker_id, "inter.broker.listener.name").value
    named = {source for root in case.roots if root.confidence is Confidence.MEASURED for source in root.numbers("from")}
    also = named - set(case.sources) - set(case.brokers)
    reach = {source for root in case.roots for source in root.numbers("open")} - {*also, *case.sources}
    wrong = wrong_endpoints(case)
    return {
        "wrong": tuple(end.address for end in wrong),
        "right": tuple(right_addresses(case).values()),
        "good": _known_good(case),
        "way_back": any(edge.stop and edge.stop.failure is ReadFailure.TIMEOUT for edge in edges_behind(case, case.roots)),
        "see": tuple(_see(case)),
        "repaired": tuple(_repaired(case)),
        "named_brokers": tuple(case.view.named_brokers),
        "existing": own if endpoint and own and len(case.view.endpoints.of(endpoint.broker_id)) > 1 else "",
        "tls": endpoint is not None and endpoint.protocol in TLS,
        "new_listener": new_listener(case.view, endpoint, {end.listener: _instead(case, end) for end in wrong})
        if endpoint
        else (),
        "also": tuple(also) if case.by_controller else (),
        "none_known": case.by_controller and not also and not reach,
    }


def _known_good(case: Case) -> str:
    """Return what shows that these addresses are right, and the fault is at the hosts that do not reach them; "" for nothing.

    Other brokers' hosts connect, or the same hosts did in the previous audit. Clients use other routes.
    """
    targets, ends = {*case.brokers}, {(end.broker_id, end.host, end.port) for end in case.endpoints}
    others = [{*root.numbers("open")} - {*case.sources, *targets} for root in case.roots]
    if not ends or not case.sources:
        return ""
    if all(others):
        reach = others[0].intersection(*others[1:])
        verb = "connects" if len(reach) == 1 else "connect"
        return f"{brokers(reach) if reach else 'other brokers'} {verb} to it"
    own = [row for row in case.view.earlier(Probe) if row.role == "broker" and row.from_broker in case.sources]
    failed = {(row.broker_id, row.host, row.port) for row in own if row.outcome == "failed"}
    opened = {(row.broker_id, row.host, row.port) for row in own if row.layer == "tcp" and row.outcome == "ok"}
    return "it worked in the previous audit" if ends <= opened - failed else ""


def _steps_of(fault: Fault, case: Case) -> tuple[Step, ...]:
    """Return the repair of a cause that lets a test connection through: how to decide, and its remedy."""
    found = [
        candidate
        for broker in case.brokers[:_EACH]
        for edge in diagnoses_into(case.view, broker)
        for candidate in edge.candidates
    ]
    see = dict.fromkeys(candidate.decided_by for candidate in found if candidate.fault is fault)
    target = str(case.brokers[0]) if len(case.brokers) == 1 else "each of them"
    return (
        *(Step(kind="see", text=f"See it yourself (reads only): {text}.") for text in list(see)[:1]),
        Step(kind="quick", text=fault.remedy.format(target=target), commands=tuple(_limits(case))),
        prove(case),
    )


def _limits(case: Case) -> Iterator[Line]:
    """Yield the command for each setting that limits connections too far."""
    for finding in [one for one in case.explained if one.code == "KA718"][:_EACH]:
        yield command(
            "kafka-configs.sh --bootstrap-server BROKER:9092 --alter --entity-type brokers --entity-name {broker} "
            "--add-config {key}=VALUE",
            broker=finding.resource.broker,
            key=finding.text("key"),
        )


def _see(case: Case) -> Iterator[Line]:
    for source in case.sources[:3]:
        role = "controller" if case.by_controller else "broker"
        yield remark("on the host of {role} {source}", role=role, source=source)
        yield from connect_commands(case.endpoints, 5)
        if _known_good(case):
            for host in dict.fromkeys(end.host for end in case.endpoints[:5]):
                yield command("ip route get {host}" if is_number(host) else "getent ahosts {host}", host=host)
        yield command("ss -tn state syn-sent")
        if case.by_controller:
            yield from _log_lines(case, source)


def _log_lines(case: Case, controller: int) -> Iterable[Command]:
    if len(case.endpoints) <= _EACH:
        return [_log_line(case, controller, endpoint) for endpoint in case.endpoints]
    line = f"Controller {controller}'s connection to broker .* was unsuccessful"
    return [command("grep -E {line} controller.log | tail -20", line=line)]


def _log_line(case: Case, controller: int, endpoint: AdvertisedEndpoint) -> Command:
    registration = case.view.in_zookeeper.get(endpoint.broker_id)
    rack = (registration.rack if registration else None) or "null"
    line = (
        f"Controller {controller}'s connection to broker {endpoint.address} "
        f"(id: {endpoint.broker_id} rack: {rack}) was unsuccessful"
    )
    return command("grep -F {line} controller.log | tail -3", line=line)


def _repaired(case: Case) -> Iterator[Line]:
    """Yield the setting of each broker, every wrong address in it replaced: another one would take a second restart."""
    for broker in case.brokers[:5]:
        if own := [(end, _instead(case, end)) for end in _ends(case) if end.broker_id == broker]:
            yield from advertise(case, *own)


def _ends(case: Case) -> list[AdvertisedEndpoint]:
    """Return the endpoints of a case, and those that the same setting gets wrong."""
    return sorted({*case.endpoints, *wrong_endpoints(case)})


def _instead(case: Case, broken: AdvertisedEndpoint) -> str:
    right = right_addresses(case).get(broken) or worked_before(case, broken)
    return right or f"ADDRESS_FOR_CLIENTS_AND_BROKERS:{broken.port}"

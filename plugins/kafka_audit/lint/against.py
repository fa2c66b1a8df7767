"""What proposed files would break of a running cluster: judged by its newest snapshot with the files in place of what runs. Pure.

A change is rolled broker by broker, so each file is put in alone, and then all of them: what fails then and does not fail now is
the change's doing, and what cannot be determined then and is not the same today is unknown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kafka_audit.checks import Check
from kafka_audit.checks.listeners.endpoint_unreachable import endpoint_judgement
from kafka_audit.checks.run import judge
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.faults.serve_edges import ServeEdges
from kafka_audit.lint.members import Member
from kafka_audit.lint.rolled import LISTENER, LOGIN, EdgeFault, advertised_by_member, roll_of, rolled, view_by_settings
from kafka_audit.model.addresses.advertised_listeners import KEY
from kafka_audit.model.finding import Judgement, Resource, Severity, Status
from kafka_audit.model.text import brokers, start_upper

_UNTRIED = "an audit after the broker listens there, or a connection from the network of the clients"
_AUTHORIZERS = "KA407"


def change_judgements(view: ClusterView, proposed: Sequence[Member], checks: Mapping[str, Check], key: bytes) -> list[Judgement]:
    """Return what the change breaks, and where it cannot be determined whether it breaks something.

    Args:
        view: the running cluster.
        proposed: brokers with their new settings.
        checks: all checks by code.
        key: of the HMAC that passwords become.
    """
    serving, roll = [member for member in proposed if member.serves], roll_of(view, proposed, key)
    own, now = {_AUTHORIZERS: checks[_AUTHORIZERS]}, view_by_settings(view, view.snapshot.rows)
    before = {(judgement.code, judgement.resource): judgement for judgement in judge(now, own)}
    steps = [(f"while only broker {member.broker_id} runs with its new file", [member]) for member in serving]
    if len(serving) > 1:
        steps.append(("after all brokers run with their new files", serving))
    found: dict[tuple[str, str], Judgement] = {}
    for when, changed in steps:
        after, alone = rolled(view, changed, key), changed is not serving
        faults = roll.alone[changed[0].broker_id] if alone else roll.final
        for judgement in (*_of_edges(after, faults), *judge(after, own)):
            place = (judgement.code, judgement.resource)
            earlier = before.get(place)
            # Halfway through brokers differ: what is no worse than that is the change itself.
            halfway = judgement.severity is Severity.MEDIUM and alone
            fails = judgement.status is Status.FAIL and not halfway and (earlier is None or earlier.status is not Status.FAIL)
            opens = judgement.status is Status.UNKNOWN and (earlier is None or earlier.evidence != judgement.evidence)
            known = found.get(place)
            if (fails and (known is None or known.status is not Status.FAIL)) or (opens and known is None):
                found[place] = _at_step(judgement, when, {f"broker/{member.broker_id}" for member in changed}, alone=alone)
    return [*found.values(), *_addresses(view, serving)]


def running_release(view: ClusterView, broker: int) -> str | None:
    """Return the minor release that a broker runs, or that all others do if it is new; None where that is not known."""
    of_broker = view.brokers.keys() & {broker} or view.brokers.keys()
    found = {minor_releases(view, one) for one in of_broker}
    known = next(iter(found)) if len(found) == 1 else None
    return None if known is None or known[0] != known[1] else ".".join(map(str, known[0]))


def _of_edges(after: ClusterView, faults: Iterable[EdgeFault]) -> Iterator[Judgement]:
    """Yield what a state of the roll breaks or leaves open, a judgement for each reason, as the check of such edges says it."""
    reasons: dict[tuple[str, int, str, str], list[EdgeFault]] = {}
    for fault in faults:
        reasons.setdefault((fault.code, fault.edge[1], fault.listener, fault.text), []).append(fault)
    for (code, target, listener, text), alike in reasons.items():
        fault, sources = alike[0], tuple(fault.edge[0] for fault in alike)
        resource = f"broker/{target}" if code not in {LISTENER, LOGIN} or not listener else f"broker/{target}/listener/{listener}"
        whom, between = brokers(sources), after.inter_broker
        evidence: dict[str, object] = {"broker": target, "who": f"broker {target}", "listener": listener or "unknown"}
        evidence |= {"protocol": between.protocol(target, listener) or "unknown", "from": sources, "users": sources}
        evidence |= {"error": text, "needs": fault.needs} if fault.unknown else {}
        if code == LISTENER:
            evidence |= {"fault": f"{whom} would not reach it: {text}", "key": KEY}
        elif code == LOGIN:
            evidence |= {"whom": start_upper(whom), "source": whom, "cannot": "cannot", "why": text, "repair": fault.repair}
            evidence["key"] = between.settings.first_set(sources[0], "sasl.mechanism.inter.broker.protocol")
        else:
            evidence |= {"whom": whom, "refuses": "rejects", "principal": fault.principal, "why": text}
            evidence |= {"authorizer": between.authorizer(target).value or "unknown"}
            evidence["key"] = between.settings.first_set(target, "super.users", "authorizer.class.name")
        status = Status.UNKNOWN if fault.unknown else Status.FAIL
        yield replace(after.judge(resource, status, evidence), code=code)


def _at_step(judgement: Judgement, when: str, changed: set[str], *, alone: bool) -> Judgement:
    """Return a judgement with the step at which it applies; requirements on other brokers are reported at the requiring file."""
    evidence = dict(judgement.evidence)
    if Resource.of(judgement.resource).root not in changed:
        evidence["key"] = "inter.broker.listener.name"
    for word in ("error",) if judgement.status is Status.UNKNOWN else ("fault", "why", "others"):
        if word in evidence:
            evidence[word] = f"{evidence[word]}, {when}"
            break
    return replace(judgement, evidence={**evidence, "when": when, "alone": alone})


def _addresses(view: ClusterView, proposed: Iterable[Member]) -> Iterator[Judgement]:
    """Yield what KA301 says of addresses that are new, by probes that were made of them for another reason, and KA304.

    A broker whose file is among the proposed ones leaves its address, if it has another one there.
    """
    proposed = tuple(proposed)
    held = {(row.broker_id, *canonical_address(row.host, row.port)) for row in view.endpoints.all}
    changed = {member.broker_id for member in proposed}
    for end in (end for member in proposed for end in advertised_by_member(member, 0)):
        address = canonical_address(end.host, end.port)
        if (end.broker_id, *address) in held:
            continue
        taken = {broker for broker, *place in held if (*place,) == address} - changed
        if taken:
            evidence = {"who": f"broker {end.broker_id}", "broker": end.broker_id, "brokers": (*sorted({end.broker_id, *taken}),)}
            evidence |= {"host": end.host, "port": end.port, "key": KEY}
            resource = f"broker/{end.broker_id}/listener/{end.listener}"
            yield replace(view.judge(resource, Status.FAIL, evidence), code="KA304")
            continue
        endpoint = AdvertisedEndpoint(broker_id=end.broker_id, listener=end.listener, host=end.host, port=end.port)
        tried = [*view.derived(ServeEdges).at(end.host, end.port)]
        judged = endpoint_judgement(view, endpoint, tried, ("not this one",))
        if judged.status is not Status.PASS:
            untried = {"error": "no vantage has probed it", "needs": _UNTRIED} if not tried else {}
            yield replace(judged, code="KA301", evidence={**judged.evidence, **untried, "key": KEY})

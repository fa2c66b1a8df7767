"""KA301: clients do not reach what brokers advertise, cannot resolve it outside, or neither they nor brokers reach it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kafka_audit.checks import Status
from kafka_audit.checks.incident import Case, StoryFacts, connection_opens, evidence_of, evidence_of_edges
from kafka_audit.checks.listeners.client_vantages import Reach, no_such_name, split_answers
from kafka_audit.checks.listeners.right_address import is_running, right_addresses
from kafka_audit.checks.repair import advertise, connect_commands, handshake_commands
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.compare.host_kinds import inside_of, means_itself
from kafka_audit.faults.serve_edges import NETWORK
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.commands import Line
from kafka_audit.model.finding import Evidence, Finding
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.text import listing


def dead_for_everybody(case: Case) -> Iterable[Case]:
    """Take endpoints that client and brokers miss alike, of brokers that gave no view: nothing says that they live."""
    inter_broker = {f.resource.name for f in case.findings if f.code == "KA302" and f.status is Status.FAIL}
    roots = tuple(
        root
        for root in case.roots
        if root.resource.name in inter_broker
        and (endpoint := case.view.endpoints.by_resource.get(root.resource.name)) is not None
        and case.own_view(endpoint.broker_id) is None
        and not connection_opens(root)
    )
    return (replace(case, roots=roots),) if roots else ()


def connections_of_all(case: Case) -> StoryFacts:
    """Return how connections of clients and brokers fail; whether the broker runs cannot be decided from outside."""
    edges = [edge for end in case.endpoints for role in ("client", "broker") for edge in case.edges.to(end, role)]
    return StoryFacts(
        facts={"layers": ", ".join(layer for layer in NETWORK if any(edge.failed_at == layer for edge in edges))},
        evidence=evidence_of_edges(edges),
        confidence=replace(case, roots=(*case.roots, *_of_brokers(case))).confidence(),
    )


def _of_brokers(case: Case) -> tuple[Finding, ...]:
    """Return what is known of the connections of other brokers to the same endpoints."""
    places = {root.resource.name for root in case.roots}
    return tuple(f for f in case.findings if f.code == "KA302" and f.status is Status.FAIL and f.resource.name in places)


def exposed_endpoints(case: Case) -> StoryFacts:
    """Return from which vantage which layer fails, k of n."""
    reach, means_own_host = Reach.of(case), _means_itself(case)
    broken = [edge for edges in reach.broken.values() for edge in edges]
    endpoints = tuple(sorted({edge.endpoint for edge in broken})) or case.endpoints
    found = right_addresses(case)
    in_tls = {endpoint for endpoint in endpoints if {e.failed_at for e in broken if e.endpoint == endpoint} == {"tls"}}
    right = found if {*found} == {*case.endpoints} else {}
    facts = {
        "right": tuple(right.values()),
        "wrong": tuple(endpoint.address for endpoint in right),
        "corrected": tuple(_advertised(case, lambda endpoint: right[endpoint])) if right else (),
        "nowhere": all(root.evidence.get("nowhere") is True for root in case.roots),
        "runs": all(is_running(case.view, broker) for broker in case.brokers),
        **reach.facts(),
        "means_own_host": means_own_host,
        "handshake": bool(broken) and in_tls == {*endpoints},
        "addresses": tuple(endpoint.address for endpoint in case.endpoints[:2]) if means_own_host else (),
        "layers": reach.layers(),
        "here": (WORKER,) if reach.worst == (WORKER,) else (),
        "there": reach.worst[:1] if WORKER not in reach.worst else (),
        "refused": bool(broken) and all(edge.stop is not None and edge.stop.failure is ReadFailure.REFUSED for edge in broken),
        "led": case.view.partitions.led_by(case.brokers),
        "partitions": case.view.partitions.count.partitions,
        "one_vantage": case.view.info is not None and case.view.info.client_vantages <= 1,
        "resolve": endpoints if any(edge.failed_at == "dns" for edge in broken) else (),
        "connect": (
            *handshake_commands(endpoint for endpoint in endpoints[:5] if endpoint in in_tls),
            *connect_commands(tuple(endpoint for endpoint in endpoints[:5] if endpoint not in in_tls)),
        ),
        "all_brokers": len(case.view.named_brokers),
        "named": tuple(_advertised(case, lambda e: f"NAME_OF_BROKER_{e.broker_id}:{e.port}")) if means_own_host else (),
    }
    shown = reach.evidence() if reach.worst else evidence_of(case.roots)
    return StoryFacts(facts=facts, evidence=(*shown, *split_answers(case)), against=reach.against())


def _means_itself(case: Case) -> bool:
    """Return whether every endpoint that is missed has a name with which each host means itself.

    Where another one of that kind is open, brokers and vantage share a host, and what is missed is down.
    """
    if not case.endpoints or not all(means_itself(endpoint.host) for endpoint in case.endpoints):
        return False
    others = {e.resource for e in case.view.endpoints.known if means_itself(e.host) and e not in case.endpoints}
    judged = (f for f in case.findings if f.code == "KA301" and f.resource.name in others)
    return not any(f.status is Status.PASS or (f.status is Status.FAIL and f.text("layer") not in NETWORK) for f in judged)


def _advertised(case: Case, address: Callable[[AdvertisedEndpoint], str]) -> Iterator[Line]:
    """Yield settings with another address for each endpoint of a broker."""
    by_broker = [own for broker in case.brokers if (own := [e for e in case.endpoints if e.broker_id == broker])]
    for own_endpoints in by_broker[:5]:
        yield from advertise(case, *((endpoint, address(endpoint)) for endpoint in own_endpoints))


def by_network(case: Case) -> Iterable[Case]:
    """Take endpoints whose names belong to one network, and whose vantage received "no such name" from its resolver.

    A vantage that resolves the others is inside: there one name that is not known is a pod that is not ready, or a typing error.
    A resolver that gives no answer says nothing about names.
    """
    outside: dict[str, set[str]] = defaultdict(set)
    reach = Reach.of(case)
    for vantage, edges in reach.edges.items():
        resolving = {inside_of(edge.endpoint.host) for edge in edges if edge.via is None and "dns" in edge.passed}
        for edge in reach.broken[vantage]:
            place = inside_of(edge.endpoint.host)
            if place is not None and place not in resolving and edge.via is None and no_such_name(edge):
                outside[edge.endpoint.resource].add(vantage)
    groups: dict[str, list[Finding]] = defaultdict(list)
    for root in case.roots:
        endpoint = case.view.endpoints.by_resource.get(root.resource.name)
        place = inside_of(endpoint.host) if endpoint is not None else None
        if place is not None and outside[root.resource.name]:
            groups[place].append(root)
    return tuple(replace(case, roots=tuple(roots)) for roots in groups.values())


def inside_names(case: Case) -> StoryFacts:
    """Return which names are of the inside, and from where they do not resolve."""
    reach = Reach.of(case)
    names = tuple(dict.fromkeys(endpoint.host for endpoint in case.endpoints))
    place = inside_of(case.endpoints[0].host) or "its own network"
    by_form = Evidence(observer="form", text=f"{listing(names, 3)}: {_form(place)}")
    inside = any("dns" in edge.passed for endpoint in case.endpoints for edge in case.edges.to(endpoint, role=None))
    facts = {
        **reach.facts(),
        "place": place,
        "hosts": names,
        "listeners": tuple(dict.fromkeys(endpoint.listener for endpoint in case.endpoints)),
        "resolved_inside": inside,
        "vantage": "{command: [kubectl, exec, -i, POD, --]}",
        "all_brokers": len(case.view.named_brokers),
    }
    evidence = (*reach.evidence(), by_form, *split_answers(case))
    return StoryFacts(facts=facts, evidence=evidence, against=reach.against())


def _form(place: str) -> str:
    if place == "its own network":
        return "bare names, which resolve only with a search domain or in a container network"
    return f"by their form known only to the DNS of {place}"

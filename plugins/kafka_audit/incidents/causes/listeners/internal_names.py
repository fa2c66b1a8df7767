"""KA301 at dns: advertised names that resolve only inside Kubernetes, Docker or another network, and the four remedies."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.cluster.hosts import inside_of
from kafka_audit.incidents.causes.listeners.client_vantages import Reach, no_such_name, split_answers
from kafka_audit.incidents.causes.rule import (
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    at_the_endpoint,
)
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.finding import Evidence, Finding
from kafka_audit.model.text import listing


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


def story(case: Case) -> Story:
    """Return the story: which names are of the inside, from where they do not resolve, and how others got out of it."""
    reach = Reach.of(case)
    names = tuple(dict.fromkeys(endpoint.host for endpoint in case.endpoints))
    place = inside_of(case.endpoints[0].host) or "its own network"
    by_form = Evidence(observer="form", text=f"{listing(names, 3)}: {_form(place)}")
    inside = any("dns" in edge.passed for endpoint in case.endpoints for edge in case.edges.to(endpoint, role=None))
    return told(
        case,
        "listeners/internal_names inside",
        evidence=(
            *reach.evidence(),
            by_form,
            *split_answers(case),
        ),
        against=reach.against(),
        **reach.facts(),
        place=place,
        hosts=names,
        listeners=tuple(dict.fromkeys(endpoint.listener for endpoint in case.endpoints)),
        resolved_inside=inside,
        vantage="{command: [kubectl, exec, -i, POD, --]}",
        all_brokers=len(case.view.named_brokers),
    )


def _form(place: str) -> str:
    if place == "its own network":
        return "bare names, which resolve only with a search domain or in a container network"
    return f"by their form known only to the DNS of {place}"


INSIDE_NAMES = Cause(
    codes=("KA301",),
    meaning="brokers advertise names that resolve only inside a network without these clients",
    cases=by_network,
    story=story,
    explains=(
        Explains(codes=("KA303",), where=at_the_endpoint),
        Explains(codes=("KA001",), where=at_the_broker),
    ),
)

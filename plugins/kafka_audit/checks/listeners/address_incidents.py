"""Incidents of an address: several brokers or listeners share it, or another one answers there."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks.incident import Case, StoryFacts, at_the_endpoint, connection_opens, evidence_of
from kafka_audit.checks.repair import advertise
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.model.commands import Command, Line, command
from kafka_audit.model.finding import Evidence, Finding
from kafka_audit.model.text import clean

_OTHER_CLUSTER = "another cluster"


def by_address(case: Case) -> Iterable[Case]:
    """Take brokers that share an address as one fault."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    for root in case.roots:
        endpoint = case.view.endpoints.by_resource.get(root.resource.name)
        groups[canonical_text(endpoint.address) if endpoint else root.resource.name].append(root)
    return tuple(replace(case, roots=tuple(roots)) for roots in groups.values())


def separate_addresses(case: Case) -> StoryFacts:
    """Return what several brokers with one address would advertise instead; one that answers there keeps it."""
    answering = {row.answered_by for end in case.endpoints if (row := case.view.identities.get((end.broker_id, end.listener)))}
    owner = answering.pop() if len(answering) == 1 and answering <= {*case.brokers} else None
    facts = {
        "owner": owner,
        "others": tuple(broker for broker in case.brokers if broker != owner),
        "address": case.endpoints[0].address if case.endpoints else "the same address",
        # Of several brokers at one address, one that answers elsewhere is asked in KRaft.
        "elsewhere": next((e.address for e in case.view.endpoints.known if e.broker_id not in case.brokers), "BROKER:9092"),
        "separate": _separate(case, owner),
    }
    return StoryFacts(facts=facts)


def _separate(case: Case, owner: int | None = None) -> tuple[Line, ...]:
    """Return settings with another address for each endpoint, but for those of the broker that answers there."""
    ends = [endpoint for endpoint in case.endpoints if endpoint.broker_id != owner]
    wanted = ((endpoint, f"ADDRESS_OF_BROKER_{endpoint.broker_id}:{endpoint.port}") for endpoint in ends[:5])
    return tuple(line for endpoint, address in wanted for line in advertise(case, (endpoint, address)))


def answers_in_turn(case: Case) -> StoryFacts:
    """Return which brokers answer at an address that leads to several."""
    facts = {
        "answering": tuple(sorted({broker for root in case.roots for broker in root.numbers("answering_brokers")})),
        "ask": tuple(_ask_who(endpoint, "") for endpoint in case.endpoints[:5]),
        "separate": _separate(case),
    }
    return StoryFacts(facts=facts)


def wrong_answers(case: Case) -> StoryFacts:
    """Return who answers at addresses that another broker advertises."""
    roots = {root.resource.name: root for root in case.roots}
    answers = {endpoint: _answerer(roots[endpoint.resource]) for endpoint in case.endpoints}
    answered_by = {endpoint: answerer for endpoint, answerer in answers.items() if answerer}
    lines = [
        Evidence(
            observer=f"address {clean(endpoint.address)}",
            text=f"advertised by broker {endpoint.broker_id}, answered by {answerer}",
        )
        for endpoint, answerer in answered_by.items()
    ]
    address, answerer = next(((endpoint.address, answerer) for endpoint, answerer in answered_by.items()), ("", ""))
    facts = {
        "several": len(case.brokers) > 1,
        "address": address,
        "answerer": answerer,
        "ask": tuple(_ask_who(endpoint, answerer) for endpoint, answerer in [*answers.items()][:5]),
    }
    return StoryFacts(facts=facts, evidence=lines[:10] or evidence_of(case.roots))


def on_the_same_way(case: Case, symptom: Finding) -> bool:
    """Explain that two mappings of `reach` have the same target: one of them is wrong."""
    roots = {root.resource.name for root in case.roots}
    every = case.edges.from_worker
    taken = {edge.via for edge in every if edge.endpoint.resource in roots and edge.via}
    return any(edge.via in taken for edge in every if edge.endpoint.resource == symptom.resource.name)


def answered_at_the_endpoint(case: Case, symptom: Finding) -> bool:
    """Explain an endpoint whose connection opens, and then fails."""
    return at_the_endpoint(case, symptom) and connection_opens(symptom)


def as_a_proxy_says(case: Case, symptom: Finding) -> bool:
    """Explain that a broker lists an address of this fault for another: a proxy wired crosswise rewrites answers so."""
    mixed_up = {canonical_text(endpoint.address) for endpoint in case.endpoints}
    listed = {canonical_text(symptom.text(key)) for key in ("zookeeper", "said")}
    return listed <= mixed_up and any(edge.via for edge in case.edges.from_worker if edge.endpoint.broker_id in case.brokers)


def _answerer(root: Finding) -> str:
    """Return who answers at the address; the broker's own id there is one of another cluster. "" where no id was reported."""
    ids = root.numbers("answering_brokers")
    if not ids:
        return ""
    return _OTHER_CLUSTER if root.resource.broker in ids else f"broker {ids[0]}"


def _ask_who(endpoint: AdvertisedEndpoint, answerer: str) -> Command:
    if answerer == _OTHER_CLUSTER:
        return command("kafka-cluster.sh cluster-id --bootstrap-server {address}", address=endpoint.address)
    # The client sends this to the address that the broker advertises; any other broker there refuses, and says its own id.
    template = "kafka-configs.sh --bootstrap-server {address} --describe --entity-type brokers --entity-name {broker}"
    return command(template, address=endpoint.address, broker=endpoint.broker_id)

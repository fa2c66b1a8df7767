"""Causes at an address: two share it (KA304, KA322), others answer there (KA320, KA111), or none (KA103, KA321)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks.repair import advertise
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.compare.addresses import address_text, canonical_text
from kafka_audit.incidents.causes.rule import (
    LOST_REPLICAS,
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    apart,
    at_the_broker,
    at_the_endpoint,
    connection_opens,
    evidence_of,
    together,
)
from kafka_audit.incidents.causes.told import grouped_story, told
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


def shared_story(case: Case) -> Story:
    """Return the story of several brokers with one address."""
    return told(
        case,
        "listeners/addresses shared",
        address=case.endpoints[0].address if case.endpoints else "the same address",
        # Of several brokers at one address, one that answers elsewhere is asked in KRaft.
        elsewhere=next((e.address for e in case.view.endpoints.known if e.broker_id not in case.brokers), "BROKER:9092"),
        separate=_separate(case),
    )


def _separate(case: Case) -> tuple[Line, ...]:
    """Return settings with another address for each endpoint."""
    wanted = ((endpoint, f"ADDRESS_OF_BROKER_{endpoint.broker_id}:{endpoint.port}") for endpoint in case.endpoints[:5])
    return tuple(line for endpoint, address in wanted for line in advertise(case, (endpoint, address)))


def in_turn_story(case: Case) -> Story:
    """Return the story that an address leads to several brokers."""
    return told(
        case,
        "listeners/addresses in_turn",
        answering=tuple(sorted({broker for root in case.roots for broker in root.numbers("answering_brokers")})),
        ask=tuple(_ask_who(endpoint, "") for endpoint in case.endpoints[:5]),
        separate=_separate(case),
    )


def wrong_answer_story(case: Case) -> Story:
    """Return the story that an address leads to another broker than the one that advertises it."""
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
    return told(
        case,
        "listeners/addresses wrong_answer",
        evidence=lines[:10] or evidence_of(case.roots),
        several=len(case.brokers) > 1,
        address=address,
        answerer=answerer,
        ask=tuple(_ask_who(endpoint, answerer) for endpoint, answerer in [*answers.items()][:5]),
    )


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


SHARED_ADDRESS = Cause(
    codes=("KA304",),
    tier="brokers",
    meaning="two brokers advertise one address",
    cases=by_address,
    story=shared_story,
    explains=(
        Explains(codes=("KA111", "KA301", "KA302", "KA303", "KA320"), where=at_the_endpoint),
        Explains(codes=(*VIEW, "KA001"), where=at_the_broker),
    ),
)

LISTENERS_SHARE_ADDRESS = Cause(
    codes=("KA322",),
    tier="brokers",
    meaning="two listeners of a broker with different security advertise one address: what answers there is one of them",
    cases=by_address,
    story=grouped_story,
    explains=(
        # Not where nothing answers at all: the address may be unreachable besides.
        Explains(codes=("KA301", "KA302"), where=answered_at_the_endpoint),
    ),
)

ANSWERS_IN_TURN = Cause(
    codes=("KA320",),
    tier="brokers",
    meaning="an address leads to several brokers in turn, as that of a load balancer does",
    cases=together,
    story=in_turn_story,
    explains=(
        Explains(codes=("KA106",), where=as_a_proxy_says),
        Explains(codes=("KA111", "KA301", "KA302", "KA303", "KA319"), where=at_the_endpoint),
        Explains(codes=(*VIEW, "KA001"), where=at_the_broker),
    ),
)

WRONG_ANSWER = Cause(
    codes=("KA111",),
    tier="brokers",
    before=("KA113",),
    meaning="an address leads to another broker than the one that advertises it",
    cases=together,
    story=wrong_answer_story,
    explains=(
        Explains(codes=("KA315",), where=on_the_same_way),
        Explains(codes=("KA106",), where=as_a_proxy_says),
        Explains(codes=("KA301", "KA302", "KA303"), where=at_the_endpoint),
        Explains(codes=(*VIEW, "KA001"), where=at_the_broker),
    ),
)


def by_leaders(case: Case) -> Iterable[Case]:
    """Split by the leaders that lack it: each is one fault, whichever brokers were asked."""
    groups: dict[tuple[int, ...], list[Finding]] = defaultdict(list)
    for root in case.roots:
        groups[root.numbers("leaders")].append(root)
    return tuple(replace(case, roots=tuple(roots)) for roots in groups.values())


def _leaders(case: Case) -> tuple[int, ...]:
    """Return the brokers that lack it; none where nothing names them."""
    return case.roots[0].numbers("leaders")


def _listeners(case: Case) -> tuple[str, ...]:
    return tuple(sorted({listener for root in case.roots for listener in root.texts("listeners")}))


def missing_there(case: Case, symptom: Finding) -> bool:
    """Explain that a leader has not the listeners of the others."""
    return symptom.resource.broker in _leaders(case) and symptom.text("listener") in _listeners(case)


def at_their_former_address(case: Case, symptom: Finding) -> bool:
    """Explain an address of the cluster file at which a leader listened in the previous snapshot."""
    held = (row for row in case.view.addresses_earlier if row.broker_id in _leaders(case))
    return symptom.resource.address in {address_text(row.host, row.port) for row in held}


def missing_story(case: Case) -> Story:
    """Return the story: which brokers lack which listener, and how many partitions clients cannot use."""
    return told(
        case,
        "listeners/addresses missing",
        evidence=evidence_of((*case.explained, *case.besides)),
        leaders=_leaders(case) or "the leaders",
        listeners=_listeners(case),
        count=max(root.number("count") for root in case.roots),
        total=max(root.number("total") for root in case.roots),
    )


MISSING_LISTENER = Cause(
    codes=("KA103",),
    meaning="the leader of partitions lacks the listener on which clients ask for them",
    cases=by_leaders,
    story=missing_story,
    explains=(
        Explains(codes=("KA305",), where=missing_there),
        Explains(codes=("KA001",), where=at_their_former_address),
    ),
)


def not_answered(case: Case, symptom: Finding) -> bool:
    """Explain an endpoint whose connection opens: what keeps it closed is no lack of the process."""
    return at_the_broker(case, symptom) and connection_opens(symptom)


EXHAUSTED = Cause(
    codes=("KA321",),
    tier="brokers",
    meaning="a broker ran out of memory, file handles or memory maps, and its process stays up",
    cases=apart,
    story=grouped_story,
    explains=(
        Explains(codes=("KA301",), where=not_answered),
        Explains(codes=("KA001", "KA617"), where=at_the_broker),
        LOST_REPLICAS,
    ),
)

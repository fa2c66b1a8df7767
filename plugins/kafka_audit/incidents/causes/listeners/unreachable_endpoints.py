"""KA301: clients do not reach what brokers advertise; and addresses and brokers that no client and no broker reaches."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_audit.cluster.hosts import means_itself
from kafka_audit.cluster.listeners.probes import LAYERS, ProbeResult
from kafka_audit.incidents.causes.listeners.client_vantages import Reach, split_answers
from kafka_audit.incidents.causes.repair import advertise, connect_commands, do_not, prove
from kafka_audit.incidents.causes.rule import (
    LOST_REPLICAS,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    at_the_endpoint,
    changed_before,
    evidence_of,
    evidence_of_paths,
    together,
)
from kafka_audit.model.commands import command
from kafka_audit.model.finding import Status, Step
from kafka_audit.model.text import brokers, clean, counted, fitting, listing, start_upper


def dead_for_everybody(case: Case) -> Iterable[Case]:
    """Take endpoints that client and brokers miss alike, of brokers that gave no view: nothing says that they live."""
    inter_broker = {f.resource.name for f in case.findings if f.code == "KA302" and f.status is Status.FAIL}
    roots = tuple(
        root
        for root in case.roots
        if root.resource.name in inter_broker
        and (endpoint := case.view.endpoints.by_resource.get(root.resource.name)) is not None
        and not case.view.views_of(endpoint.broker_id)
        and root.text("layer") in LAYERS[:2]  # dns or tcp
    )
    return (replace(case, roots=roots),) if roots else ()


def dead_story(case: Case) -> Story:
    """Return the story of an unreachable broker: whether it runs cannot be decided from outside."""
    broker_ids, single = case.brokers, len(case.brokers) == 1
    paths = [p for e in case.endpoints for role in ("client", "broker") for p in case.view.probes_to(e, role)]
    layers = [layer for layer in LAYERS if any(p.layer == layer and p.failed_at_network for p in paths)]
    them = "it" if single else "them"
    unreachable = f"{start_upper(brokers(broker_ids))} {'is' if single else 'are'} unreachable"
    dead = f"{unreachable}: clients and brokers cannot connect"
    still = f"brokers still list {them}" if case.view.kraft else f"ZooKeeper still has {them} registered"
    return Story(
        headline=fitting([f"{dead} ({', '.join(layers)})", dead]),
        impact=f"Clients and replication fail at {brokers(broker_ids)}; {still}.",
        confidence=case.confidence(),
        why="Client probes failed, and no view was read.",
        speaks_for=(*evidence_of_paths(paths), *changed_before(case, {"endpoint": "address", "config": "setting"})),
        not_known=(_down_or_wrong(broker_ids),),
        steps=(
            Step(
                kind="see",
                text="See it yourself (reads only), on the broker's host and elsewhere.",
                commands=connect_commands(case.endpoints, 5),
            ),
            Step(
                kind="quick",
                text="If the process is down or stuck, restart it; if it runs, correct advertised.listeners and restart it.",
                cost="A restart each: replicas that are behind copy from the leaders.",
            ),
            prove(case),
        ),
    )


def _down_or_wrong(broker_ids: tuple[int, ...]) -> str:
    doubt = "is down or only its address is wrong" if len(broker_ids) == 1 else "are down or only their addresses are wrong"
    return f"Not known: whether {brokers(broker_ids)} {doubt}. To know: the process and server.log on the host."


def exposure_story(case: Case) -> Story:
    """Return the story: from which vantage which layer fails, k of n."""
    reach = Reach.of(case)
    return Story(
        headline=_headline(case, reach),
        impact=f"{_impact(case, reach)} {reach.sentences()}".strip(),
        confidence=case.confidence(),
        why="It was measured from the vantages that failed; other vantages may use another network route.",
        speaks_for=(
            *(reach.evidence() if reach.worst else evidence_of(case.roots)),
            *split_answers(case),
            *changed_before(case, {"endpoint": "address", "config": "setting"}),
        ),
        against=tuple(reach.against()),
        not_known=tuple(_never_asked(case)),
        steps=_steps(case, [path for paths in reach.failed.values() for path in paths]),
    )


def _headline(case: Case, reach: Reach) -> str:
    broker_ids = case.brokers
    if not reach.worst:
        addresses = "their advertised address" if len(broker_ids) == 1 else "their advertised addresses"
        return f"Clients cannot reach {brokers(broker_ids)} at {addresses}"
    if _means_itself(case):
        where, own = reach.where(), "each host's own address"
        address = listing([clean(e.address) for e in case.endpoints], 2)
        advertises = "it advertises" if len(broker_ids) == 1 else "they advertise"
        return fitting(
            [
                f"Clients at {where} cannot reach {brokers(broker_ids)}: {advertises} {address}, {own}",
                f"Clients cannot reach {brokers(broker_ids, 3)}: {advertises} {address}, {own}",
                f"Clients cannot reach {brokers(broker_ids, 3)}: {advertises} {own}",
            ]
        )
    fail = f"{'fails' if len(reach.worst_failed) == 1 else 'fail'} at {listing(reach.layers())}"
    return fitting(
        [
            f"Clients at {reach.where()} cannot reach {brokers(broker_ids)}: {reach.tally()} advertised endpoints {fail}",
            f"Clients at {reach.where(20)} cannot reach {brokers(broker_ids, 3)}: {reach.tally()} endpoints {fail}",
            f"Clients cannot reach {brokers(broker_ids, 3)}: {reach.tally()} endpoints {fail}",
        ]
    )


def _means_itself(case: Case) -> bool:
    """Return whether every endpoint that is missed has a name with which each host means itself.

    Where another one of that kind is open, brokers and vantage share a host, and what is missed is down.
    """
    if not case.endpoints or not all(means_itself(endpoint.host) for endpoint in case.endpoints):
        return False
    others = {e.resource for e in case.view.endpoints.known if means_itself(e.host) and e not in case.endpoints}
    judged = (f for f in case.findings if f.code == "KA301" and f.resource.name in others)
    return not any(f.status is Status.PASS or (f.status is Status.FAIL and f.text("layer") not in LAYERS[:2]) for f in judged)


def _impact(case: Case, reach: Reach) -> str:
    if reach.everything_fails():
        return "No client there can bootstrap."
    led = case.view.partitions.led_by(case.brokers)
    of, by = case.view.partitions.count.partitions, "the newest leader epochs" if case.view.kraft else "ZooKeeper"
    text = f"A client there may bootstrap, then fails on every partition that {brokers(case.brokers)} " + (
        "leads" if len(case.brokers) == 1 else "lead"
    )
    return f"{text}: {led} of {of} by {by}." if of else f"{text}."


def _never_asked(case: Case) -> Iterable[str]:
    info = case.view.info
    if info is not None and info.client_vantages <= 1:
        yield "Not known: whether clients elsewhere reach the brokers. To know: add a vantage to the cluster file."


def _steps(case: Case, failed: Sequence[ProbeResult]) -> tuple[Step, ...]:
    endpoints = tuple(sorted({p.endpoint for p in failed})) or case.endpoints
    dns = any(p.layer == "dns" for p in failed)
    resolve = tuple(command("getent hosts {host}", host=e.host) for e in endpoints[:5]) if dns else ()
    many = counted(len(case.view.named_brokers), "broker")
    see = Step(
        kind="see", text="See it yourself from that vantage (reads only).", commands=(*resolve, *connect_commands(endpoints, 5))
    )
    if _means_itself(case):
        return (see, _advertise(case), prove(case))
    return (
        see,
        Step(
            kind="quick",
            text="Run the client where these addresses resolve and answer: inside the same network, namespace or host network.",
            cost="The client moves; nothing changes at the brokers.",
        ),
        Step(
            kind="lasting",
            text=(
                f"Publish each of the {many} under a separate address or port, and advertise exactly that on a listener for "
                "these clients; or put a proxy in front that rewrites addresses (such as grepplabs/kafka-proxy) and declare it "
                "as `reach` in the cluster file."
            ),
            cost="A listener: one rolling restart. A proxy: one more hop that must run, with a mapping for each broker.",
        ),
        prove(case),
        do_not("advertise one load-balanced address for all brokers: a client must reach the leader, not any broker."),
        do_not("change the inter-broker address to one that only clients reach."),
    )


def _advertise(case: Case) -> Step:
    by_broker = [own for broker in case.brokers if (own := [e for e in case.endpoints if e.broker_id == broker])]
    named = "NAME_OF_BROKER_{}:{}"
    commands = (
        line
        for own_endpoints in by_broker[:5]
        for line in advertise(case, *((e, named.format(e.broker_id, e.port)) for e in own_endpoints))
    )
    return Step(
        kind="quick",
        text=f"Set advertised.listeners of {brokers(case.brokers)} to a name that clients and brokers resolve, the same on every "
        "host, and restart.",
        commands=tuple(commands),
        cost="A restart each, one after the other. In containers: a separate listener for outside clients, with a separate port.",
    )


DEAD_ENDPOINT = Cause(
    codes=("KA301",),
    meaning="clients and brokers cannot reach an endpoint of a broker that does not answer: it is down, or the address is wrong",
    cases=dead_for_everybody,
    story=dead_story,
    explains=(
        Explains(codes=("KA302", "KA303"), where=at_the_endpoint),
        Explains(codes=("KA001", "KA301", "KA302"), where=at_the_broker),
        LOST_REPLICAS,
    ),
)

UNREACHABLE_ENDPOINTS = Cause(
    codes=("KA301",),
    meaning="clients do not reach what brokers advertise",
    cases=together,
    story=exposure_story,
    explains=(
        Explains(codes=("KA303",), where=at_the_endpoint),
        Explains(codes=("KA001",), where=at_the_broker),
    ),
)

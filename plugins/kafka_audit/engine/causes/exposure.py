"""KA301: clients do not reach what brokers advertise; and the address, or the broker, that is dead for everybody."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_audit.engine.causes.repair import connect, do_not, prove
from kafka_audit.engine.causes.rule import Case, Story, changed_before, evidence_of, evidence_of_paths
from kafka_audit.engine.facts import LAYERS, Path, failed_at_network
from kafka_audit.model.finding import Evidence, Step
from kafka_audit.model.text import brokers, clean, counted, fitting, start_upper, word

_CAN = {
    "dns": "resolves {k} of {n} advertised names",
    "tcp": "connects to {k} of {n} advertised addresses",
    "tls": "completes TLS with {k} of {n} advertised addresses",
    "sasl": "is offered a login at {k} of {n} advertised addresses",
    "api": "gets Kafka answers from {k} of {n} advertised addresses",
    "identity": "finds {k} of {n} brokers at their addresses",
}
_INSIDE = re.compile(r"\.(svc|cluster\.local|internal|local|consul|docker)\.?$|\.svc\.", re.IGNORECASE)


def dead_for_everybody(case: Case) -> Iterable[Case]:
    """Take endpoints that client and brokers miss alike, of brokers that gave no view: nothing says that they live."""
    inter_broker = {f.resource.name for f in case.findings if f.code == "KA302"}
    roots = tuple(
        root
        for root in case.roots
        if root.resource.name in inter_broker
        and (endpoint := case.facts.endpoint(root.resource.name)) is not None
        and not case.facts.views_of(endpoint.broker_id)
        and any(failed_at_network(path) for path in case.facts.paths_to(endpoint, "client"))
    )
    return (replace(case, roots=roots),) if roots else ()


def tell_dead(case: Case) -> Story:
    """Tell that nobody reaches a broker: whether it runs is not decided from outside."""
    who, one = case.brokers, len(case.brokers) == 1
    paths = [p for e in case.endpoints for role in ("client", "broker") for p in case.facts.paths_to(e, role)]
    layers = [layer for layer in LAYERS if any(p.layer == layer and failed_at_network(p) for p in paths)]
    return Story(
        headline=f"{start_upper(brokers(who))} {'is' if one else 'are'} out of reach for everybody: "
        f"neither clients nor brokers can connect ({', '.join(layers)})",
        impact=f"Clients and replication fail at {brokers(who)}; ZooKeeper still has {'it' if one else 'them'} registered.",
        confidence=case.confidence(),
        why="Probes of clients failed, and no view was given.",
        speaks_for=(*evidence_of_paths(paths), *changed_before(case, {"endpoint": "address", "config": "setting"})),
        not_known=(_down_or_wrong(who),),
        steps=(
            Step(
                kind="see",
                text="See it yourself (reads only), on the broker's host and elsewhere.",
                commands=connect(case.endpoints, 5),
            ),
            Step(
                kind="quick",
                text="If the process is down or stuck, restart it; if it runs, correct advertised.listeners and restart it.",
                cost="A restart each: replicas that are behind copy from the leaders.",
            ),
            prove(case),
        ),
    )


def _down_or_wrong(who: tuple[int, ...]) -> str:
    doubt = "is down or only its address is wrong" if len(who) == 1 else "are down or only their addresses are wrong"
    return f"Not known: whether {brokers(who)} {doubt}. To know: the process and server.log on the host."


def _client_paths(case: Case) -> dict[str, list[Path]]:
    by_vantage: dict[str, list[Path]] = defaultdict(list)
    for path in case.facts.paths:
        if path.role == "client":
            by_vantage[path.vantage].append(path)
    return by_vantage


def tell_exposure(case: Case) -> Story:
    """Tell from which vantage which layer fails, k of n."""
    names = {root.resource.name for root in case.roots}
    by_vantage = _client_paths(case)
    failed = {
        vantage: [
            p for p in paths if p.outcome == "failed" and f"broker/{p.endpoint.broker_id}/listener/{p.endpoint.listener}" in names
        ]
        for vantage, paths in by_vantage.items()
    }
    worst = max(failed, key=lambda vantage: len(failed[vantage]), default=None)
    return Story(
        headline=_headline(case, by_vantage.get(worst, ()) if worst else (), failed.get(worst, ()) if worst else ()),
        impact=_impact(case),
        confidence=case.confidence(),
        why="Seen from the vantages that failed; other vantages may come by another way.",
        speaks_for=tuple(_evidence(case, by_vantage, failed)),
        against=tuple(_other_vantages(by_vantage, failed)),
        not_known=tuple(_never_asked(case)),
        steps=_steps(case, [p for paths in failed.values() for p in paths]),
    )


def _headline(case: Case, paths: Sequence[Path], failed: Sequence[Path]) -> str:
    who = case.brokers
    subject = f"{start_upper(brokers(who))} {'is' if len(who) == 1 else 'are'} out of reach for clients"
    layers = [layer for layer in LAYERS if any(p.layer == layer for p in failed)]
    if not failed or not layers:
        return f"{subject}: their advertised {'address' if len(who) == 1 else 'addresses'} cannot be reached"
    if len(layers) == 1:
        can = _CAN[layers[0]].format(k=sum(layers[0] in p.passed for p in paths), n=len(paths))
    else:
        can = f"reaches {sum(p.outcome != 'failed' for p in paths)} of {len(paths)} advertised addresses"
    return fitting(
        [
            f"{subject}: {clean(failed[0].vantage, 40)} {can} ({', '.join(layers)})",
            f"{len(who)} brokers are out of reach for clients: {clean(failed[0].vantage, 20)} {can}",
        ]
    )


def _impact(case: Case) -> str:
    led = sum(row.leader in case.brokers for row in case.facts.partitions.values())
    of = len(case.facts.partitions)
    text = f"A client there may bootstrap, then fails on every partition that {brokers(case.brokers)} " + (
        "leads" if len(case.brokers) == 1 else "lead"
    )
    return f"{text}: {led} of {of} by ZooKeeper." if of else f"{text}."


def _evidence(case: Case, by_vantage: dict[str, list[Path]], failed: dict[str, list[Path]]) -> Iterable[Evidence]:
    if not any(failed.values()):
        yield from evidence_of(case.roots)
    for vantage, paths in sorted(by_vantage.items()):
        if not failed[vantage]:
            continue
        ladder = []
        for layer in LAYERS:
            tried = [p for p in paths if layer in p.passed or (p.layer == layer and p.outcome == "failed")]
            if tried:
                ladder.append(f"{layer} {sum(layer in p.passed for p in tried)} of {len(tried)}")
        yield Evidence(observer=f"vantage {clean(vantage)}", text=f"layer by layer: {', '.join(ladder)}")
        yield from evidence_of_paths(failed[vantage])
    inside = sorted({e.host for e in case.endpoints if _INSIDE.search(e.host) or "." not in e.host.strip("[]").replace(":", ".")})
    if inside:
        yield Evidence(observer="zookeeper", text=f"{clean(inside[0])} is a name that only the inside of a network resolves")
    yield from changed_before(case, {"endpoint": "address", "config": "setting"})


def _other_vantages(by_vantage: dict[str, list[Path]], failed: dict[str, list[Path]]) -> Iterable[Evidence]:
    for vantage, paths in sorted(by_vantage.items()):
        if not failed[vantage]:
            ok = sum(p.outcome == "ok" for p in paths)
            text = f"reaches {ok} of {len(paths)}: says nothing of clients elsewhere"
            yield Evidence(observer=f"vantage {clean(vantage)}", text=text)


def _never_asked(case: Case) -> Iterable[str]:
    info = case.facts.info
    if info is not None and info.client_vantages <= 1:
        yield "Not known: whether clients elsewhere reach the brokers. To know: add a vantage to the cluster file."


def _steps(case: Case, failed: Sequence[Path]) -> tuple[Step, ...]:
    endpoints = tuple(sorted({p.endpoint for p in failed})) or case.endpoints
    dns = any(p.layer == "dns" for p in failed)
    resolve = tuple(f"getent hosts {word(e.host)}" for e in endpoints[:5]) if dns else ()
    many = counted(len(case.facts.known_brokers), "broker")
    return (
        Step(kind="see", text="See it yourself from that vantage (reads only).", commands=(*resolve, *connect(endpoints, 5))),
        Step(
            kind="quick",
            text="Run the client where these addresses mean something: inside the same network, namespace or host network.",
            cost="The client moves; nothing changes at the brokers.",
        ),
        Step(
            kind="lasting",
            text=(
                f"Publish each of the {many} under an address or port of its own, and advertise exactly that on a listener for "
                "these clients; or put a proxy in front that rewrites addresses (such as grepplabs/kafka-proxy) and declare it "
                "as `reach` in the cluster file."
            ),
            cost="A listener: one rolling restart. A proxy: one more hop that must run, with a mapping for each broker.",
        ),
        prove(case),
        do_not("advertise one load-balanced address for all brokers: a client must reach the leader, not any broker."),
        do_not("change the address that brokers use among themselves to one that only clients reach."),
    )

"""KA301 at dns: advertised names that resolve only inside Kubernetes, Docker or another network, and the four remedies."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.cluster.hosts import inside_of
from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.incidents.causes.listeners.client_vantages import Reach, resource_of, split_answers
from kafka_audit.incidents.causes.repair import do_not, prove
from kafka_audit.incidents.causes.rule import (
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    at_the_endpoint,
    changed_before,
)
from kafka_audit.model.commands import command
from kafka_audit.model.finding import Evidence, Finding, Step
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.text import brokers, clean, counted, fitting, listing


def by_network(case: Case) -> Iterable[Case]:
    """Take endpoints whose names belong to one network, and whose vantage received "no such name" from its resolver.

    A vantage that resolves the others is inside: there one name that is not known is a pod that is not ready, or a typing error.
    A resolver that gives no answer says nothing about names.
    """
    outside: dict[str, set[str]] = defaultdict(set)
    reach = Reach.of(case)
    for vantage, paths in reach.paths.items():
        resolving = {inside_of(path.endpoint.host) for path in paths if path.via is None and "dns" in path.passed}
        for path in reach.failed[vantage]:
            place = inside_of(path.endpoint.host)
            if place is not None and place not in resolving and _unresolved(path):
                outside[resource_of(path)].add(vantage)
    groups: dict[str, list[Finding]] = defaultdict(list)
    for root in case.roots:
        endpoint = case.view.endpoints.by_resource.get(root.resource.name)
        place = inside_of(endpoint.host) if endpoint is not None else None
        if place is not None and outside[root.resource.name]:
            groups[place].append(root)
    return tuple(replace(case, roots=tuple(roots)) for roots in groups.values())


def _unresolved(path: ProbeResult) -> bool:
    return path.via is None and path.layer == "dns" and path.outcome == "failed" and path.failure is ReadFailure.NAME_UNKNOWN


def story(case: Case) -> Story:
    """Return the story: which names are of the inside, from where they do not resolve, and how others got out of it."""
    reach = Reach.of(case)
    names = tuple(dict.fromkeys(clean(endpoint.host) for endpoint in case.endpoints))
    listeners = tuple(dict.fromkeys(clean(endpoint.listener) for endpoint in case.endpoints))
    place = inside_of(case.endpoints[0].host) or "its own network"
    by_form = Evidence(observer="form", text=f"{listing(names, 3)}: {_form(place)}")
    return Story(
        headline=_headline(case, reach, listing(listeners, 2), place),
        impact=f"Brokers return these names to clients, and clients there cannot resolve them: "
        f"{'they cannot bootstrap' if reach.everything_fails() else 'partitions led by these brokers fail'} at listener "
        f"{listing(listeners, 3)} of {brokers(case.brokers)}. {reach.sentences()}",
        confidence=case.confidence(),
        why="The names did not resolve there in two samples. Their form shows that they belong to an internal network.",
        speaks_for=(
            *reach.evidence(),
            by_form,
            *split_answers(case),
            *changed_before(case, {"endpoint": "address", "config": "setting"}),
        ),
        against=tuple(reach.against()),
        not_known=tuple(_never_seen_inside(case)),
        steps=_steps(case),
    )


def _never_seen_inside(case: Case) -> Iterable[str]:
    names = {root.resource.name for root in case.roots}
    if not any("dns" in path.passed for path in case.view.probes if resource_of(path) in names):
        vantage = "{command: [kubectl, exec, -i, POD, --]}"
        yield f"Not known: whether these names resolve inside. To know: a vantage there, such as {vantage} in the cluster file."


def _form(place: str) -> str:
    if place == "its own network":
        return "bare names, which resolve only with a search domain or in a container network"
    return f"by their form known to the DNS of {place} alone"


def _headline(case: Case, reach: Reach, listeners: str, place: str) -> str:
    tally, many = reach.tally(), counted(len(case.brokers), "broker")
    only = f"names {'resolves' if len(reach.worst_failed) == 1 else 'resolve'} only inside {place}"
    return fitting(
        [
            f"Clients at {reach.where()} cannot reach {brokers(case.brokers)}: {tally} {listeners} {only}",
            f"Clients at {reach.where()} cannot reach {brokers(case.brokers)}: {tally} {only}",
            f"Clients at {reach.where(20)} cannot reach {many}: {tally} {only}",
            f"Clients cannot reach {many}: {tally} {only}",
            f"Clients cannot reach {many}: {tally} names do not resolve outside",
        ]
    )


def _steps(case: Case) -> tuple[Step, ...]:
    many = counted(len(case.view.named_brokers), "broker")
    hosts = dict.fromkeys(endpoint.host for endpoint in case.endpoints)
    return (
        Step(
            kind="see",
            text="See it yourself from that vantage (reads only): no answer there, an address inside.",
            commands=tuple(command("getent hosts {host}", host=host) for host in list(hosts)[:5]),
        ),
        Step(
            kind="quick",
            text="Move the client inside (way 1): run producers in the same Kubernetes cluster (or Docker network) as the "
            "brokers. Consumers may stay elsewhere if a program inside passes the records on, such as MirrorMaker or an HTTP "
            "bridge.",
            cost="Nothing changes at the brokers; the client lives and is deployed there from now on.",
        ),
        Step(
            kind="lasting",
            text=f"Publish an address outside for each of the {many} (way 2): full names that clients resolve and reach (in "
            "Kubernetes by hostNetwork, a NodePort or a LoadBalancer for each), on a listener that advertises only that, such "
            "as advertised.listeners=INTERNAL://NAME_INSIDE:9094,EXTERNAL://ADDRESS_OUTSIDE:PORT_OF_THIS_BROKER.",
            cost="One rolling restart; an address or port for each broker to be kept. With hostNetwork: one broker per node, on "
            "the node's ports, outside of NetworkPolicies, and its address changes if it moves to another node.",
        ),
        Step(
            kind="lasting",
            text="Run a Kafka proxy (way 3) that rewrites the addresses in responses, such as grepplabs/kafka-proxy: clients "
            "bootstrap from it, and it forwards them to each broker. Decide where the login ends: it is passed through, or it "
            "ends at the proxy, and ACLs see the proxy's user. Declare it as `reach`, and the audit covers it.",
            cost="One more hop that must run redundantly, with a mapping for every broker. If it fails, connections break and no "
            "acknowledged record is lost. A plain TCP forward rewrites no address.",
        ),
        Step(
            kind="lasting",
            text="Run a single instance (way 4): one broker behind one published address, which it advertises.",
            cost="No replicas: every restart is an outage and a lost disk is lost data (KA612).",
        ),
        prove(case),
        do_not(
            "add names of pods to the hosts files of clients: pods get new addresses, and every file must be changed again. A "
            "name with one lasting address on each side (a NAT) may be there."
        ),
    )


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

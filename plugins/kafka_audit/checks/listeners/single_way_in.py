"""KA314."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_reach
from kafka_audit.cluster.hosts import kind_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.cluster.worker_probes import WorkerProbe, mapped_listeners
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Probe


@check(
    code="KA314",
    severity=Severity.LOW,
    needs=(Probe,),
    says={
        Status.FAIL: "One host carries the way in: {host} stands before all {count} brokers at listeners {listeners}",
        Status.PASS: "{hosts} stand before {count} brokers at listeners {listeners}",
        Status.UNKNOWN: "Cannot determine whether one host carries the way in to {who} ({error})",
        Status.NOT_APPLICABLE: "No proxy that could be the only one: {reason}",
    },
)
def single_way_in(view: ClusterView) -> Iterator[Judgement]:
    """All mappings of the declared way in end at one host.

    ## Why it matters
    Three brokers survive the loss of one. One proxy in front of them does not: with it the whole cluster is gone for its clients,
    and so it is whenever it is restarted for a new certificate or one more mapping.

    ## Fails when
    `reach` leads to two or more brokers through one host that has one address. LOW: a balancer behind that address, or an address
    that moves to a second host, cannot be seen from outside; mute it where there is one.

    ## Not known when
    No endpoint is known, or the host's name did not resolve. It does not apply without `reach`, to one broker (KA612), or where
    the worker dials itself: a tunnel of the auditor's own.

    ## Passes only when
    The mappings end at two or more hosts, or at a name with two or more addresses.

    ## What to do
    Run the proxy on a second host, and give it a name with both addresses: Kafka clients try each address of a name. Or let the
    address of {host} move (keepalived, a cloud's balancer), and mute KA314 with that as the reason.

    ## References
    KIP-302 (`client.dns.lookup=use_all_dns_ips`, the default since Kafka 2.6).
    """
    found = view.worker_probes
    gap = tuple(no_reach(view, "KA314", found))
    yield from gap
    mapped = [way for own in mapped_listeners(found).values() for way in own if way.via is not None]
    if not gap:
        yield _judged(view, mapped)


def _judged(view: ClusterView, mapped: list[WorkerProbe]) -> Judgement:
    hosts = sorted({way.via_host for way in mapped})
    count = len({way.broker_id for way in mapped})
    told = {"count": count, "listeners": tuple(sorted({way.listener for way in mapped})), "hosts": tuple(hosts)}
    if count == 1:
        return view.judge("KA314", "cluster", Status.NOT_APPLICABLE, told, reason="`reach` leads to one broker (KA612)")
    if len(hosts) > 1 or any(len(way.resolved) > 1 for way in mapped):
        return view.judge("KA314", "cluster", Status.PASS, told)
    if (kind_of(hosts[0]) or "").startswith("a loopback"):
        reason = "the worker dials itself, a tunnel of its own"
        return view.judge("KA314", "cluster", Status.NOT_APPLICABLE, told, reason=reason)
    if not any(way.resolved or way.open for way in mapped):
        error, needs = f"{hosts[0]} did not resolve", "a name in `reach` that this worker resolves"
        return view.judge("KA314", "cluster", Status.UNKNOWN, told, who=f"{count} brokers", error=error, needs=needs)
    return view.judge("KA314", "cluster", Status.FAIL, told, host=hosts[0])

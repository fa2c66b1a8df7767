"""KA317."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.serve_edges import ServeEdges
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import listing


@check(
    code="KA317",
    severity=Severity.INFO,
    says={
        Status.FAIL: "Advertised names resolve to other addresses than in the previous snapshot ({count} of {compared}): {names}",
        Status.PASS: "All {compared} advertised names resolve to an address of the previous snapshot",
        Status.UNKNOWN: "Cannot determine whether advertised names resolve elsewhere than before ({error})",
        Status.NOT_APPLICABLE: "Names are not compared: {reason}",
    },
)
def name_resolves_elsewhere(view: ClusterView) -> Iterator[Judgement]:
    """An advertised name resolves to other addresses than in the previous snapshot.

    ## Why it matters
    Clients and brokers that resolved the name before may still connect to the old address: Java keeps addresses of open
    connections, some clients keep them until they restart. After a move, some connections go to the new host and some to the
    old one. A forgotten line in `/etc/hosts` looks the same: one host resolves the old address, all others the new one.

    ## Fails when
    From the same vantage, a name that a broker advertises resolved in both snapshots, and no address is the same. INFO: names
    move on purpose; the finding gives the time and the addresses.

    ## Not known when
    No name resolved now, though names did in the previous snapshot. KA301 reports names that do not resolve.

    ## Passes only when
    Every compared name has an address in common with the previous snapshot. The check does not apply without a previous snapshot,
    or if brokers advertise addresses only.

    ## What to do
    If the broker moved, nothing; restart clients that keep the old address: {names}. If it did not, compare the answers of the
    resolvers: run `getent hosts NAME` on the hosts of the clients, the brokers and the auditor, and check `/etc/hosts`
    there.

    ## References
    `networkaddress.cache.ttl` of Java; `client.dns.lookup` (KIP-302, KIP-602).
    """
    edges = view.derived(ServeEdges)
    now, earlier = edges.names, edges.names_earlier
    compared = now.keys() & earlier.keys()
    moved = sorted(key for key in compared if not now[key] & earlier[key])
    if moved:
        texts = [
            f"{host} ({vantage}) from {listing(sorted(earlier[vantage, host]), 2)} to {listing(sorted(now[vantage, host]), 2)}"
            for vantage, host in moved
        ]
        hosts = tuple(dict.fromkeys(host for _, host in moved))
        evidence = {"count": len(hosts), "compared": len({host for _, host in compared}), "hosts": hosts}
        yield view.judge("KA317", "cluster", Status.FAIL, evidence, names=listing(texts, 3))
    elif compared:
        yield view.judge("KA317", "cluster", Status.PASS, compared=len(compared))
    elif earlier and not now:
        error, needs = "no advertised name resolved", "a vantage that resolves the advertised names"
        yield view.judge("KA317", "cluster", Status.UNKNOWN, error=error, needs=needs)
    else:
        reason = "no previous snapshot" if view.previous is None else "no name was probed in both snapshots"
        yield view.judge("KA317", "cluster", Status.NOT_APPLICABLE, reason=reason)

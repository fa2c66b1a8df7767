"""KA317."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.hosts import canonical_host, is_number
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Probe
from kafka_audit.model.text import listing


@check(code="KA317", severity=Severity.INFO)
def name_resolves_elsewhere(view: ClusterView) -> Iterator[Judgement]:
    """An advertised name resolves to other addresses than in the previous snapshot."""
    now, earlier = _resolved(view.newest(Probe)), _resolved(view.earlier(Probe))
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


def _resolved(probes: tuple[Probe, ...]) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return addresses by vantage and name; addresses that are advertised as such are no names."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for probe in probes:
        if probe.layer == "dns" and probe.outcome == "ok" and probe.via is None and probe.addresses:
            addresses, host = frozenset(probe.addresses), canonical_host(probe.host)
            if not is_number(host):
                vantage = probe.vantage if probe.from_broker is None else f"{probe.vantage} at broker {probe.from_broker}"
                found[vantage, host] = found.get((vantage, host), frozenset()) | addresses
    return found

"""KA004."""

from collections.abc import Iterator
from statistics import median

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Probe

_TIMES, _MORE_MS = 10, 50
"""The factor, and the milliseconds, by which a connection from a distant vantage takes longer."""


@check(
    code="KA004",
    severity=Severity.LOW,
    says={
        Status.FAIL: "Connections from {vantage} take {slow} ms, from {other} {fast} ms (medians of {endpoints} endpoints)",
        Status.PASS: "Connections from {vantages} vantages take about the same time",
        Status.UNKNOWN: "Cannot determine whether a vantage is far away from the brokers ({error})",
        Status.NOT_APPLICABLE: "Vantages are not compared: {reason}",
    },
)
def vantage_far_away(view: ClusterView) -> Iterator[Judgement]:
    """Connections to the brokers take much longer from one vantage than from another.

    ## Why it matters
    A vantage represents clients or brokers. If it is far away, its probes and reads reach their time limits first, and failures
    there may be the vantage's own: another region, a VPN, a proxy, or a host without CPU time. If clients really are there,
    their latency is the same.

    ## Fails when
    The median time of the TCP connections from a vantage to the endpoints is ten times that of another vantage to the same
    endpoints, and 50 ms more.

    ## Not known when
    There are several vantages, and no two of them connected to the same endpoint.

    ## Passes only when
    Vantages connected to the same endpoints, and their times are about the same. The check does not apply to a single vantage.

    ## What to do
    Find out what lies between {vantage} and the brokers: run `traceroute HOST` there. If no client is there, move the
    vantage, or the audit itself, near to the brokers. Failures that only {vantage} shows (KA301) are doubtful until then.

    ## References
    `vantages` in the cluster file; `limits.read_s`.
    """
    times: dict[str, dict[tuple[str, int], int]] = {}
    for probe in view.newest(Probe):
        if probe.layer == "tcp":
            found = times.setdefault(probe.vantage, {})
            if probe.outcome == "ok" and probe.via is None:
                found[probe.host, probe.port] = probe.elapsed_ms
    expected = 1 if view.info is None else view.info.client_vantages + view.info.broker_vantages
    if len(times) <= 1 < expected:
        error, needs = "fewer than two vantages probed the brokers", "vantages that reach the brokers"
        yield view.judge("KA004", "cluster", Status.UNKNOWN, error=error, needs=needs)
        return
    if len(times) <= 1:
        yield view.judge("KA004", "cluster", Status.NOT_APPLICABLE, reason="a single vantage connected to the brokers")
        return
    pairs = [
        (by_endpoint, other, sorted(times[by_endpoint].keys() & times[other].keys()))
        for by_endpoint in times
        for other in times
        if by_endpoint != other and times[by_endpoint].keys() & times[other].keys()
    ]
    if not pairs:
        error, needs = "no two vantages connected to the same endpoint", "vantages that reach the brokers"
        yield view.judge("KA004", "cluster", Status.UNKNOWN, error=error, needs=needs)
        return
    far = []
    for vantage, other, both in pairs:
        slow, fast = (median(times[name][place] for place in both) for name in (vantage, other))
        if slow >= _TIMES * fast and slow >= fast + _MORE_MS:
            far.append((slow, fast, vantage, other, len(both)))
    if far:
        slow, fast, vantage, other, count = max(far)
        evidence = {"vantage": vantage, "other": other, "slow": round(slow), "fast": round(fast), "endpoints": count}
        yield view.judge("KA004", "cluster", Status.FAIL, evidence)
    else:
        yield view.judge("KA004", "cluster", Status.PASS, vantages=len(times))

from statistics import median

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.model.tables import Probe

_TIMES, _MORE_MS = 10, 50
"""The factor, and the milliseconds, by which a connection from a distant vantage takes longer."""


@check(code="KA004", severity=Severity.LOW)
def vantage_far_away(view: ClusterView) -> Judgements:
    """Connections to the brokers take much longer from one vantage than from another."""
    times: dict[str, dict[tuple[str, int], int]] = {}
    for probe in view.newest(Probe):
        if probe.layer == "tcp":
            found = times.setdefault(probe.vantage, {})
            if probe.outcome == "ok" and probe.via is None:
                found[probe.host, probe.port] = probe.elapsed_ms
    expected = 1 if view.info is None else view.info.client_vantages + view.info.broker_vantages
    if len(times) <= 1 < expected:
        error, needs = "fewer than two vantages probed the brokers", "vantages that reach the brokers"
        yield view.unknown("cluster", error, needs)
        return
    if len(times) <= 1:
        yield view.not_applicable("cluster", "a single vantage connected to the brokers")
        return
    pairs = [
        (by_endpoint, other, sorted(times[by_endpoint].keys() & times[other].keys()))
        for by_endpoint in times
        for other in times
        if by_endpoint != other and times[by_endpoint].keys() & times[other].keys()
    ]
    if not pairs:
        error, needs = "no two vantages connected to the same endpoint", "vantages that reach the brokers"
        yield view.unknown("cluster", error, needs)
        return
    far = []
    for vantage, other, both in pairs:
        slow, fast = (median(times[name][place] for place in both) for name in (vantage, other))
        if slow >= _TIMES * fast and slow >= fast + _MORE_MS:
            far.append((slow, fast, vantage, other, len(both)))
    if far:
        slow, fast, vantage, other, count = max(far)
        evidence = {"vantage": vantage, "other": other, "slow": round(slow), "fast": round(fast), "endpoints": count}
        yield view.judge("cluster", Status.FAIL, evidence)
    else:
        yield view.judge("cluster", Status.PASS, vantages=len(times))

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.model.tables import BrokerApi, FencedBroker
from kafka_audit.model.text import brokers, clean, listing

_CLUSTER_API, _FENCED_FROM = 60, 2
_NO_ID = -1


@check(code="KA212", severity=Severity.HIGH, mode="kraft")
def broker_fenced(view: ClusterView) -> Judgements:
    """A broker is registered with the controllers, and the controllers have fenced it."""
    now, before = view.quorum.now, view.quorum.before
    reporting = _reporting(view) & now.answering
    if not reporting:
        yield view.unknown("cluster", "no broker offers DescribeCluster version 2", "Kafka 4.0 or later", who="any broker")
        return
    evidence: dict[str, object] = {
        "known": len(now.answering),
        "holders": _names(view, reporting),
        "report": "reports" if len(reporting) == 1 else "report",
    }
    if not now.fenced:
        yield view.judge("cluster", Status.PASS, evidence)
    for broker in sorted(now.fenced):
        others = reporting - {broker} - set(now.fenced)
        holders = now.fenced[broker] & others
        named = sorted(holders or now.fenced[broker])
        evidence = {"broker": broker, "who": f"broker {broker}", "holders": _names(view, named, broker)}
        evidence["holder_brokers"] = tuple(holder_id for holder_id in named if holder_id >= 0)
        evidence["report"] = "reports" if len(holders) == 1 else "report"
        state, running = _running(broker, now.answering)
        evidence["state"] = state
        if not holders or len(holders) * 2 <= len(others):
            evidence |= {"error": "brokers do not agree", "needs": "another audit"}
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, evidence)
        elif before is None or not before.fenced.get(broker, frozenset()) & holders:
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, evidence | ONCE)
        else:
            finding = view.judge(f"broker/{broker}", Status.FAIL, evidence)
            yield finding if running else replace(finding, severity=Severity.MEDIUM)


def _running(broker: int, answering: frozenset[int]) -> tuple[str, bool]:
    """Return what is known of a fenced broker, and whether it may run."""
    if broker in answering:
        return "it still answers clients, but metadata no longer lists it", True
    if _NO_ID in answering:
        return "whether it answers is unknown, because brokers with unknown ids answer", True
    return "it does not answer", False


def _names(view: ClusterView, reporting: Iterable[int], fenced: int | None = None) -> str:
    """Return the brokers that report something; those of which no id is known by their addresses."""
    ids = {broker for broker in reporting if broker >= 0}
    unknown = len(ids) < len({*reporting})
    holders = [row for row in view.newest(FencedBroker) if row.fenced_id == fenced]
    found = {row.observer for row in (holders or view.of(BrokerApi)) if unknown and row.broker_id == _NO_ID}
    addresses = sorted(clean(observer.removeprefix("broker@"), 60) for observer in found)
    at = f"{'the broker' if len(addresses) == 1 else 'brokers'} at {listing(addresses, 3)}"
    return listing([*([brokers(ids)] if ids else []), *([at] if addresses else [])])


def _reporting(view: ClusterView) -> frozenset[int]:
    """Return the brokers that report fenced brokers. Brokers that offer it are always read, so failed ones are omitted."""
    able = {row.broker_id for row in view.of(BrokerApi) if row.api_key == _CLUSTER_API and row.max_version >= _FENCED_FROM}
    failed = {r.observer for r in view.last_reads if (r.operation, r.outcome) == ("DescribeCluster", "failed")}
    return frozenset(broker for broker in able if f"broker:{broker}" not in failed)

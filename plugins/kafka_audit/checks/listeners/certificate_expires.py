from collections.abc import Collection
from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.model.tables import Certificate
from kafka_audit.model.text import brokers, counted

DAY_MS, HOUR_MS = 86_400_000, 3_600_000
_SOON, _LATER = 7, 30  # days
_OTHERS = {"CONTROLLER": "controller", "ZOOKEEPER": "ZooKeeper server"}


@check(code="KA307", severity=Severity.MEDIUM)
def certificate_expires(view: ClusterView) -> Judgements:
    """A certificate has expired, expires soon, or does not name the advertised host."""
    yield from _of_others(view)
    endpoints = view.endpoints.all
    shown_at = {(row.broker_id, row.listener) for row in view.of(Certificate)}
    ends = [e for e in endpoints if e.protocol in TLS or (e.broker_id, e.listener) in shown_at]
    for end in ends:
        shown = view.logins.certificate(end.broker_id, end.listener)
        evidence = {"broker": end.broker_id, "listener": end.listener, "host": end.host, "port": end.port}
        evidence["who"] = f"broker {end.broker_id} on {end.listener}"
        if shown is None:
            missing = {
                "error": "no certificate was received",
                "needs": f"a TLS handshake from this worker with {end.host}:{end.port}",
            }
            yield view.judge(end.resource, Status.UNKNOWN, evidence | missing)
            continue
        evidence |= {"prefix": end.listener.lower(), "users": _users(view, end)}
        evidence["keystore"] = view.settings.at(end.broker_id, end.listener, "ssl.keystore.location").value or "PATH"
        yield _of_certificate(view, end.resource, shown, evidence, verified=view.logins.checks_names(end.broker_id, end.listener))
    if not ends:
        missing = _missing(view, endpoints)
        if not missing:
            yield view.not_applicable("cluster", "no listener uses TLS")
        else:
            yield view.judge("cluster", Status.UNKNOWN, missing, who="any broker")


def _users(view: ClusterView, end: AdvertisedEndpoint) -> str:
    """Return who connects to an endpoint, as far as it is known which listener brokers use."""
    used = view.inter_broker.listener(end.broker_id)
    if used is None:
        return "clients, and of brokers if they use this listener"
    if used.name == end.listener:
        return "brokers, and of clients that use this listener"
    return f"clients; brokers use {used.name}"


def _of_others(view: ClusterView) -> Judgements:
    """Judge what controllers and ZooKeeper servers presented."""
    for row in view.newest(Certificate):
        kind = _OTHERS.get(row.listener) if row.broker_id < 0 else None
        if kind is not None:
            evidence = {"broker": "ID", "listener": row.listener, "host": row.host, "port": row.port}
            evidence |= {"who": f"the {kind} at {row.host}:{row.port}", "users": ""}
            evidence |= {"prefix": row.listener.lower(), "keystore": "PATH"}
            yield _of_certificate(view, f"{row.listener.lower()}/{row.host}:{row.port}", row, evidence)


def _of_certificate(
    view: ClusterView, resource: str, shown: Certificate, evidence: dict[str, object], *, verified: bool | None = None
) -> Judgement:
    """Judge a certificate; `verified`: whether the party that presents it compares names itself, None where unknown."""
    fault = _fault(shown, view.started_ms, Severity.MEDIUM if verified is False else Severity.HIGH)
    evidence["days"] = (shown.not_after_ms - view.started_ms) // DAY_MS
    evidence["fault"] = fault[0] if fault else "none"
    evidence["valid"] = shown.not_before_ms <= view.started_ms <= shown.not_after_ms
    evidence["rejected"] = fault is not None and (fault[1] is Severity.CRITICAL or not shown.name_matches)
    finding = view.judge(resource, Status.FAIL if fault else Status.PASS, evidence)
    return replace(finding, severity=fault[1]) if fault else finding


def _missing(view: ClusterView, endpoints: Collection[AdvertisedEndpoint]) -> dict[str, str]:
    """Return what keeps the audit from saying that no listener uses TLS; nothing where it may."""
    if not endpoints:
        source = "broker" if view.kraft else "ZooKeeper"
        return {"error": "the brokers' addresses are unknown", "needs": f"a {source} that answers"}
    advertising = {endpoint.broker_id for endpoint in endpoints}
    silent = sorted(advertising - set(view.endpoints.by_settings)) if view.kraft else []
    if not silent:
        return {}
    needs = "DescribeConfigs on Cluster, or `properties` in the cluster file"
    return {"error": f"other listeners of {brokers(silent)} are unknown", "needs": needs}


def _fault(shown: Certificate, now: int, unnamed: Severity) -> tuple[str, Severity] | None:
    """Return what is wrong with a certificate at a time, as any client sees it, the worst first; None where nothing is."""
    faults = (
        [] if shown.name_matches else [(f"it does not name {shown.host}, only {', '.join(shown.sans) or 'no host'}", unnamed)]
    )
    late = validity_fault(shown.not_before_ms, shown.not_after_ms, now)
    return max((*faults, *((late,) if late else ())), key=lambda fault: fault[1], default=None)


def validity_fault(not_before_ms: int, not_after_ms: int, now: int) -> tuple[str, Severity] | None:
    """Return what is wrong with a time of validity; None where it lasts long enough."""
    if not_after_ms < now:
        return f"it expired {_lasting(now - not_after_ms)} ago", Severity.CRITICAL
    if not_before_ms > now:
        return "it is not valid yet", Severity.CRITICAL
    # Certificates of a few hours or days are renewed automatically; the limit is relative to their lifetime.
    lifetime, rest = not_after_ms - not_before_ms, not_after_ms - now
    if rest >= min(_LATER * DAY_MS, lifetime // 3):
        return None
    severity = Severity.HIGH if rest < min(_SOON * DAY_MS, lifetime // 10) else Severity.MEDIUM
    return f"it expires in {_lasting(rest)}", severity


def _lasting(ms: int) -> str:
    days, hours = ms // DAY_MS, ms // HOUR_MS
    return counted(days, "day") if days else counted(hours, "hour") if hours else "less than an hour"

from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.listeners.certificate_expires import DAY_MS, validity_fault
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.model.tables import AuthorityCertificate, Certificate
from kafka_audit.model.text import listing

_DEEPEST = 10


@check(code="KA318", severity=Severity.HIGH)
def authority_expires(view: ClusterView) -> Judgements:
    """An authority (CA) or intermediate certificate that signed certificates of the cluster has expired or expires soon."""
    presented = view.newest(Certificate)
    if not presented and any(endpoint.protocol in TLS for endpoint in view.endpoints.all):
        error, needs = "no certificate was received", "a TLS handshake from this worker with a broker"
        yield view.unknown("cluster", error, needs)
        return
    if not presented:
        yield view.not_applicable("cluster", "no listener uses TLS")
        return
    best = _best(view.newest(AuthorityCertificate))
    found = _signers(best, {row.issuer for row in presented})
    if not found:
        error, needs = (
            "no issuer of a presented certificate is in a ca_file",
            "`ca_file` in the cluster file, with the whole chain",
        )
        yield view.unknown("cluster", error, needs)
        return
    late = {row.subject: validity_fault(row.not_before_ms, row.not_after_ms, view.started_ms) for row in found}
    faults = {subject: fault for subject, fault in late.items() if fault is not None}
    if faults:
        severity = max(fault[1] for fault in faults.values())
        texts = listing(f"{subject}: {fault[0]}" for subject, fault in sorted(faults.items()))
        yield view.judge("cluster", Status.FAIL, severity=severity, faults=texts, subjects=tuple(sorted(faults)))
    else:
        days = min((row.not_after_ms - view.started_ms) // DAY_MS for row in found)
        yield view.judge("cluster", Status.PASS, files=listing(sorted({row.file for row in found})), days=days)


def _best(rows: tuple[AuthorityCertificate, ...]) -> Mapping[str, AuthorityCertificate]:
    """Return the certificate of each subject that is valid the longest."""
    return {row.subject: row for row in sorted(rows, key=lambda row: row.not_after_ms)}


def _signers(best: Mapping[str, AuthorityCertificate], issuers: set[str]) -> tuple[AuthorityCertificate, ...]:
    """Return the certificates of these issuers, up to the root."""
    found: dict[str, AuthorityCertificate] = {}
    for _ in range(_DEEPEST):
        issuers = {issuer for issuer in issuers if issuer in best and issuer not in found}
        found |= {issuer: best[issuer] for issuer in issuers}
        issuers = {best[issuer].issuer for issuer in issuers}
    return tuple(found.values())

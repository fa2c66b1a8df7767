"""KA318."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.listeners.certificate_expires import DAY_MS, validity_fault
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import AuthorityCertificate, Certificate
from kafka_audit.model.text import listing

_DEEPEST = 10


@check(
    code="KA318",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Authorities that signed certificates of the cluster: {faults}",
        Status.PASS: "Every authority in {files} that signed a certificate of the cluster is valid for {days} days or more",
        Status.UNKNOWN: "Cannot determine how long the authorities of the cluster are valid ({error})",
        Status.NOT_APPLICABLE: "No authorities to check: {reason}",
    },
)
def authority_expires(view: ClusterView) -> Iterator[Judgement]:
    """An authority (CA) or intermediate certificate that signed certificates of the cluster has expired or expires soon.

    ## Why it matters
    When an authority expires, every certificate that it signed is refused at once: by clients, by brokers between each other,
    and by controllers. Renewing the brokers' certificates does not help, and the new authority must be in every truststore
    first, which takes longer than a certificate.

    ## Fails when
    A certificate of a `ca_file` in the cluster file is, directly or over other certificates of these files, the issuer of a
    certificate that was presented, and it has expired: CRITICAL. It expires in less than 7 days: HIGH; in less than 30 days:
    MEDIUM. If the file has several certificates of that name, the one that is valid the longest counts.

    ## Not known when
    No TLS handshake of the auditor received a certificate. Or none of the issuers is in a `ca_file`: the cluster file names none,
    or the broker itself sends the intermediate certificates, which are not read.

    ## Passes only when
    The issuer of a presented certificate was found in a `ca_file` and is valid long enough, and so are its own issuers there. The
    check does not apply if no listener uses TLS.

    ## What to do
    Rotate the authority in three steps, each on all brokers and clients before the next: add the new authority to every
    truststore beside the old one; issue the brokers' certificates by the new one (KA307); remove the old one. To see the dates,
    run `openssl crl2pkcs7 -nocrl -certfile CA_FILE | openssl pkcs7 -print_certs -text -noout | grep -E 'Subject:|Not After'`.
    Here: {faults}.

    ## References
    RFC 5280 (path validation); KIP-651 (truststores in PEM format).
    """
    presented = view.newest(Certificate)
    if not presented and any(endpoint.protocol in TLS for endpoint in view.endpoints.all):
        error, needs = "no certificate was received", "a TLS handshake from this worker with a broker"
        yield view.judge("KA318", "cluster", Status.UNKNOWN, error=error, needs=needs)
        return
    if not presented:
        yield view.judge("KA318", "cluster", Status.NOT_APPLICABLE, reason="no listener uses TLS")
        return
    best = _best(view.newest(AuthorityCertificate))
    found = _signers(best, {row.issuer for row in presented})
    if not found:
        error, needs = (
            "no issuer of a presented certificate is in a ca_file",
            "`ca_file` in the cluster file, with the whole chain",
        )
        yield view.judge("KA318", "cluster", Status.UNKNOWN, error=error, needs=needs)
        return
    late = {row.subject: validity_fault(row.not_before_ms, row.not_after_ms, view.started_ms) for row in found}
    faults = {subject: fault for subject, fault in late.items() if fault is not None}
    if faults:
        severity = max(fault[1] for fault in faults.values())
        texts = listing(f"{subject}: {fault[0]}" for subject, fault in sorted(faults.items()))
        yield view.judge("KA318", "cluster", Status.FAIL, severity=severity, faults=texts, subjects=tuple(sorted(faults)))
    else:
        days = min((row.not_after_ms - view.started_ms) // DAY_MS for row in found)
        yield view.judge("KA318", "cluster", Status.PASS, files=listing(sorted({row.file for row in found})), days=days)


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

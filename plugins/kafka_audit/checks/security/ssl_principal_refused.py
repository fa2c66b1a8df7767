"""KA404."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import cluster_action_results
from kafka_audit.checks.security.principal_evidence import verdict
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.principals.ssl_rules import KEY
from kafka_audit.diagnosis.facts import INPUTS
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ScramUser


@check(
    code="KA404",
    severity=Severity.CRITICAL,
    needs=tuple(table for table in INPUTS if table is not ScramUser),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} maps peer certificates to a principal without ClusterAction ({listener}): {why}",
        Status.PASS: "Broker {broker} maps peer certificates to {principal} ({listener}): {why}",
        Status.UNKNOWN: "Cannot determine the principal that {who} maps peer certificates to ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} does not map peer certificates: {reason}",
    },
)
def ssl_principal_refused(view: ClusterView) -> Iterator[Judgement]:
    """The principal that a broker derives from the other brokers' certificates has no rights there, or none can be derived.

    ## Why it matters
    On an SSL listener, `ssl.principal.mapping.rules` derive the principal from the certificate's subject, exactly. One blank, a
    changed OU or a renewed certificate with another subject changes the principal. If no rule matches, the broker closes the
    connection. On a listener that requests no client certificate, the principal is User:ANONYMOUS.

    ## Fails when
    The inter-broker protocol is SSL, the rules derive no name from another broker's certificate, and the broker's view is empty
    or stale in two samples. Or the derived name, or ANONYMOUS, is not in super.users and no ACL allows it (KA401 reports that
    fault, this check its reason). HIGH if the broker's view is not empty.

    ## Not known when
    No handshake received the certificate, or the rules or super.users are unknown, rejected (KA413) or use a feature that the
    audit does not evaluate. Or no source shows that a broker uses the same certificate as a client and as a server.

    ## Passes only when
    The principal of every broker's certificate is authorized, or the broker's view is not empty. Without an authorizer every
    principal is authorized.

    ## What to do
    On broker {broker}, `grep Denied kafka-authorizer.log` shows the principal, and `openssl x509 -noout -subject -nameopt
    RFC2253` shows the subject of a certificate.

    Add the derived principal to `super.users`, or correct `ssl.principal.mapping.rules` and keep DEFAULT as the last rule. Both
    are read at startup only. Renew certificates with the same subject.

    ## References
    KIP-371 (mapping rules, since Kafka 2.2; 1.1 ignores the key); `org.apache.kafka.common.security.ssl.SslPrincipalMapper`.
    """
    for result in cluster_action_results(view):
        status, confidence, reported = verdict(view, result)
        evidence = {"broker": result.broker, "who": f"broker {result.broker}", "key": KEY, **reported}
        judged = view.judge("KA404", f"broker/{result.broker}", status, evidence)
        latent = result.accepted is not None and status is Status.FAIL
        yield replace(judged, confidence=confidence, severity=Severity.HIGH if latent else judged.severity)
    yield from no_brokers(view, "KA404")

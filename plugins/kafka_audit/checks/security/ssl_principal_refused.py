"""KA404."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.cluster_action import standings
from kafka_audit.checks.security.principal_words import verdict
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.principals.ssl_rules import KEY
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import (
    Acl,
    AclHolder,
    BrokerConfig,
    BrokerProperty,
    BrokerView,
    Certificate,
    PropertyLogin,
)


@check(
    code="KA404",
    severity=Severity.CRITICAL,
    needs=(BrokerConfig, BrokerView, Certificate, Acl, AclHolder, BrokerProperty, PropertyLogin),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} knows the other brokers' certificates as nobody who may act ({listener}): {why}",
        Status.PASS: "Broker {broker} knows the other brokers by {principal} ({listener}): {why}",
        Status.UNKNOWN: "Cannot determine as whom {who} knows the other brokers' certificates ({error})",
        Status.NOT_APPLICABLE: "No certificate names the other brokers at broker {broker}: {reason}",
    },
)
def ssl_principal_refused(view: ClusterView) -> Iterator[Judgement]:
    """The name that a broker makes of the other brokers' certificates may not act there, or it makes none.

    ## Why it matters
    On an SSL listener a broker is who its certificate's subject becomes by `ssl.principal.mapping.rules`, letter by letter: one
    blank, one changed OU or a renewed certificate with another subject, and it is nobody. Rules that fit no subject end the
    connection; a listener that asks for no certificate makes everybody User:ANONYMOUS.

    ## Fails when
    Brokers talk by SSL, and the rules give another broker's certificate no name, and the broker's view is empty or stale in two
    looks. Or the name they give, or ANONYMOUS, is neither in super.users nor allowed by an ACL (KA401 tells that fault, and this
    its reason). HIGH where the broker's view is still filled.

    ## Not known when
    No handshake showed the certificate, the rules or super.users are not known, are refused (KA413) or hold what is not
    read here, or nothing shows that a broker connects with the certificate that it serves.

    ## Passes only when
    The name of every broker's certificate may act, or the broker's view is filled. Without an authorizer, any name does.

    ## What to do
    See it on broker {broker}: `grep Denied kafka-authorizer.log` tells the name; `openssl x509 -noout -subject -nameopt RFC2253`
    the subject of a certificate.

    Put the name that the rules make of it into `super.users`, or correct `ssl.principal.mapping.rules` and keep DEFAULT as the
    last rule; both are read at the start only. Renew certificates with the same subject.

    ## References
    KIP-371 (mapping rules, since Kafka 2.2; 1.1 passes over the key); `org.apache.kafka.common.security.ssl.SslPrincipalMapper`.
    """
    for one in standings(view):
        status, confidence, told = verdict(view, one)
        evidence = {"broker": one.broker, "who": f"broker {one.broker}", "key": KEY, **told}
        judged = view.judge("KA404", f"broker/{one.broker}", status, evidence)
        latent = one.accepted is not None and status is Status.FAIL
        yield replace(judged, confidence=confidence, severity=Severity.HIGH if latent else judged.severity)
    yield from no_brokers(view, "KA404")

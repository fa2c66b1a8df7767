"""KA412."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.security.login_evidence import login_judgements
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.facts import INPUTS
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA412",
    severity=Severity.CRITICAL,
    needs=INPUTS,
    by_files=True,
    says={
        Status.FAIL: "{whom} {cannot} log in at broker {broker} on listener {listener} ({protocol}): {why}",
        Status.PASS: "Other brokers can log in at broker {broker} ({listener}, {protocol}): {why}",
        Status.UNKNOWN: "Cannot determine whether other brokers can log in at {who} ({error})",
        Status.NOT_APPLICABLE: "No broker logs in at broker {broker}: {reason}",
    },
)
def inter_broker_login_fails(view: ClusterView) -> Iterator[Judgement]:
    """The controller or another broker cannot log in at a broker: certificate, mechanism or password.

    ## Why it matters
    The port is open and clients may work, but the broker receives no update from the controller and no fetch request. Its view
    is empty, or followers fall out of the ISR. From outside this looks like an unreachable address.

    ## Fails when
    The login of other brokers does not match this broker. The certificate that the auditor received has expired, is not yet
    valid, or lacks the advertised name while names are verified. Or the mechanism is not offered. Or the user or the password
    is not in the broker's file, or not among ZooKeeper's SCRAM users. Or a probe from the host of a broker takes the certificate
    for out of date, and others accept it: the clock of that host is wrong. Or its mapping rules derive no principal from a
    certificate or Kerberos name (KA404). Measured if a certificate or files show it, or the log of a rejected broker, or of
    this one where no rule matches, that is newer than the start of both brokers and still repeated. HIGH if the broker was
    accepted before, or shows no symptom yet: the next connection fails.

    Inferred: the view is empty or stale, and each cause but a refused login or handshake is ruled out. Suspected: others are
    not ruled out, and only this one is suggested: TLS versions or ciphers of both sides do not meet, or the issuer of the
    certificate differs from that of the brokers that accept the controller. That the auditor itself trusts the certificate, or
    does not, says nothing about the brokers' truststores.

    ## Not known when
    None of these was read, and the view shows no symptom. No probe can detect a wrong password.

    ## Passes only when
    The broker's view is not empty (it accepted its controller), or certificate, TLS settings, mechanism and password were all
    verified. The check does not apply to PLAINTEXT.

    ## What to do
    To see the error, run `grep -E 'Authentication failed|SSL handshake failed' controller.log server.log` on {source}, and
    `grep 'Failed to map name' server.log` on broker {broker}, and read the newest lines.

    To repair it: {repair}. Certificates can be changed on a running broker; for all else restart broker {broker}.
    For SCRAM users run `kafka-configs.sh --bootstrap-server BROKER:9092 --alter --entity-type users` with `--entity-name
    USER --add-config MECHANISM=[password=PASSWORD]`.

    Do not disable `ssl.endpoint.identification.algorithm`: any holder of a certificate of the same CA could then impersonate a
    broker.

    ## References
    KIP-103; KIP-226 (dynamic keystores); Kafka documentation, "Security".
    """
    judged = tuple(login_judgements(view, "KA412"))
    yield from judged
    if not judged:
        error, needs = "no inter-broker listener is known", "DescribeConfigs on Cluster, or `properties` in the cluster file"
        yield view.judge("KA412", "cluster", Status.UNKNOWN, who="any broker", error=error, needs=needs)

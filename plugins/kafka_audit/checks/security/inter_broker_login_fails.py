"""KA412."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.security.login_words import login_judgements
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerProperty,
    BrokerView,
    Certificate,
    LogLine,
    Probe,
    PropertyLogin,
    ScramUser,
)


@check(
    code="KA412",
    severity=Severity.CRITICAL,
    needs=(BrokerConfig, BrokerView, Probe, Certificate, BrokerProperty, PropertyLogin, ScramUser, LogLine),
    by_files=True,
    says={
        Status.FAIL: "{whom} {cannot} log in at broker {broker} on listener {listener} ({protocol}): {why}",
        Status.PASS: "Logins of other brokers at broker {broker} ({listener}, {protocol}) work: {why}",
        Status.UNKNOWN: "Cannot determine whether other brokers can log in at {who} ({error})",
        Status.NOT_APPLICABLE: "Nobody logs in at broker {broker}: {reason}",
    },
)
def inter_broker_login_fails(view: ClusterView) -> Iterator[Judgement]:
    """The controller or another broker cannot log in at a broker: certificate, mechanism or password.

    ## Why it matters
    The port is open and clients may be served, and still no update of the controller's and no fetch gets in: an empty view, or
    followers that fall out of the ISR. From outside it looks like an address out of reach.

    ## Fails when
    What others use to this broker does not fit: the certificate shown to our own handshake is expired, not yet valid, or lacks
    the advertised name where names are compared; the mechanism is not offered; the user or the password is not among those of
    the broker's file, or of ZooKeeper's SCRAM users; its mapping rules give a certificate or Kerberos name no principal (KA404).
    Measured where a certificate or files say so, or the log of one that is refused, newer than both starts and still repeated.
    HIGH where the broker was let in before, or shows nothing yet: the next connection fails.

    Inferred: an issuer that our `ca_file` does not vouch for, with an empty or stale view; or that view alone, where the way is
    measured open and no right is missing.

    ## Not known when
    None of that was read, and the view does not tell. No probe sees a wrong password.

    ## Passes only when
    The broker's view is filled (it accepted its controller), or certificate, mechanism and password were all seen to fit. Does
    not apply to PLAINTEXT.

    ## What to do
    See it on {source}: `grep -E 'Authentication failed|SSL handshake failed' controller.log server.log`, newest lines.

    To end it: {repair}. Certificates and PLAIN users can be changed on a running broker, or restart broker {broker}. SCRAM
    users: `kafka-configs.sh --bootstrap-server <broker>:9092 --alter --entity-type users` with
    `--entity-name <user> --add-config <mechanism>=[password=<password>]`.

    Do not turn `ssl.endpoint.identification.algorithm` off: then whoever has a certificate of the authority may pose as a broker.

    ## References
    KIP-103; KIP-226 (dynamic keystores); Kafka documentation, "Security".
    """
    judged = tuple(login_judgements(view, "KA412"))
    yield from judged
    if not judged:
        error, needs = "no inter-broker listener is known", "DescribeConfigs on Cluster, or `properties` in the cluster file"
        yield view.judge("KA412", "cluster", Status.UNKNOWN, who="any broker", error=error, needs=needs)

"""KA405."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.scram_login import judged
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, BrokerView, PropertyLogin, ScramUser


@check(
    code="KA405",
    severity=Severity.CRITICAL,
    needs=(BrokerConfig, BrokerProperty, PropertyLogin, ScramUser, BrokerView),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} logs in to others as {user}, for whom there is no {mechanism} credential",
        Status.PASS: "Broker {broker} logs in to others as {user}, for whom there is a {mechanism} credential",
        Status.UNKNOWN: "Cannot determine whether there is a credential for the user that {who} logs in as ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} needs no SCRAM credential: {reason}",
    },
)
def scram_user_missing(view: ClusterView) -> Iterator[Judgement]:
    """The user that a broker logs in as has no SCRAM credential for the mechanism between brokers.

    ## Why it matters
    Every login of that broker at another one is refused: as a follower it gets no records, as the controller it is heard by
    nobody. Who is connected stays so, so a user that was deleted takes effect with the next restart.

    ## Fails when
    The user of the JAAS text of the inter-broker listener is not below `/config/users`, or has no credential for
    `sasl.mechanism.inter.broker.protocol`: SCRAM-SHA-256 and SCRAM-SHA-512 each have one of their own. HIGH while the views of
    brokers are filled and nothing else shows it.

    ## Not known when
    The broker's server.properties or ZooKeeper's `/config/users` was not read, the login stands elsewhere (a JAAS file), or a
    class of one's own keeps the credentials. In KRaft: no broker answered DescribeUserScramCredentials for that user.

    ## Passes only when
    There is a credential for that user and mechanism. Whether the password fits is not seen. It does not apply where brokers
    use no SCRAM.

    ## What to do
    See it: `zookeeper-shell.sh <zk>:2181 ls /config/users` (`kafka-configs.sh --describe` would show the keys as well). Add the
    credential with the password of the JAAS text of broker {broker}; with ZooKeeper this needs no login at a broker:
    `kafka-configs.sh --zookeeper <zk>:2181 --alter --entity-type users --entity-name {user} --add-config
    '{mechanism}=[password=<password>]'`. Running brokers take it at once. In KRaft the same with `--bootstrap-server`, by an
    administrator whom a broker lets in.

    ## References
    KIP-84 (SCRAM); Kafka documentation, "Authentication using SASL/SCRAM".
    """
    between = view.inter_broker
    symptoms = view.symptoms
    let_in = between.kraft or any(map(symptoms.accepted, between.brokers))  # in KRaft no view tells who was let in
    latent = let_in and not any(map(symptoms.lasting, between.brokers))
    for broker in between.brokers:
        if between.settings.get(broker, "process.roles").value == "controller":
            continue
        told = judged(view, broker)
        yield replace(told, severity=Severity.HIGH) if latent and told.status is Status.FAIL else told
    yield from no_brokers(view, "KA405")

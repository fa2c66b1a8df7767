"""KA405."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_brokers
from kafka_audit.checks.security.scram_login import judged
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.facts import facts_of
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerProperty,
    BrokerView,
    PropertyLogin,
    RegisteredBroker,
    RegisteredEndpoint,
    ScramUser,
    ViewBroker,
)


@check(
    code="KA405",
    severity=Severity.CRITICAL,
    needs=(BrokerConfig, BrokerProperty, PropertyLogin, ScramUser, BrokerView, ViewBroker, RegisteredBroker, RegisteredEndpoint),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} logs in to other brokers as {user}, which has no {mechanism} credential",
        Status.PASS: "Broker {broker} logs in to other brokers as {user}, which has a {mechanism} credential",
        Status.UNKNOWN: "Cannot determine whether the user that {who} logs in as has a credential ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} needs no SCRAM credential: {reason}",
    },
)
def scram_user_missing(view: ClusterView) -> Iterator[Judgement]:
    """The user that a broker logs in as has no SCRAM credential for the inter-broker mechanism.

    ## Why it matters
    Other brokers reject every login of this broker: as a follower it receives no records, and as the controller no broker
    receives its updates. Existing connections stay open, so a deleted user takes effect at the next restart.

    ## Fails when
    The user in the JAAS configuration of the inter-broker listener is not under `/config/users`, or has no credential for
    `sasl.mechanism.inter.broker.protocol`. SCRAM-SHA-256 and SCRAM-SHA-512 need separate credentials. HIGH while the brokers'
    views are not empty and there is no other symptom.

    ## Not known when
    The broker's server.properties or ZooKeeper's `/config/users` was not read, the login is configured elsewhere (a JAAS file),
    or a custom class stores the credentials. In KRaft: no broker answered DescribeUserScramCredentials for that user.

    ## Passes only when
    A credential exists for that user and mechanism. The check cannot verify the password. It does not apply if brokers do not
    use SCRAM.

    ## What to do
    To see the users, run `zookeeper-shell.sh ZOOKEEPER:2181 ls /config/users` (`kafka-configs.sh --describe` would also print the
    keys). Add the credential with the password from the JAAS configuration of broker {broker}. With ZooKeeper this needs no
    login at a broker: `kafka-configs.sh --zookeeper ZOOKEEPER:2181 --alter --entity-type users --entity-name {user} --add-config
    '{mechanism}=[password=PASSWORD]'`. Running brokers use it immediately. With `zookeeper.set.acl=true` run it with the brokers'
    own login to ZooKeeper: their JAAS file (`KAFKA_OPTS=-Djava.security.auth.login.config=FILE`), or with TLS
    `--zk-tls-config-file FILE` (Kafka 2.5 and later). In KRaft, an administrator that a broker accepts
    runs the same command with `--bootstrap-server`.

    ## References
    KIP-84 (SCRAM); Kafka documentation, "Authentication using SASL/SCRAM".
    """
    between = view.inter_broker
    facts = facts_of(view)
    let_in = between.kraft or any(map(facts.accepted, between.brokers))  # in KRaft no view shows which logins succeeded
    latent = let_in and not any(map(facts.symptom, between.brokers))
    for broker in between.brokers:
        judgement = judged(view, broker)
        yield replace(judgement, severity=Severity.HIGH) if latent and judgement.status is Status.FAIL else judgement
    yield from no_brokers(view, "KA405")

"""KA413."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_files
from kafka_audit.checks.security.refused_settings import refused_setting
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.principals import UnsupportedError
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerProperty, RegisteredBroker, RegisteredEndpoint


@check(
    code="KA413",
    severity=Severity.CRITICAL,
    needs=(BrokerProperty, RegisteredBroker, RegisteredEndpoint),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} does not start with its server.properties: {key}: {says}",
        Status.PASS: "Broker {broker} accepts its super users and its principal mapping rules",
        Status.UNKNOWN: "Cannot determine whether {who} accepts its super users and its principal mapping rules ({error})",
    },
)
def security_settings_refused(view: ClusterView) -> Iterator[Judgement]:
    """The authorizer or a listener rejects its own settings, and the broker does not start.

    ## Why it matters
    KafkaConfig does not validate these keys; the classes that use them read them later during startup. A running broker
    continues until its next start, which fails.

    ## Fails when
    By server.properties, Kafka's own authorizer finds an entry of `super.users` that is not `Type:name` (AclAuthorizer also
    rejects an empty entry between two semicolons, or a blank after the last one). Or AclAuthorizer finds an
    `allow.everyone.if.no.acl.found` with a value other than true or false. Or `ssl.principal.mapping.rules` of an SSL
    listener, or `sasl.kerberos.principal.to.local.rules` with GSSAPI enabled, contains an invalid rule or an invalid Java
    regular expression.

    ## Not known when
    No server.properties was read, or a rule uses a feature that the audit does not evaluate: a lookahead or lookbehind, a
    backreference, a possessive quantifier, a group within a repeated group, or more than 1,000 characters. RE2 matches the
    patterns, in time linear to the length of the text.

    ## Passes only when
    All of these keys in the file were read as Kafka reads them, and accepted.

    ## What to do
    Correct {key} in server.properties of broker {broker} before the next start. Kafka says: {says}

    Semicolons separate the principals in `super.users`: `User:admin;User:kafka`. A comma is part of a name.

    ## References
    `kafka.security.authorizer.AclAuthorizer.configure`; `org.apache.kafka.metadata.authorizer.StandardAuthorizer.configure`;
    KIP-371; `org.apache.kafka.common.security.kerberos.KerberosShortNamer`.
    """
    between = view.next_start
    for broker in sorted(between.settings.files):
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        try:
            found = refused_setting(between, broker)
        except UnsupportedError as error:
            details = evidence | {"error": str(error), "needs": f"a start of broker {broker}"}
            yield view.judge("KA413", resource, Status.UNKNOWN, details)
        else:
            more = evidence | ({"key": found[0], "says": found[1]} if found else {})
            yield view.judge("KA413", resource, Status.FAIL if found else Status.PASS, more)
    yield from no_files(view, "KA413")

"""KA413."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_files
from kafka_audit.checks.security.refused_settings import refused_setting
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.principals import UnsupportedError
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerProperty


@check(
    code="KA413",
    severity=Severity.CRITICAL,
    needs=(BrokerProperty,),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} does not start with its {key}: {says}",
        Status.PASS: "Broker {broker} starts with its super users and the rules that name principals",
        Status.UNKNOWN: "Cannot determine whether {who} starts with its super users and the rules that name principals ({error})",
    },
)
def security_settings_refused(view: ClusterView) -> Iterator[Judgement]:
    """The authorizer, or a listener, refuses its own settings, and the broker does not start.

    ## Why it matters
    KafkaConfig takes these keys as they are; the classes that they are for read them after it. A running broker goes on until
    its next start, and that one fails.

    ## Fails when
    By server.properties, Kafka's own authorizer finds a part of `super.users` that is no `Type:name` (AclAuthorizer: an empty
    one between two semicolons, or a blank after the last one, too), or AclAuthorizer finds an `allow.everyone.if.no.acl.found`
    that is neither true nor false. Or `ssl.principal.mapping.rules` of an SSL listener, or
    `sasl.kerberos.principal.to.local.rules` where GSSAPI is enabled, holds what is no rule or no regular expression to Java.

    ## Not known when
    No server.properties was read, or a rule holds what is not read here: a look ahead or behind, a reference to a group, a
    repetition that gives nothing back, a group within a repeated group, more than 1,000 characters. Patterns are matched by RE2,
    whose time grows with the length of the text alone.

    ## Passes only when
    All of these keys that are in the file were read as Kafka reads them, and taken.

    ## What to do
    Correct {key} in server.properties of broker {broker} before it is started again. Kafka says: {says}

    Users in `super.users` are parted by semicolons: `User:admin;User:kafka`. A comma is a part of a name.

    ## References
    `kafka.security.authorizer.AclAuthorizer.configure`; `org.apache.kafka.metadata.authorizer.StandardAuthorizer.configure`;
    KIP-371; `org.apache.kafka.common.security.kerberos.KerberosShortNamer`.
    """
    between = view.inter_broker
    for broker in sorted(between.settings.files):
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        try:
            found = refused_setting(between, broker)
        except UnsupportedError as error:
            words = evidence | {"error": str(error), "needs": f"a start of broker {broker}"}
            yield view.judge("KA413", resource, Status.UNKNOWN, words)
        else:
            told = evidence | ({"key": found[0], "says": found[1]} if found else {})
            yield view.judge("KA413", resource, Status.FAIL if found else Status.PASS, told)
    yield from no_files(view, "KA413")

"""KA413."""

from collections.abc import Callable, Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_files
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.authorization import authorizer_refusal
from kafka_audit.configuration.principals import KERBEROS, RulesError, UnsupportedError, kerberos_rules, ssl_rules
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA413",
    severity=Severity.CRITICAL,
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
            found = _refused_setting(between, broker)
        except UnsupportedError as error:
            details = evidence | {"error": str(error), "needs": f"a start of broker {broker}"}
            yield view.judge("KA413", resource, Status.UNKNOWN, details)
        else:
            more = evidence | ({"key": found[0], "says": found[1]} if found else {})
            yield view.judge("KA413", resource, Status.FAIL if found else Status.PASS, more)
    yield from no_files(view, "KA413")


def _refused_setting(between: InterBroker, broker: int) -> tuple[str, str] | None:
    """Return the key that is to blame and Kafka's words, None where all is taken; raises UnsupportedError."""
    authorizer, lines = between.authorizer(broker).value or "", between.settings.files[broker]
    reported = {key: line.value for key, line in lines.items() if line.value is not None}
    if between.understood(authorizer) and (refused := authorizer_refusal(authorizer, reported)):
        return refused
    readers: dict[str, Callable[[str], object]] = {SSL_RULES: ssl_rules, KERBEROS_RULES: kerberos_rules}
    for listener, key in _rules(between, broker):
        own = f"listener.name.{listener.lower()}.{key}"
        used = own if reported.get(own) else key
        try:
            readers[key](reported.get(used) or "DEFAULT")
        except RulesError as error:
            return used, str(error)
    return None


def _rules(between: InterBroker, broker: int) -> Iterator[tuple[str, str]]:
    """Yield the listeners whose rules are read at the start, and the key of these rules."""
    for listener in sorted(between.offered(broker) or ()):
        protocol = between.protocol(broker, listener) or ""
        enabled = between.settings.at(broker, listener, "sasl.enabled.mechanisms").value or KERBEROS
        if protocol == "SSL":
            yield listener, SSL_RULES
        elif protocol.startswith("SASL") and KERBEROS in [part.strip() for part in enabled.split(",")]:
            yield listener, KERBEROS_RULES

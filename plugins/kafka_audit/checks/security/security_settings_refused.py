from collections.abc import Callable, Iterator

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_files
from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.configuration.authorization import authorizer_refusal
from kafka_audit.configuration.principals import KERBEROS, RulesError, UnsupportedError, kerberos_rules, ssl_rules
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES


@check(code="KA413", severity=Severity.CRITICAL, by_files=True)
def security_settings_refused(view: ClusterView) -> Judgements:
    """The authorizer or a listener rejects its own settings, and the broker does not start."""
    between = view.next_start
    for broker in sorted(between.settings.files):
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        try:
            found = _refused_setting(between, broker)
        except UnsupportedError as error:
            details = evidence | {"error": str(error), "needs": f"a start of broker {broker}"}
            yield view.judge(resource, Status.UNKNOWN, details)
        else:
            more = evidence | ({"key": found[0], "says": found[1]} if found else {})
            yield view.judge(resource, Status.FAIL if found else Status.PASS, more)
    yield from no_files(view)


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

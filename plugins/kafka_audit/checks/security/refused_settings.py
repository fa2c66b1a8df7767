"""KA413: settings that Kafka's classes refuse when a broker starts."""

from collections.abc import Callable, Iterator

from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.configuration.authorization import authorizer_refusal
from kafka_audit.configuration.principals import KERBEROS, RulesError, kerberos_rules, ssl_rules
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES


def refused_setting(between: InterBroker, broker: int) -> tuple[str, str] | None:
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

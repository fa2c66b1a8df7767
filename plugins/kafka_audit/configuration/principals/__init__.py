"""The principal of a connection, like Kafka's DefaultKafkaPrincipalBuilder: from a certificate or a login. Pure."""

from kafka_audit.configuration.principals.errors import MappingError, RulesError, UnsupportedError
from kafka_audit.configuration.principals.kerberos_rules import KerberosRules
from kafka_audit.configuration.principals.rule_text import cached_by_size
from kafka_audit.configuration.principals.ssl_rules import SslRules

ANONYMOUS = "User:ANONYMOUS"
"""On PLAINTEXT, and on SSL without a certificate."""

KERBEROS = "GSSAPI"


ssl_rules = cached_by_size(64)(SslRules)
kerberos_rules = cached_by_size(64)(KerberosRules)


@cached_by_size(1024)
def of_certificate(subject: str, rules: str | None) -> str:
    """Return the principal of a certificate's subject by ssl.principal.mapping.rules.

    Raises:
        RulesError: the broker does not start with these rules.
        MappingError: the connection fails.
        UnsupportedError: what the rules do is not known here.
    """
    return f"User:{ssl_rules(rules).name(subject)}"


@cached_by_size(1024)
def of_login(mechanism: str, user: str, rules: str | None, realm: str) -> str:
    """Return the principal of who logged in: a user of PLAIN or SCRAM by its name, one of Kerberos by auth_to_local rules.

    Args:
        mechanism: of SASL.
        user: name, or Kerberos principal.
        rules: sasl.kerberos.principal.to.local.rules.
        realm: default realm by the broker's krb5.conf.

    Raises:
        RulesError: the broker does not start with these rules.
        MappingError: the login fails.
        UnsupportedError: what the rules do is not known here.
    """
    return f"User:{kerberos_rules(rules).name(user, realm) if mechanism == KERBEROS else user}"


__all__ = [
    "ANONYMOUS",
    "KERBEROS",
    "MappingError",
    "RulesError",
    "UnsupportedError",
    "kerberos_rules",
    "of_certificate",
    "of_login",
    "ssl_rules",
]

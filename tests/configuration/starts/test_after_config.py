"""What the start refuses once KafkaConfig has accepted a configuration, and the nearest that it does not."""

import pytest

from kafka_audit.configuration.starts.after_config import refusal_after_config

OAUTH = "org.apache.kafka.common.security.oauthbearer"
SASL = {"listeners": "OUT://:9093,IN://:9092", "listener.security.protocol.map": "OUT:SASL_SSL,IN:PLAINTEXT"}
PLAIN = SASL | {"sasl.enabled.mechanisms": "PLAIN"}
TOKENS = SASL | {
    "sasl.enabled.mechanisms": "OAUTHBEARER",
    "listener.name.out.oauthbearer.sasl.jaas.config": f"{OAUTH}.OAuthBearerLoginModule required ;",
    "listener.name.out.oauthbearer.sasl.server.callback.handler.class": f"{OAUTH}.OAuthBearerValidatorCallbackHandler",
    "sasl.oauthbearer.jwks.endpoint.url": "https://idp/jwks",
}
TIERED = {
    "listeners": "IN://:9092",
    "remote.log.storage.system.enable": "true",
    "remote.log.storage.manager.class.name": "com.example.S3",
    "remote.log.metadata.manager.listener.name": "IN",
}
KRAFT = {"process.roles": "broker", "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"}
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def module(name, options=""):
    """Return the settings of a listener that logs in by a module."""
    return PLAIN | {"listener.name.out.plain.sasl.jaas.config": f"{name} required {options};"}


LDAP, JNDI = module("com.sun.security.auth.module.LdapLoginModule"), module("com.sun.security.auth.module.JndiLoginModule")


def oauth(options):
    """Return the settings of a listener that validates tokens, with the options of its login module."""
    text = f"{OAUTH}.OAuthBearerLoginModule required {options};"
    return {key: value for key, value in TOKENS.items() if "jwks" not in key} | {
        "listener.name.out.oauthbearer.sasl.jaas.config": text
    }


OPTIONS = oauth('clientId="a"')
OLD_CLASS = {
    "listener.name.out.oauthbearer.sasl.server.callback.handler.class": f"{OAUTH}.secured.OAuthBearerValidatorCallbackHandler"
}
REFUSED = {
    "LDAP": (LDAP, "3.9.1", "LdapLoginModule is not allowed"),
    "JNDI": (JNDI, "3.4.1", "JndiLoginModule is not allowed"),
    "a URL": (TOKENS, "4.0.2", "Update system property 'org.apache.kafka.sasl.oauthbearer.allowed.urls'"),
    "a class that moved": (TOKENS | OLD_CLASS, "4.0.2", "could not be found"),
    "options without a handler": (OPTIONS, "3.9.1", "No principal name in JWT claim: sub"),
    "no name among options of the handler for tests": (oauth('unsecuredLoginLifetimeSeconds="9"'), "4.4.0", "JWT claim: sub"),
    "a blank name": (oauth('unsecuredLoginStringClaim_sub=" "'), "4.4.0", "JWT claim: sub"),
    "a name in another claim": (
        oauth('unsecuredLoginPrincipalClaimName="who" unsecuredLoginStringClaim_sub="a"'),
        "4.4.0",
        "JWT claim: who",
    ),
    "tiered storage without a class": (
        {**TIERED, "remote.log.storage.manager.class.name": None},
        "3.9.1",
        "NullPointerException",
    ),
    "a listener that is none": (TIERED | {"remote.log.metadata.manager.listener.name": "OUT"}, "4.4.0", "Invalid value OUT"),
    "local above total": (TIERED | {"log.retention.hours": "1", "log.local.retention.ms": "3600001"}, "3.9.1", "3600000"),
    "local bytes above total": (TIERED | {"log.retention.bytes": "9", "log.local.retention.bytes": "10"}, "3.9.1", "value: 9"),
    "an authorizer of ZooKeeper": (KRAFT, "3.9.1", "NullPointerException"),
    "an authorizer that went": (KRAFT, "4.0.2", "ClassNotFoundException"),
}
ACCEPTED = {
    "LDAP before": (LDAP, "3.8.1"),
    "another module": (module("com.example.LoginModule"), "4.4.0"),
    "a URL before": (TOKENS, "3.9.1"),
    "a class before it moved": (TOKENS | OLD_CLASS, "3.9.1"),
    "options of the handler for tests": (oauth('unsecuredLoginStringClaim_sub="a"'), "3.9.1"),
    "a name beside options of another handler": (oauth('unsecuredLoginStringClaim_sub="a" oauth.jwks.endpoint.uri="b"'), "3.9.1"),
    "a name in the claim that is named": (
        oauth('unsecuredLoginPrincipalClaimName="who" unsecuredLoginStringClaim_who="a"'),
        "4.4.0",
    ),
    "no option": (oauth(""), "4.4.0"),
    "options with a handler": (
        OPTIONS | {"listener.name.out.oauthbearer.sasl.login.callback.handler.class": "com.example.H"},
        "3.9.1",
    ),
    "tiered storage": (TIERED, "4.4.0"),
    "no total": (TIERED | {"log.retention.ms": "-1", "log.local.retention.ms": "9"}, "4.4.0"),
    "local as total": (TIERED | {"log.retention.ms": "9", "log.local.retention.ms": "9"}, "4.4.0"),
    "local without tiers": ({"log.retention.ms": "9", "log.local.retention.ms": "10"}, "4.4.0"),
    "an authorizer with ZooKeeper": ({**KRAFT, "process.roles": None}, "3.9.1"),
    "an authorizer of KRaft": (KRAFT | {"authorizer.class.name": STANDARD}, "4.4.0"),
    "JAAS that may be elsewhere": (PLAIN, "3.9.1"),
}


def set_ones(settings):
    """Return settings without those that are None."""
    return {key: value for key, value in settings.items() if value is not None}


@pytest.mark.parametrize(("settings", "version", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_the_start_refuses(settings, version, says):
    refusal = refusal_after_config(set_ones(settings), version)
    assert says in refusal.message
    assert refusal.key in settings
    assert refusal_after_config(set_ones(settings), version, unknown=frozenset(settings)) is None


@pytest.mark.parametrize(("settings", "version"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_the_start_accepts(settings, version):
    assert refusal_after_config(set_ones(settings), version) is None


def test_the_options_of_the_jvm_decide_where_they_are_known():
    assert "Could not find a 'KafkaServer'" in refusal_after_config(PLAIN, "3.9.1", jvm="").message
    for settings, option in (
        (PLAIN, "java.security.auth.login.config=/j"),
        (TOKENS, "org.apache.kafka.sasl.oauthbearer.allowed.urls=x"),
    ):
        assert refusal_after_config(settings, "4.0.2", jvm=f"-D{option}") is None
    assert refusal_after_config(TOKENS, "4.0.2", jvm="*") is None
    assert refusal_after_config(PLAIN, "4.0.2", jvm="*") is None
    assert refusal_after_config(LDAP, "4.0.2", jvm="-Dorg.apache.kafka.disallowed.login.modules=x") is None

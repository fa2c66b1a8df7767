"""Our principals against Kafka's own builder of them; the whole run is ``python -m testbed.principals``."""

import pytest

from kafka_audit.configuration.principals import MappingError, RulesError, UnsupportedError, of_certificate, of_login
from samples import sampled
from seed import SEED
from testbed.principal_cases import cases
from testbed.principals import VERSIONS, compare

SUBJECT = "CN=Kafka1.example.com,OU=ops,O=Acme,C=DE"


@pytest.mark.parametrize("version", sampled(VERSIONS, every=len(VERSIONS)))
def test_we_name_as_kafka_does(version):
    found = compare(version, list(cases(SEED, 500)))
    assert found.unknown < found.cases / 4  # one pattern in fifteen gives nothing back, another repeats what may be nothing
    assert found.failed < found.names / 2
    assert 0.2 < found.refused / found.cases < 0.7
    assert not found.differences, f"seed {SEED}: {found.differences[0]}"


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        (None, SUBJECT),
        ("DEFAULT", SUBJECT),
        ("RULE:^CN=(.*?),OU=ops.*$/$1/", "Kafka1.example.com"),
        ("RULE:^CN=([^.]*).*$/$1/L, DEFAULT", "kafka1"),
        ("RULE:^CN=client.*$/client/,RULE:^CN=(.*?),.*$/broker-$1/U", "BROKER-KAFKA1.EXAMPLE.COM"),
        ("RULE:.*/kafka/", "kafkakafka"),  # Java replaces the nothing at the end once more
        ("RULE:^CN=(.*?),(.*)$/$1@$7/", "Kafka1.example.com@$7"),
    ],
)
def test_rules_name_a_certificate(rules, name):
    assert of_certificate(SUBJECT, rules) == f"User:{name}"


@pytest.mark.parametrize(
    ("rules", "error", "words"),
    [
        ("RULE:^CN=(.*$/$1/", RulesError, "Unclosed group in ^CN=(.*$"),
        ("RULE:^CN=(.*)$", RulesError, "Invalid rule: `RULE:^CN=(.*)$`, unmatched substring: `RULE:^CN=(.*)$`"),
        ("RULE:^CN=x$/x/", MappingError, f"No rules apply to {SUBJECT}, rules [RULE:^CN=x$/x]"),
        ("RULE:^CN=.*$/$1/", MappingError, "No group 1"),
        ("RULE:^CN=.*$/${[n}/", MappingError, "named capturing group has 0 length name"),
        ("RULE:\\p{Lu}.*/x/", UnsupportedError, "\\p in the regular expression \\p{Lu}.*"),
        ("RULE:(.*)*/x/", UnsupportedError, "a repeated group that can match an empty string in the regular expression (.*)*"),
    ],
)
def test_what_gives_no_name_says_why(rules, error, words):
    with pytest.raises(error) as raised:
        of_certificate(SUBJECT, rules)
    assert str(raised.value) == words


@pytest.mark.parametrize(
    ("mechanism", "user", "rules", "name"),
    [
        ("PLAIN", "kafka/h@R", "RULE:[2:x]", "kafka/h@R"),
        ("SCRAM-SHA-512", "kafka", None, "kafka"),
        ("GSSAPI", "kafka/h1@R", None, "kafka"),
        ("GSSAPI", "kafka/h1@R", "RULE:[2:$1-$2](.*)s/h(.)/host$1/,DEFAULT", "kafka-host1"),
        ("GSSAPI", "Kafka@R", "RULE:[1:$1]/U", "KAFKA"),
        ("GSSAPI", "kafka", "RULE:[1:x]", "kafka"),
    ],
)
def test_logins_are_users_and_kerberos_names_go_through_rules(mechanism, user, rules, name):
    assert of_login(mechanism, user, rules, "R") == f"User:{name}"


def test_default_is_about_the_default_realm_only():
    with pytest.raises(MappingError, match="No rules apply to kafka/h@X"):
        of_login("GSSAPI", "kafka/h@X", "DEFAULT", "R")

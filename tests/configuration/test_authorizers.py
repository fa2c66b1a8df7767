"""Our authorisation against Kafka's own authorizers; the whole run is ``python -m testbed.authorizers``."""

import pytest

from kafka_audit.configuration.authorization import STANDARD, authorizer_refusal, super_users
from samples import sampled
from seed import SEED
from testbed.authorizers import ACL, AUTHORIZERS, compare, worlds


@pytest.mark.parametrize(("version", "authorizer"), sampled(AUTHORIZERS, every=len(AUTHORIZERS)))
def test_we_answer_as_kafka_does(version, authorizer):
    found = compare(version, authorizer, worlds(SEED, 100, 50))
    assert found.decisions >= 100 * 50
    assert 0.1 < found.allowed / found.decisions < 0.9
    assert found.refused
    assert not found.differences, f"seed {SEED}: {found.differences[0]}"


def test_super_users_are_cut_as_java_cuts_them():
    assert super_users(" User:a ;User:b,User:c;User:d e;;") == {"User:a", "User:b,User:c", "User:d e"}
    assert super_users("") == super_users(";") == frozenset()


@pytest.mark.parametrize(
    ("authorizer", "settings", "message"),
    [
        (ACL, {"super.users": "User:a;"}, None),
        (ACL, {"super.users": "User:a; "}, "expected a string in format principalType:principalName but got "),
        (STANDARD, {"super.users": "User:a; "}, None),
        (STANDARD, {"super.users": "kafka"}, "expected a string in format principalType:principalName but got kafka"),
        (ACL, {"allow.everyone.if.no.acl.found": "yes"}, 'For input string: "yes"'),
        (STANDARD, {"allow.everyone.if.no.acl.found": "yes"}, None),
    ],
)
def test_what_an_authorizer_refuses_in_its_own_words(authorizer, settings, message):
    refusal = authorizer_refusal(authorizer, settings)
    assert refusal == (None if message is None else (next(iter(settings)), message))


def test_blanks_around_a_yes_count_before_kafka_3_6():
    assert authorizer_refusal(ACL, {"allow.everyone.if.no.acl.found": "true "}, trims=False)
    assert not authorizer_refusal(ACL, {"allow.everyone.if.no.acl.found": "true "})

"""What populated clusters hold: names and settings that Kafka accepts, and no fault."""

import re

from testbed.acls import auditor_grants
from testbed.population.contents import ACLS, FEW, ODD_NAMES, TOPICS, USED, WHOLE, acls, topics

LEGAL = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def test_topics_have_names_that_kafka_accepts():
    names = [topic["name"] for topic in topics(WHOLE.topics, 3)]
    assert len(set(names)) == TOPICS
    assert set(ODD_NAMES) | set(USED) < set(names)
    assert all(LEGAL.fullmatch(name) and name not in {".", ".."} for name in names)
    alike = [name.replace(".", "_") for name in names]  # Kafka refuses names that differ in dots and underscores alone
    assert len(set(alike)) == len(alike)
    assert {len(name) for name in names} >= {1, 249}


def test_few_topics_have_what_clients_use_and_odd_names():
    names = [topic["name"] for topic in topics(FEW.topics, 1)]
    assert len(names) == FEW.topics
    assert set(names) > set(USED)
    assert {topic["replicas"] for topic in topics(FEW.topics, 1)} == {1}


def test_acls_differ_and_deny_the_auditor_nothing():
    found = list(acls(ACLS))
    assert len(set(found)) == ACLS
    assert {acl.permission for acl in found} == {"Allow", "Deny"}
    assert {acl.pattern for acl in found} == {"LITERAL", "PREFIXED"}
    assert not {acl.principal for acl in found} & {"User:*", *(grant.principal for grant in auditor_grants())}

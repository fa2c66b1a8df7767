"""What populated clusters hold: names and settings that Kafka accepts, and no fault."""

import re

from testbed.acls import auditor_grants
from testbed.population.contents import ACLS, FEW, ODD_NAMES, TOPICS, USED, WHOLE, acls, topics

LEGAL = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def test_topics_have_names_that_kafka_accepts():
    names = [one["name"] for one in topics(WHOLE.topics, 3)]
    assert len(set(names)) == TOPICS
    assert set(ODD_NAMES) | set(USED) < set(names)
    assert all(LEGAL.fullmatch(name) and name not in {".", ".."} for name in names)
    alike = [name.replace(".", "_") for name in names]  # Kafka refuses names that differ in dots and underscores alone
    assert len(set(alike)) == len(alike)
    assert {len(name) for name in names} >= {1, 249}


def test_few_topics_have_what_clients_use_and_odd_names():
    names = [one["name"] for one in topics(FEW.topics, 1)]
    assert len(names) == FEW.topics
    assert set(names) > set(USED)
    assert {one["replicas"] for one in topics(FEW.topics, 1)} == {1}


def test_acls_differ_and_deny_the_auditor_nothing():
    found = list(acls(ACLS))
    assert len(set(found)) == ACLS
    assert {one.permission for one in found} == {"Allow", "Deny"}
    assert {one.pattern for one in found} == {"LITERAL", "PREFIXED"}
    assert not {one.principal for one in found} & {"User:*", *(one.principal for one in auditor_grants())}

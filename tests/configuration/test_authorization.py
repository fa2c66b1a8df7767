"""The authorisation function against the rules of AclAuthorizer, one rule at a time and then all of them together."""

from itertools import product

import pytest

from kafka_audit.configuration.authorization import CLUSTER, STANDARD, authorized, cluster_action
from kafka_audit.model.tables import Acl

KAFKA, OTHER = "User:kafka", "User:other"
TOPIC = ("Topic", "orders")


def acl(resource=CLUSTER, pattern="LITERAL", **fields):
    kind, name = resource
    row = {"principal": KAFKA, "operation": "ClusterAction", "permission": "ALLOW", "host": "*"} | fields
    return Acl(acls_digest="d", resource_type=kind, resource_name=name, pattern_type=pattern, **row)


def may(*acls, principal=KAFKA, host="10.0.0.1", operation="ClusterAction", resource=CLUSTER, **settings):
    return authorized(principal, host, operation, resource, acls, **settings).allowed


def test_an_allow_for_that_user_allows():
    assert may(acl())


def test_an_allow_for_everybody_allows():
    assert may(acl(principal="User:*"))


def test_an_allow_for_another_user_does_not():
    assert not may(acl(principal=OTHER))


def test_names_are_compared_letter_by_letter():
    assert not may(acl(principal="User:Kafka"))
    assert not may(acl(principal="user:kafka"))


def test_a_star_in_a_longer_name_is_no_wildcard():
    assert not may(acl(principal="User:k*"))
    assert not may(acl(principal="Group:*"))


def test_all_allows_cluster_action():
    assert may(acl(operation="All"))


@pytest.mark.parametrize("operation", ["Alter", "Describe", "AlterConfigs", "Create", "IdempotentWrite"])
def test_nothing_else_implies_cluster_action(operation):
    assert not may(acl(operation=operation))


@pytest.mark.parametrize("operation", ["Read", "Write", "Delete", "Alter"])
def test_what_implies_describe(operation):
    assert may(acl(operation=operation, resource=TOPIC), operation="Describe", resource=TOPIC)
    assert not may(acl(operation=operation, resource=TOPIC), operation="DescribeConfigs", resource=TOPIC)


def test_what_implies_describe_configs():
    assert may(acl(operation="AlterConfigs", resource=TOPIC), operation="DescribeConfigs", resource=TOPIC)
    assert not may(acl(operation="AlterConfigs", resource=TOPIC), operation="Describe", resource=TOPIC)


def test_implication_goes_one_way():
    assert not may(acl(operation="Describe", resource=TOPIC), operation="Read", resource=TOPIC)


def test_deny_of_what_would_imply_it_does_not_deny():
    acls = (acl(operation="Read", permission="DENY", resource=TOPIC), acl(operation="Describe", resource=TOPIC))
    assert may(*acls, operation="Describe", resource=TOPIC)


@pytest.mark.parametrize("deny", [acl(permission="DENY"), acl(principal="User:*", operation="All", permission="DENY")])
def test_deny_wins_over_allow_in_any_order(deny):
    assert not may(deny, acl())
    assert not may(acl(), deny)


def test_a_deny_that_does_not_match_denies_nothing():
    assert may(acl(), acl(principal=OTHER, permission="DENY"), acl(operation="Alter", permission="DENY"))


def test_hosts_count_for_allow_and_deny():
    assert may(acl(host="10.0.0.1"))
    assert not may(acl(host="10.0.0.2"))
    assert may(acl(), acl(permission="DENY", host="10.0.0.2"))
    assert not may(acl(), acl(permission="DENY", host="10.0.0.1"))


def test_networks_count_from_kafka_4_4_on():
    assert may(acl(host="10.0.0.0/8"), networks=True)
    assert not may(acl(host="10.0.0.0/8"))
    assert not may(acl(host="11.0.0.0/8"), networks=True)
    assert not may(acl(), acl(permission="DENY", host="10.0.0.0/8"), networks=True)
    assert may(acl(), acl(permission="DENY", host="10.0.0.0/8"))


def rulings(*acls, networks):
    return {decision.allowed for decision in cluster_action(KAFKA, acls, everyone=False, networks=networks)}


def test_hosts_that_acls_tell_apart_are_all_asked_for():
    within = acl(host="10.0.0.0/8")
    middle = (acl(permission="DENY", host="10.0.0.0/10"), acl(permission="DENY", host="10.192.0.0/10"))
    assert rulings(within, *middle, networks=True) == {False, True}  # allowed from 10.64.0.0 to 10.191.255.255 alone
    both = (acl(permission="DENY", host="10.0.0.0/9"), acl(permission="DENY", host="10.128.0.0/9"))
    assert rulings(within, *both, networks=True) == {False}
    assert rulings(acl(), acl(permission="DENY", host="2001:db8::/32"), networks=True) == {False, True}


def test_after_a_denial_of_every_host_no_other_is_asked_for():
    acls = [acl(host=f"10.0.{group}.0/24") for group in range(100)]
    assert len([*cluster_action(KAFKA, acls, everyone=False, networks=True)]) == 102  # "", 100 networks, and behind the last
    assert len([*cluster_action(KAFKA, [*acls, acl(permission="DENY")], everyone=False, networks=True)]) == 1


def test_a_network_matters_where_the_release_is_not_known():
    deny = acl(permission="DENY", host="10.0.0.0/8")
    assert rulings(acl(), deny, networks=None) == {False, True}
    assert rulings(acl(), deny, networks=False) == {True}
    assert rulings(acl(host="10.0.0.0/33"), networks=None) == {False}


def test_the_name_of_a_host_is_the_text_of_no_address():
    assert rulings(acl(), acl(permission="DENY", host="b0.example"), networks=True) == {True}


def test_a_super_user_may_whatever_is_denied():
    decision = authorized(KAFKA, "h", "ClusterAction", CLUSTER, [acl(permission="DENY")], super_users=frozenset({KAFKA}))
    assert decision.allowed
    assert "super user" in decision.why


def test_super_users_hold_no_wildcard():
    assert not may(super_users=frozenset({"User:*"}))


def test_without_any_acl_about_the_resource_the_setting_decides():
    assert not may()
    assert may(allow_everyone_if_no_acl=True)
    assert may(acl(resource=TOPIC), allow_everyone_if_no_acl=True)


@pytest.mark.parametrize("closing", [acl(principal=OTHER), acl(permission="DENY", principal=OTHER), acl(host="10.9.9.9")])
def test_one_acl_about_the_resource_is_enough_to_close_it(closing):
    assert not may(closing, allow_everyone_if_no_acl=True)


def test_the_wildcard_resource_is_about_every_name():
    assert may(acl(operation="Read", resource=("Topic", "*")), operation="Read", resource=TOPIC)
    assert not may(acl(resource=("Topic", "*")), allow_everyone_if_no_acl=False)
    assert not may(acl(operation="Read", principal=OTHER, resource=("Topic", "*")), operation="Read", resource=TOPIC)


def test_a_resource_of_another_kind_is_not_about_it():
    assert not may(acl(resource=("Group", "kafka-cluster")))


def test_a_prefix_is_about_what_starts_with_it():
    prefixed = acl(operation="Read", resource=("Topic", "ord"), pattern="PREFIXED")
    assert may(prefixed, operation="Read", resource=TOPIC)
    assert not may(acl(operation="Read", resource=("Topic", "ord")), operation="Read", resource=TOPIC)


def test_the_deciding_acl_is_told():
    decision = authorized(KAFKA, "h", "ClusterAction", CLUSTER, [acl(), deny := acl(permission="DENY", operation="All")])
    assert decision.acl == deny
    assert decision.why == "denied by DENY All for User:kafka from * on Cluster kafka-cluster"


PAIRS = [
    acl(principal=principal, operation=operation, permission=permission, host=host)
    for principal, operation, permission, host in product(
        (KAFKA, OTHER, "User:*"), ("ClusterAction", "All", "Alter"), ("ALLOW", "DENY"), ("*", "10.0.0.1", "10.0.0.2")
    )
]


@pytest.mark.parametrize("first", PAIRS, ids=range(len(PAIRS)))
def test_any_two_acls_decide_as_the_rules_say_in_words(first):
    def matches(acl):
        return acl.principal != OTHER and acl.operation != "Alter" and acl.host != "10.0.0.2"

    for second in PAIRS:
        denied = any(matches(acl) and acl.permission == "DENY" for acl in (first, second))
        allowed = any(matches(acl) and acl.permission == "ALLOW" for acl in (first, second))
        assert may(first, second) is (allowed and not denied)


def test_to_standard_authorizer_the_wildcard_is_not_about_longer_names_that_begin_with_it():
    wild = acl(operation="Read", resource=("Group", "*"))
    assert may(wild, operation="Read", resource=("Group", "*a"))
    assert not may(wild, operation="Read", resource=("Group", "*a"), authorizer=STANDARD)
    assert may(wild, operation="Read", resource=("Group", "*"), authorizer=STANDARD)

"""How a list of brokers differs from the registrations."""

from kafka_audit.compare.broker_lists import ListDifference, list_differences

REGISTERED = {0: [("Kafka-0.corp", 9092)], 1: [("kafka-1.corp", 9092)], 2: [("2001:DB8::2", 9092)]}
LISTED = {0: ("kafka-0.corp", 9092), 1: ("kafka-1.corp.", 9092), 2: ("2001:db8:0::2", 9092)}


def test_other_spellings_are_no_difference():
    assert list_differences(REGISTERED, LISTED) == {}


def test_each_way_to_differ_has_its_name():
    assert list_differences(REGISTERED, LISTED | {1: ("proxy", 9092)}) == {1: ListDifference.ELSEWHERE}
    assert list_differences(REGISTERED, LISTED | {1: ("kafka-1.corp", 9093)}) == {1: ListDifference.ELSEWHERE}
    assert list_differences(REGISTERED, {0: LISTED[0], 2: LISTED[2]}) == {1: ListDifference.MISSING}
    assert list_differences(REGISTERED, LISTED | {7: ("kafka-7.corp", 9092)}) == {7: ListDifference.UNREGISTERED}
    assert list_differences(REGISTERED, {}, empty=True) == dict.fromkeys(REGISTERED, ListDifference.NOTHING)


def test_where_no_address_is_known_only_presence_is_compared():
    assert list_differences({0: (), 1: ()}, {0: ("anything", 1)}) == {1: ListDifference.MISSING}


def test_one_of_several_addresses_is_enough():
    assert list_differences({0: [("b0", 9092), ("b0", 9093)]}, {0: ("B0", 9093)}) == {}

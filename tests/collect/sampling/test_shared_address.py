"""Two brokers at one address are a reason to look again."""

from collect.columns import collected
from kafka_audit.collect.sampling import sample_differences
from kafka_audit.collect.sampling.sample_differences import SampleTables
from kafka_audit.model.tables import ViewBroker


def found(*places):
    rows = [ViewBroker(brokers_digest=digest, broker_id=place, host=host, port=9092, rack=None) for digest, place, host in places]
    return sample_differences.find_sample_differences(SampleTables(collected(rows)))


def test_two_brokers_at_one_address_are_looked_at_again():
    differences = found(("a", 0, "k0"), ("a", 1, "k1"), ("a", 2, "K1"))
    assert differences.reasons == ("brokers 1, 2 are listed at k1:9092",)


def test_lists_that_differ_are_no_shared_address():
    """A broker that moved is in an old list where another is in the new one: the lists differ, which is told by itself."""
    assert found(("a", 0, "k0"), ("b", 1, "k0")).reasons == ()

"""The partition of a group is Kafka's: numbers by Java's `Math.abs(id.hashCode())`."""

import pytest

from kafka_audit.cluster.coordinators import id_number


@pytest.mark.parametrize(
    ("name", "number"),
    [("", 0), ("foo", 101574), ("billing", 109829509), ("polygenelubricants", 0), ("日本😀", 804253066)],
)
def test_the_number_of_an_id_is_that_of_java(name, number):
    assert id_number(name) == number

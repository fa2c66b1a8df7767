"""Reads that failed as evidence: what failed for one reason is one line."""

from kafka_audit.checks.incident import evidence_of_reads
from kafka_audit.model.tables import SourceRead
from made_rows import made


def read(operation, target="b1:9092", message="tcp to b1:9092: connection refused", error="connection refused"):
    return made(SourceRead, sample=2, operation=operation, target=target, outcome="failed", error=error, message=message)


def texts(reads, limit=10):
    return [line.text for line in evidence_of_reads(reads, limit)]


def test_reads_that_end_alike_share_a_line_that_says_the_reason_once():
    assert texts([read("ApiVersions"), read("Metadata"), read("Metadata")]) == [
        "ApiVersions and Metadata at b1:9092: tcp to b1:9092: connection refused"
    ]


def test_reads_that_end_differently_do_not_share_one():
    assert texts([read("ApiVersions"), read("Metadata", error="timeout", message="after 10 s"), read("Metadata", "b2:9092")]) == [
        "ApiVersions at b1:9092: tcp to b1:9092: connection refused",
        "Metadata at b1:9092: timeout: after 10 s",
        "Metadata at b2:9092: tcp to b1:9092: connection refused",
    ]


def test_many_operations_and_many_lines_are_counted():
    assert texts([read(f"zookeeper /{number}", message=None, error="timeout") for number in range(9)]) == [
        "zookeeper /0, zookeeper /1, zookeeper /2, zookeeper /3, zookeeper /4 and 4 more at b1:9092: timeout"
    ]
    several = [read("ApiVersions", f"b{number}:9092") for number in range(4)]
    assert texts([*several, read("Metadata", "b3:9092")], limit=2)[2:] == ["and 3 more reads failed"]

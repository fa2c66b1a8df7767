"""Lines about brokers that are asked: each of a few, and all of many together."""

import pytest

from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect import progress
from kafka_audit.collect.progress import MANY, BrokerProgress
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerView
from made_rows import made

ASKING = Asking(sample=1, observer="broker:1", target="b1:9092")
FAILED = (ASKING.failed("ApiVersions", ReadError(ReadFailure.TIMEOUT)), ASKING.failed("Metadata", ReadError(ReadFailure.REFUSED)))
VIEW = made(BrokerView, address="b1:9092", topics_listed=1)


def asked(brokers, rows):
    lines = []
    found = BrokerProgress(lines.append, brokers)
    for number in range(brokers):
        found.ask(f"broker {number}", [f"b{number}:9092", f"b{number}:9093"])
    for number in range(brokers):
        found.note(f"broker {number}", rows(number))
    return lines


def test_each_of_a_few_brokers_has_its_line():
    lines = asked(MANY, lambda _: FAILED)
    assert lines == [f"asking broker {number} at b{number}:9092, b{number}:9093 …" for number in range(MANY)]


def test_many_brokers_have_one_line_and_each_that_fails_its_own():
    lines = asked(MANY + 1, lambda number: FAILED if number == 3 else (VIEW,))
    assert lines == ["asking 11 brokers …", "broker 3 did not answer at b1:9092 (timeout)"]


def test_how_many_answered_is_told_now_and_then(monkeypatch):
    now = iter(range(0, 1000, 2))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    lines = asked(20, lambda _: (VIEW, FAILED[0]))
    answered = [line for line in lines if line.endswith("answered")]
    assert lines[0] == "asking 20 brokers …"
    assert answered[:2] == ["3 of 20 brokers answered", "6 of 20 brokers answered"]
    assert len(answered) < 20 / 2


@pytest.mark.parametrize("rows", [(), (VIEW,)])
def test_a_broker_without_rows_is_no_failure(rows):
    assert asked(MANY + 1, lambda _: rows) == ["asking 11 brokers …"]


def test_a_broker_without_an_id_is_named_by_its_address_once():
    lines = []
    BrokerProgress(lines.append, 1).ask("broker@b1:9092", ["b1:9092"])
    assert lines == ["asking the broker at b1:9092 …"]

import pytest

from kafka_audit.checks.messages import headlines, message


@pytest.mark.parametrize(
    ("template", "evidence", "says"),
    [
        ("{count:# topic is|# topics are} gone", {"count": 1}, "1 topic is gone"),
        ("{count:# topic is|# topics are} gone", {"count": 0}, "0 topics are gone"),
        ("{ids:broker # lacks|brokers # lack} it", {"ids": (2,)}, "broker 2 lacks it"),
        ("{ids:broker # lacks|brokers # lack} it", {"ids": (0, 1, 2)}, "brokers 0, 1 and 2 lack it"),
        ("{ids} and {flag}", {"ids": (0, 1), "flag": True}, "0, 1 and true"),
        ("{topic} is gone", {"topic": "{count}: a|b #"}, "{count}: a|b # is gone"),
        ("{topic} is gone", {"topic": "a\x1b[31m\u202eb"}, "a\\u001b[31m\\u202eb is gone"),
        ("{topic:# is|# are} gone", {}, "(topic: unknown) are gone"),
    ],
)
def test_message(template, evidence, says):
    assert message(template, evidence) == says


def test_headlines_omit_clauses_of_the_template_from_the_end():
    template = "Broker {broker} lacks {count:# topic, the least|# topics}, as listed: {topics} (in all). Why: {why}"
    evidence = {"broker": 2, "count": 2, "topics": "a: b, c (d). e"}
    assert headlines(template, evidence) == (
        "Broker 2 lacks 2 topics, as listed: a: b, c (d). e (in all)",
        "Broker 2 lacks 2 topics, as listed: a: b, c (d). e",
        "Broker 2 lacks 2 topics, as listed",
        "Broker 2 lacks 2 topics",
    )

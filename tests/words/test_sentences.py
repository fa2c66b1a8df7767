import pytest

from kafka_audit.checks import catalogue
from kafka_audit.words import sentences
from kafka_audit.words.sentences import fill, message


@pytest.mark.parametrize(
    ("template", "evidence", "text"),
    [
        ("{count|form('# topic is', '# topics are')} gone", {"count": 1}, "1 topic is gone"),
        ("{count|form('# topic is', '# topics are')} gone", {"count": 0}, "0 topics are gone"),
        ("{ids|form('broker # lacks', 'brokers # lack')} it", {"ids": (2,)}, "broker 2 lacks it"),
        ("{ids|form('broker # lacks', 'brokers # lack')} it", {"ids": (0, 1, 2)}, "brokers 0, 1 and 2 lack it"),
        ("{ids} and {flag}", {"ids": (0, 1), "flag": True}, "0, 1 and true"),
        ("{ids|listed} agree", {"ids": (0, 1)}, "0 and 1 agree"),
        ("{% if flag %}{topic}{% else %}It{% endif %} is gone", {"flag": False}, "It is gone"),
        ("{topic} is gone", {"topic": "a\x1b[31m\u202eb\x1e\x1f"}, "a\\u001b[31m\\u202eb\\u001e\\u001f is gone"),
        ("{topic} is gone", {"topic": "x" * 201}, f"{'x' * 182}… (201 characters) is gone"),
        ("{topic|form('# is', '# are')} gone", {}, "(topic: unknown) are gone"),
        ("{topic.name} is gone", {}, "(topic: unknown) is gone"),
    ],
)
def test_a_message_is_a_template_filled_with_evidence(template, evidence, text):
    assert message(template, evidence).text == text
    assert fill(template, evidence) == text


def test_a_filter_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(
        ValueError, match=r"no filter 'upper' for 'who' in '\{who\|upper\} is gone'; known: form, listed, most, capital"
    ):
        fill("{who|upper} is gone", {"who": "it"})


@pytest.mark.parametrize("name", ["{{ 7*7 }}", "{7*7}", "{% for a in b %}", "{# x #}", "{count}: a|b #", "{topic|form('', '')}"])
def test_a_value_is_never_a_template(name):
    assert message("{topic} is gone", {"topic": name, "count": 1}).headlines == (f"{name} is gone",)
    assert fill("{topic|form('topic #', '# is gone')}", {"topic": name}) == f"{name} is gone"


@pytest.mark.parametrize("values", [{}, {"broker": 1}, {"count": 1}, {"count": 7, "brokers": (1, 2), "topics": ("a`b", "c")}])
def test_jinja_reads_a_message_as_it_is_filled_here(values):
    templates = {text for check in catalogue().values() for text in check.says.values()}
    plain = [text for text in templates if sentences._pieces(text) is not None]
    assert len(plain) > 500
    for text in plain:
        assert sentences._compiled(text).render(values) == fill(text, values)


def test_headlines_omit_clauses_of_the_template_from_the_end():
    template = "Broker {broker} lacks {count|form('# topic, the least', '# topics')}, as listed: {topics} (in all). Why: {why}"
    written = message(template, {"broker": 2, "count": 2, "topics": "a: b, c (d). e", "why": "f"})
    assert written.headlines == (
        "Broker 2 lacks 2 topics, as listed: a: b, c (d). e (in all)",
        "Broker 2 lacks 2 topics, as listed: a: b, c (d). e",
        "Broker 2 lacks 2 topics, as listed",
        "Broker 2 lacks 2 topics",
    )
    assert written.text == f"{written.headlines[0]}. Why: f"

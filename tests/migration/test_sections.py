"""The reports around a change in a few lines: for a page, and for the person who is asked."""

import pytest

from kafka_audit.migration import plain_text, sections

HOSTILE = "orders`]<img src=x>\u202e\n**# 1"


def item(code, resource, message="m", remedy="Mend it.", source="audit"):
    return {"source": source, "code": code, "resource": resource, "message": message, "remedy": remedy}


@pytest.fixture
def report():
    def of(**fields):
        return {name: fields.get(name, []) for name in ("blockers", "warnings", "not_known", "information")}

    return of


def test_what_one_check_says_of_many_is_one_line(report):
    many = [item("KA411", f"broker/{n}", f"Broker {n} is open") for n in range(3)] + [item("KA411", "f", source="proposed /a")]
    warnings = sections.before_change_sections(report(warnings=many))[1]
    assert [(line.source, line.places, line.text) for line in warnings.lines] == [
        ("", ("broker/0", "broker/1", "broker/2"), "Broker 0 is open"),
        ("proposed /a", ("f",), "m"),
    ]
    assert warnings.number == 4


def test_the_question_begins_with_the_blockers_and_is_a_list_of_markdown(report):
    body = plain_text.approval_body(
        report(blockers=[item("KA901", "broker/1", "It is old.")], warnings=[item("KA411", f"broker/{n}") for n in range(3)])
    )
    assert body.split("\n") == [
        "**Blockers (1)**",
        "",
        "- **KA901** It is old. Mend it.",
        "",
        "**Warnings (3)**",
        "",
        "- **KA411** m. Also: broker/1 and broker/2. Mend it.",
        "",
        "The tab **Kafka audit** of this run contains the complete report.",
    ]


def test_a_long_list_is_cut_and_says_of_what(report):
    body = plain_text.approval_body(report(not_known=[item(f"KA2{n:02}", "cluster") for n in range(9)]))
    assert "- and 3 more checks: KA206, KA207, KA208" in body
    assert body.count("- **KA") == 6


def test_nothing_that_a_cluster_said_is_markup_in_the_question(report):
    body = plain_text.approval_body(
        report(warnings=[item("KA606", HOSTILE, HOSTILE, HOSTILE, f"vantage {HOSTILE}"), item("KA606", HOSTILE)])
    )
    assert "<img" not in body
    assert "\u202e" not in body
    assert "\\`\\]&lt;img" in body
    assert len(body.split("\n")) == 6


def test_a_comparison_tells_what_was_not_meant_first():
    change = {"kind": "config", "resource": "broker/1/config/a", "before": None, "after": "2"}
    report = dict.fromkeys(("not_done", "new", "not_known", "resolved"), ()) | {"not_meant": [change], "meant": [change]}
    first, *_ = sections.after_change_sections(report)
    assert (first.title, first.lines[0].text) == ("Not expected", "config broker/1/config/a: none → 2")

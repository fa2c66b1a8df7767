"""What `make accept` writes is what the tests of cases demand, and nothing else of a file changes."""

import pytest
import yaml

from accept import edits_of_check
from checks import cases as case_module
from checks.cases import base, cases
from checks.expected import nearest
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.checks import catalogue
from yaml_edits import differing, replaced

CODE, CASE = "KA304", "two_brokers_behind_one_forward"
TEXT = """\
# A comment.
check: KA999
cases:
  one:
    now: &now {a: 1}   # kept
    expect: [{resource: cluster}]
    pass: []

  two: {now: *now, expect: &same [{resource: broker/1}]}
  three: {expect: *same}
"""


@pytest.fixture
def edits(monkeypatch):
    """Return the edits of a check whose case has another expectation."""

    def of(**changed):
        case = {**cases(CODE)[CASE], **changed}
        monkeypatch.setattr("accept.cases", lambda _: {CASE: case})
        monkeypatch.setattr("accept.needs.needed", lambda check, _views: check.needs)  # all cases together show them
        views = cluster_views({f"{CODE}-{CASE}": snapshots(base(), f"{CODE}-{CASE}", case)})
        return {place[-1]: value for _, place, value in edits_of_check(catalogue()[CODE], views)}

    return of


def test_a_case_that_holds_is_left_alone(edits):
    assert edits() == {}


def test_values_are_replaced_and_what_was_not_named_stays_unnamed(edits):
    right = cases(CODE)[CASE]["expect"]
    wrong = [{**right[0], "severity": "LOW", "evidence": {"port": 1, "gone": "x"}}, right[1]]
    found = edits(expect=wrong, **{"pass": []})
    assert found["expect"][0] == {"resource": right[0]["resource"], "evidence": {"port": "9092"}}
    assert found["expect"][1] == right[1]
    assert found["pass"] == ["broker/0/listener/PLAINTEXT"]


def test_a_new_failure_has_all_its_evidence(edits):
    (first, second) = edits(expect=[])["expect"]
    assert first["resource"] == "broker/1/listener/PLAINTEXT"
    assert second["evidence"]["host"] == "KAFKA.example"


def test_a_text_becomes_the_line_that_is_most_like_it():
    assert nearest("broker 2", "broker 2 is gone") == "broker 2"
    assert nearest("Restart broker 2 now.", "Stop.\nRestart broker 3 now.") == "Restart broker 3 now."
    assert nearest("Restart broker 2 now.", "nothing") == ""


def test_the_rest_of_a_file_stays_as_it_was():
    edited = replaced(TEXT, ("cases", "one", "expect"), [{"resource": "broker/1", "evidence": {"brokers": "1, 2"}}])
    assert edited == TEXT.replace("[{resource: cluster}]", '[{resource: broker/1, evidence: {brokers: "1, 2"}}]')


def test_a_comment_behind_a_value_is_not_of_it():
    text = TEXT.replace("    pass: []\n", "    pass:\n      - a\n    # of the next case\n")
    assert replaced(text, ("cases", "one", "pass"), []) == text.replace("pass:\n      - a", "pass: []")


def test_single_values_of_a_list_differ_where_the_rest_is_alike():
    before = [{"headline": "a", "says": ["x"]}, {"headline": "b", "says": []}]
    assert [*differing(("p",), before, [before[0], {"headline": "c", "says": []}])] == [(("p", 1, "headline"), "c")]
    assert [*differing(("p",), before, before[:1])] == [(("p",), before[:1])]
    assert [*differing(("p",), before, before)] == []


def test_a_value_below_a_list_is_replaced():
    text = "a:\n  incidents:\n    - headline: one   # first\n    - headline: two\n"
    assert replaced(text, ("a", "incidents", 0, "headline"), "three") == text.replace("one", "three")


def test_a_list_that_is_too_long_for_a_line_is_a_block():
    wanted = [f"broker/{number}/listener/PLAINTEXT" for number in range(6)]
    edited = replaced(TEXT, ("cases", "one", "pass"), wanted)
    assert "    pass:\n      - broker/0/listener/PLAINTEXT\n" in edited
    assert yaml.safe_load(edited)["cases"]["one"]["pass"] == wanted


def test_a_key_that_is_missing_is_added():
    edited = replaced(TEXT, ("cases", "two", "pass"), ["cluster"])
    assert "expect: &same [{resource: broker/1}], pass: [cluster]}" in edited
    assert yaml.safe_load(replaced(TEXT, ("cases", "one", "near"), "x"))["cases"]["one"]["near"] == "x"


@pytest.mark.parametrize("case", ["two", "three"])
def test_what_two_cases_share_is_left_to_a_person(case):
    with pytest.raises(LookupError):
        replaced(TEXT, ("cases", case, "expect"), [])


def test_keys_of_cases_that_accept_writes_are_known():
    assert {"expect", "pass", "incidents"} <= case_module.CASE_KEYS

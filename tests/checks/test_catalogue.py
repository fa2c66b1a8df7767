"""What every check owes its reader and its tests."""

import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

from airflow_environment import ROOT
from checks.cases import WORLDS, case_files, cases, demand_known_keys, exception, severity
from kafka_audit.checks import RETIRED, Check, catalogue
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import BrokerProperty, Snapshot, SourceRead
from kafka_audit.words.sentences import message
from template_names import names_in
from testbed.new_check import used_codes

HEADINGS = ["Why it matters", "Fails when", "Not known when", "Passes only when", "What to do", "References"]

every_check = pytest.mark.parametrize("check", catalogue().values(), ids=catalogue())


@every_check
def test_page_has_all_headings_in_order(check):
    found = re.findall(r"^## (.+)$", check.doc, re.MULTILINE)
    assert [heading for heading in found if not heading.startswith("What to do: ")] == HEADINGS
    assert all(found[at - 1].startswith("What to do") for at, heading in enumerate(found) if heading.startswith("What to do: "))


@every_check
def test_page_says_something_under_each_heading(check):
    for section in re.split(r"^## .+$", check.doc, flags=re.MULTILINE):
        assert len(section.split()) >= 3, f"too few words: {section.strip()!r}"


@every_check
def test_wording(check):
    # "OK" and "healthy" promise what was not asked; "should" leaves the reader to guess.
    for text in (check.doc, *check.says.values()):
        assert not re.findall(r"\b(OK|healthy|should|!)\b", text)
    assert "cannot reach" not in check.says[Status.FAIL] or check.code in {"KA301", "KA302"}


@every_check
def test_module_is_named_after_the_fault(check):
    assert check.function.__module__ == f"kafka_audit.checks.{check.family}.{check.name}"
    assert not check.name.startswith(("check", "ensure", "test"))


@every_check
def test_lint_runs_what_files_decide(check):
    if BrokerProperty in check.needs and check.kind == "audit":
        why_not = bool(exception(check.code, "lint"))
        assert check.by_files != why_not, "by_files=True lets `lint` run it; or `exceptions: lint:` says why not"


@every_check
def test_a_code_is_the_next_one_of_its_family(check):
    assert check.code not in RETIRED, "the code of a former check; take the next one that was never used"
    hundreds = sorted(int(code[2:]) for code in catalogue().keys() | RETIRED if code[2] == check.code[2])
    missing = [f"KA{number:03}" for number in range(hundreds[0], hundreds[-1]) if number not in hundreds]
    assert not missing or set(missing) <= used_codes(ROOT).keys(), "codes have no gaps, but those of branches that are not merged"


@every_check
def test_case_file_lies_beside_the_module(check):
    cases(check.code)  # names the file that is missing
    assert case_files()[check.code][0] == Path(inspect.getfile(check.function)).with_suffix(".yaml")


@every_check
def test_cases_show_the_fault_and_its_nearest_false_positive(check):
    all_cases = cases(check.code).values()
    fails = [case for case in all_cases if any(expected.get("status", "FAIL") == "FAIL" for expected in case.get("expect", []))]
    assert fails, "no case fails"
    assert [case for case in all_cases if case.get("pass")], "no case passes"
    near = [case for case in all_cases if case.get("near")]
    assert near, "no case is a near false positive"
    for case in near:
        assert not any(expected.get("status", "FAIL") == "FAIL" for expected in case.get("expect", []))
    assert [case for case in all_cases if any(expected.get("status") == "UNKNOWN" for expected in case.get("expect", []))], (
        "nothing is not known"
    )


@every_check
def test_messages_use_evidence_that_is_there(judged, check):
    """Every judgement of every case can be put into words."""
    seen = set()
    for name in (*(f"{check.code}-{case}" for case in cases(check.code)), *WORLDS):
        for judgement in judged.of(check.code, name):
            seen.add(judgement.status)
            template = check.says[judgement.status]
            assert names_in(template) <= judgement.evidence.keys(), (name, judgement)
            assert "{" not in message(template, judgement.evidence).text
    assert seen == set(check.says), "a status is said that never comes, or never said"


@every_check
def test_what_to_do_names_evidence_of_failures(judged, check):
    section = check.doc.partition("## What to do")[2].partition("## ")[0]
    keys = set(re.findall(r"\{(\w+)\}", section))
    for case in cases(check.code):
        for judgement in judged.of(check.code, f"{check.code}-{case}"):
            if judgement.status is Status.FAIL:
                assert keys <= judgement.evidence.keys(), judgement


@every_check
def test_not_known_says_what_would_be_needed(judged, check):
    for name in (*(f"{check.code}-{case}" for case in cases(check.code)), *WORLDS):
        for judgement in judged.of(check.code, name):
            if judgement.status is Status.UNKNOWN:
                assert judgement.evidence["error"]
                assert judgement.evidence["needs"]
            if judgement.status is Status.NOT_APPLICABLE:
                assert judgement.evidence["reason"]


@every_check
def test_severity_and_confidence_belong_to_failures(judged, check):
    for name in (*(f"{check.code}-{case}" for case in cases(check.code)), *WORLDS):
        for judgement in judged.of(check.code, name):
            assert judgement.severity is None or judgement.status is Status.FAIL


@every_check
def test_nothing_fails_in_a_cluster_that_agrees_with_itself(judged, check):
    failed = []
    for world in ("healthy", "populated"):
        judgements = judged.of(check.code, world)
        assert judgements, world
        failed += [judgement for judgement in judgements if judgement.status is Status.FAIL]
    assert bool(failed) == bool(exception(check.code, "healthy")), failed
    assert all(severity(check, judgement) < Severity.HIGH for judgement in failed)


@every_check
def test_nothing_passes_for_lack_of_input(judged, check):
    """What passes or fails where something was not read does so where all was read, too. `test_inputs` does this with faults."""
    whole = {(judgement.resource, judgement.status) for judgement in judged.of(check.code, "healthy")}
    judge_without = set()
    for world in WORLDS.keys() - {"healthy", "populated"}:
        judgements = judged.of(check.code, world)
        assert judgements, f"it says nothing at all in the world {world!r}"
        new = {
            (judgement.resource, judgement.status) for judgement in judgements if judgement.status in {Status.PASS, Status.FAIL}
        } - whole
        judge_without |= {world} if new else set()
    excepted = exception(check.code, "unread")
    if "everything" not in excepted:
        assert judge_without == WORLDS.keys() & excepted, "in these worlds of `WORLDS` something was not read, and yet it judges"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"check": "KA101", "cases": {"a": {"passes": ["cluster"]}}}, "x.yaml: a: unknown key 'passes'; did you mean 'pass'?"),
        (
            {"check": "KA101", "cases": {"a": {"now": {"config": {}}}}},
            "x.yaml: a: now: unknown key 'config'; did you mean 'configs'?",
        ),
        (
            {"check": "KA101", "cases": {"a": {"now": {"probes": [{"to": 2}, {"to": 2, "via_": "nginx:2"}]}}}},
            "x.yaml: a: now: probes: unknown key 'via_'; did you mean 'via'?",
        ),
        (
            {"check": "KA101", "cases": {"a": {"previous": {"views": {1: {"topics": {"orders": {"partition": {}}}}}}}}},
            "x.yaml: a: previous: views: 1: topics: orders: unknown key 'partition'; did you mean 'partitions'?",
        ),
        ({"check": "KA101", "world": {"topic": {}}, "cases": {}}, "x.yaml: world: unknown key 'topic'; did you mean 'topics'?"),
        (
            {"check": "KA101", "cases": {"a": {"expect": [{"resources": "cluster"}]}}},
            "x.yaml: a: expect: unknown key 'resources'; did you mean 'resource'?",
        ),
    ],
)
def test_a_misspelt_key_of_a_case_file_is_an_error(raw, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        demand_known_keys("x.yaml", raw)


def test_a_check_without_cases_is_an_error():
    with pytest.raises(LookupError, match="KA999 has no cases"):
        cases("KA999")


def test_every_case_file_has_its_check():
    assert set(case_files()) == set(catalogue())


def test_no_two_checks_share_a_name():
    assert [name for name, n in Counter(check.name for check in catalogue().values()).items() if n > 1] == []


def test_a_check_that_breaks_is_named():
    def broken(view):
        return [view.snapshot.rows[0]]

    check = Check(
        code="KA999",
        name="broken",
        family="audit",
        severity=Severity.LOW,
        needs=(SourceRead,),
        says={},
        function=broken,
        kind="audit",
    )
    with pytest.raises(IndexError) as caught:
        judge(ClusterView.of_files(Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=())), {"KA999": check})
    assert caught.value.__notes__ == ["raised by check KA999 (audit/broken) on snapshot s"]

"""Each case of each check: exactly these judgements, and no other but PASS."""

import re
from collections.abc import Iterable, Sequence
from datetime import date

import pytest

from checks.cases import Judged, among_others, cases, near_cases, told
from kafka_audit.checks import catalogue
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.causes import incidents
from kafka_audit.incidents.findings import findings_with_lifecycle
from kafka_audit.model.cluster import Mute
from kafka_audit.model.finding import Finding, Judgement, Severity, Status
from kafka_audit.model.text import LONGEST_HEADLINE

PRINTED = {"prints", "never_prints"}
TODAY = date(2026, 1, 1)


def findings_of(view: ClusterView, judgements: Iterable[Judgement], mutes: Sequence[Mute] = ()) -> tuple[Finding, ...]:
    """Return the findings of a first audit."""
    return findings_with_lifecycle(view, judgements, mutes=mutes, previous_report=None, today=TODAY)


def assert_as_written(judged: Judged, code: str, name: str) -> None:
    check, case = catalogue()[code], cases(code)[name]
    judgements = judged.of(code, f"{code}-{name}")
    seen = [told(check, judgement) for judgement in judgements if judgement.status is not Status.PASS]
    expected = []
    for raw in sorted(case.get("expect", []), key=lambda expected: (expected["resource"], expected.get("status", "FAIL"))):
        wanted_judgement = {"status": "FAIL"} | {key: value for key, value in raw.items() if key not in PRINTED}
        if wanted_judgement["status"] == "FAIL":
            wanted_judgement = {"severity": check.severity.name, "confidence": "measured"} | wanted_judgement
        expected.append(wanted_judgement | {"evidence": {key: str(value) for key, value in raw.get("evidence", {}).items()}})
    # Only the evidence that the case names is compared.
    for actual, wanted in zip(seen, expected, strict=False):
        actual["evidence"] = {key: value for key, value in actual["evidence"].items() if key in wanted["evidence"]}
    assert seen == expected
    passed = sorted(judgement.resource for judgement in judgements if judgement.status is Status.PASS)
    if "pass" in case:
        assert passed == sorted(case["pass"])
    resources = [judgement.resource for judgement in judgements]
    assert len(resources) == len(set(resources)), "a resource was judged twice"
    assert judgements, "nothing was judged"
    assert all(is_typed(value) for judgement in judgements for value in judgement.evidence.values())


def assert_prints(judged: Judged, code: str, name: str) -> None:
    """Demand texts of remedies, as they are printed for the cluster of a case."""
    wanted = [expected for expected in cases(code)[name].get("expect", ()) if PRINTED & expected.keys()]
    if not wanted:
        return
    view, judgements = judged.views[f"{code}-{name}"], judged.of(code, f"{code}-{name}")
    found = findings_of(view, judgements)
    printed = {finding.resource.name: finding.remediation for finding in found}
    for expected in wanted:
        remediation = printed[expected["resource"]]
        assert [text for text in expected.get("prints", ()) if text not in remediation] == [], remediation
        assert [text for text in expected.get("never_prints", ()) if text in remediation] == [], remediation


SCALARS = {int, str, bool, float}


def is_typed(value: object) -> bool:
    """Return whether evidence is a number, a text, a record, or a list of ids, names or records: a `model.finding.Value`."""
    if isinstance(value, tuple):
        return any(all(type(part) is kind for part in value) for kind in (int, str)) or all(is_record(part) for part in value)
    return type(value) in SCALARS or is_record(value)


def is_record(value: object) -> bool:
    return isinstance(value, dict) and all(type(part) in SCALARS for part in value.values())


@pytest.mark.parametrize("code", catalogue())
def test_cases(judged, code):
    wrong = {}
    for name in cases(code):
        try:
            assert_as_written(judged, code, name)
            assert_prints(judged, code, name)
        except AssertionError as error:
            wrong[name] = str(error)
    assert wrong == {}, "\n\n".join(f"{code}-{name}: {message}" for name, message in wrong.items())


@pytest.mark.parametrize("code", catalogue())
def test_what_is_no_fault_is_none_among_the_topics_of_a_cluster_in_use(judged, code):
    for name in (name for of, name in near_cases() if of == code and "alone" not in cases(code)[name]):
        alone, others = (judged.of(code, one) for one in (f"{code}-{name}", among_others(code, name)))
        assert {judgement.resource for judgement in others if judgement.status is Status.FAIL} == set(), name
        unknown = [
            {judgement.resource for judgement in judgements if judgement.status is Status.UNKNOWN}
            for judgements in (alone, others)
        ]
        assert unknown[0] == unknown[1], name


@pytest.mark.parametrize("code", [code for code, check in catalogue().items() if check.kind == "audit"])
def test_failures_have_a_headline_that_fits_and_is_a_sentence_of_the_check(judged, code):
    for name in cases(code):
        view, judgements = judged.views[f"{code}-{name}"], judged.of(code, f"{code}-{name}")
        found = findings_of(view, judgements)
        serious = [finding for finding in found if finding.status is Status.FAIL and finding.severity >= Severity.HIGH]
        for roots in (*([finding] for finding in serious), serious):
            for incident in incidents(view, roots, ()):
                assert len(incident.headline) <= LONGEST_HEADLINE
                assert "characters)" not in incident.headline
                named = incident.headline.lower().startswith(catalogue()[code].name.replace("_", " "))
                assert not named, "the message and `(same for 1 more …)` are too long for a headline: shorten the message"


_PLURALS = (
    "partitions|topics|brokers|servers|controllers|nodes|replicas|groups|listeners|addresses|endpoints|minutes|seconds|hours|days"
    "|reads|parties|views|members|records|clients|users|voters|keys|audits"
)
_NO_NUMBER = "".join(f"(?<!{word} )" for word in ("of", "broker", "controller", "node", "server", "and"))
_ONE_OF_MANY = re.compile(rf"(?<![\d.,:-]){_NO_NUMBER}1 (?:{_PLURALS})\b")


@pytest.mark.parametrize("code", catalogue())
def test_one_of_a_thing_is_not_counted_in_the_plural(judged, code):
    for name in cases(code):
        for finding in findings_of(judged.views[f"{code}-{name}"], judged.of(code, f"{code}-{name}")):
            assert not _ONE_OF_MANY.search(f"{finding.message}\n{finding.remediation}"), name

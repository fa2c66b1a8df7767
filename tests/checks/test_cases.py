"""Each case of each check: exactly these judgements, and no other but PASS."""

import pytest

from checks.cases import Judged, cases, every_case, told
from kafka_audit.checks import catalogue
from kafka_audit.model.finding import Status


def assert_as_written(judged: Judged, code: str, name: str) -> None:
    check, case = catalogue()[code], cases(code)[name]
    judgements = judged.of(code, f"{code}-{name}")
    seen = [told(check, one) for one in judgements if one.status is not Status.PASS]
    expected = []
    for raw in sorted(case.get("expect", []), key=lambda one: (one["resource"], one.get("status", "FAIL"))):
        one = {"status": "FAIL"} | raw
        if one["status"] == "FAIL":
            one = {"severity": check.severity.name, "confidence": "measured"} | one
        expected.append(one | {"evidence": {key: str(value) for key, value in raw.get("evidence", {}).items()}})
    # Only the evidence that the case names is compared.
    for actual, wanted in zip(seen, expected, strict=False):
        actual["evidence"] = {key: value for key, value in actual["evidence"].items() if key in wanted["evidence"]}
    assert seen == expected
    passed = sorted(one.resource for one in judgements if one.status is Status.PASS)
    if "pass" in case:
        assert passed == sorted(case["pass"])
    resources = [one.resource for one in judgements]
    assert len(resources) == len(set(resources)), "a resource was judged twice"
    assert judgements, "nothing was judged"
    assert all(is_typed(value) for one in judgements for value in one.evidence.values())


SCALARS = {int, str, bool, float}


def is_typed(value: object) -> bool:
    """Return whether evidence is a number, a text, a record, or a list of ids, names or records: a `model.finding.Value`."""
    if isinstance(value, tuple):
        return any(all(type(part) is kind for part in value) for kind in (int, str)) or all(is_record(part) for part in value)
    return type(value) in SCALARS or is_record(value)


def is_record(value: object) -> bool:
    return isinstance(value, dict) and all(type(part) in SCALARS for part in value.values())


@pytest.mark.parametrize(("code", "name"), [pytest.param(code, name, id=f"{code}-{name}") for code, name in every_case()])
def test_case(judged, code, name):
    assert_as_written(judged, code, name)

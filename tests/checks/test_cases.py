"""Each case of each check: exactly these judgements, and no other but PASS."""

from typing import Any

import pytest

from checks.conftest import Judged, cases, every_case, told
from kafka_audit.checks import catalogue
from kafka_audit.model.finding import Status


def _params(*kinds: str) -> list[Any]:
    return [pytest.param(code, name, id=f"{code}-{name}") for code, name in every_case() if catalogue()[code].kind in kinds]


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


@pytest.mark.spark
@pytest.mark.parametrize(("code", "name"), _params("sql"))
def test_sql(judged_in_spark, code, name):
    assert_as_written(judged_in_spark, code, name)


@pytest.mark.parametrize(("code", "name"), _params("row", "gate"))
def test_row(judged_in_python, code, name):
    assert_as_written(judged_in_python, code, name)

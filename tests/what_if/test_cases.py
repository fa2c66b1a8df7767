"""What becomes of clusters in `cases.yaml`, and of each nearest harmless one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from kafka_audit.report.what_if import losses
from what_if.asked import each_without, snapshot_of

GROUPS = yaml.load(Path(__file__).with_name("cases.yaml").read_text(), yaml.CSafeLoader)
CASES = {f"{name} {case}": (group["world"], told) for name, group in GROUPS.items() for case, told in group["cases"].items()}


def contains(found: Any, wanted: Any, where: str = "") -> None:
    """Compare what `wanted` has: keys of mappings, and all entries of lists."""
    if isinstance(wanted, dict):
        for key, value in wanted.items():
            contains(found[key], value, f"{where}/{key}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), (where, found)
        for one, other in zip(found, wanted, strict=True):
            contains(one, other, where)
    else:
        assert (found == wanted) if not isinstance(found, tuple) else (list(found) == wanted), (where, found)


@pytest.fixture(scope="module")
def answers():
    """The view and the answer of each case."""
    return each_without(
        {
            name: (
                snapshot_of({"world": world, "now": case.get("now", {})}, name),
                case["without"],
                case.get("margin", 0),
                case.get("bootstrap", ()),
            )
            for name, (world, case) in CASES.items()
        }
    )


@pytest.mark.parametrize("name", CASES)
def test_a_case(answers, name):
    _, case = CASES[name]
    view, found = answers[name]
    document = losses.loss_document(found, view)
    assert document["safe"] is case["safe"], document
    assert found.exit_code == {True: 0, False: 3, None: 4}[case["safe"]]
    if "sentence" in case:
        assert document["sentence"] == case["sentence"]
    contains(document, case.get("expect", {}))


def test_each_verdict_has_a_nearest_harmless_case():
    harmless = [case for _, case in CASES.values() if "near" in case]
    assert len(harmless) >= len(CASES) / 4

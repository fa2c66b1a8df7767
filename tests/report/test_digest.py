"""A report in short, as it lies beside the report."""

import json

import pytest

from kafka_audit.report import digest
from reported import report_of


@pytest.mark.parametrize("least", [1.0, 0.05])
@pytest.mark.parametrize("case", ["one_broker_measured", "suspected"])
def test_what_was_stored_is_what_the_report_says(audited, case, least):
    document, _ = audited("cut_off", case)
    document = json.loads(json.dumps(document))
    told = json.loads(digest.digest_text(report_of(document)))
    found = digest.restored(told, document["snapshot_id"], least)
    assert found == digest.condense(report_of(document), least)
    assert found.state == digest.condense(report_of(document), least).state
    assert len(digest.digest_text(report_of(document))) < len(json.dumps(document)) / 2


def test_who_asks_for_less_coverage_reads_another_state_off_the_same_digest(told):
    spec = {"brokers": {0: "a:1"}, "reads": [{"observer": "broker:1", "operation": "Metadata", "error": "timeout"}]}
    document, _ = told([], spec)
    stored = json.loads(digest.digest_text(report_of(document)))
    states = [digest.restored(stored, document["snapshot_id"], least).state.word for least in (1.0, 0.5)]
    assert states == ["not judged", "clear"]


@pytest.mark.parametrize(
    "damage",
    [
        {"version": 0},
        {"snapshot_id": "another"},
        {"lanes": [{"code": 1}]},
        {"basis": None},
        {"basis": {}},
        {"lanes": None},
        {"answered": -1},
    ],
)
def test_anything_else_is_no_digest(audited, damage):
    document, _ = audited("cut_off", "one_broker_measured")
    told = json.loads(digest.digest_text(report_of(document)))
    assert digest.restored(told, document["snapshot_id"], 1.0) is not None
    assert digest.restored(told | damage, document["snapshot_id"], 1.0) is None
    assert digest.restored({}, document["snapshot_id"], 1.0) is None

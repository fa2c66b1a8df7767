"""The confusion matrix of causes: no other cause is measured or inferred, and none is lost, on any recorded cluster.

`testbed.corpus.confusion` judges the recordings; docs/corpus.md publishes it.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from faults import known, subjects
from kafka_audit.faults.fault import known_faults
from samples import sampled
from testbed.corpus import confusion
from testbed.corpus.documents import Document, documents
from testbed.corpus.inputs import ALL_INPUTS, INPUTS, METADATA_ALONE
from testbed.corpus.recorded import CLUSTERS, SUFFIX, recordings, unpacked, unrecorded

ROOT = Path(__file__).parents[2]
RECORDED = {name: one for name, one in recordings().items() if (CLUSTERS / f"{name}{SUFFIX}").is_file()}
BROKEN = [name for name, one in RECORDED.items() if one.broken_by or one.cause]
HEALTHY = [name for name in RECORDED if name not in BROKEN]


@pytest.fixture(scope="module")
def verdicts(request: pytest.FixtureRequest) -> confusion.Verdicts:
    return subjects.verdicts(subjects.selected(request) & {*BROKEN})


def over(names: list[str], red: Mapping[str, str]) -> pytest.MarkDecorator:
    fails = {name: pytest.mark.xfail(reason=why, strict=True, raises=AssertionError) for name, why in red.items()}
    expected = [pytest.param(name, marks=[fails[name], pytest.mark.large]) for name in names if name in fails]
    return pytest.mark.parametrize("name", [*sampled([name for name in names if name not in fails], every=20), *expected])


@over(BROKEN, {})
def test_no_other_cause_is_measured_or_inferred_whatever_is_missing(verdicts, name):
    assert {inputs for inputs, one in verdicts[name].items() if one == confusion.WRONG} == set()


@over(BROKEN, {})
def test_with_all_inputs_the_true_cause_is_named(verdicts, name):
    assert verdicts[name][ALL_INPUTS] in confusion.NAMED


@over([name for name in BROKEN if RECORDED[name].broken_by], known.NOT_NAMED)
def test_with_metadata_alone_the_true_cause_is_among_the_candidates(verdicts, name):
    assert verdicts[name][METADATA_ALONE] in confusion.NAMED


@over(HEALTHY, known.ALARMS)
def test_a_healthy_cluster_has_no_incident(name):
    snapshot, previous = unpacked((CLUSTERS / f"{name}{SUFFIX}").read_bytes())
    found = documents({snapshot.snapshot_id: (snapshot, previous)}, passing=False)[snapshot.snapshot_id]
    assert [one["headline"] for one in found["incidents"]] == []


def test_every_cause_is_recorded_in_both_modes_or_has_a_reason_why_not():
    found = {(cause, one.mode) for one in RECORDED.values() for cause in one.broken_by}
    wanted = {(fault.name, mode) for fault in known_faults() for mode in ("ZooKeeper", "KRaft")}
    assert found | unrecorded().keys() == wanted
    assert not found & unrecorded().keys()
    assert len({cause for cause, _ in found}) >= 16


@pytest.mark.large
def test_the_page_has_the_matrix_of_today():
    own = subjects.verdicts(confusion.of_causes())
    assert f"\n{confusion.section(own)}\n## Faults without a sign in logs" in (ROOT / "docs" / "corpus.md").read_text()


def told(cause: str, confidence: str, *, candidates: Mapping[str, str], **evidence: object) -> Document:
    """Return a document with one incident, whose cause is a finding at broker 2."""
    finding = {"code": cause, "status": "FAIL", "confidence": confidence, "fingerprint": "f", "evidence": evidence}
    states = [{"cause": kind, "state": state} for kind, state in candidates.items()]
    incident = {"cause": cause, "confidence": confidence, "findings": ["f"], "candidates": states}
    return {"incidents": [incident], "findings": [finding]}


TLS = "zookeeper_tls_versions"


@pytest.mark.parametrize(
    ("document", "verdict"),
    [
        (told("KA412", "measured", candidates={"tls": "measured"}, kind="tls_versions_differ"), confusion.DECIDED),
        (told("KA412", "measured", candidates={"tls": "measured"}, kind="handshake"), confusion.DECIDED),
        (told("KA412", "measured", candidates={"tls": "possible"}, kind="invalid_certificate"), confusion.WRONG),
        (told("KA412", "suspected", candidates={"tls": "possible", "address": "possible"}), confusion.SUSPECTED),
        (told("KA105", "suspected", candidates={"tls": "possible", "address": "possible"}), confusion.UNDECIDED),
        (told("KA302", "suspected", candidates={"tls": "possible", "address": "possible"}), confusion.UNDECIDED),
        (told("KA412", "inferred", candidates={"login": "possible"}, kind="wrong_credentials"), confusion.WRONG),
        (told("KA302", "inferred", candidates={"address": "possible", "tls": "ruled_out"}), confusion.WRONG),
        (told("KA302", "suspected", candidates={"address": "possible", "tls": "ruled_out"}), confusion.WRONG),
        (told("KA101", "inferred", candidates={"address": "possible", "tls": "ruled_out"}), confusion.WRONG),
        (told("KA105", "measured", candidates={}), confusion.SYMPTOM),
        ({"incidents": [], "findings": []}, confusion.SILENT),
    ],
)
def test_a_document_is_worth_what_its_reader_learns(document, verdict):
    assert confusion.verdict(recordings()[TLS], document) == verdict


def test_inputs_are_what_their_names_say():
    snapshot, _ = unpacked((CLUSTERS / f"{TLS}{SUFFIX}").read_bytes())
    held = {inputs: {type(row).__name__ for row in reduce(snapshot).rows} for inputs, reduce in INPUTS.items()}
    everything = held[ALL_INPUTS]
    assert everything - held["without logs"] == {"LogLine"}
    assert {"Probe", "BrokerConfig"} <= everything - held[METADATA_ALONE]
    assert held[METADATA_ALONE] >= {"BrokerView", "ViewPartition", "RegisteredBroker", "SourceRead"}
    assert {probe.role for probe in INPUTS["without vantages"](snapshot).rows if type(probe).__name__ == "Probe"} == {"client"}

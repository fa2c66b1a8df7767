"""What the findings of a report are worth, by their codes."""

import pytest

from testbed.corpus.catalogue import fault
from testbed.corpus.score import alarms, failing, left, score, unread

FAULT = fault(
    "f",
    {
        "title": "a cut",
        "cause": "KA302",
        "report": ["KA302 broker/2/listener/PLAINTEXT", "KA105"],
        "also": "KA604",
        "never": "KA401",
        "heal": ["roll"],
        "demands": {"cause": "cannot reach", "resource": "broker 2"},
    },
)


def finding(code, resource="cluster", severity="HIGH", **more):
    finding = {"code": code, "resource": {"name": resource}, "severity": severity, "status": "FAIL", "muted": False}
    return finding | {"message": f"{code} fails"} | more


def report(*findings, incidents=()):
    found = [{"cause": cause, "confidence": how, "headline": f"about {cause}"} for cause, how in incidents]
    return {"findings": list(findings), "incidents": found}


CUT = (finding("KA302", "broker/2/listener/PLAINTEXT"), finding("KA105", "broker/2"))


@pytest.mark.parametrize(
    ("found", "incidents", "verdict"),
    [
        (CUT, [("KA302", "measured")], "cause"),
        (CUT, [("KA302", "measured"), ("KA604", "measured")], "cause"),
        (CUT, [("KA302", "measured"), ("KA501", "measured")], "wrong"),
        (CUT, [("KA501", "measured")], "wrong"),
        (CUT, [("KA501", "suspected")], "undecided"),
        (CUT, [("KA105", "measured")], "symptom"),
        ((*CUT, finding("KA401")), [("KA302", "measured")], "wrong"),
        ((finding("KA302", severity="MEDIUM"),), [], "cause"),
        ((finding("KA604", severity="MEDIUM"),), [], "symptom"),
        ((finding("KA705", severity="LOW"),), [], "silent"),
        ((), [], "silent"),
    ],
)
def test_the_verdict(found, incidents, verdict):
    assert score(FAULT, {}, report(*found, incidents=incidents)).verdict == verdict


def test_what_failed_before_the_fault_is_none_of_it():
    weak = finding("KA705", severity="LOW")
    scored = score(FAULT, failing(report(weak)), report(weak, *CUT, incidents=[("KA302", "measured")]))
    assert scored.failing == {("KA302", "broker/2/listener/PLAINTEXT"): "HIGH", ("KA105", "broker/2"): "HIGH"}
    assert (scored.missing, scored.false, scored.headline) == ([], [], "about KA302")


def test_what_is_expected_and_does_not_fail_is_missing():
    scored = score(FAULT, {}, report(finding("KA302", "broker/1/listener/PLAINTEXT")))
    assert scored.missing == ["KA302 broker/2/listener/PLAINTEXT", "KA105"]


def test_muted_failures_and_other_statuses_do_not_count():
    assert failing(report(finding("KA302", muted=True), finding("KA105", status="PASS"))) == {}


def test_what_a_repaired_cluster_still_fails():
    broken = failing(report(*CUT, finding("KA604", severity="MEDIUM")))
    assert left(FAULT, broken, {}, report(CUT[1])) == ["KA105 broker/2"]
    assert left(FAULT, broken, {}, report(finding("KA604", severity="MEDIUM"))) == []
    assert left(FAULT, broken, {}, report(finding("KA501"))) == ["KA501 cluster"]
    assert left(FAULT, broken, failing(report(finding("KA501"))), report(finding("KA501"))) == []


def report_on_a_healthy_cluster(*findings, unknown=()):
    default = {"muted": False, "resource": {"type": "cluster", "name": "cluster"}, "message": "m"}
    return {"findings": [default | finding for finding in findings], "coverage": {"unknown": list(unknown)}}


def test_a_healthy_cluster_fails_nothing_serious_and_no_read():
    high = {"code": "KA614", "status": "FAIL", "severity": "HIGH", "message": "a transaction"}
    rights = {"code": "KA002", "status": "FAIL", "severity": "MEDIUM", "message": "rights"}
    style = {"code": "KA705", "status": "FAIL", "severity": "LOW"}
    muted = high | {"muted": True, "code": "KA601"}
    reports = [report_on_a_healthy_cluster(style, muted), report_on_a_healthy_cluster(high, rights)]
    assert alarms(reports) == {"KA614 cluster": "a transaction", "KA002 cluster": "rights"}
    assert alarms(reports[:1]) == {}


def test_reads_without_an_answer_and_unreadable_ones_are_named():
    read = {"observer": "broker:1", "operation": "ListGroups", "error": "timeout"}
    unreadable = {"code": "KA614", "status": "UNKNOWN", "severity": "HIGH", "message": "Cannot determine (unreadable answer)"}
    assert unread([report_on_a_healthy_cluster(unreadable, unknown=[read]), report_on_a_healthy_cluster(unreadable)]) == {
        "broker:1 ListGroups": "timeout",
        "KA614 cluster": "Cannot determine (unreadable answer)",
    }
    assert unread([report_on_a_healthy_cluster()]) == {}

"""What an incident explains is inside it wherever a report is shown; what only looks like it stays beside it."""

import pytest

import small_cluster
from kafka_audit.alerting.conditions import AlertLimits, AuditResult, conditions
from kafka_audit.report.digest import condense
from kafka_audit.report.gate import evaluate_gate
from kafka_audit.report.html import filters
from kafka_audit.report.html.filters import Wanted
from kafka_audit.report.plain_text.markdown import markdown_report
from kafka_audit.report.plain_text.terminal import terminal_report
from reported import report_of
from testbed.corpus.documents import whole_documents
from testbed.corpus.recorded import CLUSTERS, SUFFIX, unpacked

LACKS_2, LACKS_3, MUTED, SETTING = "topic/a/partition/0", "topic/b/partition/0", "topic/c/partition/0", "cluster"
HEADLINE = "Broker 2 is cut off: controller 0 cannot reach the address it advertises"


@pytest.fixture
def cut_off(told):
    """Broker 2 is cut off: a partition lacks it since a moment, another lacks broker 3, and a third is muted."""
    spec = {
        "brokers": {n: f"10.99.0.1{n}:9092" for n in range(4)},
        "views": {2: "empty"},
        "topics": {
            topic: {"partitions": {0: {"replicas": [0, other], "isr": [0]}}} for topic, other in (("a", 2), ("b", 3), ("c", 2))
        },
        "probes": [{"from": 0, "to": 2, "layer": "tcp", "error": "no route to host"}],
    }
    lacking = {"severity": "MEDIUM", "name": "under_replicated"}
    of_edge = {"from": [0], "layer": "tcp", "error": "no route to host"}
    findings = [
        small_cluster.finding("KA302", "broker/2/listener/PLAINTEXT", severity="CRITICAL", evidence=of_edge),
        small_cluster.finding("KA604", LACKS_2, **lacking),
        small_cluster.finding("KA604", LACKS_3, **lacking),
        small_cluster.finding("KA604", MUTED, muted=True, **lacking),
        small_cluster.finding("KA411", SETTING, severity="MEDIUM"),
    ]
    return told(findings, spec)[0]


def test_a_lower_finding_is_inside_the_incident_that_explains_it_and_makes_no_incident(cut_off):
    names = {finding["fingerprint"]: finding["resource"]["name"] for finding in cut_off["findings"]}
    (incident,) = cut_off["incidents"]
    assert incident["headline"] == HEADLINE
    assert [names[one] for one in incident["findings"]] == ["broker/2/listener/PLAINTEXT"]
    assert [names[one] for one in incident["explains"]] == [LACKS_2]
    assert [(group["code"], group["findings"]) for group in incident["groups"]] == [("KA302", 1), ("KA604", 1)]
    assert {names[one] for one in report_of(cut_off).incident_numbers} == {"broker/2/listener/PLAINTEXT", LACKS_2}


def test_terminal_and_markdown_list_beside_incidents_only_what_is_outside(cut_off):
    for report in (terminal_report(report_of(cut_off), width=200, color=False), markdown_report(report_of(cut_off))):
        _, _, beside = report.replace("OTHER FINDINGS", "## Other findings").partition("## Other findings")
        assert LACKS_2 not in beside.replace("\\", "")
        assert LACKS_3 in beside.replace("\\", "")
    assert "Follows from it: under replicated (KA604)." in terminal_report(report_of(cut_off), width=200, color=False)
    assert f"- KA604 under replicated: 1 finding, {LACKS_2}\n" in markdown_report(report_of(cut_off))


def test_the_page_groups_findings_by_incident_and_then_by_what_is_beside_them(cut_off):
    page = filters.findings_page(report_of(cut_off), Wanted())
    places = [[one.resource.name for row in group.rows for one in row.findings] for group in page.groups]
    assert [group.title for group in page.groups] == [f"Incident 1: {HEADLINE}", "Failures beside incidents"]
    assert [sorted(of_group) for of_group in places] == [["broker/2/listener/PLAINTEXT", LACKS_2], [SETTING, LACKS_3, MUTED]]


def test_a_page_of_many_counts_each_group_as_a_whole(cut_off):
    (first, second) = (
        filters.findings_page(report_of(cut_off), Wanted(rows="each", page=number), per_page=3) for number in (1, 2)
    )
    assert [(group.incident, group.findings, len(group.rows)) for group in first.groups] == [(1, 2, 2), (None, 3, 1)]
    assert [(group.incident, group.findings, len(group.rows)) for group in second.groups] == [(None, 3, 2)]


def test_an_alert_at_medium_has_one_condition_for_the_incident_and_one_for_what_is_beside_it(cut_off):
    found = conditions(AuditResult(cluster="prod", document=report_of(cut_off)), AlertLimits(fail_on="medium", min_coverage=0))
    assert [(one.cause, sorted(place for _, place in one.findings)) for one in found] == [
        ("KA302", ["broker/2/listener/PLAINTEXT", LACKS_2]),
        ("KA411", sorted([LACKS_3, SETTING])),
    ]


def test_a_gate_at_medium_names_the_incident_of_a_lower_finding(cut_off):
    only = [one for one in cut_off["findings"] if one["resource"]["name"] == LACKS_2]
    assert evaluate_gate(report_of(cut_off | {"findings": only}), "medium", 0)[1] == HEADLINE


def test_the_timeline_counts_a_finding_in_the_lane_of_its_incident_alone(cut_off):
    lanes = {(lane.code, lane.incident): (lane.name, lane.number) for lane in condense(report_of(cut_off)).lanes}
    assert lanes == {
        ("KA302", True): ("some fault", 2),
        ("KA604", False): ("under replicated", 1),
        ("KA411", False): ("some fault", 1),
    }


def test_no_recorded_incident_leaves_partitions_beside_it_that_lack_only_its_brokers():
    """The near ones are clusters whose replicas lag without an incident, and stay findings."""
    pairs = {file.name.removesuffix(SUFFIX): unpacked(file.read_bytes()) for file in CLUSTERS.glob(f"*{SUFFIX}")}
    explained, alone = 0, set()
    for name, report in whole_documents(pairs).items():
        numbers = report.incident_numbers
        for finding in report.findings:
            if finding.code in {"KA208", "KA603", "KA604"} and finding.status == "FAIL":
                is_inside = finding.fingerprint in numbers
                explained += is_inside
                alone |= set() if is_inside else {name}
    assert explained > 40
    # What broker 2 led before its restart without the listener has other leaders.
    restarted = {"kraft_listener_missing", "zookeeper_listener_missing"}
    assert alone == {"kraft_leader_throttled", *restarted}

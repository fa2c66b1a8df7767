"""Judgements in, findings out: words, mutes, and what became of earlier failures."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from msgspec import structs

import small_cluster
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.incidents.findings import findings_with_lifecycle
from kafka_audit.incidents.remedies import what_to_do
from kafka_audit.model.cluster import Mute
from kafka_audit.model.errors import EngineError
from kafka_audit.model.finding import Confidence, Finding, Judgement, Lifecycle, Severity, Status, fingerprint
from kafka_audit.model.report import Report, ReportedIncident
from kafka_audit.model.tables import BrokerView, RegisteredPartition, Snapshot
from kafka_audit.report.document import build_report
from reported import INCIDENT, part_of, whole

TODAY = date(2026, 9, 14)
NOW = "20260914T180000Z-prod-0001"
BEFORE = "20260914T120000Z-prod-0001"
SAYS = {
    Status.FAIL: "Broker {broker} does not list {missing}",
    Status.PASS: "Every broker lists every broker",
    Status.UNKNOWN: "Cannot determine whether broker {broker} lists every broker",
    Status.NOT_APPLICABLE: "Does not apply: {reason}",
}
CHECKS = {
    "KA105": small_cluster.check("KA105", name="broker_not_listed", says=SAYS, needs=(BrokerView,), severity=Severity.HIGH),
    "KA601": small_cluster.check("KA601", says=SAYS, needs=(RegisteredPartition,)),
}


def judgement(code: str, resource: str, status: str = "FAIL", **told: Any) -> Judgement:
    evidence = {"broker": "2", "missing": "0", "reason": "one broker"} | told.pop("evidence", {})
    return Judgement(
        snapshot_id=told.pop("at", NOW), code=code, resource=resource, status=Status(status), evidence=evidence, **told
    )


def concluded(
    judgements: list[Judgement],
    *,
    spec: Mapping[str, Any] | Snapshot | None = None,
    report: Report | None = None,
    mutes: tuple[Mute, ...] = (),
) -> list[Finding]:
    seen = spec if isinstance(spec, Snapshot) else small_cluster.snapshot(spec or {"brokers": {0: "a:9092"}}, NOW)
    view = small_cluster.view(seen)
    return list(findings_with_lifecycle(view, judgements, mutes=mutes, previous_report=report, today=TODAY, checks=CHECKS))


def report_of(judgements: list[Judgement], report: Report | None = None) -> Report:
    """The report that an audit with these judgements wrote."""
    snapshot = small_cluster.snapshot({"brokers": {0: "a:9092"}}, NOW)
    return build_report(small_cluster.view(snapshot), None, concluded(judgements, report=report), (), (), report)


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_a_judgement_is_put_into_the_words_of_its_check():
    finding = only(concluded([judgement("KA105", "broker/2", confidence=Confidence.INFERRED)]))
    assert finding.message == "Broker 2 does not list 0"
    assert (finding.name, finding.severity, finding.confidence) == ("broker_not_listed", Severity.HIGH, Confidence.INFERRED)
    assert finding.fingerprint == fingerprint("KA105", small_cluster.CLUSTER_ID, "broker/2")
    assert (finding.resource.type, finding.lifecycle, finding.muted) == ("broker", Lifecycle.NEW, False)


def test_a_judgement_may_be_worse_than_its_check():
    assert only(concluded([judgement("KA105", "broker/2", severity=Severity.CRITICAL)])).severity is Severity.CRITICAL


def test_what_a_cluster_supplies_is_cleaned_before_it_is_a_sentence():
    finding = only(concluded([judgement("KA105", "broker/2", evidence={"missing": "a\u202eb\x1b[2J{broker}"})]))
    assert finding.message == "Broker 2 does not list a\\u202eb\\u001b[2J{broker}"
    assert finding.evidence["missing"] == "a\\u202eb\\u001b[2J{broker}"


def test_evidence_stays_typed_and_every_text_in_it_is_cleaned():
    evil, clean = "a\u202eb\x1b[2J", "a\\u202eb\\u001b[2J"
    evidence = {"missing": (evil, "b"), "ids": (2, 0), "parts": ({"host": evil, "port": 1},), "share": 0.5, "empty": True}
    finding = only(concluded([judgement("KA105", "broker/2", evidence={**evidence, "at": {"host": evil}})]))
    typed = {"missing": (clean, "b"), "ids": (2, 0), "parts": ({"host": clean, "port": 1},), "share": 0.5, "empty": True}
    assert finding.evidence == {"broker": "2", "reason": "one broker", **typed, "at": {"host": clean}}
    assert finding.message == f"Broker 2 does not list {clean}, b"


def test_lists_are_bounded_and_tell_how_much_is_left_out():
    evidence = {"names": ("x" * 1500, "y" * 400, "z" * 400), "ids": tuple(range(5000)), "first": ("x" * 9000,)}
    kept = only(concluded([judgement("KA105", "broker/2", evidence=evidence)])).evidence
    assert (kept["names"], kept["names_omitted"]) == (("x" * 1500, "y" * 400), 1)
    assert (kept["ids"], kept["ids_omitted"]) == (tuple(range(1000)), 4000)
    assert [len(name) for name in kept["first"]] == [2000]
    assert "first_omitted" not in kept


def test_a_headline_is_the_first_sentence_of_the_check_not_of_what_a_cluster_supplies():
    checks = {"KA105": small_cluster.check("KA105", says={Status.FAIL: "Broker {broker} lacks {missing}. Why: {reason}"})}
    view = small_cluster.view(small_cluster.snapshot({"brokers": {0: "a:9092"}}, NOW))
    told = judgement("KA105", "broker/2", evidence={"missing": "a. b; c"})
    (finding,) = findings_with_lifecycle(view, [told], mutes=(), previous_report=None, today=TODAY, checks=checks)
    assert finding.headlines == ("Broker 2 lacks a. b; c",)


def test_a_key_that_a_check_forgot_is_told_and_does_not_end_the_audit():
    bare = Judgement(snapshot_id=NOW, code="KA105", resource="broker/2", status=Status.FAIL)
    assert only(concluded([bare])).message == "Broker (broker: unknown) does not list (missing: unknown)"


def test_judgements_of_other_snapshots_of_the_run_are_passed_over():
    assert concluded([judgement("KA105", "broker/2", at="another")]) == []


def test_a_judgement_without_check_is_an_error_of_the_engine():
    with pytest.raises(EngineError, match="KA999"):
        concluded([judgement("KA999", "cluster")])


def test_a_report_of_another_snapshot_is_refused():
    previous = Snapshot(snapshot_id=BEFORE, cluster="prod", cluster_id=small_cluster.CLUSTER_ID, rows=())
    with pytest.raises(EngineError, match=BEFORE):
        findings_with_lifecycle(
            ClusterView(previous, previous, Differences()),
            [],
            mutes=(),
            previous_report=part_of(Report, whole({"snapshot_id": "other"})),
            today=TODAY,
            checks=CHECKS,
        )


def test_the_worst_stands_where_a_check_says_two_things_of_a_resource():
    findings = concluded(
        [judgement("KA105", "broker/2", "PASS"), judgement("KA105", "broker/2"), judgement("KA105", "broker/2", "UNKNOWN")]
    )
    assert only(findings).status is Status.FAIL


def test_the_remedy_is_the_page_s_section_filled_with_evidence():
    page = """A broker is missing.

    ## What to do
    Restart broker {broker}, not {anything}
    else.

    - look at `server.log`

    ## References
    none
    """
    check = small_cluster.check("KA105", doc=page)
    assert what_to_do(check) == "Restart broker {broker}, not {anything} else.\n- look at `server.log`"
    view = ClusterView.of_files(small_cluster.snapshot({"brokers": {}}, NOW))
    arguments = {"mutes": (), "previous_report": None, "today": TODAY, "checks": {"KA105": check}}
    finding = only(list(findings_with_lifecycle(view, [judgement("KA105", "broker/2")], **arguments)))
    assert finding.remediation.startswith("Restart broker 2, not {anything} else.")


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("kafka-2", "on kafka-2: `nc kafka-2 9092`"),
        ("$(reboot)", "on $(reboot): `nc '$(reboot)' 9092`"),
        ("-e", "on -e: `nc HOST 9092` (HOST: a value which cannot be printed here)"),
    ],
)
def test_a_name_that_could_run_stands_in_no_command(host, shown):
    check = small_cluster.check("KA105", doc="X.\n\n## What to do\nAsk on {host}: `nc {host} 9092`")
    view = ClusterView.of_files(small_cluster.snapshot({"brokers": {}}, NOW))
    told = judgement("KA105", "broker/2", evidence={"host": host})
    found = findings_with_lifecycle(view, [told], mutes=(), previous_report=None, today=TODAY, checks={"KA105": check})
    assert only(list(found)).remediation == f"Ask {shown}"


def test_not_known_says_what_would_make_it_known():
    finding = only(concluded([judgement("KA105", "broker/2", "UNKNOWN", evidence={"needs": "Describe on Cluster"})]))
    assert finding.remediation == "Needed: Describe on Cluster"


@pytest.mark.parametrize(
    ("mute", "muted"),
    [
        ({}, True),
        ({"resource": "broker/*"}, True),
        ({"resource": "broker/1"}, False),
        ({"resource": "broker/."}, False),
        ({"code": "KA601"}, False),
        ({"until": TODAY}, True),
        ({"until": date(2026, 9, 13)}, False),
    ],
)
def test_a_mute_counts_for_its_code_and_resource_until_its_day(mute, muted):
    told = Mute(**{"code": "KA105", "resource": "broker/2", "reason": "known", "owner": "me", **mute})
    assert only(concluded([judgement("KA105", "broker/2")], mutes=(told,))).muted is muted


@pytest.mark.parametrize(
    ("now", "lifecycle"),
    [
        ("FAIL", Lifecycle.ONGOING),
        ("PASS", Lifecycle.RESOLVED),
        ("NOT_APPLICABLE", Lifecycle.RESOLVED),
        ("UNKNOWN", Lifecycle.INCOMPARABLE),
    ],
)
def test_what_becomes_of_an_earlier_failure(now, lifecycle):
    finding = only(concluded([judgement("KA105", "broker/2", now)], report=report_of([judgement("KA105", "broker/2")])))
    assert (finding.status.value, finding.lifecycle) == (now, lifecycle)


@pytest.mark.parametrize("before", ["PASS", "UNKNOWN", "NOT_APPLICABLE"])
def test_a_failure_is_new_where_there_was_none(before):
    report = report_of([judgement("KA105", "broker/2", before)])
    assert only(concluded([judgement("KA105", "broker/2")], report=report)).lifecycle is Lifecycle.NEW


@pytest.mark.parametrize(
    ("then", "lifecycle"), [("FAIL", Lifecycle.ONGOING), ("PASS", Lifecycle.RESOLVED), ("UNKNOWN", Lifecycle.INCOMPARABLE)]
)
def test_a_failure_is_not_forgotten_while_it_cannot_be_judged(then, lifecycle):
    failed = report_of([judgement("KA105", "broker/2")])
    blind = report_of([judgement("KA105", "broker/2", "UNKNOWN")], failed)
    assert only(concluded([judgement("KA105", "broker/2", then)], report=blind)).lifecycle is lifecycle


def incident_of(*, confidence: str) -> Report:
    """The report of an incident whose cause, KA105, was drawn from or beside KA601."""
    told = [judgement("KA105", "broker/2", confidence=Confidence(confidence)), judgement("KA601", "broker/2")]
    findings = [fingerprint(one.code, small_cluster.CLUSTER_ID, one.resource) for one in told]
    incident = {"headline": "h", "cause": "KA105", "severity": "HIGH", "findings": findings}
    return structs.replace(report_of(told), incidents=(part_of(ReportedIncident, INCIDENT | incident),))


@pytest.mark.parametrize(
    ("confidence", "sign", "lifecycle"),
    [
        ("inferred", "PASS", Lifecycle.RESOLVED),
        ("suspected", "PASS", Lifecycle.RESOLVED),
        ("measured", "PASS", Lifecycle.INCOMPARABLE),  # ends by a measurement only
        ("inferred", "UNKNOWN", Lifecycle.INCOMPARABLE),
        ("inferred", "FAIL", Lifecycle.INCOMPARABLE),
    ],
)
def test_what_was_inferred_ends_with_what_it_was_inferred_from(confidence, sign, lifecycle):
    told = [judgement("KA105", "broker/2", "UNKNOWN"), judgement("KA601", "broker/2", sign)]
    cause, _ = concluded(told, report=incident_of(confidence=confidence))
    assert (cause.lifecycle, cause.status) == (lifecycle, Status.UNKNOWN)


TOGETHER = {"brokers": (0, 1, 2)}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (
            ["cluster"],
            ["broker/0?", "broker/1?", "broker/2"],
            {"broker/0": "incomparable", "broker/1": "incomparable", "broker/2": "ongoing"},
        ),
        (["cluster"], ["broker/0+", "broker/1+", "broker/2"], {"broker/0": "new", "broker/1": "new", "broker/2": "ongoing"}),
        (
            ["cluster"],
            ["broker/0+", "broker/1+", "broker/2+"],
            {"broker/0": "new", "broker/1": "new", "broker/2": "new", "cluster": "resolved"},
        ),
        (["broker/0?", "broker/1?", "broker/2"], ["cluster"], {"cluster": "ongoing"}),
        (["broker/0+", "broker/2"], ["cluster"], {"cluster": "new"}),
        (["cluster"], ["cluster"], {"cluster": "ongoing"}),
        (["broker/3"], ["cluster"], {"cluster": "new", "broker/3": "resolved"}),
    ],
)
def test_what_is_one_finding_of_several_brokers_is_the_same_of_each(before, now, expected):
    def judged(names):
        status = {"?": "UNKNOWN", "+": "PASS"}
        for name in names:
            evidence = TOGETHER if name == "cluster" else {}
            yield judgement("KA105", name.rstrip("?+"), status.get(name[-1], "FAIL"), evidence=evidence)

    found = concluded([*judged(now)], report=report_of([*judged(before)]))
    assert {finding.resource.name: finding.lifecycle.value for finding in found} == expected


@pytest.mark.parametrize("place", ["broker/2", "broker/2/listener/PLAINTEXT"])
def test_a_group_that_one_broker_leaves_is_not_new(place):
    told = report_of([judgement("KA105", "cluster", evidence=TOGETHER)])
    now = [judgement("KA105", "cluster", evidence={"brokers": (0, 1)}), judgement("KA105", place, "UNKNOWN")]
    for found in (concluded(now, report=told), concluded(now[::-1], report=told)):
        states = {finding.resource.name: finding.lifecycle for finding in found}
        assert states == {"cluster": Lifecycle.ONGOING, place: Lifecycle.INCOMPARABLE}


def test_a_group_of_parts_of_brokers_is_not_new():
    parts = [judgement("KA105", f"broker/{broker}/listener/PLAINTEXT") for broker in range(3)]
    (found,) = concluded([judgement("KA105", "cluster", evidence=TOGETHER)], report=report_of(parts))
    assert found.lifecycle is Lifecycle.ONGOING


def test_what_was_inferred_ends_also_when_its_signs_were_blind_for_a_while():
    blind = [judgement("KA105", "broker/2", "UNKNOWN"), judgement("KA601", "broker/2", "UNKNOWN")]
    told = report_of(blind, incident_of(confidence="inferred"))
    assert told.incomparable_incidents
    cause, _ = concluded([blind[0], judgement("KA601", "broker/2", "PASS")], report=told)
    assert cause.lifecycle is Lifecycle.RESOLVED


def test_a_resolved_failure_is_told_once():
    failed = report_of([judgement("KA105", "broker/2")])
    healed = report_of([judgement("KA105", "broker/2", "PASS")], failed)
    assert only(concluded([judgement("KA105", "broker/2", "PASS")], report=healed)).lifecycle is not Lifecycle.RESOLVED


def gone(
    judgements: list[Judgement], spec: Mapping[str, Any] | Snapshot | None = None, resource: str = "broker/2", code: str = "KA105"
) -> Finding:
    """What is said of a resource that failed before and of which no judgement speaks now."""
    findings = concluded(judgements, spec=spec, report=report_of([judgement(code, resource)]))
    return only([f for f in findings if f.resource.name == resource])


def test_a_resource_that_is_gone_is_resolved_when_its_check_ran():
    finding = gone([judgement("KA105", "cluster", "PASS")])
    assert (finding.lifecycle, finding.status) == (Lifecycle.RESOLVED, Status.NOT_APPLICABLE)
    assert finding.message == "Resolved. Before: Broker 2 does not list 0"


def test_a_check_that_did_not_run_resolves_nothing():
    finding = gone([])
    assert (finding.lifecycle, finding.status) == (Lifecycle.INCOMPARABLE, Status.UNKNOWN)
    assert "the check did not run" in finding.message


@pytest.mark.parametrize("unknown", ["cluster", "broker/2/listener/PLAINTEXT"])
def test_a_check_that_could_not_judge_resolves_nothing(unknown):
    assert (
        gone([judgement("KA105", unknown, "UNKNOWN"), judgement("KA105", "broker/0", "PASS")]).lifecycle is Lifecycle.INCOMPARABLE
    )


def test_another_broker_s_silence_is_not_this_one_s():
    assert (
        gone([judgement("KA105", "broker/1", "UNKNOWN"), judgement("KA105", "broker/0", "PASS")]).lifecycle is Lifecycle.RESOLVED
    )


@pytest.mark.parametrize(
    ("read", "lifecycle"),
    [
        ({"observer": "broker:2", "operation": "Metadata", "error": "timeout"}, Lifecycle.INCOMPARABLE),
        ({"observer": "broker:2", "operation": "Metadata"}, Lifecycle.RESOLVED),
        ({"observer": "broker:1", "operation": "Metadata", "error": "timeout"}, Lifecycle.RESOLVED),
        ({"observer": "broker:2", "operation": "DescribeConfigs BROKER", "error": "timeout"}, Lifecycle.RESOLVED),
    ],
)
def test_a_source_that_failed_resolves_nothing_that_rests_on_it(read, lifecycle):
    spec = {"brokers": {0: "a:9092"}, "reads": [read]}
    assert gone([judgement("KA105", "cluster", "PASS")], spec).lifecycle is lifecycle


def test_partitions_rest_on_zookeeper():
    read = {"observer": "zookeeper", "operation": "zookeeper /brokers/topics", "error": "timeout"}
    spec = {"brokers": {0: "a:9092"}, "reads": [read]}
    finding = gone([judgement("KA601", "cluster", "PASS")], spec, "topic/a/partition/0", "KA601")
    assert finding.lifecycle is Lifecycle.INCOMPARABLE
    assert "zookeeper did not answer zookeeper /brokers/topics (timeout)" in finding.message


def test_a_read_counts_as_it_ended_in_the_last_sample_that_asked_it():
    failed = {"reads": [{"observer": "broker:2", "operation": "Metadata", "error": "timeout"}]}
    twice = small_cluster.snapshot({"brokers": {0: "a:9092", 2: "c:9092"}}, NOW, before=failed)
    finding = gone([judgement("KA105", "cluster", "PASS")], twice)
    assert finding.lifecycle is Lifecycle.RESOLVED


def test_earlier_failures_are_found_again_when_nobody_told_the_cluster_id():
    """The fingerprint holds the cluster id; code and resource are what stays."""
    blind = Snapshot(snapshot_id=NOW, cluster="prod", cluster_id="unknown:prod", rows=())
    report = report_of([judgement("KA105", "broker/2")])
    view = ClusterView.of_files(blind)
    found = findings_with_lifecycle(
        view, [judgement("KA105", "broker/2")], mutes=(), previous_report=report, today=TODAY, checks=CHECKS
    )
    assert only(list(found)).lifecycle is Lifecycle.ONGOING


def test_what_was_known_last_is_told_once_however_often_it_could_not_be_judged():
    report = report_of([judgement("KA105", "broker/2")])
    for _ in range(3):
        finding = only(concluded([], report=report))
        report = report_of([], report)
    assert finding.message == "Now unknown: the check did not run. Before: Broker 2 does not list 0"


def test_a_name_of_any_length_is_bounded_told_apart_and_followed():
    long = f"topic/{'x' * 100_000}"
    judged = [judgement("KA105", long), judgement("KA105", f"{long}y")]
    first = concluded(judged)
    assert len({finding.resource.name for finding in first}) == 2
    assert max(len(finding.resource.name) for finding in first) < 2100
    assert {finding.resource.type for finding in first} == {"topic"}
    assert {finding.lifecycle for finding in concluded(judged, report=report_of(judged))} == {Lifecycle.ONGOING}


@pytest.mark.parametrize(
    ("pattern", "name", "muted"),
    [
        ("*" * 20 + "!", "broker/2/listener/" + "x" * 20_000, False),  # tried in every way, this takes longer than anyone waits
        ("*x" * 20, "broker/2/listener/" + "x" * 50, True),
        ("broker/*/listener/*", "broker/2/listener/A\nB", True),
        ("*/2/*/2", "a/2/b/2", True),
        ("ab*ba", "aba", False),
        ("a**a", "aa", True),
        ("*a*b", "bab", True),
        ("*b*a*", "ab", False),
        ("broker/?", "broker/2", False),
    ],
)
def test_a_mute_with_stars_reads_names_of_the_cluster_once(pattern, name, muted):
    mute = Mute(code="KA105", resource=pattern, reason="known", owner="me")
    assert only(concluded([judgement("KA105", name)], mutes=(mute,))).muted is muted

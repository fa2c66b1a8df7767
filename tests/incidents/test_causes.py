"""Clusters in, incidents out: the cases of `case_files`."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest

import small_cluster
from checks.cases import case_files as check_files
from checks.cases import cases
from incidents.case_files import case_files, judged_case
from kafka_audit.incidents.causes import CAUSES, incidents
from kafka_audit.model import quoting
from kafka_audit.model.finding import Finding, Incident, Severity, Status
from kafka_audit.model.text import LONGEST_HEADLINE
from kafka_audit.report.document import reported_incident
from kafka_audit.report.text import CANDIDATE, candidate_text

CASES = {"-".join(key): case for key, case in case_files().items()}
KEYS = {"-".join(key): key for key in case_files()}


@cache
def told(name: str) -> tuple[Sequence[Finding], tuple[Incident, ...]]:
    """Return the findings and incidents of a case."""
    found = judged_case(*KEYS[name])
    return found.findings, found.incidents()


def text_of(incident: Incident) -> str:
    """Everything of an incident that a reader sees, a line each."""
    lines = [incident.headline, incident.impact, incident.confidence_why, *incident.not_known]
    lines += [f"+ {e.observer}: {e.text}" for e in incident.evidence_for]
    lines += [f"- {e.observer}: {e.text}" for e in incident.evidence_against]
    lines += [f"{CANDIDATE[one.state]} {candidate_text(one)}" for one in reported_incident(incident).candidates]
    for step in incident.remediation:
        lines += [f"{step.kind}: {quoting.plain_prose(step.text)}", *quoting.lines(step.commands), step.cost or ""]
    return "\n".join(lines)


@pytest.mark.parametrize("name", CASES)
def test_findings_become_the_incidents_that_the_case_names(name):
    case = CASES[name]
    findings, found = told(name)
    names = {f.fingerprint: f"{f.code} {f.resource.name}" for f in findings}
    assert [
        {
            "headline": i.headline,
            "cause": i.cause,
            "confidence": i.confidence.value,
            "findings": sorted(names[fingerprint] for fingerprint in i.findings),
        }
        for i in found
    ] == [
        {**{k: e[k] for k in ("headline", "cause", "confidence")}, "findings": sorted(e["findings"])} for e in case["incidents"]
    ]
    for incident, expected in zip(found, case["incidents"], strict=True):
        text = text_of(incident)
        for line in expected.get("says", []):
            assert line in text
        for line in expected.get("never_says", []):
            assert line not in text


@pytest.mark.parametrize("name", CASES)
def test_every_unmuted_failure_of_high_and_above_is_in_exactly_one_incident_and_no_other_is(name):
    findings, found = told(name)
    told_of = Counter(fingerprint for incident in found for fingerprint in incident.findings)
    wanted = [f for f in findings if f.status is Status.FAIL and f.severity >= Severity.HIGH and not f.muted]
    assert told_of == Counter(f.fingerprint for f in wanted)


@pytest.mark.parametrize("name", CASES)
def test_a_headline_is_short_and_an_incident_is_never_bare(name):
    for incident in told(name)[1]:
        assert len(incident.headline) <= LONGEST_HEADLINE
        assert incident.headline[0].isupper()
        assert "!" not in incident.headline
        assert incident.evidence_for
        assert incident.confidence_why
        assert incident.remediation[-1].kind in {"prove", "do_not"}


def test_every_cause_has_a_case():
    of_checks = [case for code in check_files() for case in cases(code).values() if "incidents" in case]
    told_of = {i["cause"] for case in (*CASES.values(), *of_checks) for i in case["incidents"]}
    assert [cause.meaning for cause in CAUSES if not told_of & set(cause.codes)] == []


def storm(findings, states, **cluster):
    """Return the incidents of a cluster whose partitions have these states by (topic, number)."""
    topics = {topic: {"partitions": {}} for topic, _ in states}
    for (topic, number), state in states.items():
        topics[topic]["partitions"][number] = state
    return incidents(small_cluster.view({"topics": topics, **cluster}), findings, [])


def test_a_storm_is_one_incident_told_by_its_number_and_first_ten():
    findings = [small_cluster.finding("KA601", f"topic/orders/partition/{n}", name="partition_offline") for n in range(5000)]
    (incident,) = storm(findings, {}, brokers={0: "a:9092"})
    assert incident.headline == "KA601 at topic/orders/partition/0 (same for 4999 more partitions)"
    assert len(incident.findings) == 5000
    names = ", ".join(f"orders-{n}" for n in range(10))
    assert [e.text for e in incident.evidence_for] == [
        f"5000 partitions of topic orders: partition offline: {names} and 4990 more"
    ]


def test_5000_partitions_that_lack_one_broker_are_one_incident_whatever_each_of_them_suffers():
    states = {(f"t{n % 50}", n // 50): {"replicas": [n % 2, 2], "isr": [n % 2]} for n in range(4000)}
    states |= {(f"t{n % 50}", n // 50): {"replicas": [2], "leader": -1, "isr": [2]} for n in range(4000, 5000)}
    findings = []
    for (topic, number), state in states.items():
        code, fault = ("KA601", "partition_offline") if "leader" in state else ("KA602", "under_min_isr")
        resource = f"topic/{topic}/partition/{number}"
        findings.append(small_cluster.finding(code, resource, name=fault, severity="CRITICAL"))
    (incident,) = storm(findings, states, brokers={0: "a:9092", 1: "b:9092", 2: "c:9092"}, views={2: {"answers": False}})
    assert incident.headline == "Broker 2 is missing from the ISR of 4000 partitions, 1000 more have no leader; not decided"
    assert incident.cause == "KA601"
    assert len(incident.findings) == 5000
    assert [e.text.split(":")[0] for e in incident.evidence_for] == [
        "1000 partitions of 50 topics",
        "4000 partitions of 50 topics",
        "registered; no view was read from it",
    ]


def test_two_brokers_that_are_missing_are_two_incidents():
    states = {("t", n): {"replicas": [0, 1 + n % 2], "isr": [0]} for n in range(8)}
    findings = [small_cluster.finding("KA604", f"topic/t/partition/{n}", name="under_replicated") for n in range(8)]
    found = storm(findings, states, brokers={0: "a:9092", 1: "b:9092", 2: "c:9092"})
    assert sorted(incident.headline for incident in found) == [
        "Broker 1 is missing from the ISR of 4 partitions; cause not decided",
        "Broker 2 is missing from the ISR of 4 partitions; cause not decided",
    ]


def test_a_storm_that_a_dead_broker_explains_stays_with_it():
    states = {("t", n): {"replicas": [0, 2], "isr": [0]} for n in range(5000)}
    findings = [small_cluster.finding("KA604", f"topic/t/partition/{n}", name="under_replicated") for n in range(5000)]
    findings.append(small_cluster.finding("KA113", "broker/2", severity="CRITICAL"))
    (incident,) = storm(findings, states, brokers={0: "a:9092"})
    assert incident.cause == "KA113"
    assert len(incident.findings) == 5001


def test_a_broker_that_is_gone_does_not_explain_a_source_of_the_whole_cluster():
    findings = [small_cluster.finding("KA113", "broker/2", severity="CRITICAL"), small_cluster.finding("KA001", "cluster")]
    found = storm(findings, {}, brokers={0: "a:9092"})
    assert [incident.cause for incident in found] == ["KA113", "KA001"]


def test_incidents_come_by_severity_and_then_by_what_they_explain():
    findings = [
        small_cluster.finding("KA704", "broker/0"),
        small_cluster.finding("KA611", "topic/a/partition/0"),
        small_cluster.finding("KA611", "topic/a/partition/1"),
        small_cluster.finding("KA602", "topic/b/partition/0", severity="CRITICAL"),
    ]
    found = incidents(small_cluster.view({"brokers": {0: "a:9092"}}), findings, [])
    assert [i.cause for i in found] == ["KA602", "KA611", "KA704"]


def test_an_incident_goes_on_as_soon_as_one_of_its_findings_does():
    findings = [small_cluster.finding("KA704", "broker/0"), small_cluster.finding("KA704", "broker/1", lifecycle="ongoing")]
    (incident,) = incidents(small_cluster.view({"brokers": {0: "a:9092"}}), findings, [])
    assert incident.lifecycle == "ongoing"


def test_a_hostile_host_name_can_neither_run_in_a_command_nor_hide_in_a_sentence():
    spec = {"brokers": {0: "a:9092", 2: "$(reboot)\u202e.example:9092"}, "views": {2: "empty"}}
    finding = small_cluster.finding("KA302", "broker/2/listener/PLAINTEXT", confidence="inferred")
    (incident,) = incidents(small_cluster.view(spec), [finding], [])
    assert "nc -vz -w 3 $'$(reboot)\\u202e.example' 9092" in text_of(incident)
    assert "\u202e" not in text_of(incident)

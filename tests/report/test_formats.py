"""Markdown and SARIF of an audit."""

import json

import pytest
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import small_cluster
from kafka_audit.report import formats, openmetrics
from kafka_audit.report.plain_text import markdown
from reported import report_of

ONE = {"brokers": {0: "a:9092"}}


def test_markdown_has_the_headline_the_commands_and_the_picture(audited):
    document, _ = audited("cut_off", "one_broker_measured")
    text = markdown.markdown_report(report_of(document))
    assert text.startswith("# Broker 2 is cut off")
    for step in document["incidents"][0]["remediation"]:
        assert all(f"   {command}\n" in text for command in step["commands"])
    assert "broker 0 (ctl)" in text
    assert "| zookeeper | brokers 0, 1 | broker 2 |" in text


@pytest.mark.parametrize(
    ("string", "shown"),
    [
        ("[a](http://evil)", r"\[a\](http\://evil)"),
        ("![x](y)", r"!\[x\](y)"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("a|b\n# c", r"a\|b\\u000a\# c"),
        ("@everyone :tada:", r"`@everyone` \:tada:"),
        ("User:kafka/b1@REALM", r"User:kafka/b1\@REALM"),
        ("www.evil.example/#1", r"www\.evil.example/`#1`"),
        ("__x__ `y`", r"\_\_x\_\_ \`y\`"),
        ("10.0.0.1:9092", "10.0.0.1:9092"),
    ],
)
def test_a_string_of_a_cluster_is_no_markup(string, shown):
    assert markdown.escaped(string) == shown


def test_a_fence_cannot_be_closed_from_within(audited):
    document, _ = audited("cut_off", "one_broker_measured")
    step = document["incidents"][0]["remediation"][0]
    step["commands"] = ["echo ````"]
    del step["lines"]  # as in a report of an earlier release
    assert "`````sh\n   echo ````\n   `````" in markdown.markdown_report(report_of(document))


def test_a_storm_is_cut_and_counted(told):
    findings = [small_cluster.finding("KA604", f"topic/t-{n}/partition/0", severity="MEDIUM") for n in range(5000)]
    findings += [small_cluster.finding("KA601", f"topic/t-{n}/partition/0", severity="HIGH") for n in range(5000)]
    document, _ = told(findings, ONE)
    text = markdown.markdown_report(report_of(document))
    assert f"and {5000 - markdown.MOST_FINDINGS} more findings, in findings.json." in text
    assert len(text) < 200_000


def test_sarif_has_a_result_for_each_failure_and_each_unknown(told):
    findings = [
        small_cluster.finding("KA105", "broker/0", severity="CRITICAL"),
        small_cluster.finding("KA607", "cluster", severity="LOW", muted=True),
        small_cluster.finding("KA401", "broker/0", status="UNKNOWN"),
        small_cluster.finding("KA208", "cluster", status="NOT_APPLICABLE"),
    ]
    document, _ = told(findings, ONE)
    (run,) = json.loads(formats.FILES["sarif"](report_of(document)))["runs"]
    told_of = {result["ruleId"]: result for result in run["results"]}
    assert set(told_of) == {"KA105", "KA607", "KA401"}
    assert (told_of["KA105"]["level"], told_of["KA105"]["kind"]) == ("error", "fail")
    assert (told_of["KA401"]["level"], told_of["KA401"]["kind"]) == ("none", "open")
    assert told_of["KA607"]["suppressions"] == [{"kind": "external", "status": "accepted"}]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_every_form_has_a_media_type(audited):
    document, _ = audited("cut_off", "one_broker_measured")
    assert set(formats.FILES) == set(formats.MEDIA)
    assert formats.MEDIA["openmetrics"] == CONTENT_TYPE_LATEST
    assert json.loads(formats.FILES["json"](report_of(document))) == json.loads(json.dumps(document))


def samples_of(text):
    """Return the value of each sample by its name and the values of its labels, by their names."""
    return {
        (sample.name, *(value for key, value in sorted(sample.labels.items()) if key != "cluster")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_openmetrics_has_incidents_failures_coverage_and_reach(audited):
    document, _ = audited("cut_off", "one_broker_measured")
    found = samples_of(openmetrics.openmetrics_report(report_of(document)))
    incident = document["incidents"][0]
    named = ("kafka_audit_incident", "KA302", incident["confidence"], incident["headline"], incident["severity"])
    assert found[named] == found["kafka_audit_incidents",] == 1
    failed = [one for one in document["findings"] if one["status"] == "FAIL"]
    for severity in ("CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO"):
        assert found["kafka_audit_failures", severity] == sum(one["severity"] == severity for one in failed)
    assert found["kafka_audit_findings", "KA302", "CRITICAL"] == 1
    asked, answered = document["coverage"]["asked"], document["coverage"]["answered"]
    assert (found["kafka_audit_reads_asked",], found["kafka_audit_reads_answered",]) == (asked, answered)
    assert found["kafka_audit_finished_timestamp_seconds",] > 1_000_000_000


def test_openmetrics_counts_no_muted_failure_and_names_few_incidents(told):
    storm = [small_cluster.finding(f"KA{400 + n}", f"broker/{n}", severity="HIGH") for n in range(30)]
    muted = small_cluster.finding("KA601", "topic/a/partition/0", severity="CRITICAL", muted=True)
    document, _ = told([*storm, muted], ONE)
    document["incidents"] = [{**document["incidents"][0], "headline": f"fault {n}"} for n in range(30)]
    found = samples_of(openmetrics.openmetrics_report(report_of(document)))
    assert found["kafka_audit_failures", "CRITICAL"] == 0
    assert found["kafka_audit_failures", "HIGH"] == len(storm)
    assert found["kafka_audit_incidents",] == 30
    assert sum(name == "kafka_audit_incident" for name, *_ in found) == openmetrics.MOST_INCIDENTS


def test_a_hostile_string_is_one_label_of_openmetrics(told):
    document, _ = told([small_cluster.finding("KA105", "broker/0", severity="CRITICAL")], ONE)
    document["incidents"][0]["headline"] = 'a"} 1\nkafka_audit_incidents{cluster="x"} 0 \\'
    found = samples_of(openmetrics.openmetrics_report(report_of(document)))
    assert found["kafka_audit_incidents",] == 1
    (headline,) = (key[3] for key in found if key[0] == "kafka_audit_incident")
    assert headline == 'a"} 1\\u000akafka_audit_incidents{cluster="x"} 0 \\'

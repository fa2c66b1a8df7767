"""The terminal page: three whole pages as they should look, and what holds for every page."""

import re
import unicodedata
from dataclasses import replace

import pytest
from msgspec import structs

import small_cluster
from cluster_views import cluster_views
from incidents.case_files import case_files, pair
from kafka_audit.report import remedies
from kafka_audit.report.plain_text.terminal import incidents_in_brief, terminal_report
from report.whole_pages import WRITTEN, page_of
from reported import report_of
from samples import sampled

CASES = list(case_files())
CALM = {"brokers": {0: "a:9092", 1: "b:9092"}}
ANSI = re.compile(r"\x1b\[[\d;]*m")


def page(document, _snapshot, width=100, *, color=False, full=False):
    return terminal_report(report_of(document), width=width, color=color, full=full)


@pytest.mark.parametrize(("cluster", "form"), WRITTEN)
def test_a_report_looks_as_it_is_written_down(cluster, form):
    assert page_of(cluster, form) == WRITTEN[cluster, form].read_text(encoding="utf-8")


def test_five_incidents_fit_a_page_and_the_first_screen_has_all_of_them():
    lines = page_of("five_incidents", "terminal.txt").splitlines()
    assert len(lines) <= 150
    screen = lines[:40]
    assert sum(re.match(r"(CRITICAL|HIGH) +[1-5]\. ", line) is not None for line in screen) == 5
    assert sum("First seen in this audit, 14 Nov 2023" in line for line in screen) >= 5
    assert "nc -vz -w 3 10.0.0.13 9092" in "\n".join(screen)


@pytest.mark.parametrize(("family", "name"), sampled(CASES))
@pytest.mark.parametrize("width", [80, 100])
def test_only_commands_and_single_words_are_wider_than_the_terminal(audited, family, name, width):
    document, snapshot = audited(family, name)
    commands = {command for incident in document["incidents"] for step in incident["remediation"] for command in step["commands"]}
    commands |= {
        command for way in (document["next_failure"] or {"raises_margin": ()})["raises_margin"] for command in way["commands"]
    }
    lines = [line for line in page(document, snapshot, width).splitlines() if len(line) > width]
    sentences = [line for line in lines if " " in line.strip()]
    assert [line for line in sentences if line.strip() not in commands and not re.search(r"`.{60,}`", line)] == []


@pytest.mark.parametrize(("family", "name"), sampled(CASES))
def test_colour_adds_nothing_but_colour(audited, family, name):
    document, snapshot = audited(family, name)
    painted = page(document, snapshot, color=True)
    plain = page(document, snapshot)
    assert "\x1b" in painted
    assert ANSI.sub("", painted) == plain
    assert "\x1b" not in plain


def test_a_clear_page_says_how_far_it_reaches(told):
    text = page(*told([small_cluster.finding("KA105", "broker/0", status="PASS")], CALM))
    assert "Clear: no failure above LOW" in text
    assert "20 of 20 reads answered" in text
    assert "NOT COVERED" in text
    assert "Whether the brokers reach each other: the cluster file has no vantage with role broker." in text
    assert "healthy" not in text.lower()
    assert "no failures, now or before; no earlier snapshot" in text


def test_medium_findings_are_no_incident_and_not_clear(told):
    text = page(*told([small_cluster.finding("KA612", "cluster", severity="MEDIUM", message="One broker carries all")], CALM))
    assert "No incident: 1 finding, at most MEDIUM" in text
    assert "MEDIUM    KA612 + new  cluster: One broker carries all" in text
    assert "Clear" not in text


def test_a_low_finding_leaves_it_clear(told):
    assert "Clear: no failure above LOW" in page(*told([small_cluster.finding("KA607", "cluster", severity="LOW")], CALM))


def test_nothing_answered_is_not_clear(told):
    read = {"observer": "zookeeper", "operation": "zookeeper*", "error": "timeout", "needs": "a | port"}
    text = page(*told([], {"zookeeper": "none", "reads": [read]}))
    assert "Not judged: 0 of 8 reads answered" in text
    assert "Clear" not in text
    assert "  ? zookeeper, 8 reads: timeout." in text
    assert "Needed: a | port." in " ".join(text.split())
    assert "Nothing CRITICAL or HIGH" not in text


def test_not_known_checks_are_told_with_what_they_need(told):
    unknown = small_cluster.finding(
        "KA111", "broker/1", status="UNKNOWN", message="Cannot determine who answers.", evidence={"needs": "a right"}
    )
    text = page(*told([unknown], CALM))
    assert "reads answered, 1 result not known" in text
    assert "  ? KA111 broker/1: who answers. Needed: a right.\n" in text


def test_what_one_thing_would_answer_is_asked_for_once(told):
    """Three checks that miss the same topics, and the read that failed before them, need the same."""
    read = {"observer": "broker:1", "operation": "Metadata", "error": "timeout", "needs": "an answer from b:9092"}
    unknown = [
        small_cluster.finding(
            code, "broker/1", status="UNKNOWN", message=f"Cannot determine {question} (no view)", evidence={"needs": needs}
        )
        for code, question, needs in (
            ("KA101", "whether broker 1 names old leaders", "an answer from b:9092"),
            ("KA102", "whether broker 1 misses leaders", "an answer from b:9092"),
            ("KA111", "who answers", "DescribeConfigs on Cluster"),
        )
    ]
    text = page(*told(unknown, {**CALM, "reads": [read]}), full=True)
    assert (
        "NOT KNOWN\n"
        "  ? broker 1, Metadata: timeout\n"
        "    KA101 broker/1: whether broker 1 names old leaders (no view)\n"
        "    KA102 broker/1: whether broker 1 misses leaders (no view)\n"
        "    Needed: an answer from b:9092.\n"
        "  ? KA111 broker/1: who answers (no view)\n"
        "    Needed: DescribeConfigs on Cluster.\n"
    ) in text
    assert text.count("an answer from b:9092") == 1
    assert (
        "NOT KNOWN\n"
        "  ? broker 1: timeout; 2 checks: KA101 and KA102. Needed: an answer from b:9092.\n"
        "  ? KA111 broker/1: who answers (no view). Needed: DescribeConfigs on Cluster.\n"
    ) in page(*told(unknown, {**CALM, "reads": [read]}))


def test_of_many_alike_the_first_is_told_and_the_others_are_counted(told):
    unknown = [
        small_cluster.finding(
            "KA302", f"broker/{n}", status="UNKNOWN", message=f"Cannot determine who reaches {n}", evidence={"needs": "a probe"}
        )
        for n in range(25)
    ]
    text = page(*told(unknown, CALM), full=True)
    assert "  ? KA302 broker/0: who reaches 0\n    KA302: and 24 more like it, in findings.json\n    Needed: a probe.\n" in text


def test_nodes_that_differ_in_their_id_only_take_two_lines(told):
    def of_controllers(*factors):
        return [
            small_cluster.finding(
                "KA707", f"controller/{node}", severity="MEDIUM", message=f"New topics of controller {node}: factor {factor}"
            )
            for node, factor in zip((200, 201, 202), factors, strict=True)
        ]

    text = page(*told(of_controllers(1, 1, 1), CALM))
    assert "controller/200: New topics of controller 200: factor 1\n          and 2 more of KA707: controllers 201, 202\n" in text
    assert "controller/201" not in text
    other = page(*told(of_controllers(1, 2, 1), CALM))  # the nearest to it: what one of them says is not the same
    assert "controller/201: New topics of controller 201: factor 2" in other


def test_an_observer_is_called_the_same_everywhere(told):
    reads = [{"observer": "broker@b9:9092", "operation": "Metadata", "error": "connection refused"}]
    text = page(*told([small_cluster.finding("KA001", "broker/b9:9092")], {**CALM, "reads": reads}))
    assert "+ broker at b9:9092: Metadata" in text
    assert "? broker at b9:9092, Metadata: connection refused" in text


def test_an_address_without_an_answer_is_called_after_the_broker_that_had_it(told):
    file = {"properties": {9: {"broker.id": "9", "advertised.listeners": "PLAINTEXT://b9:9092"}}}
    reads = [{"observer": "broker@b9:9092", "operation": "Metadata", "error": "connection refused", "target": "b9:9092"}]
    text = page(*told([], {**CALM, **file, "reads": reads}))
    assert "? broker 9, Metadata: connection refused" in text


def test_muted_findings_are_counted_only(told):
    text = page(*told([small_cluster.finding("KA612", "cluster", severity="MEDIUM", muted=True)], CALM))
    assert "1 finding muted" in text
    assert "KA612" not in text


def test_a_resolved_incident_is_told_with_its_headline(told):
    failed = small_cluster.finding("KA105", "broker/0")
    before, _ = told([failed], CALM)
    now = small_cluster.finding("KA105", "broker/0", status="PASS", lifecycle="resolved")
    text = page(*told([now], CALM, previous=before), 140)
    assert f"RESOLVED  {before['incidents'][0]['headline']} (KA105)" in text
    assert "1 resolved; compared with 20260914T180000Z-prod-0001" in text


def test_a_damaged_snapshot_that_was_passed_over_is_told_beside_incidents_too(audited):
    why = "store/x/probe.parquet: is missing \x1b[31m"
    text = " ".join(page(*audited("cut_off", "all_brokers", passed_over=[why])).split())
    assert "passed over, so later changes are unknown: store/x/probe.parquet: is missing" in text
    assert "\x1b" not in text


def test_an_incident_that_could_not_be_judged_is_not_resolved(told):
    before, _ = told([small_cluster.finding("KA105", "broker/0")], CALM)
    now = small_cluster.finding("KA105", "broker/0", status="UNKNOWN", lifecycle="incomparable")
    text = page(*told([now], CALM, previous=before))
    assert "STILL OPEN (not all of it was checked)" in text
    assert "RESOLVED" not in text


def test_a_long_list_is_cut_and_counted(told):
    findings = [small_cluster.finding("KA606", f"topic/t{n}", severity="MEDIUM") for n in range(25)]
    text = page(*told(findings, CALM))
    assert "and 24 more of KA606\n" in text
    assert text.count("KA606 + new") == 1
    whole = terminal_report(report_of(told(findings, CALM)[0]), width=100, color=False, full=True)
    assert whole.count("KA606 + new") == 25


def test_5000_partitions_of_one_reason_take_a_few_lines_of_the_page_and_are_all_in_the_document(told):
    topics = {f"t{n}": {"partitions": {p: {"replicas": [0, 1], "isr": [0]} for p in range(100)}} for n in range(50)}
    fault = {"name": "under_min_isr", "severity": "CRITICAL"}
    findings = [small_cluster.finding("KA602", f"topic/t{n % 50}/partition/{n // 50}", **fault) for n in range(5000)]
    weak = [small_cluster.finding("KA606", f"topic/t{n % 50}/partition/{n // 50}", severity="MEDIUM") for n in range(5000)]
    document, snapshot = told([*findings, *weak], {**CALM, "topics": topics})
    (incident,) = document["incidents"]
    assert len(incident["findings"]) == 5000
    (group,) = incident["groups"]
    assert (group["code"], group["findings"], group["brokers"], len(group["first"])) == ("KA602", 5000, {"1": 5000}, 10)
    text = page(document, snapshot)
    assert "5000 partitions of 50 topics: under min isr: t0-0, t1-0, t2-0" in text
    assert "and 4999 more of KA606 of 50 topics\n" in text
    assert len(text.splitlines()) < 80


HOSTILE = "\x1b[31mX\u202egnp.\n\r\u2028\u200b\x07"
FREE_TEXT = {"error", "needs", "message", "detail", "host", "vantage", "operation", "target", "via", "value"}


@pytest.fixture(scope="module")
def spoilt_views():
    """Return the view of each case in which every text that others wrote ends with what acts on a terminal."""
    ids = {key: f"20260914T180000Z-prod-{number:04}" for number, key in enumerate(CASES)}
    spoilt = {}
    for key, snapshot_id in ids.items():
        honest, _ = pair(key, snapshot_id)
        rows = [
            replace(row, **{k: v + HOSTILE for k, v in vars(row).items() if k in FREE_TEXT and isinstance(v, str) and v})
            for row in honest.rows
        ]
        spoilt[snapshot_id] = (replace(honest, rows=tuple(rows)), None)
    views = cluster_views(spoilt)
    return {key: views[snapshot_id] for key, snapshot_id in ids.items()}


@pytest.mark.parametrize(("family", "name"), sampled(CASES))
def test_no_string_of_a_snapshot_is_printed_as_it_came(audited, spoilt_views, family, name):
    text = page(*audited(family, name, spoilt_views[family, name]), 80)
    assert {char for char in text if char != "\n" and unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}} == set()
    assert "gnp.\n" not in text, "a line break of the cluster's begins a line of ours"


def test_hostile_names_reach_no_terminal(told):
    evil = "orders\x1b]0;pwned\x07\u202e\r\n<script>"
    spec = {
        "brokers": {0: "a:9092", 2: f"{evil}:9092"},
        "views": {2: "empty"},
        "reads": [{"observer": evil, "operation": "Metadata", "error": evil}],
    }
    findings = [
        small_cluster.finding(
            "KA302", "broker/2/listener/PLAINTEXT", message=evil, confidence="suspected", evidence={"rivals": evil}
        ),
        small_cluster.finding("KA606", f"topic/{evil}", severity="MEDIUM", message=evil),
        small_cluster.finding("KA111", f"broker/{evil}", status="UNKNOWN", message=evil, remediation=evil),
    ]
    text = page(*told(findings, spec))
    assert not set(text) & set("\x1b\x07\u202e\r")
    assert "orders\\u001b]0;pwned" in text


def test_an_incident_that_no_command_shows_has_its_first_step_in_the_list(audited):
    """Some causes are in files alone: the list of several says what to do all the same, and every channel of alerts."""
    report = report_of(audited("undecided", "listener_missing")[0])
    incident = report.incidents[0]
    assert all(step.kind != "see" for step in incident.remediation)
    first = incidents_in_brief(report, width=2000).splitlines()[-1].strip()
    assert first == f"Quick fix: {incident.remediation[0].text}"
    step = structs.replace(incident.remediation[0], text="Raise it.\n\n`kafka-configs.sh --alter`")
    lines = structs.replace(incident, remediation=(step,))
    assert remedies.step_without_command(lines) == "Quick fix: Raise it. `kafka-configs.sh --alter`"

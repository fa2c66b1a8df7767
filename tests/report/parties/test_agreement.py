"""The two halves of a report without an incident: what was asked and agrees, and what is not known or was never asked."""

import copy

import pytest

import hostile
import small_cluster
from kafka_audit.model.report import report_json
from kafka_audit.report.html.cluster import standalone
from kafka_audit.report.parties.agreement import agreed, without_answer
from kafka_audit.report.parties.views import NOT_ASKED, NOTHING, UNREPORTED
from kafka_audit.report.plain_text.markdown import markdown_report
from kafka_audit.report.plain_text.terminal import terminal_report
from reported import report_of
from testbed.corpus.documents import whole_documents
from testbed.corpus.recorded import CLUSTERS, SUFFIX, unpacked

TITLES = {"html": "Asked, and found to agree", "md": "## Asked, and found to agree", "text": "ASKED, AND FOUND TO AGREE"}


@pytest.fixture(scope="module")
def recorded():
    names = {"kraft": "kraft_healthy", "zookeeper": "zookeeper_healthy", "broken": "zookeeper_address_out_of_reach"}
    pairs = {key: unpacked((CLUSTERS / f"{name}{SUFFIX}").read_bytes()) for key, name in names.items()}
    return {name: report_json(report) for name, report in whole_documents(pairs, passing=True).items()}


@pytest.fixture
def healthy(recorded):
    return copy.deepcopy(recorded["zookeeper"])


def facts(document):
    return {fact.title: fact.text for fact in agreed(report_of(document))}


def every_form(document):
    return {
        "html": standalone(report_of(document)),
        "md": markdown_report(report_of(document)),
        "text": terminal_report(report_of(document), width=100, color=False),
    }


def test_what_was_asked_of_a_healthy_cluster_and_agrees(recorded):
    found = facts(recorded["zookeeper"])
    assert found.pop("Checks").startswith(f"{len(recorded['zookeeper']['passed_checks'])} of ")
    assert found == {
        "Views": (
            "Brokers 0-2 and zookeeper report the same: brokers 0-2; controller 2; topics 2; partitions with a leader 5 of 5;"
            " cluster id CNSkBIUoRaqxaAwkXMvpOA"
        ),
        "Between brokers": "9 of 9 connections work",
        "From vantages": "worker reaches 3 of 3 brokers at CLIENT and 3 of 3 brokers at INTERNAL",
    }
    sources = {fact.title: fact.source for fact in agreed(report_of(recorded["zookeeper"])) if fact.source}
    assert sources == {
        "Between brokers": "probes from the hosts of brokers 0, 1 and 2, and what brokers received",
        "From vantages": "dns, tcp, api, identity",
    }


def test_a_quorum_has_its_leader_and_how_many_are_caught_up(recorded):
    document = copy.deepcopy(recorded["kraft"])
    quorum = facts(document)["Metadata quorum"]
    assert quorum == (
        "Leader 200, epoch 1; 1 of 1 voter caught up; 3 of 3 observers caught up; 3 of 3 connections to controllers work"
    )
    document["quorum"]["replicas"][1]["state"] = "behind"
    assert "2 of 3 observers caught up" in facts(document)["Metadata quorum"]
    document["quorum"]["leader"] = None
    assert facts(document)["Metadata quorum"] == "3 of 3 connections to controllers work"


def test_views_that_differ_agree_on_the_rest(healthy):
    first, question = healthy["views"]["columns"][0], healthy["views"]["rows"].index("topics")
    values = ["1" if number == question else value for number, value in enumerate(first["values"])]
    first["observers"].remove("broker 1")
    healthy["views"]["columns"].append({"observers": ["broker 1"], "values": values})
    assert "topics" not in facts(healthy)["Views"]
    assert facts(healthy)["Views"].startswith("Brokers 0-2 and zookeeper report the same: brokers 0-2; controller 2; part")


@pytest.mark.parametrize("value", [NOTHING, UNREPORTED])
def test_what_nobody_said_is_no_agreement(healthy, value):
    (column,) = healthy["views"]["columns"]
    column["values"] = [value for _ in column["values"]]
    assert "Views" not in facts(healthy)


def test_one_view_agrees_with_no_other(healthy):
    (column,) = healthy["views"]["columns"]
    column["observers"] = ["broker 0"]
    healthy["views"]["columns"].append({"observers": ["broker 1"], "values": [NOT_ASKED for _ in column["values"]]})
    assert "Views" not in facts(healthy)


def test_a_view_that_was_not_asked_does_not_spoil_what_the_others_say(healthy):
    (column,) = healthy["views"]["columns"]
    healthy["views"]["columns"].append({"observers": ["broker at x:1"], "values": [NOT_ASKED, *column["values"][1:]]})
    assert "brokers 0-2; controller 2; topics 2" in facts(healthy)["Views"]


def test_a_connection_that_is_not_known_is_counted_in_both_halves(healthy):
    row = next(row for row in healthy["matrix"]["observers"] if row["broker"] == 1)
    row["reach"] = "?.."
    assert facts(healthy)["Between brokers"] == "8 of 9 connections work"
    assert [one.text for one in without_answer(report_of(healthy)) if one.section == "matrix"] == [
        "1 of 9 connections between nodes and brokers."
    ]
    row["reach"] = "T.."
    assert facts(healthy)["Between brokers"] == "8 of 9 connections work"
    assert [one for one in without_answer(report_of(healthy)) if one.section == "matrix"] == []


def test_a_vantage_that_reaches_no_broker_reaches_none(healthy):
    for row in healthy["reach"]:
        row["open"] = 0
    assert "From vantages" not in facts(healthy)


def test_a_vantage_without_a_result_is_not_left_out_in_silence(healthy):
    """The nearest to it: it has a result, that it does not reach them, which is a finding."""
    row = next(row for row in healthy["reach"] if row["role"] == "client")
    row |= {"open": 1, "stops": [{"layer": "dns", "outcome": "unknown", "error": "no python3", "brokers": [0, 2]}]}
    texts = [one.text for one in without_answer(report_of(healthy))]
    assert "2 of 6 connections from vantages to brokers." in texts
    row["stops"][0]["outcome"] = "failed"
    assert [one.text for one in without_answer(report_of(healthy))] == [text for text in texts if "vantages" not in text]


def test_a_probe_without_a_result_is_no_source(healthy):
    for row in healthy["reach"]:
        row["open"] = 0 if row["broker"] in {0, 1} else row["open"]
    (between,) = (fact for fact in agreed(report_of(healthy)) if fact.title == "Between brokers")
    assert between.source == "probes from the host of broker 2, and what brokers received"


def test_without_a_probe_between_brokers_the_source_is_another(healthy):
    healthy["reach"] = [row for row in healthy["reach"] if row["role"] == "client"]
    (between,) = (fact for fact in agreed(report_of(healthy)) if fact.title == "Between brokers")
    assert between.source == "no probe; by what brokers received"


def test_a_check_passes_only_if_it_is_not_open_anywhere(told):
    results = [("KA105", "PASS", "PASS"), ("KA107", "PASS", "UNKNOWN"), ("KA111", "PASS", "FAIL")]
    results += [("KA208", "PASS", "NOT_APPLICABLE"), ("KA209", "NOT_APPLICABLE")]
    findings = [
        small_cluster.finding(code, f"broker/{number}", status=status, severity="LOW")
        for code, *statuses in results
        for number, status in enumerate(statuses)
    ]
    document, _ = told(findings, {"brokers": {0: "a:9092"}})
    assert document["passed_checks"] == ["KA105", "KA208"]
    (checks,) = (fact for fact in agreed(report_of(document)) if fact.title == "Checks")
    assert checks.text == "2 of 4 checks found no fault"
    assert checks.more == ("metadata: broker missing from view (KA105)", "controller: leaders moved (KA208)")


def test_where_nothing_was_answered_nothing_agrees(told):
    document, _ = told([], {"zookeeper": "none"})
    assert agreed(report_of(document)) == []
    assert [one.text for one in without_answer(report_of(document))] == ["8 of 8 reads without an answer."]
    forms = every_form(document)
    assert [form for form, title in TITLES.items() if title in forms[form]] == []
    assert "8 of 8 reads without an answer." in forms["html"]


def test_every_form_of_a_report_without_an_incident_has_both_halves_and_ends_them_with_the_time(recorded):
    document = recorded["zookeeper"]
    for form, text in every_form(document).items():
        assert text.count(TITLES[form]) == 1
        assert "9 of 9 connections work (probes" in text or "9 of 9 connections work</bdi>." in text
        assert text.count("Anything after 26 Nov 2026 17:09 UTC.") == 1, "it is not repeated below"
    page = every_form(document)["html"]
    assert page.index("Asked, and found to agree") < page.index("Not known, or never asked") < page.index("Anything after")
    assert page.index("Anything after") < page.index('id="matrix"') < page.index('id="coverage"')


def test_a_report_with_an_incident_shows_its_causes_and_not_what_agrees(recorded):
    for form, text in every_form(recorded["broken"]).items():
        assert TITLES[form] not in text
    page = every_form(recorded["broken"])["html"]
    assert page.index('id="coverage"') < page.index("Anything after")


def test_a_report_from_before_says_less(healthy):
    for key in ("passed_checks", "views", "quorum"):
        del healthy[key]
    assert [*facts(healthy)] == ["Between brokers", "From vantages"]
    assert TITLES["html"] in standalone(report_of(healthy))


@pytest.mark.parametrize("string", hostile.STRINGS[:2], ids=hostile.NAMES[:2])
def test_no_name_of_a_cluster_acts(string):
    document = report_json(hostile.document(string))
    quiet = {key: [] for key in ("incidents", "resolved_incidents", "incomparable_incidents")}
    views = {"rows": ["cluster id"], "columns": [{"observers": [string, "broker 1"], "values": [string]}]}
    row = {"from": string, "broker": None, "role": "client", "listener": string, "brokers": [1], "open": 1, "stops": []}
    document |= quiet | {"views": views, "reach": [row | {"layers": {"dns": [1, 1]}}]}
    forms = every_form(document)
    hostile.harmless(forms["html"])
    for form, text in forms.items():
        assert TITLES[form] in text
        assert hostile.unshown(text) == set()
    ours = forms["md"].partition(TITLES["md"])[2].partition("\n## ")[0]
    assert "alert(1)" in ours
    assert "<" not in ours

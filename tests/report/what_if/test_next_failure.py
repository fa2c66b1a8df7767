"""The next failure: the worst single loss in a sentence, a row for each that is not safe, and nothing judged a second time."""

import json

import pytest

from hostile import harmless
from kafka_audit.model.report import NextFailure, report_json
from kafka_audit.report.document import build_report
from kafka_audit.report.html.cluster import standalone
from kafka_audit.report.plain_text.markdown import markdown_report
from kafka_audit.report.plain_text.terminal import terminal_report
from kafka_audit.report.what_if import next_failure
from reported import part_of, report_of
from testbed.cluster_views import cluster_views
from what_if.asked import snapshot_of, without

FEW = {"topics": {"payments": {"partitions": {0: {"isr": [2], "leader": 2}}}, "orders": {"partitions": {1: {"isr": [1, 2]}}}}}
HOSTILE = "<b>|`x`\u202e\n# a"
KRAFT = {
    "info": {"mode": "kraft"},
    "zookeeper": "none",
    "quorum": {"leader": 200, "epoch": 7, "high_watermark": 9000, "voters": {200: 0, 201: 0, 202: 60}, "observers": {0: 0}},
}


def document_of(case):
    snapshot = snapshot_of({"now": case})
    view = cluster_views({"case": (snapshot, None)})["case"]
    return report_json(build_report(view, None, (), (), (), None)), snapshot


def test_the_worst_loss_comes_first_with_what_raises_the_margin():
    document, _ = document_of(FEW)
    found = document["next_failure"]
    assert found["worst"] == "broker:2"
    assert found["sentence"] == (
        "The worst single loss is broker 2: 1 partition of payments would have no leader; 1 partition of orders would refuse"
        " acks=all (2 of 3 losses are not safe)"
    )
    rows = {row["loss"]: (row["safe"], row["offline"], row["not_writable"], row["at_risk"]) for row in found["losses"]}
    assert rows == {"broker:0": (True, 0, 0, 0), "broker:1": (False, 0, 1, 1), "broker:2": (False, 1, 1, 1)}
    assert [way["text"] for way in found["raises_margin"]] == [
        "Bring brokers 0 and 1 back in sync in 2 partitions: wait for a catch-up, or repair what prevents it"
    ]


def test_what_has_no_leader_already_is_counted_apart():
    alone = {"replicas": [2], "isr": [2], "leader": 2}
    orders = {"partitions": {0: alone, 1: {"replicas": [0], "isr": [0], "leader": -1}}}
    document, _ = document_of({"topics": {"payments": {"partitions": {0: alone}}, "orders": orders}})
    found = document["next_failure"]
    assert found["sentence"].startswith("The worst single loss is broker 2: 2 partitions of 2 topics would have no leader")
    assert found["sentence"].endswith("; 1 partition has no leader already")
    assert found["raises_margin"][-1]["text"] == (
        "Add replicas to 2 partitions that this loss stops, of orders first: what they have is in sync"
    )


def test_a_healthy_cluster_is_one_sentence():
    document, _ = document_of({"topics": {"payments": {"partitions": {0: {"replicas": [0, 1, 2], "isr": [0, 1, 2]}}}}})
    found = document["next_failure"]
    assert found["worst"] is None
    assert found["sentence"].startswith("You can lose any one broker: ")
    lines = [*next_failure.next_failure_lines(part_of(NextFailure, found), 100)]
    assert " ".join(" ".join(lines).split()) == f"{found['sentence']}."


SAFE = {"topics": {"payments": {"partitions": {0: {"replicas": [0, 1, 2], "isr": [0, 1, 2]}}}}}
VOTERS = {"leader": 200, "epoch": 7, "high_watermark": 9000, "voters": {200: 0, 201: 0, 202: 0}, "observers": {0: 0, 1: 0, 2: 0}}
REFUSED = {"observer": "broker:0", "operation": "DescribeQuorum", "error": "not authorized", "needs": "Describe on Cluster"}
SILENT = {broker: {"answers": False} for broker in (0, 1, 2)}
KINDS = {
    # All brokers go with their only rack, whose loss is not asked about.
    "one rack": ({"brokers": {n: {"rack": "a"} for n in (0, 1, 2)}}, "You can lose any one broker"),
    "racks": ({"brokers": {n: {"rack": "abc"[n]} for n in (0, 1, 2)}}, "You can lose any one broker or rack"),
    "a broker without a rack": (
        {"brokers": {0: {"rack": "a"}, 1: {"rack": "b"}}},
        "It is not known for 2 of 5 single losses whether they stop anything",
    ),
    "no right to read the quorum": (
        {**KRAFT, "quorum": "none", "reads": [REFUSED]},
        "It is not known for 3 of 3 single losses whether they stop anything; controllers were not read",
    ),
    "the same, and brokers are no controllers": (
        {**KRAFT, "quorum": "none", "reads": [REFUSED], "configs": {"process.roles": "broker"}},
        "No single loss is known to stop anything; controllers were not read",
    ),
    "no leader of the quorum": (
        {**KRAFT, "quorum": {**VOTERS, "leader": -1, "epoch": None}},
        "It is not known for 3 of 3 single losses whether they stop anything; controllers were not read",
    ),
    "no broker answers": (
        {**KRAFT, "quorum": {**VOTERS, "says": {"c0:9093": {"node": 200}}}, "views": SILENT},
        "It is not known for 1 of 3 single losses whether they stop anything; brokers were not read",
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_what_was_not_read_or_asked_about_is_not_called_safe(name):
    case, sentence = KINDS[name]
    document, _ = document_of({**SAFE, **case})
    found = document["next_failure"]
    assert found["sentence"].partition(":")[0] == sentence
    assert bool(found["not_known"]) is not sentence.startswith("You can lose")


def test_a_broker_that_metadata_does_not_list_has_a_row():
    offline = {"topics": {"payments": {"partitions": {0: {"offline_replicas": [2]}}}}}
    held = {
        "payments": {"partitions": {0: {"replicas": [0, 2], "isr": [0, 2]}, 1: {"replicas": [2], "isr": [2]}}},
        "orders": "absent",
    }
    case = {**KRAFT, "quorum": VOTERS, "brokers": {2: "absent"}, "topics": held, "views": {0: offline, 1: offline}}
    document, snapshot = document_of(case)
    rows = {row["loss"]: (row["safe"], row["offline"]) for row in document["next_failure"]["losses"] if row["loss"][0] == "b"}
    assert rows == {"broker:0": (True, 0), "broker:1": (True, 0), "broker:2": (False, 1)}
    _, each = without(snapshot, each="broker")
    assert {answer.loss.name: answer.safe for answer in each} == {name: safe for name, (safe, _) in rows.items()}


def test_racks_and_controllers_have_rows():
    racks = {0: {"rack": "a"}, 1: {"rack": "b"}, 2: {"rack": "b"}}
    document, _ = document_of({"brokers": racks})
    assert [row["loss"] for row in document["next_failure"]["losses"]][-2:] == ["rack:a", "rack:b"]
    document, _ = document_of(KRAFT)
    found = document["next_failure"]
    assert [row["loss"] for row in found["losses"]][-3:] == ["controller:200", "controller:201", "controller:202"]
    assert found["worst"] in {"controller:200", "controller:201"}
    assert "1 of 3 controllers would be left; 2 are needed" in found["sentence"]


@pytest.mark.parametrize("case", [FEW, {"brokers": {0: {"rack": "a"}, 1: {"rack": "b"}, 2: {"rack": "b"}}}], ids=["few", "racks"])
def test_the_report_and_the_command_say_the_same(case):
    document, snapshot = document_of(case)
    for row in document["next_failure"]["losses"]:
        _, (found,) = without(snapshot, row["loss"])
        assert row["safe"] is found.safe
        numbers = {kind: found.effects[kind].partitions if kind in found.effects else 0 for kind in ("offline", "not_writable")}
        assert numbers == {kind: row[kind] for kind in numbers}


def test_it_judges_no_severity():
    document, _ = document_of(FEW)
    assert not {"CRITICAL", "HIGH", "MEDIUM", "LOW"} & {*json.dumps(document["next_failure"]).replace('"', " ").split()}


def test_every_format_shows_it_and_no_name_acts():
    case = {"brokers": {0: {"rack": HOSTILE}, 1: {"rack": "b"}, 2: {"rack": "b"}}, **FEW}
    document, _ = document_of(case)
    document |= {"cluster": "prod"}
    terminal, markdown = terminal_report(report_of(document), width=100, color=False), markdown_report(report_of(document))
    page = standalone(report_of(document))
    assert "THE NEXT FAILURE" in terminal
    assert "## The next failure" in markdown
    assert "The next failure" in page
    assert not {"\u202e"} & {*terminal, *markdown, *page}
    harmless(page)
    assert "\n# a" not in markdown


def rows_of(**states):
    """Return a section with a loss for each name; the value is whether it is safe and how many partitions are offline."""
    losses = [
        {"loss": name.replace("_", ":"), "safe": safe, "offline": offline, "elects": None, "quorum_lost": 0, "why": ""}
        | dict.fromkeys(("unclean", "not_writable", "at_risk"), 0)
        for name, (safe, offline) in states.items()
    ]
    head = {"sentence": "So it is", "worst": None, "omitted": 0, "raises_margin": [], "not_known": []}
    return {**head, "losses": losses}


def in_html(section):
    document, _ = document_of(FEW)
    return (
        standalone(report_of({**document, "next_failure": section})).partition('id="next-failure"')[2].partition("</section>")[0]
    )


def test_losses_that_are_not_decided_are_folded_and_no_row_of_the_table():
    section = rows_of(**{f"broker_{n}": (None, 0) for n in range(100)})
    page = in_html(section)
    assert page.count("<table>") == 1
    closed = page.partition("<details><summary>")[2]
    assert "100 losses not decided" in closed.partition("</summary>")[0]
    assert closed.count("<tr>") == 2
    assert "Brokers 0-99" in closed
    assert [*next_failure.next_failure_lines(part_of(NextFailure, section), 100)] == ["  So it is."], "the sentence says so"


def test_a_loss_that_is_not_safe_is_listed_beside_those_that_are_not_decided():
    section = rows_of(broker_0=(False, 2), broker_1=(None, 0), broker_2=(None, 0), broker_3=(True, 0))
    page = in_html(section)
    listed, _, folded = page.partition("<details>")
    assert ("Broker 0" in listed, "Brokers 1, 2" in listed, "Brokers 1, 2" in folded) == (True, False, True)
    assert "roker 3" not in page
    assert "  ? not decided: Brokers 1, 2" in [*next_failure.next_failure_lines(part_of(NextFailure, section), 100)]
    document, _ = document_of(FEW)
    markdown = markdown_report(report_of({**document, "next_failure": section}))
    assert "- ? 2 losses not decided: Brokers 1, 2" in markdown
    assert "| Broker 0 | not safe | 2 | 0 | 0 |" in markdown


def test_losses_with_the_same_numbers_share_a_row_and_all_that_are_left_out_are_counted():
    alike = rows_of(**{f"broker_{n}": (False, 2) for n in range(30)}, **{f"rack_{n}": (False, 2) for n in "ab"})
    rows = next_failure.shown_losses(part_of(NextFailure, alike)).unsafe
    assert [row[0] for row in rows] == ["Each of brokers 0-29", "Each of racks a, b"]
    assert next_failure.shown_losses(part_of(NextFailure, alike)).left_out == 0
    each = rows_of(**{f"broker_{n}": (False, n // 2) for n in range(30)})
    shown = next_failure.shown_losses(part_of(NextFailure, each))
    assert (len(shown.unsafe), shown.left_out) == (10, 10)
    assert "    and 10 more, in findings.json" in [*next_failure.next_failure_lines(part_of(NextFailure, each), 100)]


def test_a_name_that_makes_the_table_too_wide_has_its_own_line():
    section = rows_of(**{f"broker_{n}": (False, 2) for n in range(0, 200, 2)})
    narrow, wide = ([*next_failure.next_failure_lines(part_of(NextFailure, section), width)][1:] for width in (60, 100))
    assert wide == [
        "    without                        state     offline  refuse acks=all  one copy",
        "    Each of brokers 0 … 198 (100)  not safe  2        0                0",
    ]
    assert narrow == [
        "    without  state     offline  refuse acks=all  one copy",
        "    Each of brokers 0 … 198 (100)",
        "             not safe  2        0                0",
    ]


def test_a_report_from_before_has_no_such_section():
    document, _ = document_of(FEW)
    del document["next_failure"]
    assert "NEXT FAILURE" not in terminal_report(report_of(document), width=100, color=False)
    assert "next failure" not in markdown_report(report_of(document))
    assert "next failure" not in standalone(report_of(document))

"""What is answered from a report: its own sentences, with ids that lead back to them."""

import json

import pytest

import hostile
from kafka_audit.agents import answers
from kafka_audit.model.errors import UsageError
from kafka_audit.model.report import report_json
from samples import sampled


@pytest.fixture
def cut_off(audited):
    document, _ = audited("cut_off", "one_broker_inferred")
    return json.loads(json.dumps(document))


@pytest.fixture
def some_login_fails(audited):
    """With causes that are not ruled out, and a check without data."""
    document, _ = audited("refused", "some_login_fails")
    return json.loads(json.dumps(document))


def ids_in(answer):
    if isinstance(answer, dict):
        found = [answer["id"]] if "id" in answer else []
        return found + [pointer for key, value in answer.items() if key != "id" for pointer in ids_in(value)]
    return [pointer for value in answer for pointer in ids_in(value)] if isinstance(answer, list) else []


def test_the_overview_has_the_headline_and_how_much_was_answered(cut_off):
    overview = answers.overview(cut_off)
    assert [incident["headline"] for incident in overview["incidents"]] == [
        incident["headline"] for incident in cut_off["incidents"]
    ]
    assert overview["reads"] == {key: cut_off["coverage"][key] for key in ("asked", "answered")}
    assert overview["checks_without_data"] == cut_off["counts"]["UNKNOWN"]


def test_every_id_leads_back_to_what_was_said(some_login_fails):
    report = some_login_fails
    served = [answers.why(report), answers.findings(report, status=None), answers.not_known(report), answers.overview(report)]
    ids = [pointer for answer in served for pointer in ids_in(answer)]
    assert len(ids) > 10
    for pointer in ids:
        assert answers.cited(report, pointer)["content"]
    evidence = served[0]["incidents"][0]["evidence_for"][0]
    assert answers.cited(report, evidence["id"])["content"]["text"] == evidence["text"]


@pytest.mark.parametrize("pointer", ["/incidents/99", "/nothing", "/incidents/first", "/cluster/0"])
def test_an_id_of_nothing_is_an_error_that_names_it(cut_off, pointer):
    with pytest.raises(UsageError, match=pointer):
        answers.cited(cut_off, pointer)


def test_one_incident_or_all_of_them(cut_off):
    assert answers.why(cut_off, 1)["incidents"] == answers.why(cut_off)["incidents"][:1]
    for missing in (0, len(cut_off["incidents"]) + 1):
        with pytest.raises(UsageError, match=f"no incident {missing}"):
            answers.why(cut_off, missing)


def test_findings_are_chosen_and_the_worst_comes_first(cut_off):
    everything = answers.findings(cut_off, status=None, limit=200)["findings"]
    assert {finding["status"] for finding in everything} == {finding["status"] for finding in cut_off["findings"]}
    order = [answers.Severity[finding["severity"]] for finding in everything]
    assert order == sorted(order, reverse=True)
    at_two = answers.findings(cut_off, resource="broker/2")["findings"]
    assert at_two
    assert {finding["resource"].split("/")[1] for finding in at_two} == {"2"}
    first_page = answers.findings(cut_off, status=None, limit=1)
    assert (len(first_page["findings"]), first_page["omitted"]) == (1, len(everything) - 1)
    with pytest.raises(UsageError, match="did you mean HIGH"):
        answers.findings(cut_off, at_least="hihg")


def test_a_cluster_of_which_nothing_answered_has_no_all_clear(cut_off):
    coverage = cut_off["coverage"] | {"answered": 0, "unknown": [_failed("broker@b:9092", "b:9092")]}
    silent = cut_off | {"coverage": coverage, "incidents": []}
    for found in (answers.overview(silent), answers.why(silent)):
        assert found["not_audited"] == "no broker was read at b:9092: nothing was judged"
    assert "not_audited" not in answers.overview(cut_off) | answers.why(cut_off)


def _failed(observer, target):
    return dict.fromkeys(("operation", "reason", "error", "needs")) | {"observer": observer, "target": target}


def test_reads_at_the_address_of_a_party_are_its_reads(cut_off):
    address = cut_off["matrix"]["endpoints"]["2"].rpartition("//")[2]
    reads = [_failed(f"broker@{address}", address), _failed("broker@b:9092", "b:9092")]
    found = answers.said_by(cut_off | {"coverage": cut_off["coverage"] | {"unknown": reads}}, "broker 2")
    assert [read["target"] for read in found["not_answered"]] == [address]


def test_each_listener_of_a_party_is_its_address(cut_off):
    endpoints = {"2": "PLAINTEXT://b2:9092, INTERNAL://b2:9094"}
    report = cut_off | {"matrix": cut_off["matrix"] | {"endpoints": endpoints}}
    report |= {"coverage": cut_off["coverage"] | {"unknown": [_failed("broker@b2:9092", "b2:9092")]}}
    assert [read["target"] for read in answers.said_by(report, "broker 2")["not_answered"]] == ["b2:9092"]


def test_a_party_is_named_as_people_write_it(cut_off):
    for name in ("broker 2", "broker:2", " broker/2"):
        assert answers.said_by(cut_off, name)["party"] == "broker 2"
    seen = answers.said_by(cut_off, "broker 2")
    assert set(seen["reaches"]) >= {"broker 0", "broker 1", "broker 2"}
    assert {finding["resource"].split("/")[1] for finding in seen["findings"]} == {"2"}
    with pytest.raises(UsageError, match="no party 'broker 9'"):
        answers.said_by(cut_off, "broker 9")


def test_reach_says_the_same_as_the_matrix(cut_off):
    for row in cut_off["matrix"]["observers"]:
        for place, broker in enumerate(cut_off["matrix"]["brokers"]):
            edge = answers.reach(cut_off, row["name"], f"broker {broker}")
            assert edge["state"].startswith(answers.MEANING[row["reach"][place]])
            assert edge["address"] == cut_off["matrix"]["endpoints"].get(str(broker))
    with pytest.raises(UsageError, match="no column 'broker 9'"):
        answers.reach(cut_off, "broker 0", "broker 9")


def test_what_would_decide_begins_with_the_incidents(some_login_fails):
    inputs = answers.what_would_decide(some_login_fails)["inputs"]
    assert inputs[0]["waiting"][0].startswith("/incidents/0/candidates/")
    waiting = [ids[0].startswith("/incidents") for ids in (entry["waiting"] for entry in inputs)]
    assert waiting == sorted(waiting, reverse=True)
    unknown = {
        f"/findings/{place}" for place, finding in enumerate(some_login_fails["findings"]) if finding["status"] == "UNKNOWN"
    }
    assert unknown & {pointer for entry in inputs for pointer in entry["waiting"]} == {
        pointer for pointer in unknown if answers.cited(some_login_fails, pointer)["content"]["evidence"].get("needs")
    }


@pytest.mark.parametrize("strings", sampled(hostile.STRINGS, every=3, ids=hostile.NAMES))
def test_what_a_cluster_named_itself_is_a_value_and_never_a_key(strings):
    document = report_json(hostile.document(strings))
    harmless = report_json(hostile.document(hostile.STRINGS[0]))
    for ask in (answers.why, answers.not_known, answers.findings, answers.overview, answers.what_would_decide):
        answer = ask(document)
        text = json.dumps(answer)
        assert text.isascii()
        assert json.loads(text) == answer
        assert set(answer) == set(ask(harmless))

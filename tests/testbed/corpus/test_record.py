"""The record is appended to and resumed from, and docs/corpus.md is written from it."""

import argparse

import pytest

from airflow_environment import ROOT
from kafka_audit.checks import catalogue
from reported import FINDING, whole
from testbed import BedError
from testbed.corpus import confusion, healthy, page, printed, record, versions_page
from testbed.corpus.__main__ import main, pending
from testbed.corpus.catalogue import DYNAMIC, LOADS, VERSIONS, by_scenario, controls, faults, presets, unbreakable
from testbed.corpus.printed import OWN
from testbed.corpus.tools import filled, printed_commands

RESULT = {
    "kind": "fault",
    "id": "unclean_topic",
    "version": "3.9.1 ZooKeeper",
    "verdict": "cause",
    "cause": [],
    "headline": "1 topic …",
    "failing": ["KA711 cluster"],
    "passing": ["KA711"],
    "missing": [],
    "false": [],
    "healed": True,
    "left": [],
    "commands": ["kafka-configs.sh --delete-config x"],
    "followed": [],
    "peers": {"kcat": {"verdict": "silent", "line": ""}},
}


def options(path, **more):
    known = {"record": path, "versions": None, "names": [], "rerun": False, "unprinted": False}
    return argparse.Namespace(**known | more)


def test_a_result_is_appended_and_the_newest_counts(tmp_path):
    path = tmp_path / "corpus.json.xz"
    record.append(RESULT, path)
    record.append(RESULT | {"verdict": "wrong"}, path)
    assert [run["verdict"] for run in record.read(path)] == ["cause", "wrong"]
    assert record.newest(record.read(path))["fault", "unclean_topic", "3.9.1 ZooKeeper"]["verdict"] == "wrong"
    assert list(tmp_path.iterdir()) == [path]


def test_what_the_record_has_is_not_run_again(tmp_path):
    path = tmp_path / "corpus.json.xz"
    record.append(RESULT, path)
    left = [version for _, version in pending(faults(), options(path, names=["unclean_topic"]), "fault")]
    assert left == ["2.8.2 ZooKeeper", "3.9.1 KRaft", "4.3.0 KRaft"]
    only = options(path, names=["unclean_topic"], versions=["zookeeper"], rerun=True)
    assert [version for _, version in pending(faults(), only, "fault")] == ["2.8.2 ZooKeeper", "3.9.1 ZooKeeper"]
    with pytest.raises(SystemExit, match="no fault nothing"):
        pending(faults(), options(path, names=["nothing"]), "fault")


def test_runs_without_their_texts_are_run_again_if_that_is_wanted(tmp_path, monkeypatch):
    path = tmp_path / "corpus.json.xz"
    record.append(RESULT, path)
    wanted = options(path, names=["unclean_topic"], versions=["3.9.1 ZooKeeper"], unprinted=True)
    assert [version for _, version in pending(faults(), wanted, "fault")] == ["3.9.1 ZooKeeper"]
    monkeypatch.setattr(printed, "kept", lambda _: {OWN: "a report"})
    assert pending(faults(), wanted, "fault") == []


def test_the_page_tells_what_the_record_has():
    wrong = RESULT | {"version": "4.3.0 KRaft", "verdict": "wrong", "healed": False, "left": ["KA711 cluster"], "passing": []}
    texts = {OWN: "1 topic allows unclean leader elections: orders", "kcat": ""}
    text = page.page([RESULT, wrong], "", {("unclean_topic", "3.9.1 ZooKeeper"): texts})
    assert "2 runs of 1 faults. By the codes of its findings, kafka-audit reported the cause in 1 (50%)" in text
    assert "| kafka-audit | 1 | 0 | 0 | 0 | 0 | 1 | 0 |" in text
    assert "| kcat | 0 | 0 | 0 | 1 | 0 | 1 | 0 |" in text
    assert "| does not apply" not in next(line for line in text.splitlines() if line.startswith("| `unclean_topic`"))
    assert "| not run | cause, healed | not run | not scored again, **not healed** | silent, not scored again |" in text
    assert "[KA711](checks/KA711.md) unclean_topics |  | failed, healed |  | failed |" in versions_page.page([RESULT, wrong])
    assert "- `unclean_topic` on 4.3.0 KRaft: by codes wrong (no incident); not healed: KA711 cluster." in text


def test_the_page_has_what_became_of_a_quorum_whose_leader_was_killed():
    lost = {"killed": 200, "waited": 15, "seconds": None, "leader": None, "refused": "error 7"}
    elected = lost | {"seconds": 3.4, "leader": 202, "refused": None, "says": "If controller 201 (the leader) goes, …"}
    run = RESULT | {"id": "quorum_of_two", "version": "4.3.0 dynamic", "failing": ["KA217 cluster"], "headline": "two voters"}
    run |= {"passing": ["KA217"], "commands": [], "lost": lost, "twin": elected}
    text = page.page([run, RESULT], "", {})
    assert "1 runs of 1 faults: in 1 the cause was named before, and no leader was elected after. Without the fault one" in text
    assert "has two voters | KA217 | 4.3.0 dynamic | the leader | 1 of 1 | one after 3.4 to 3.4 s in 1 of 1 |" in text
    unhealed = page.page([run | {"lost": elected, "twin": None}], "", {})
    assert "in 0 the cause was named before" in unhealed
    assert "| the leader | 0 of 1 | not seen |" in unhealed
    assert "quorum_size_weak |  |  |  | failed, healed |" in versions_page.page([run])


def test_each_check_has_a_row_for_the_releases():
    rows = {line.partition("]")[0][3:]: line for line in versions_page.page([RESULT]).splitlines() if line.startswith("| [")}
    assert rows.keys() == catalogue().keys()
    assert rows["KA711"].endswith("unclean_topics |  | failed, healed |  |  |  |")
    assert rows["KA101"].endswith("|  |  |  |  | its fault was not run yet |")
    assert "broken and healed by `tests/scenarios/" in rows["KA901"]


def test_the_page_in_docs_is_that_of_the_record():
    results, text = record.read(), (ROOT / "docs" / "corpus.md").read_text()
    first, end = text.index("## Causes of a broken edge"), text.index("\n## Faults without a sign in logs")
    audits = record.read(healthy.HEALTHY)
    assert text == page.page(
        results, text[first:end], page.texts_of(results), audits
    )  # tests/faults/test_confusion.py judges this section


def test_the_table_of_versions_in_docs_is_that_of_the_record_and_has_each_check():
    text = (ROOT / "docs" / "versions.md").read_text()
    assert text == versions_page.page(record.read())
    rows = [line.partition("]")[0][3:] for line in text.splitlines() if line.startswith("| [")]
    assert rows == sorted(catalogue())


@pytest.mark.parametrize("code", sorted(set(catalogue()) - set(by_scenario())))
def test_a_check_was_seen_to_fail_on_a_real_cluster_and_to_end_on_the_healed_one(code):
    results = [run for run in record.newest(record.read()).values() if run["kind"] == "fault"]
    seen = versions_page.statuses(results)
    healed = any(seen[version].get(code) == ["failed", "healed"] for version in seen)
    assert healed or code in unbreakable(), f"{code}: run a fault that breaks it, or add `exceptions: corpus:` to its case file"


def test_the_record_is_of_faults_and_controls_that_exist():
    for run in record.read():
        known = (faults() if run["kind"] == "fault" else controls()).get(run["id"])
        assert known is not None, run["id"]
        assert run["version"] in known.versions
        assert run["commit"]


def audits_under_load():
    runs = [run for run in record.newest(record.read(healthy.HEALTHY)).values() if run["id"] in healthy.under_load()]
    return [(run, audit) for run in runs for audit in run["audits"] if run["loads"]]


def test_healthy_clusters_under_load_were_audited_a_hundred_times():
    assert len(audits_under_load()) >= 100


def test_no_audit_of_a_healthy_cluster_under_load_has_an_alarm():
    audits = audits_under_load()
    assert {load for run, _ in audits for load in run["loads"]} == set(LOADS)
    assert {audit["inputs"] for _, audit in audits} >= set(healthy.KEYS)
    assert [(run["id"], run["version"], audit["alarms"]) for run, audit in audits if audit["alarms"] or audit["exit"]] == []


def audits_of_quorums():
    runs = record.newest(record.read(healthy.HEALTHY)).values()
    return [(run, audit) for run in runs if run["id"] in controls() and controls()[run["id"]].quorum for audit in run["audits"]]


def test_healthy_quorums_were_audited_two_hundred_times():
    assert len(audits_of_quorums()) >= 200


def test_no_audit_of_a_healthy_quorum_of_any_kind_has_an_alarm():
    audits = audits_of_quorums()
    made = [presets()[controls()[run["id"]].preset] for run, _ in audits]
    assert {scene.controllers for scene in made} >= {0, 3, 5}, "of brokers that are controllers too, of three and of five"
    assert any(scene.observers for scene in made)
    assert {scene.security for scene in made} >= {None, "login", "login_over_tls", "mutual_certificates"}
    assert {run["version"] in DYNAMIC for run, _ in audits} == {False, True}
    assert {VERSIONS[run["version"]][0] for run, _ in audits} >= {"3.9.1", "4.3.0", "4.4.0"}
    assert {audit["inputs"] for _, audit in audits} >= {"one address", "files of all", "files of controllers", "all inputs"}
    assert [(run["id"], run["version"], audit["alarms"]) for run, audit in audits if audit["alarms"] or audit["exit"]] == []


def test_the_section_of_healthy_clusters_counts_audits_by_load_and_inputs():
    quiet = {
        "inputs": "without logs",
        "exit": 0,
        "asked": 9,
        "answered": 9,
        "unknown": ["KA617"],
        "severity": "LOW",
        "alarms": {},
    }
    loud = quiet | {"inputs": "without files", "exit": 3, "severity": "HIGH", "alarms": {"KA614 cluster": "a | b"}}
    run = {"kind": "healthy", "id": "mirrored", "version": "4.3.0 KRaft", "loads": ["MirrorMaker 2"], "audits": [quiet, loud]}
    text = healthy.section([run])
    assert "2 audits of 1 clusters: 1 failures of severity HIGH or above." in text
    assert "| MirrorMaker 2 | 1 | 2 | 1 |" in text
    assert "| without logs | 1 | 0 (1) | 9 of 9 | KA617 | 0 |" in text
    assert "| `mirrored` | 4.3.0 KRaft | 2 | HIGH | KA614 cluster: a \\| b |" in text


def test_an_audit_of_a_healthy_cluster_is_recorded_with_what_is_unknown_and_how_severe_it_is():
    found = [
        {"code": "KA705", "status": "FAIL", "severity": "LOW"},
        {"code": "KA801", "status": "FAIL", "severity": "MEDIUM"},
        {"code": "KA617", "status": "UNKNOWN", "severity": "HIGH"},
    ]
    report = whole(
        {
            "findings": [FINDING | finding for finding in found],
            "coverage": {
                "asked": 3,
                "answered": 2,
                "unknown": [{"observer": "broker:1", "operation": "Metadata", "error": "timeout"}],
            },
        }
    )
    kept = healthy.audit("without logs", report)
    assert (kept["exit"], kept["unknown"], kept["severity"], kept["alarms"]) == (4, ["KA617"], "MEDIUM", {})


def test_both_pages_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(confusion, "of_causes", lambda: ("zookeeper_address_out_of_reach",))
    assert main(["docs", str(tmp_path)]) == 0
    assert "| unreachable address | ZooKeeper | decided | " in (tmp_path / "corpus.md").read_text()
    assert (tmp_path / "versions.md").read_text() == versions_page.page(record.read())


def test_commands_are_read_out_of_what_a_finding_prints():
    text = "Do `kafka-a.sh --x BROKER:9092` or\n    kafka-b.sh --y \\\n      --z 'q'\nand `true`."
    assert printed_commands(text) == ["kafka-a.sh --x BROKER:9092", "kafka-b.sh --y --z 'q'"]


def test_a_placeholder_without_a_value_is_refused():
    assert filled("a TOPIC", {"TOPIC": "orders"}) == "a orders"
    with pytest.raises(BedError, match="no value for BYTES_PER_SECOND"):
        filled("a --throttle BYTES_PER_SECOND --add-config kafka.authorizer.logger=DEBUG", {})

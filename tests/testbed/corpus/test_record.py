"""The record is appended to and resumed from, and docs/corpus.md is written from it."""

import argparse
import json

import pytest

from airflow_environment import ROOT
from kafka_audit.checks import catalogue
from testbed import BedError
from testbed.corpus import confusion, page, record, versions_page
from testbed.corpus.__main__ import main, pending
from testbed.corpus.catalogue import by_scenario, controls, faults, unbreakable
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
    return argparse.Namespace(**{"record": path, "versions": None, "names": [], "rerun": False} | more)


def test_a_result_is_appended_and_the_newest_counts(tmp_path):
    path = tmp_path / "corpus.json"
    record.append(RESULT, path)
    record.append(RESULT | {"verdict": "wrong"}, path)
    assert [one["verdict"] for one in record.read(path)] == ["cause", "wrong"]
    assert record.newest(record.read(path))["fault", "unclean_topic", "3.9.1 ZooKeeper"]["verdict"] == "wrong"
    assert list(tmp_path.iterdir()) == [path]


def test_what_the_record_has_is_not_run_again(tmp_path):
    path = tmp_path / "corpus.json"
    record.append(RESULT, path)
    left = [version for _, version in pending(faults(), options(path, names=["unclean_topic"]), "fault")]
    assert left == ["2.8.2 ZooKeeper", "3.9.1 KRaft", "4.3.0 KRaft"]
    only = options(path, names=["unclean_topic"], versions=["zookeeper"], rerun=True)
    assert [version for _, version in pending(faults(), only, "fault")] == ["2.8.2 ZooKeeper", "3.9.1 ZooKeeper"]
    with pytest.raises(SystemExit, match="no fault nothing"):
        pending(faults(), options(path, names=["nothing"]), "fault")


def test_the_page_tells_what_the_record_has():
    wrong = RESULT | {"version": "4.3.0 KRaft", "verdict": "wrong", "healed": False, "left": ["KA711 cluster"], "passing": []}
    text = page.page([RESULT, wrong], "")
    assert "2 runs of 1 faults: cause named in 1 (50%)" in text
    assert "| kafka-audit | 1 | 0 | 0 | 0 | 1 |" in text
    assert "| kcat | 0 | 0 | 0 | 2 | 0 |" in text
    assert "[KA711](checks/KA711.md) unclean_topics |  | failed, healed |  | failed |" in versions_page.page([RESULT, wrong])
    assert "- `unclean_topic` on 4.3.0 KRaft: verdict wrong (no incident); not healed: KA711 cluster." in text


def test_the_page_has_what_became_of_a_quorum_whose_leader_was_killed():
    lost = {"killed": 200, "waited": 15, "seconds": None, "leader": None, "refused": "error 7"}
    elected = lost | {"seconds": 3.4, "leader": 202, "refused": None, "says": "If controller 201 (the leader) goes, …"}
    run = RESULT | {"id": "quorum_of_two", "version": "4.3.0 dynamic", "failing": ["KA217 cluster"], "headline": "two voters"}
    run |= {"passing": ["KA217"], "commands": [], "lost": lost, "twin": elected}
    text = page.page([run, RESULT], "")
    assert "1 runs of 1 faults: in 1 the cause was named before, and no leader was elected after. Without the fault one" in text
    row = "has two voters | 4.3.0 | dynamic | KA217 cluster: two voters | the leader | no leader in 15 s | controller 202 leads, "
    assert f"{row}written after 3.4 s; If controller 201 (the leader) goes, … |" in text
    unhealed = page.page([run | {"lost": elected, "twin": None}], "")
    assert "in 0 the cause was named before" in unhealed
    assert "written after 3.4 s; If controller 201 (the leader) goes, … | not seen |" in unhealed
    assert "quorum_size_weak |  |  |  | failed, healed |" in versions_page.page([run])


def test_the_page_has_what_was_executed_of_a_remedy_and_why_not():
    ran = RESULT | {"commands": ["kafka-configs.sh --alter --delete-config x"]}
    followed = {"commands": [], "followed": ["restart"]}
    freed = RESULT | {"id": "stale_leader", "failing": ["KA108 broker/2"], "passing": ["KA108"]} | followed
    text = page.page([ran, freed], "")
    assert "the remedy of 2 was executed, of 1 of them by 1 commands as printed." in text
    assert "| [KA711](checks/KA711.md) unclean_topics | 3.9.1 ZooKeeper (1) |  |  |  |" in text
    assert "| [KA108](checks/KA108.md) isr_differs |  |  | KA101 | the text asks for the log" in text
    assert "| [KA901](checks/KA901.md) protocol_too_old |  |  |  | broken and healed by `tests/scenarios/" in text


def test_each_check_has_a_row_for_the_releases():
    rows = {line.partition("]")[0][3:]: line for line in versions_page.page([RESULT]).splitlines() if line.startswith("| [")}
    assert rows.keys() == catalogue().keys()
    assert rows["KA711"].endswith("unclean_topics |  | failed, healed |  |  |  |")
    assert rows["KA101"].endswith("|  |  |  |  | its fault was not run yet |")
    assert "broken and healed by `tests/scenarios/" in rows["KA901"]


def test_the_page_in_docs_is_that_of_the_record():
    results, text = record.read(ROOT / "docs" / "corpus.json"), (ROOT / "docs" / "corpus.md").read_text()
    first, end = text.index("## Causes of a broken edge"), text.index("\n## What is not as it should be")
    assert text == page.page(results, text[first:end])  # tests/diagnosis/test_confusion.py judges this section
    assert (ROOT / "docs" / "versions.md").read_text() == versions_page.page(results)


@pytest.mark.parametrize("code", sorted(set(catalogue()) - set(by_scenario())))
def test_a_check_was_seen_to_fail_on_a_real_cluster_and_to_end_on_the_healed_one(code):
    results = [one for one in record.newest(record.read(ROOT / "docs" / "corpus.json")).values() if one["kind"] == "fault"]
    seen = versions_page.statuses(results)
    healed = any(seen[version].get(code) == ["failed", "healed"] for version in seen)
    assert healed or code in unbreakable(), f"{code}: run a fault that breaks it, or add the reason to unbreakable.yaml"


def test_the_record_is_of_faults_and_controls_that_exist():
    for one in record.read(ROOT / "docs" / "corpus.json"):
        known = (faults() if one["kind"] == "fault" else controls()).get(one["id"])
        assert known is not None, one["id"]
        assert one["version"] in known.versions
        assert one["commit"]


def test_docs_are_written_beside_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(confusion, "of_causes", lambda: ("zookeeper_address_out_of_reach",))
    (tmp_path / "corpus.json").write_text(json.dumps([RESULT]))
    assert main(["docs", str(tmp_path)]) == 0
    text = (tmp_path / "corpus.md").read_text()
    assert "| unreachable address | ZooKeeper | decided | " in text
    assert "- `unclean_topic`: `kafka-configs.sh --delete-config x`" in text
    assert (tmp_path / "versions.md").read_text() == versions_page.page([RESULT])


def test_commands_are_read_out_of_what_a_finding_prints():
    text = "Do `kafka-a.sh --x BROKER:9092` or\n    kafka-b.sh --y \\\n      --z 'q'\nand `true`."
    assert printed_commands(text) == ["kafka-a.sh --x BROKER:9092", "kafka-b.sh --y --z 'q'"]


def test_a_placeholder_without_a_value_is_refused():
    assert filled("a TOPIC", {"TOPIC": "orders"}) == "a orders"
    with pytest.raises(BedError, match="no value for BYTES_PER_SECOND"):
        filled("a --throttle BYTES_PER_SECOND --add-config kafka.authorizer.logger=DEBUG", {})

"""Faults that logs name: the cases of their files, and what holds for each of them."""

import re
from pathlib import Path

import pytest
import yaml

from kafka_audit.checks import catalogue
from kafka_audit.logs.diagnosis import exit_code
from kafka_audit.model.finding import Severity
from kafka_audit.says.log_faults import log_faults
from logs.read import diagnosed

FOLDER = Path(__file__).parents[2] / "plugins" / "kafka_audit" / "says"
CASES = {
    f"{path.stem}-{name}": case
    for path in sorted(FOLDER.glob("[rs][tui][ans]*/*.yaml"))
    for name, case in yaml.safe_load(path.read_text(encoding="utf-8"))["cases"].items()
}
KEYS = {
    "check", "severity", "headline", "headline_without", "effect", "says", "why", "steps", "general", "over", "lasts", "quiet_s",
    "least", "absent", "empties", "undecided", "cases",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_log_shows_its_fault_and_no_other_one_leads(name):
    document = diagnosed(CASES[name]["log"])
    expected = [] if CASES[name].get("headline", "none") == "none" else [CASES[name]["headline"]]
    risks = [] if CASES[name].get("risk", "none") == "none" else [CASES[name]["risk"]]
    assert [incident["headline"] for incident in document["incidents"]] == expected
    assert [risk["headline"] for risk in document["risks"]] == risks
    assert exit_code(document) == (3 if expected else 0)


@pytest.mark.parametrize("name", CASES)
def test_the_same_log_behind_a_container_names_it_too(name):
    document = diagnosed("".join(f"kafka-7  | {line}\n" for line in CASES[name]["log"].splitlines()))
    assert len(document["incidents"]) == (CASES[name].get("headline", "none") != "none")
    assert len(document["risks"]) == (CASES[name].get("risk", "none") != "none")


RISKS = [name for name, case in CASES.items() if case.get("risk", "none") != "none"]


@pytest.mark.parametrize("name", RISKS)
def test_a_risk_of_several_nodes_is_said_once(name):
    lines = CASES[name]["log"].splitlines()
    (risk,) = diagnosed("".join(f"kafka-{node}  | {line}\n" for node in (7, 8) for line in lines))["risks"]
    headline = risk["headline"].lower()
    assert headline.count("kafka-7") == headline.count("(also kafka-8)") <= 1
    assert headline.count("kafka-8") == headline.count("(also kafka-8)")


@pytest.mark.parametrize("name", [name for name in CASES if "KafkaServer id=2] Fatal" in CASES[name]["log"]])
def test_a_start_that_went_well_afterwards_makes_it_past(name):
    started = "[2026-11-29 11:00:00,000] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)\n"
    document = diagnosed(CASES[name]["log"] + started)
    assert document["incidents"] == []
    assert len(document["earlier"]) >= 1


def test_a_file_has_known_keys_and_commands_that_only_need_what_is_read():
    for path in sorted(FOLDER.glob("[rs][tui][ans]*/*.yaml")):
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert set(raw) <= KEYS, path
        assert raw.get("check") in {None, *catalogue()}, path
        assert raw.get("severity", "HIGH") in Severity.__members__, path
        groups = set(re.findall(r"\?P<(\w+)>", str(raw["says"]))) | {"node", "host", "port"}
        groups |= {"peer"} if "other" in groups else set()
        named = {hole for text in (raw["headline"], raw["why"]) for hole in re.findall(r"\{(\w+)\}", text)}
        assert named <= groups, path
        assert raw["steps"], path
        assert raw.get("undecided", False) == ("possibly" in raw["headline"]), path
        assert {key for step in raw["steps"] for key in step} <= {"see", "quick", "lasting", "do_not", "prove", "run", "cost"}, (
            path
        )
        assert "headline_without" in raw or raw["cases"], path


def test_no_step_removes_data():
    """What Kafka's own messages advise is never repeated: not to remove data, not to delete meta.properties or a lock."""
    for fault in log_faults():
        for step in fault.steps:
            assert not re.search(r"\brm\b|--unsafe|-delete\b|mkfs", step.get("run", "")), fault.name
            assert step.get("do_not", "Do not ").startswith("Do not "), fault.name  # as reports write it before what is forbidden
            if "do_not" not in step:
                words = " ".join(value for key, value in step.items() if key != "run")
                assert not re.search(
                    r"(?:[Dd]elete|[Rr]emove) (?:all data|meta\.properties|\.lock|the (?:log dir|data))", words
                ), fault.name


def test_a_value_that_a_shell_could_run_is_not_in_a_command():
    log = CASES["strange_folder-backup_beside_partitions"]["log"].replace("/data/backup", "/data/$(reboot);backup")
    (incident,) = diagnosed(log)["incidents"]
    commands = [command for step in incident["remediation"] for command in step["commands"]]
    assert commands == ["sudo ls -la FOLDER", "sudo mv -n FOLDER /var/tmp/"]


def test_nothing_is_said_of_nothing():
    document = diagnosed()
    assert (document["incidents"], document["nodes"], exit_code(document)) == ([], [], 4)

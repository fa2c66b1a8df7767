"""The states of a roll: pure cases over old and new files, and what the gate makes of them."""

from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest
import yaml

from audit_history import History
from checks.cases import base
from checks.world import snapshots
from kafka_audit.checks import catalogue
from kafka_audit.cluster.view import ClusterView
from kafka_audit.lint import files
from kafka_audit.lint.members import snapshot_from_files
from kafka_audit.lint.rolled import roll_of
from kafka_audit.migration import before, plain_text, plan, predictions
from kafka_audit.migration.proposed_listeners import ProposedListeners

TABLE = yaml.safe_load((Path(__file__).parent / "half_rolled.yaml").read_text())
CASES = TABLE["cases"]
BROKERS = range(3)
NOW = datetime(2026, 9, 14, 7, tzinfo=UTC)


def written(folder, settings):
    """Write a file for each broker and return what lint reads."""
    folder.mkdir(parents=True)
    for broker, lines in settings.items():
        own = {"broker.id": str(broker), "zookeeper.connect": "zk:2181"} | lines
        text = "".join(f"{key}={value}\n".replace("{id}", str(broker)) for key, value in own.items())
        (folder / f"{broker}.properties").write_text(text)
    return files.members_of([str(folder)], catalogue())


def rolled(tmp_path, case):
    before = {broker: TABLE["base"] | _own(case.get("old", {}), broker) for broker in BROKERS}
    after = {
        broker: before[broker] | _own(case["new"], broker) for broker in BROKERS if broker in case["new"] or "each" in case["new"]
    }
    old = ClusterView.of_files(snapshot_from_files(written(tmp_path / "old", before), b"key"))
    return roll_of(old, written(tmp_path / "new", after), b"key")


def _own(given, broker):
    return given.get("each", {}) | given.get(broker, {})


def edges(faults):
    return sorted([*fault.edge] for fault in faults if not fault.unknown)


@pytest.mark.parametrize("name", CASES)
def test_a_roll(tmp_path, name):
    case = CASES[name]
    roll = rolled(tmp_path, case)
    broken = {node: edges(faults) for node, faults in roll.alone.items() if edges(faults)}
    assert broken == case.get("broken", {})
    assert edges(roll.final) == case.get("final", [])
    assert (roll.order and list(roll.order)) == (None if case["order"] == "none" else case["order"])
    if case.get("near"):
        assert not [item for heading, item in predictions.roll_items(roll) if heading == "blockers"]


@pytest.mark.parametrize("name", CASES)
def test_an_order_breaks_nothing_in_any_state_and_without_one_each_order_breaks_something(tmp_path, name):
    roll = rolled(tmp_path, CASES[name])

    def is_broken(order):
        return any(edges(roll.faults_after(order[:count])) for count in range(1, len(order) + 1))

    if roll.order is not None:
        assert not is_broken(roll.order)
    else:
        assert all(map(is_broken, permutations(roll.nodes)))


def test_a_report_has_each_state_and_what_to_do_instead(tmp_path):
    roll = rolled(tmp_path, CASES["switched_and_added_at_once"])
    states = roll.as_dict()
    assert states["order"] is None
    assert [state["changed"] for state in states["states"]] == [[0], [0, 1], [0, 1, 2]]
    assert states["states"][0]["broken"][0] == {"from": 0, "to": 1, "why": "broker 1 has no listener INNER"}
    assert {(edge["from"], edge["to"]) for edge in states["states"][1]["broken"]} == {(0, 2), (1, 2)}
    assert states["states"][2]["broken"] == []
    items = [item for heading, item in predictions.roll_items(roll) if heading == "blockers"]
    assert items[0].message.startswith("No order keeps all brokers connected: while only broker 0 has its new file")
    assert "switch `inter.broker.listener.name` on every broker" in items[0].remedy


def test_the_order_is_told_where_it_matters(tmp_path):
    (item,) = [item for _, item in predictions.roll_items(rolled(tmp_path, CASES["one_switches_and_two_add"]))]
    assert item.message == "In the order 1, 2 and 0, all brokers stay connected while they restart one by one"


FILE = """broker.id={id}
zookeeper.connect=zk:2181
listeners=PLAINTEXT://:9092,INNER://:9094
advertised.listeners=PLAINTEXT://10.0.0.1{id}:9092,INNER://10.0.0.1{id}:9094
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT
{more}
"""


def gate(folder, switched, kind="listeners-or-security"):
    """Decide on files that add a listener, and let some brokers use it, against a healthy cluster."""
    folder.mkdir()
    for broker in BROKERS:
        more = "inter.broker.listener.name=INNER" if broker in switched else ""
        (folder / f"{broker}.properties").write_text(FILE.format(id=broker, more=more))
    view = ClusterView.of_files(snapshots(base(), "running", {})[0])
    made = plan.plan(kind, proposed=[str(folder)], version="3.9.1")
    return before.report_before_change(History().audit(), view, made, ProposedListeners(), NOW)


def test_the_gate_blocks_a_roll_that_no_order_saves_and_says_what_to_do_first(tmp_path):
    report = gate(tmp_path / "new", switched=BROKERS)
    blockers = [item for item in report["blockers"] if item["source"] == "half-rolled states"]
    assert {item["resource"] for item in blockers} == {"broker/0", "broker/1", "broker/2"}
    assert report["half_rolled"]["order"] is None
    assert "3 blockers" in report["headline"], report["blockers"]  # each file is told once, with its states
    text = " ".join(plain_text.before_change_text(report, width=100).split())
    assert "WHILE IT IS ROLLED (3) New on broker 0: broker 0 does not reach broker 1 (broker 1 has no listener INNER);" in text


def test_the_gate_lets_a_roll_begin_that_has_an_order(tmp_path):
    report = gate(tmp_path / "new", switched=[0])
    assert not report["blockers"], report["blockers"]
    assert report["half_rolled"]["order"] == [1, 2, 0]
    assert "In the order 1, 2 and 0, all brokers stay connected" in plain_text.approval_body(report)
    assert "****" not in plain_text.approval_body(report)
    assert [state["broken"] for state in report["half_rolled"]["states"]] == [[], [], []]


def test_a_change_without_files_has_no_states():
    view = ClusterView.of_files(snapshots(base(), "running", {})[0])
    made = plan.plan("moving-hosts")
    report = before.report_before_change(History().audit(), view, made, ProposedListeners(), NOW)
    assert report["half_rolled"] is None
    assert "WHILE IT IS ROLLED" not in plain_text.before_change_text(report, width=100)

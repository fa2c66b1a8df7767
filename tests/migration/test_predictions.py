"""What the gate predicts, and whether the comparison afterwards says that it held."""

from datetime import UTC, datetime

import pytest

from audit_history import History, cut_off
from checks.cases import base
from checks.world import merged, snapshots
from kafka_audit.cluster.view import ClusterView
from kafka_audit.migration import after, before, plain_text, plan, predictions, sections
from kafka_audit.migration.proposed_listeners import ProposedListeners
from kafka_audit.model.report import report_json
from migration.test_half_rolled import BROKERS, FILE
from migration.test_rolling_upgrade import PAIRS, world
from reported import report_of

NOW = datetime(2026, 9, 14, 7, tzinfo=UTC)


def snapshot(described):
    return snapshots(described, "predicted", {})[0]


def compare(described, now, *failures, kind="rolling-upgrade", **planned):
    """Decide on a cluster, and compare with another one afterwards."""
    history = History()
    made = plan.plan(kind, **planned)
    gate = before.report_before_change(history.audit(), ClusterView.of_files(snapshot(described)), made, ProposedListeners(), NOW)
    document = report_of(report_json(history.audit(*failures)) | {"changes": []})
    return after.report_after_change(document, snapshot(described), snapshot(now), gate, NOW)


def told(report, kind):
    return {
        (prediction["resource"], prediction["outcome"], prediction["seen"])
        for prediction in report["predictions"]
        if prediction["kind"] == kind
    }


def test_every_broker_runs_the_release_and_keeps_its_protocol():
    pair = PAIRS["zookeeper_2_8_to_3_9"]
    report = compare(world(pair), world(pair | {"from": "3.9.1"}), version="3.9.1")
    assert told(report, "release") == {(f"broker/{broker}", "held", "Kafka 3.9") for broker in range(3)}
    assert told(report, "protocol") == {(f"broker/{broker}", "held", "protocol 2.8") for broker in range(3)}
    assert (report["verdict"], report["not_done"]) == ("as expected", [])
    assert "PREDICTIONS OF THE GATE (6)\n    Held: Broker 0 runs Kafka 3.9 (Kafka 3.9)." in plain_text.after_change_text(
        report, width=100
    )


def test_a_broker_that_was_forgotten_is_missing():
    pair = PAIRS["zookeeper_2_8_to_3_9"]
    old = {"1": {key: offered for key, offered in world(pair)["apis"].items() if isinstance(key, int)}}
    now = world(pair | {"from": "3.9.1"})
    report = compare(world(pair), now | {"apis": now["apis"] | {"1": old["1"] | {65: "none", 67: "none"}}}, version="3.9.1")
    assert report["not_done"] == ["Broker 1 runs Kafka 2.7 to 2.8, not 3.9 as planned."]
    assert report["verdict"] == "not as expected"
    assert sections.after_change_sections(report)[-1].lines[0].text == "Not held: Broker 1 runs Kafka 3.9 (Kafka 2.7 to 2.8)."


def test_a_broker_of_which_nothing_shows_the_release_is_not_known():
    pair = PAIRS["zookeeper_2_8_to_3_9"]
    now = world(pair | {"from": "3.9.1"})
    report = compare(world(pair), now | {"apis": now["apis"] | {"1": "unread"}}, version="3.9.1")
    assert ("broker/1", "not known", "an answer from broker 1 to ApiVersions") in told(report, "release")
    assert report["verdict"] == "not decided"


def test_neighbours_that_look_the_same_are_a_prediction_that_is_not_known_and_nothing_more():
    pair = PAIRS["zookeeper_2_8_to_3_9"] | {"to": "3.8.1"}
    report = compare(world(pair), world(pair | {"from": "3.8.1"}), version="3.8.1")
    assert told(report, "release") == {(f"broker/{broker}", "not known", "Kafka 3.7 to 3.8") for broker in range(3)}
    assert report["verdict"] == "as expected"


@pytest.mark.parametrize(("source", "outcome"), [("3.9.1", "held"), ("4.3.0", "not held")])
def test_a_refusal_that_was_tried_anyway(source, outcome):
    pair = PAIRS["kraft_3_9_at_3_3_iv0_to_4_3"]
    report = compare(world(pair), world(pair | {"from": source, "metadata": None}), version="4.3.0", oldest_client="2.1")
    assert {(resource, seen) for resource, seen, _ in told(report, "refusal")} == {("feature/metadata.version", outcome)}


@pytest.mark.parametrize(("failures", "outcome"), [((), "held"), (cut_off(1), "not held")])
def test_connections_with_all_new_files(tmp_path, failures, outcome):
    for broker in BROKERS:
        (tmp_path / f"{broker}.properties").write_text(FILE.format(id=broker, more=""))
    report = compare(base(), base(), *failures, kind="listeners-or-security", proposed=[str(tmp_path)], version="3.9.1")
    found = {resource: seen for resource, seen, _ in told(report, "edges")}
    assert found == {"broker/0": "held", "broker/1": outcome, "broker/2": "held"}


def test_a_baseline_of_an_earlier_version_has_no_predictions():
    pair = PAIRS["kraft_3_9_to_4_3"]
    kept = {"plan": plan.plan("rolling-upgrade").as_dict()}
    document = report_of(report_json(History().audit()) | {"changes": []})
    held = snapshot(merged(world(pair), {}))
    report = after.report_after_change(document, held, held, kept, NOW)
    assert report["predictions"] == []


def test_a_prediction_that_is_not_understood_is_not_known():
    view = ClusterView.of_files(snapshot(base()))
    unknown = {"kind": "weather", "resource": "broker/1", "text": "It rains", "expected": "rain"}
    assert [outcome["outcome"] for outcome in predictions.outcomes([unknown], view, {"findings": []})] == ["not known"]

"""What the tasks around a migration do with a store."""

import json

import pytest
from airflow.sdk.exceptions import AirflowFailException

import small_cluster
from kafka_audit.airflow_glue import changes
from kafka_audit.model.errors import SnapshotError, UsageError
from kafka_audit.store import Store
from told_audits import CLUSTER, History, cut_off

FORM = {
    "cluster": "prod",
    "kind": "rolling-upgrade",
    "node_ids": None,
    "proposed": None,
    "advertised": None,
    "kafka_version": None,
    "vantages": None,
    "strict": "high",
}


@pytest.fixture
def judged(monkeypatch, tmp_path):
    """Audit the cluster into a store; returns what the task `report` would."""
    (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": {"prod": {"bootstrap": ["b1:9092"]}}}))
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "clusters.yaml"))
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    store, history = Store(tmp_path / "store"), History()

    def run(*failures):
        document = history.audit(*failures)
        store.write(small_cluster.snapshot(CLUSTER, document["snapshot_id"]))
        store.write_report(document["snapshot_id"], document)
        return {"prod": document["snapshot_id"]}

    return run


def test_a_go_asks_and_an_approval_keeps_what_a_comparison_finds(judged):
    plan, now = changes.planned(FORM), judged()
    question = changes.decide("prod", now, plan)
    assert question["subject"].startswith("GO for prod, rolling upgrade")
    assert question["subject"].endswith("Begin?")
    assert question["body"] == (
        "Nothing stands in the way, and nothing is left open.\n\nAll of it is under **Kafka audit** beside this run."
    )
    with pytest.raises(SnapshotError, match="has none of cluster 'prod'"):
        changes.baseline("prod", None)
    assert changes.keep("prod", now) == now["prod"]
    assert changes.baseline("prod", None) == now["prod"]
    changes.differ("prod", judged(), now["prod"])
    with pytest.raises(AirflowFailException, match="NOT AS MEANT for prod, rolling upgrade"):
        changes.differ("prod", judged(*cut_off(1)), now["prod"])


def test_a_no_go_asks_nobody(judged):
    with pytest.raises(AirflowFailException, match="NO-GO for prod, rolling upgrade: 2 blockers"):
        changes.decide("prod", judged(*cut_off(1)), changes.planned(FORM))


def test_a_proposed_address_is_tried_and_one_that_resolves_nowhere_is_a_no_go(judged):
    plan = changes.planned(FORM | {"kind": "new-network", "advertised": ["1: PLAINTEXT://kafka-1.invalid:9092"]})
    with pytest.raises(AirflowFailException, match="NO-GO for prod, exposing to a new network: 1 blocker, first KA301 broker/1"):
        changes.decide("prod", judged(), plan)


@pytest.mark.parametrize(
    "wrong",
    [{"cluster": "prd"}, {"kind": "x"}, {"node_ids": "3000;3001"}, {"kafka_version": "seven"}, {"advertised": ["kafka-0:9092"]}],
)
def test_a_form_that_makes_no_sense_ends_before_anything_is_asked(judged, wrong):
    judged()
    with pytest.raises(UsageError):
        changes.planned(FORM | wrong)

"""What the tasks around a migration do with a store."""

import json

import pytest

import small_cluster
from audit_history import CLUSTER, History, cut_off
from kafka_audit.airflow.moved import AirflowFailException
from kafka_audit.airflow.tasks import migration_tasks
from kafka_audit.differences.tables import ListAge
from kafka_audit.model.errors import SnapshotError, UsageError
from kafka_audit.store import Store

FORM = {
    "cluster": "prod",
    "kind": "moving-hosts",
    "node_ids": None,
    "proposed": None,
    "advertised": None,
    "kafka_version": None,
    "oldest_client": None,
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
        snapshot = small_cluster.snapshot(CLUSTER, document.snapshot_id)
        store.write(snapshot)
        differences = small_cluster.view(snapshot).differences.with_rows(ListAge, ())
        store.write_differences(document.snapshot_id, differences.to_plain())
        store.write_report(document.snapshot_id, document)
        return {"prod": document.snapshot_id}

    return run


def test_a_go_asks_and_an_approval_keeps_what_a_comparison_finds(judged):
    plan, now = migration_tasks.planned(FORM), judged()
    question = migration_tasks.decide("prod", now, plan)
    assert question["subject"].startswith("GO for prod, moving hosts")
    assert question["subject"].endswith("Begin?")
    assert question["body"] == (
        "There are no blockers and no open points.\n\nThe tab **Kafka audit** of this run contains the complete report."
    )
    with pytest.raises(SnapshotError, match="no baseline of cluster 'prod'"):
        migration_tasks.baseline("prod", None)
    assert migration_tasks.keep("prod", now) == now["prod"]
    assert migration_tasks.baseline("prod", None) == now["prod"]
    migration_tasks.differ("prod", judged(), now["prod"])
    with pytest.raises(AirflowFailException, match="NOT AS EXPECTED for prod, moving hosts"):
        migration_tasks.differ("prod", judged(*cut_off(1)), now["prod"])


def test_a_no_go_asks_nobody(judged):
    with pytest.raises(AirflowFailException, match="NO-GO for prod, moving hosts: 2 blockers"):
        migration_tasks.decide("prod", judged(*cut_off(1)), migration_tasks.planned(FORM))


def test_a_proposed_address_is_tried_and_one_that_resolves_nowhere_is_a_no_go(judged):
    plan = migration_tasks.planned(FORM | {"kind": "new-network", "advertised": ["1: PLAINTEXT://kafka-1.invalid:9092"]})
    with pytest.raises(AirflowFailException, match="NO-GO for prod, exposing to a new network: 1 blocker, first KA301 broker/1"):
        migration_tasks.decide("prod", judged(), plan)


@pytest.mark.parametrize(
    "wrong",
    [{"cluster": "prd"}, {"kind": "x"}, {"node_ids": "3000;3001"}, {"kafka_version": "seven"}, {"advertised": ["kafka-0:9092"]}],
)
def test_a_form_that_makes_no_sense_ends_before_anything_is_asked(judged, wrong):
    judged()
    with pytest.raises(UsageError):
        migration_tasks.planned(FORM | wrong)

"""What other DAGs are told of an audit."""

from audit_history import History, cut_off
from kafka_audit.airflow.schedule import assets
from kafka_audit.airflow.tasks import audit_tasks
from kafka_audit.store import Store


class Added(list):
    def add(self, asset, extra):
        self.append((asset, extra))


def test_a_clean_audit_is_told_with_its_numbers(monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    document = History().audit()
    Store(tmp_path / "store").write_report(document.snapshot_id, document)
    events = {assets.CLEAN: Added()}
    audit_tasks.gate("prod", {"prod": document.snapshot_id}, "", events)
    ((asset, extra),) = events[assets.CLEAN]
    assert (asset.name, asset.uri) == ("kafka_audit/prod/clean", "x-kafka-audit://prod/clean")
    assert extra == {
        "cluster": "prod",
        "cluster_id": document.cluster_id,
        "snapshot_id": document.snapshot_id,
        "finished_at": document.finished_at,
        "incidents": [],
        "failed": 0,
        "not_known": 0,
        "reads_answered": 32,
        "reads_asked": 32,
    }


def test_a_summary_names_the_incidents():
    assert assets.event_summary(History().audit(*cut_off(1)))["incidents"] == [
        "Broker 1 is cut off: controller 0 cannot reach the address it advertises"
    ]

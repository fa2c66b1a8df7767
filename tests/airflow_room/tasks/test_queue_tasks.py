"""Queue vantages in the DAG: errands by cluster, answers by vantage, and nothing claimed where no worker of the queue was."""

import json

import pytest
from airflow.sdk.execution_time import task_runner

from collect.fakes import FakeBroker, server
from kafka_audit.airflow.tasks import audit_tasks, queue_tasks
from kafka_audit.model.tables import Probe, SourceRead
from kafka_audit.store import Store

FILE = """\
clusters:
  prod:
    bootstrap: ["{address}"]
    limits: {{read_s: 300, settle_s: 0}}
    vantages: {{clients: {{queue: dmz}}, office: {{queue: hall}}}}
  plain: {{bootstrap: ["{address}"]}}
  team-b:
    bootstrap: ["{address}"]
    limits: {{read_s: 300, settle_s: 0}}
    vantages: {{edge: {{queue: edge}}, office: {{queue: hall}}}}
"""


@pytest.fixture
def broker():
    broker = FakeBroker(0)
    with server(broker) as address:
        broker.brokers = {0: address}
        yield address


@pytest.fixture(autouse=True)
def cluster_file(broker, tmp_path, monkeypatch):
    path = tmp_path / "clusters.yaml"
    path.write_text(FILE.format(address=f"{broker[0]}:{broker[1]}"))
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(path))
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTOR", "LocalExecutor,EdgeExecutor")


class Instance:
    """A task instance with the XComs of a run."""

    def __init__(self, **xcoms):
        self.xcoms = json.loads(json.dumps(xcoms))

    def xcom_pull(self, task_ids):
        return self.xcoms.get(task_ids)


def told(snapshot_id, tmp_path, vantage):
    snapshot = Store(tmp_path / "store").read(snapshot_id)
    reads = [row for row in snapshot.of(SourceRead) if row.observer == f"vantage:{vantage}"]
    return [row for row in snapshot.of(Probe) if row.vantage == vantage], reads


def test_only_clusters_with_such_vantages_are_asked_about(broker):
    asked = queue_tasks.errands(["prod", "plain"])
    assert list(asked) == ["prod"]
    assert [key[3:5] for key in asked["prod"]["endpoints"]] == [[broker[0], broker[1]]]


def test_what_a_worker_saw_is_in_the_snapshot_and_a_queue_without_worker_is_a_gap(tmp_path):
    asked = queue_tasks.errands(["prod"])
    instance = Instance(errands=asked, probe_dmz=queue_tasks.probe("dmz", asked))
    snapshot_id = audit_tasks.collect_cluster("prod", queue_tasks.pulled(instance, "prod"))
    probes, reads = told(snapshot_id, tmp_path, "clients")
    assert {row.layer for row in probes} == {"dns", "tcp", "api", "identity", "packets"}
    assert {row.outcome for row in probes} == {"ok"}
    assert {row.outcome for row in reads} == {"answered"}
    probes, reads = told(snapshot_id, tmp_path, "office")
    assert {(row.layer, row.outcome, row.needs) for row in probes} == {("dns", "unknown", "a worker of queue hall")}
    assert {(row.outcome, row.needs) for row in reads} == {("failed", "a worker of queue hall")}


def test_what_a_cluster_lists_is_dialled_from_its_own_queues_alone():
    asked = json.loads(json.dumps(queue_tasks.errands(["prod", "team-b"])))
    with server(FakeBroker(7)) as inside:
        asked["team-b"]["script"]["targets"][0][:2] = inside  # that cluster lists an address in the zone of another queue
        found = {queue: queue_tasks.probe(queue, asked) for queue in ("dmz", "edge", "hall", "other")}
    assert {queue: [*samples] for queue, samples in found.items()} == {
        "dmz": ["prod"], "edge": ["team-b"], "hall": ["prod", "team-b"], "other": [],
    }  # fmt: skip
    assert all("\tidentity\tok" in sample for samples in found.values() for pair in samples.values() for sample in pair)


def test_an_executor_without_queues_is_no_failure_and_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTOR", "LocalExecutor")
    assert queue_tasks.pulled(Instance(), "prod") == {}
    probes, reads = told(audit_tasks.collect_cluster("prod", {}), tmp_path, "clients")
    assert {(row.outcome, row.needs) for row in probes} == {("unknown", "an Airflow executor with queues")}
    assert reads == []


def test_a_test_run_in_one_process_does_not_pass_for_the_queue(monkeypatch):
    comms = type("InProcessSupervisorComms", (), {})()
    monkeypatch.setattr(task_runner, "SUPERVISOR_COMMS", comms, raising=False)
    assert queue_tasks.probe("dmz", queue_tasks.errands(["prod"])) is None

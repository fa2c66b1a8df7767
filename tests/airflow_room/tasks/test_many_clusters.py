"""One run over many clusters, one of which is dead and one drips: each ends by its own time, and every other report is right."""

import contextlib

import pytest

from collect.fakes import FakeBroker, one_byte_a_second, refused, server
from kafka_audit.airflow.errors import GateFailed
from kafka_audit.airflow.tasks import audit_tasks
from kafka_audit.job.embedded_job import answer
from kafka_audit.model.report import report_json
from kafka_audit.store import Store
from outlet_events import Events

HEALTHY = [f"c{number}" for number in range(4)]
LIMITS = {"drips": "{read_s: 1, settle_s: 0, audit_s: 4}"}
"""The one that drips needs as long as its limits say, and longer than any test may take without them."""


def cluster_id(name):
    return f"id-of-{name}".ljust(22, "x")


@pytest.fixture
def places():
    """Serve the clusters on loopback; return the address of each."""
    with contextlib.ExitStack() as stack:
        found = {"dead": refused(), "drips": stack.enter_context(server(one_byte_a_second))}
        for name in HEALTHY:
            brokers = [FakeBroker(number, cluster_id=cluster_id(name)) for number in range(2)]
            at = [stack.enter_context(server(broker)) for broker in brokers]
            for broker in brokers:
                broker.brokers, broker.controller_id = dict(enumerate(at)), 0
                broker.topics = {"orders": {0: (0, [0, 1]), 1: (1, [1, 0])}}
            found[name] = at[0]
        yield {name: f"{host}:{port}" for name, (host, port) in found.items()}


@pytest.fixture
def store(places, monkeypatch, tmp_path):
    folder = tmp_path / "clusters.d"
    folder.mkdir()
    (folder / "defaults.yaml").write_text("defaults: {labels: {env: test}}\n")
    for name, place in places.items():
        limits = LIMITS.get(name, "{read_s: 300, settle_s: 0, audit_s: 1800}")
        (folder / f"{name}.yaml").write_text(f"clusters: {{{name}: {{bootstrap: ['{place}'], limits: {limits}}}}}\n")
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(folder))
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("KAFKA_AUDIT_MIN_COVERAGE", "0.1")
    return Store(tmp_path / "store")


def test_a_dead_cluster_and_one_that_drips_say_so_and_spoil_no_other_report(store, places):
    names = audit_tasks.cluster_names(None, {"env": "test"})
    assert sorted(names) == sorted(places)
    snapshots = {name: audit_tasks.collect_cluster(name, {}) for name in names}

    run = audit_tasks.write_run_request(snapshots.values(), "manual__1")
    answer(store, run)
    judged = audit_tasks.report_run(run, Events())
    assert judged == snapshots
    for name in HEALTHY:
        document = report_json(store.read_report(snapshots[name]))
        assert document["cluster_id"] == cluster_id(name)
        assert document["coverage"]["answered"] == document["coverage"]["asked"] > 0
        assert {finding["code"] for finding in document["findings"] if finding["status"] == "FAIL"}.isdisjoint({"KA001", "KA301"})

    failed = {}
    for name in names:
        try:
            audit_tasks.gate(name, judged, "", Events())
        except GateFailed as error:
            failed[name] = str(error)
    assert places["dead"] in failed["dead"]
    assert places["drips"] in failed["drips"]
    assert [name for name in HEALTHY if places[name] in failed.get(name, "")] == []

"""`SafeToRestartSensor` without Airflow's server, on brokers that a test can change; `tests/what_if` holds what is safe."""

import asyncio
import contextlib
import json

import pytest
from airflow.sdk.exceptions import TaskDeferred
from airflow.triggers.base import TriggerEvent

from collect.fakes import FakeBroker, server
from kafka_audit.airflow import SafeToRestartSensor
from kafka_audit.airflow.operators.restart_sensor import PauseTrigger
from kafka_audit.model.errors import UsageError

ORDERS = {0: (0, [0, 1, 2]), 1: (1, [1, 2, 0])}


@pytest.fixture
def brokers(monkeypatch, tmp_path):
    """Serve three brokers of a cluster without an authorizer, and yield them."""
    with contextlib.ExitStack() as stack:
        served = [FakeBroker(number, cluster_id="id-of-prod".ljust(22, "x")) for number in range(3)]
        at = [stack.enter_context(server(broker)) for broker in served]
        for broker in served:
            broker.brokers, broker.controller_id, broker.topics = dict(enumerate(at)), 0, {"orders": ORDERS}
        clusters = tmp_path / "clusters.yaml"
        bootstrap = json.dumps([f"{host}:{port}" for host, port in at])
        clusters.write_text(f"clusters:\n  prod: {{bootstrap: {bootstrap}, limits: {{settle_s: 0, read_s: 300}}}}\n")
        monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(clusters))
        monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
        yield served


def sensor(**more):
    return SafeToRestartSensor(**{"task_id": "safe", "cluster": "prod", "without": "broker:2", "poke_interval": 0.01, **more})


def show(brokers, topics):
    for broker in brokers:
        broker.topics = topics


@pytest.mark.usefixtures("brokers")
def test_it_ends_at_once_where_nothing_stops_and_keeps_no_snapshot(tmp_path):
    found = sensor(allow_unknown=True).execute({})
    assert (found["cluster"], found["without"], found["safe"] is False) == ("prod", ["broker:2"], False)
    assert json.loads(json.dumps(found)) == found
    assert not (tmp_path / "store").exists()


def test_it_waits_while_a_partition_would_have_no_leader(brokers):
    show(brokers, {"orders": {0: (2, [2])}})
    with pytest.raises(TaskDeferred) as deferred:
        sensor(deferrable=True, timeout=60, allow_unknown=True).execute({})
    path, arguments = deferred.value.trigger.serialize()
    assert path == "kafka_audit.airflow.operators.restart_sensor.PauseTrigger"
    assert not deferred.value.kwargs, "`airflow dags test` drops them"
    assert json.loads(json.dumps(arguments)) == arguments

    async def first():
        return await anext(PauseTrigger(**arguments).run())

    event = asyncio.run(first())
    assert isinstance(event, TriggerEvent)
    show(brokers, {"orders": ORDERS})
    waiting = sensor(deferrable=True, timeout=60, allow_unknown=True)
    assert getattr(waiting, deferred.value.method_name)({}, event.payload)["safe"] is not False


def test_its_time_ends_with_the_reason(brokers):
    show(brokers, {"orders": {0: (2, [2])}})
    reason = r"Do not stop broker 2: 1 partition of orders would have no leader\. Add replicas to 1 partition"
    with pytest.raises(TimeoutError, match=reason):
        sensor(deferrable=True, timeout=0).execute({})


def test_its_reason_names_the_broker_to_wait_for(brokers):
    show(brokers, {"orders": {0: (2, [2, 1], 3, [2])}})
    with pytest.raises(
        TimeoutError,
        match=r"would have no leader\. Bring broker 1 back in sync in 1 partition: wait for a catch-up",
    ):
        sensor(deferrable=True, timeout=0).execute({})


@pytest.mark.usefixtures("brokers")
def test_what_is_not_decided_is_not_safe():
    """Nothing tells the quorum of these brokers, or what topics set; so the loss of a controller cannot be called safe."""
    with pytest.raises(TaskDeferred):
        sensor(deferrable=True, timeout=60).execute({})


@pytest.mark.usefixtures("brokers")
def test_the_margin_counts():
    with pytest.raises(TimeoutError, match="fewer copies than the margin asks for"):
        sensor(deferrable=True, timeout=0, margin=4, allow_unknown=True).execute({})


@pytest.mark.usefixtures("brokers")
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"cluster": "prd"}, "has no cluster 'prd'"),
        ({"without": []}, "names nothing that is stopped"),
        ({"without": "broker:9"}, "has no broker:9"),
        ({"without": ["broker:1", "brokr:2"]}, "is not a loss"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_it_does_not_wait_for_what_cannot_come(wrong, says):
    with pytest.raises(UsageError, match=says):
        sensor(deferrable=True, timeout=60, **wrong).execute({})

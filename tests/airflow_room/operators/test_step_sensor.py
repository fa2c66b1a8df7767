"""`KafkaMaySensor` without Airflow's server, on brokers that a test can change; `tests/may` holds what may be done."""

import pytest
from airflow.sdk.exceptions import AirflowFailException, TaskDeferred

from airflow_room.operators.test_restart_sensor import ORDERS, brokers, show
from kafka_audit.airflow import KafkaMaySensor
from kafka_audit.airflow.tasks import step_tasks
from kafka_audit.model.errors import UsageError

__all__ = ["brokers"]


def sensor(step, **more):
    return KafkaMaySensor(**{"task_id": "may", "cluster": "prod", "step": step, "poke_interval": 0.01, **more})


def test_it_audits_waits_and_keeps_no_snapshot(brokers, tmp_path):
    show(brokers, {"orders": {0: (2, [2])}})
    with pytest.raises(TaskDeferred):
        sensor("stop 2", deferrable=True, timeout=600).execute({})
    with pytest.raises(TimeoutError, match=r"prod: stop 2: NOT_NOW within 0 s: one more replica of 1 partition"):
        sensor("stop 2", deferrable=True, timeout=0).execute({})
    assert not (tmp_path / "store").exists()
    show(brokers, {"orders": ORDERS})


@pytest.mark.usefixtures("brokers")
def test_what_is_never_right_fails_at_once():
    with pytest.raises(AirflowFailException, match="NEVER: the committed offsets of every group"):
        sensor(["delete-topic", "__consumer_offsets"]).execute({})


@pytest.mark.usefixtures("brokers")
@pytest.mark.parametrize("step", ["halt 2", "", "stop"])
def test_what_is_no_step_is_an_error_of_the_user(step):
    with pytest.raises(UsageError):
        sensor(step).execute({})


def test_it_ends_with_the_answer(monkeypatch):
    found = {"cluster": "prod", "step": "stop 2", "answer": "GO", "waits_for": None, "loses": None, "read_first": None}
    monkeypatch.setattr(step_tasks, "step_answer_now", lambda *_: found)
    assert sensor("stop 2").poke({}).xcom_value == found

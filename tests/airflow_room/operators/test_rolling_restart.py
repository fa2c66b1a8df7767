"""The DAG of docs/what-if.md as it is printed: restart, wait, next, and stop before the first broker that is not safe."""

import re
import shlex

import pytest
from airflow.sdk import DAG

from airflow_environment import ROOT
from kafka_audit.airflow import KafkaAuditOperator, SafeToRestartSensor


@pytest.fixture
def printed():
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "what-if.md").read_text(), re.DOTALL)
    found = {}
    exec(code.replace("\nrolling_restart()\n", "\nmade = rolling_restart()\n"), found)  # noqa: S102 -- our own page
    return found


def test_it_is_a_chain_of_a_sensor_and_a_restart_for_each_broker(printed):
    dag = printed["made"]
    assert isinstance(dag, DAG)
    order, task = [], dag.roots[0]
    while task is not None:
        order.append(task)
        task = next(iter(task.downstream_list), None)
    assert [task.task_id for task in order] == [
        *(f"{kind}_{broker}" for broker in printed["BROKERS"] for kind in ("safe", "restart")),
        "last_is_back",
        "audit",
    ]
    assert len(dag.tasks) == len(order)
    sensors = [task for task in order if isinstance(task, SafeToRestartSensor)]
    brokers = [*printed["BROKERS"], printed["BROKERS"][0]]
    assert [sensor.without for sensor in sensors] == [f"broker:{broker}" for broker in brokers]
    assert all(sensor.deferrable for sensor in sensors)
    assert {task.trigger_rule for task in order} == {"all_success"}, "a sensor that fails stops what comes after it"
    assert isinstance(order[-1], KafkaAuditOperator)


def test_each_restart_is_of_its_own_broker(printed):
    assert printed["RESTART"].count("{broker}") == 1
    restarts = [task for task in printed["made"].tasks if task.task_id.startswith("restart_")]
    lines = {restart.task_id: shlex.split(restart.python_callable(*restart.op_args, **restart.op_kwargs)) for restart in restarts}
    assert lines == {
        f"restart_{broker}": ["ssh", f"kafka-{broker}", "sudo", "systemctl", "restart", "kafka"] for broker in printed["BROKERS"]
    }

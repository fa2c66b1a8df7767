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
    assert [one.task_id for one in order] == [
        *(f"{kind}_{broker}" for broker in printed["BROKERS"] for kind in ("safe", "restart")),
        "last_is_back",
        "audit",
    ]
    assert len(dag.tasks) == len(order)
    sensors = [one for one in order if isinstance(one, SafeToRestartSensor)]
    brokers = [*printed["BROKERS"], printed["BROKERS"][0]]
    assert [one.without for one in sensors] == [f"broker:{broker}" for broker in brokers]
    assert all(one.deferrable for one in sensors)
    assert {one.trigger_rule for one in order} == {"all_success"}, "a sensor that fails stops what comes after it"
    assert isinstance(order[-1], KafkaAuditOperator)


def test_each_restart_is_of_its_own_broker(printed):
    assert printed["RESTART"].count("{broker}") == 1
    restarts = [one for one in printed["made"].tasks if one.task_id.startswith("restart_")]
    lines = {one.task_id: shlex.split(one.python_callable(*one.op_args, **one.op_kwargs)) for one in restarts}
    assert lines == {
        f"restart_{broker}": ["ssh", f"kafka-{broker}", "sudo", "systemctl", "restart", "kafka"] for broker in printed["BROKERS"]
    }

"""The DAG as Airflow parses it, without a database."""

import json
import os

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk.exceptions import AirflowException, ParamValidationError

from airflow_environment import ROOT
from kafka_audit.airflow import KafkaAuditNotifier
from kafka_audit.airflow.alerts.failure_notes import note_failure
from kafka_audit.migration.plan import Kind
from kafka_audit.model.errors import SnapshotError, StoreBusyError, StoreError, UsageError

PARSE = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(sys.argv[1])
print("RESULT", json.dumps({"dags": sorted(bag.dags), "errors": bag.import_errors, "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="session")
def dag():
    bag = DagBag(ROOT / "dags")
    assert bag.import_errors == {}
    return bag.dags["kafka_audit"]


@pytest.fixture
def parsed(airflow_python):
    """Return a function that returns what a script finds where the DAGs were not yet imported, in this environment."""

    def run(script, **environment):
        completed = airflow_python.run(script, str(ROOT / "dags"), environment={**os.environ, **environment})
        assert completed.returncode == 0, completed.stderr
        (line,) = (line for line in completed.stdout.splitlines() if line.startswith("RESULT "))
        return json.loads(line.removeprefix("RESULT "))

    return run


def test_parsing_imports_no_client_and_no_spark(parsed):
    """A DAG file is parsed every 30 seconds; the collector's and Spark's libraries belong into the tasks."""
    found = parsed(PARSE)
    assert found["errors"] == {}
    assert found["dags"] == ["kafka_audit", "kafka_audit_after_migration", "kafka_audit_before_migration"]
    heavy = {"pyspark", "kafka", "kazoo", "pyarrow", "pandas"}
    assert heavy.isdisjoint(module.partition(".")[0] for module in found["modules"])


SCHEDULE = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(sys.argv[1])
watched = bag.dags["kafka_audit_suspected"].schedule.objects
watchers = {asset.name: [type(one.trigger).__name__ for one in asset.watchers] for asset in watched}
tasks = {
    name: {task.task_id: [type(task).__name__, task.trigger_rule, sorted(task.downstream_task_ids)] for task in dag.tasks}
    for name, dag in bag.dags.items()
}
found = {
    "errors": bag.import_errors,
    "watchers": watchers,
    "tasks": [tasks["kafka_audit"], tasks["kafka_audit_suspected"]],
    "dags": {name: [str(dag.schedule), dag.max_active_runs, dag.is_paused_upon_creation] for name, dag in bag.dags.items()},
    "modules": sorted(sys.modules),
}
print("RESULT", json.dumps(found))
"""


def test_with_the_watch_a_dag_of_its_own_runs_on_suspicions_and_parsing_stays_light(parsed, tmp_path):
    clusters = tmp_path / "clusters.yaml"
    clusters.write_text("clusters: {prod: {bootstrap: [h:1]}, test: {zookeeper: 'h:2181'}}")
    found = parsed(SCHEDULE, KAFKA_AUDIT_WATCH="on", KAFKA_AUDIT_CLUSTERS=str(clusters))
    assert found["errors"] == {}
    scheduled, suspected = found["tasks"]
    assert scheduled == suspected != {}
    assert found["dags"]["kafka_audit"] == ["*/15 * * * *", 1, None]
    assert found["dags"]["kafka_audit_suspected"][1:] == [4, False]
    assert found["watchers"] == {
        "kafka_audit/prod/suspect": ["ClusterSuspectTrigger"],
        "kafka_audit/test/suspect": ["ClusterSuspectTrigger"],
    }
    assert {"kafka", "kazoo", "pyarrow", "pandas"}.isdisjoint(module.partition(".")[0] for module in found["modules"])


def test_it_runs_on_time_one_at_a_time_and_never_catches_up(dag):
    assert dag.schedule == "*/15 * * * *"
    assert (dag.catchup, dag.max_active_runs) == (False, 1)
    assert dag.dagrun_timeout is not None
    assert all(task.execution_timeout for task in dag.tasks)


def test_it_is_described(dag):
    assert "gate" in dag.doc_md
    assert dag.tags == {"kafka", "audit"}
    assert all(task.owner == "kafka-audit" for task in dag.tasks)


def test_one_cluster_can_be_asked_for(dag):
    param = dag.params.get_param("cluster")
    assert param.value is None
    assert param.schema["type"] == ["null", "string"]


def test_clusters_with_a_label_can_be_asked_for(dag):
    param = dag.params.get_param("labels")
    assert param.value is None
    assert param.resolve({"env": "prod"}) == {"env": "prod"}
    with pytest.raises(ParamValidationError):
        param.resolve({"env": 1})


POOLS = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(sys.argv[1])
bounds = {
    dag.dag_id: {task.task_id: (task.pool, task.max_active_tis_per_dagrun) for task in dag.tasks} for dag in bag.dags.values()
}
print("RESULT", json.dumps(bounds))
"""


def test_a_pool_bounds_the_tasks_that_read_a_cluster_and_no_other(parsed):
    for dag_id, tasks in parsed(POOLS, KAFKA_AUDIT_POOL="kafka_audit").items():
        assert tasks.pop("collect") == ["kafka_audit", None], dag_id
        assert {pool for pool, _ in tasks.values()} == {"default_pool"}, dag_id


def test_without_a_pool_four_clusters_are_read_at_a_time(parsed):
    tasks = parsed(POOLS, KAFKA_AUDIT_POOL="")
    assert tasks["kafka_audit"]["collect"] == ["default_pool", 4]
    assert tasks["kafka_audit_before_migration"]["collect"] == ["default_pool", None]


def test_the_order_of_tasks(dag):
    assert {task.task_id: task.downstream_task_ids for task in dag.tasks} == {
        "clusters": {"collect", "gate"},
        "collect": {"compare"},
        "compare": {"report"},
        "report": {"gate"},
        "gate": set(),
    }


ORDER = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
tasks = DagBag(sys.argv[1]).dags["kafka_audit"].tasks
print("RESULT", json.dumps({task.task_id: [task.queue, task.executor, sorted(task.downstream_task_ids)] for task in tasks}))
"""


@pytest.mark.parametrize(
    ("executor", "named"),
    [
        ("CeleryExecutor", "CeleryExecutor"),
        ("LocalExecutor,airflow.providers.edge3.executors.EdgeExecutor", "airflow.providers.edge3.executors.EdgeExecutor"),
        ("LocalExecutor,far:airflow.providers.edge3.executors.EdgeExecutor", "far"),
        ("LocalExecutor", None),
        ("KubernetesExecutor", None),
    ],
)
def test_a_queue_of_a_vantage_has_a_task_where_an_executor_honours_it(parsed, tmp_path, executor, named):
    clusters = tmp_path / "clusters.yaml"
    clusters.write_text(
        "clusters: {c: {bootstrap: [h:1], vantages: {clients: {queue: dmz}, more: {queue: dmz}}}, d: {bootstrap: [h:1]}}"
    )
    settings = {"KAFKA_AUDIT_CLUSTERS": str(clusters), "AIRFLOW__CORE__EXECUTOR": executor}
    found = parsed(ORDER, **settings)
    assert found["collect"][2] == ["compare"]
    if named is None:
        assert found["clusters"][2] == ["collect", "gate"]
        assert not {task for task in found if task.startswith(("errands", "probe"))}
    else:
        assert found["clusters"][2] == ["collect", "errands", "gate"]
        assert found["errands"][2] == ["probe_dmz"]
        assert found["probe_dmz"] == ["dmz", named, ["collect"]]


def test_a_cluster_file_that_cannot_be_read_leaves_the_dag_as_it_is(parsed, tmp_path):
    settings = {"KAFKA_AUDIT_CLUSTERS": str(tmp_path / "none.yaml"), "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor"}
    assert "errands" not in parsed(ORDER, **settings)


def test_only_what_a_retry_can_heal_is_retried(dag):
    assert {task.task_id: task.retries for task in dag.tasks} == {
        "clusters": 0, "collect": 2, "compare": 2, "report": 2, "gate": 0,
    }  # fmt: skip
    kinds = (StoreBusyError, OSError, TimeoutError, StoreError, SnapshotError, UsageError, ValueError)
    for policy in (
        dag.task_dict["collect"].partial_kwargs["retry_policy"],
        dag.task_dict["report"].retry_policy,
    ):
        decisions = {kind: policy.evaluate(kind("why"), 1, 2).action.value for kind in kinds}
        assert decisions == dict.fromkeys(kinds[:3], "retry") | dict.fromkeys(kinds[3:], "fail")
    policy = dag.task_dict["compare"].retry_policy
    decisions = {kind: policy.evaluate(kind("why"), 1, 2).action.value for kind in (*kinds[:-1], AirflowException)}
    assert decisions == dict.fromkeys(kinds[:3], "retry") | dict.fromkeys(kinds[3:-1], "fail") | {AirflowException: "default"}


def test_gates_always_run_and_tell(dag):
    gate = dag.task_dict["gate"]
    assert gate.trigger_rule == "all_done"
    notifier = gate.partial_kwargs["on_failure_callback"]
    assert isinstance(notifier, KafkaAuditNotifier)
    assert gate.partial_kwargs["on_success_callback"] is notifier
    assert [type(callback) for callback in dag.task_dict["clusters"].on_failure_callback] == [KafkaAuditNotifier]
    assert not dag.task_dict["clusters"].on_success_callback


def test_whatever_fails_before_the_gates_leaves_them_its_reason(dag):
    assert dag.task_dict["collect"].partial_kwargs["on_failure_callback"] is note_failure
    assert [list(dag.task_dict[name].on_failure_callback) for name in ("compare", "report")] == [[note_failure]] * 2


def test_the_schedule_can_be_switched_off(parsed):
    program = (
        "import json, sys; from airflow.dag_processing.dagbag import DagBag; "
        "print('RESULT', json.dumps(DagBag(sys.argv[1]).dags['kafka_audit'].schedule))"
    )
    assert parsed(program, KAFKA_AUDIT_SCHEDULE="none") is None


@pytest.fixture(scope="session")
def gates():
    bag = DagBag(ROOT / "dags")
    return [bag.dags[f"kafka_audit_{when}_migration"] for when in ("before", "after")]


def test_the_dags_around_a_migration_run_by_hand_only(gates):
    assert [(gate.schedule, gate.max_active_runs) for gate in gates] == [(None, 1), (None, 1)]
    assert all("kafka-audit" in gate.doc_md for gate in gates)


def test_a_change_that_nobody_approves_is_rejected(gates):
    approve = gates[0].task_dict["approve"]
    assert approve.defaults == ["Reject"]
    assert approve.response_timeout.total_seconds() == 24 * 3600
    assert approve.execution_timeout is None
    assert approve.upstream_task_ids == {"decide"}
    assert approve.downstream_task_ids == {"keep"}


def test_the_form_of_a_migration_is_titled_and_asks_for_no_secret(gates):
    params = {name: gates[0].params.get_param(name) for name in gates[0].params}
    assert all(param.schema["title"] for param in params.values())
    assert params["kind"].schema["enum"] == [str(kind) for kind in Kind]
    assert "format" not in params["proposed"].schema

"""The scheduled audit: a snapshot of every cluster, one Spark submission for all, and a gate for each cluster.

Where the watch is on, another DAG of the same tasks audits what is suspected, and does not wait for the scheduled one.
"""

from typing import Any

from kafka_audit.airflow import environment
from kafka_audit.airflow.audit_dag import CLUSTERS_AT_ONCE, audit_dag
from kafka_audit.airflow.schedule.suspicions import suspicions

DOC = """
Audits every cluster in the cluster file: reads all views, compares them with each other and with the previous snapshot, and fails
the task `gate` of each cluster that has unmuted findings of severity `KAFKA_AUDIT_FAIL_ON` (default: high) or above.

`clusters` → `collect` (one per cluster) → `compare` (Spark) → `report` → `gate` (one per cluster);
if a vantage names a queue, `errands` → `probe_…` (one per queue) run before `collect`

* One cluster only: trigger with `{"cluster": "name"}`. Clusters with a label: `{"labels": {"env": "prod"}}`.
* It runs every 15 minutes: an audit reads metadata only, and it can find a fault before clients do. Set `KAFKA_AUDIT_SCHEDULE` to
  another cron expression, or to `none`.
* `KAFKA_AUDIT_WATCH=on`: the triggerer reads little from each cluster every 20 seconds, and the DAG `kafka_audit_suspected` runs
  for a cluster when something is suspected there. It does not wait for a run of this DAG.
* A gate that fails with "not audited" reports a problem of this DAG, not of the cluster.
* Alerts: create a connection `kafka_audit_smtp` (extra: `from_email`, `to`) or `kafka_audit_slack` (incoming webhook), and test
  it with `kafka-audit alert-test`. A message is sent when an incident is new, worse or resolved, and once a day in between.
* Other DAGs: `schedule=[Asset(name="kafka_audit/prod/clean", uri="x-kafka-audit://prod/clean")]` runs a DAG after each audit of
  prod that passes its gate; `…/audited` after each audit with a report.
* Spark runs on the worker, unless a connection `kafka_audit_spark` names another master.
"""

SUSPECTED_DOC = """
Audits a cluster when the watch suspects something there (`KAFKA_AUDIT_WATCH=on`), also while a run of `kafka_audit` goes on.

`clusters` → `collect` (one per cluster) → `compare` (Spark) → `report` → `gate` (one per cluster)

* It has the tasks, settings, alerts and reports of `kafka_audit`. An incident that both find is one message.
* It is not paused at first: the setting that starts the watch is enough. Pause it to end the watch.
* Several runs at a time are possible, for clusters that are suspected one after the other.
"""


def kafka_audit() -> Any:  # noqa: ANN401 -- a DAG
    """Return the DAG; its tasks are in `kafka_audit.airflow.audit_dag`."""
    return audit_dag("kafka_audit", schedule=environment.schedule(), max_active_runs=1, doc_md=DOC)


if (suspected := suspicions()) is not None:
    kafka_audit_suspected_dag = audit_dag(
        "kafka_audit_suspected",
        schedule=suspected,
        max_active_runs=CLUSTERS_AT_ONCE,
        is_paused_upon_creation=False,
        doc_md=SUSPECTED_DOC,
    )

kafka_audit_dag = kafka_audit()

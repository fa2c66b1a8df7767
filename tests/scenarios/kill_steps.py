"""The steps of an audit, each as a process that can be killed: `kill_steps.py STEP STORE CLUSTERS RUN FILE`.

`compare` is what the task of that name does: spark-submit by the operator. RUN is the snapshot's id
there, and FILE gets the run's name. `report` is what the tasks `report` and `gate` do at last: the reports, then an alert that
takes its time to be delivered; FILE gets a line for each that was. Both print a line when
their own work begins, for to import Airflow takes longer.
"""

import os
import sys
import time
from pathlib import Path

from kafka_audit import audit
from kafka_audit.store import Store

JOB = Path(__file__).parents[2] / "spark_jobs" / "diff_snapshots.py"
ALERT_S = 0.05


def compare(_store, snapshot_id, file):
    from kafka_audit.airflow.operators.compare_operator import CompareSnapshots  # noqa: PLC0415 -- only here, for it takes seconds

    begin()
    run = CompareSnapshots(task_id="compare", snapshot_ids=[snapshot_id], application=str(JOB)).execute({"run_id": "manual"})
    Path(file).write_text(run)


def report(store, run, file):
    from kafka_audit.alerting import delivery  # noqa: PLC0415 -- see above
    from kafka_audit.alerting.conditions import AlertLimits, AuditResult  # noqa: PLC0415
    from kafka_audit.alerting.delivery import Channel  # noqa: PLC0415
    from kafka_audit.alerting.messages import Links  # noqa: PLC0415

    def send(message):
        time.sleep(ALERT_S)
        with open(file, "ab", buffering=0) as delivered:  # noqa: PTH123 -- one write, whole
            delivered.write(f"{message.subject}\n".encode())

    begin()
    (document,) = audit.write_reports(store, run, {})
    channel = Channel(name="pager", needs="", send=send, target=lambda: "a pager")
    result = AuditResult(cluster=document.cluster, document=document)
    delivery.deliver(channel, result.cluster, result, Links(), limits=AlertLimits(), store_root=store.root)


def begin():
    sys.stdout.write("begun\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ |= {"KAFKA_AUDIT_STORE": sys.argv[2], "KAFKA_AUDIT_CLUSTERS": sys.argv[3]}
    {"compare": compare, "report": report}[sys.argv[1]](Store(sys.argv[2]), *sys.argv[4:])

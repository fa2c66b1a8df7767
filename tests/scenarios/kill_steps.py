"""The steps of an audit, each as a process that can be killed: `kill_steps.py STEP STORE RUN FILE`.

`compare` is what the task of that name does: spark-submit by the operator. `report` is what the tasks `report` and `gate` do at
last: the reports, then an alert that takes its time to be delivered; FILE gets a line for each that was. Both print a line when
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


def compare(store, run, _file):
    from kafka_audit.airflow_glue.submit import PY_FILES, CompareSnapshots  # noqa: PLC0415 -- only here, for it takes seconds

    zipped = Path(store.root, "runs", run, PY_FILES)
    begin()
    assert zipped.is_file()
    CompareSnapshots(task_id="compare", run=run, application=str(JOB)).execute({})


def report(store, run, file):
    from kafka_audit.airflow_glue import alerts, telling  # noqa: PLC0415 -- see above
    from kafka_audit.airflow_glue.channels import Channel  # noqa: PLC0415
    from kafka_audit.airflow_glue.seen import Audited  # noqa: PLC0415

    def send(alert):
        time.sleep(ALERT_S)
        with open(file, "ab", buffering=0) as delivered:  # noqa: PTH123 -- one write, whole
            delivered.write(f"{alert.subject}\n".encode())

    begin()
    (document,) = audit.conclude(store, run, {})
    channel = Channel(name="pager", wants="", send=send, target=lambda: "a pager")
    telling.tell(channel, document["cluster"], Audited(cluster=document["cluster"], document=document), alerts.Places())


def begin():
    sys.stdout.write("begun\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ["KAFKA_AUDIT_STORE"] = sys.argv[2]
    {"compare": compare, "report": report}[sys.argv[1]](Store(sys.argv[2]), *sys.argv[3:])

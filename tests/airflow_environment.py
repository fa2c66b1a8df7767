"""Point Airflow at a folder of its own before anything imports it; conftests of folders whose tests import Airflow call it."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def variables(home):
    """Return the environment of an Airflow in a folder, with the DAGs and plugins of this checkout."""
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
    }


def apply():
    if "KAFKA_AUDIT_TESTS_HOME" in os.environ:
        return
    # In pytest's folder, of which it keeps the last three: who is killed does not clean up.
    home = tempfile.mkdtemp(prefix="kafka-audit-tests-airflow-", dir=os.environ.get("KAFKA_AUDIT_TESTS_FOLDER"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ.update({"KAFKA_AUDIT_TESTS_HOME": home, **variables(home)})

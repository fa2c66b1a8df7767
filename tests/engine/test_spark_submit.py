"""The job as a cluster runs it: with the zip, and a driver whose Python has what `requirements.txt` names."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from engine.stores import put, snapshot_id
from kafka_audit.airflow.tasks.pyfiles import package_zip

JOB = Path(__file__).parents[2] / "spark_jobs" / "diff_snapshots.py"
SPARK_HOME = Path(pyspark.__file__).parent
WORLDS = {"cut": {"now": {"views": {2: {"brokers": "none", "topics": "none", "controller_id": -1}}}}, "whole": {"previous": {}}}


def submit(tmp_path, master, *arguments):
    archive = tmp_path / "kafka_audit.zip"
    archive.write_bytes(package_zip())
    environment = {
        key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV", "PYSPARK_SUBMIT_ARGS"}
    }
    environment |= {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(SPARK_HOME),
    }
    command = [SPARK_HOME / "bin" / "spark-submit", "--master", master, "--conf", "spark.ui.enabled=false"]
    command += ["--conf", "spark.sql.shuffle.partitions=2", "--py-files", archive, JOB, *arguments]
    return subprocess.run(list(map(str, command)), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.spark
@pytest.mark.scenario  # a minute and a half each
@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,1,1024]"])
def test_submitted(tmp_path, master):
    store = put(tmp_path / "store", "r1", WORLDS)
    completed = submit(tmp_path, master, "--store", store.root, "--run", "r1")
    assert completed.returncode == 0, completed.stderr[-3000:]
    assert completed.stdout == ""
    cut, whole = (store.read_judged("r1", snapshot_id(name)) for name in ("cut", "whole"))
    assert failed(cut) - failed(whole) == {"KA105", "KA107", "KA202", "KA302"}
    assert (cut.document.changes, whole.document.changes) == ((), ())


def failed(judged):
    return {finding.code for finding in judged.document.findings if finding.status == "FAIL"}


@pytest.mark.spark
def test_an_error_ends_the_submission(tmp_path):
    put(tmp_path / "store", "r1", {})
    completed = submit(tmp_path, "local[1]", "--store", tmp_path / "store", "--run", "r2")
    assert completed.returncode != 0
    assert "EngineError" in completed.stdout
    assert "request.json: does not exist" in completed.stdout

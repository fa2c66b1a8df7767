"""The job as a cluster runs it: an interpreter that has nothing but the standard library, Spark and the zip."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from engine.stores import changes, judgements, put
from kafka_audit.airflow_glue.pyfiles import package_zip
from kafka_audit.model.finding import Status

JOB = Path(__file__).parents[2] / "spark_jobs" / "diff_snapshots.py"
SPARK_HOME = Path(pyspark.__file__).parent
WORLDS = {"cut": {"now": {"views": {2: {"brokers": "none", "topics": "none", "controller_id": -1}}}}, "whole": {"previous": {}}}


def submit(tmp_path, master, *arguments):
    archive = tmp_path / "kafka_audit.zip"
    archive.write_bytes(package_zip())
    bare = sys._base_executable
    environment = {
        key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV", "PYSPARK_SUBMIT_ARGS"}
    }
    environment |= {
        "PYSPARK_PYTHON": bare,
        "PYSPARK_DRIVER_PYTHON": bare,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(SPARK_HOME),
    }
    command = [SPARK_HOME / "bin" / "spark-submit", "--master", master, "--conf", "spark.ui.enabled=false"]
    command += ["--conf", "spark.sql.shuffle.partitions=2", "--py-files", archive, JOB, *arguments]
    return subprocess.run(
        list(map(str, command)), cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.spark
@pytest.mark.scenario  # a minute and a half each
@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,1,1024]"])
def test_submitted(tmp_path, master):
    store = tmp_path / "store"
    put(store, "r1", WORLDS)
    done = submit(tmp_path, master, "--store", store, "--run", "r1")
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == ""
    failed = {(one.snapshot_id, one.code) for one in judgements(store, "r1") if one.status is Status.FAIL}
    assert failed == {("cut", code) for code in ("KA105", "KA107", "KA302")}
    assert changes(store, "r1") == []


@pytest.mark.spark
def test_an_error_ends_the_submission(tmp_path):
    put(tmp_path / "store", "r1", {})
    done = submit(tmp_path, "local[1]", "--store", tmp_path / "store", "--run", "r2")
    assert done.returncode != 0
    assert "EngineError" in done.stdout
    assert "request.json: cannot be read" in done.stdout

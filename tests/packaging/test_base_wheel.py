"""The wheel alone: a first verdict on a cluster in a clean environment without Java, Spark and Airflow."""

import json
import subprocess
import sys

import pytest

from scenarios.loopback_cluster import LoopbackCluster

pytestmark = pytest.mark.scenario
MOST_MB = 345  # of packages; pyarrow is half of them, and has no smaller wheel


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with what `pip install` of the wheel installs."""
    folder = tmp_path_factory.mktemp("base") / "packages"
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", folder, wheel]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def run(installed, tmp_path, *arguments):
    environ = {"PATH": str(installed / "bin"), "PYTHONPATH": str(installed), "HOME": str(tmp_path), "PYTHONNOUSERSITE": "1"}
    command = [sys.executable, "-S", "-m", "kafka_audit.cli", *arguments]  # -S: nothing of this environment
    return subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)


def test_a_verdict_by_one_command(installed, tmp_path):
    cluster = LoopbackCluster()
    try:
        bootstrap, *_ = cluster.entry()["bootstrap"]
        healthy = run(installed, tmp_path, "run", "--bootstrap", bootstrap, "--name", "prod", "--format", "json")
        assert healthy.returncode == 0, healthy.stderr
        assert "a cluster file measures more" in healthy.stderr
        cluster.only(0, 2)
        broken = run(installed, tmp_path, "run", "--bootstrap", bootstrap, "--name", "prod", "--format", "json")
    finally:
        cluster.close()
    assert broken.returncode == 3, broken.stderr
    document = json.loads(broken.stdout)
    assert document["previous_snapshot_id"]
    assert [incident["headline"] for incident in document["incidents"]]


def test_it_is_small_and_lacks_spark_and_airflow(installed):
    names = {path.name for path in installed.iterdir()}
    assert {"duckdb", "kafka_audit", "pyarrow"} <= names
    assert not {"pyspark", "airflow", "py4j", "pandas"} & names
    assert sum(path.stat().st_size for path in installed.rglob("*") if path.is_file()) / 2**20 < MOST_MB


def test_a_missing_extra_is_one_line(installed, tmp_path):
    done = run(installed, tmp_path, "run", "--bootstrap", "127.0.0.1:1", "--engine", "spark")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith("-m pip install 'kafka-audit[spark]'\n")

"""The wheel alone: a first verdict on a cluster in a clean environment without Java, Spark and Airflow."""

import json
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from types import SimpleNamespace

import pytest
import yaml

from scenarios.loopback_cluster import LoopbackCluster

pytestmark = [pytest.mark.scenario, pytest.mark.bed]
MOST_MB = 337  # of packages: pyarrow, duckdb and numpy are 299 of them, and none of the three has a smaller wheel
PIP = {"pip", "setuptools"}  # of every environment


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A new environment after `pip install` of the wheel."""
    folder = tmp_path_factory.mktemp("base") / "environment"
    for command in ([sys.executable, "-m", "venv", folder], [folder / "bin" / "pip", "install", "--quiet", wheel]):
        completed = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
        assert completed.returncode == 0, completed.stderr
    (packages,) = folder.glob("lib/python*/site-packages")
    return SimpleNamespace(bin=folder / "bin", packages=packages)


def run(installed, tmp_path, *arguments, start=subprocess.run):
    environ = {"PATH": str(installed.bin), "HOME": str(tmp_path)}
    assert shutil.which("java", path=environ["PATH"]) is None
    command = [
        "env",
        "-i",
        *(f"{name}={value}" for name, value in environ.items()),
        str(installed.bin / "kafka-audit"),
        *arguments,
    ]
    return start(command, cwd=tmp_path, capture_output=True, text=True, check=False)


def test_a_verdict_by_one_command(installed, tmp_path):
    cluster = LoopbackCluster()
    try:
        bootstrap, *_ = cluster.entry()["bootstrap"]
        healthy = run(installed, tmp_path, "run", "--bootstrap", bootstrap, "--name", "prod", "--format", "json")
        assert healthy.returncode == 0, healthy.stderr
        assert "A cluster file measures more" in healthy.stderr
        cluster.only(0, 2)
        broken = run(installed, tmp_path, "run", "--bootstrap", bootstrap, "--name", "prod", "--format", "json")
    finally:
        cluster.close()
    assert broken.returncode == 3, broken.stderr
    document = json.loads(broken.stdout)
    assert document["previous_snapshot_id"]
    assert [incident["headline"] for incident in document["incidents"]]


def test_a_verdict_on_real_brokers_and_the_next_knows_it(installed, bed, cluster, tmp_path):
    bootstrap = ",".join(yaml.safe_load(cluster.clusters_yaml("bed"))["clusters"]["bed"]["bootstrap"])
    cluster.advertise_through_forward([2])
    try:
        reports = []
        for _ in range(2):
            completed = run(installed, tmp_path, "run", "--bootstrap", bootstrap, "--format", "json", start=bed.worker.run)
            assert completed.returncode == 3, completed.stderr
            reports.append(json.loads(completed.stdout))
    finally:
        cluster.advertise_directly()
    for report in reports:
        (incident,) = report["incidents"]
        assert "Broker 2" in incident["headline"]
    assert reports[1]["previous_snapshot_id"] == reports[0]["snapshot_id"]


def test_it_is_small_and_lacks_spark_and_airflow(installed):
    packages = {found.name.lower(): found for found in distributions(path=[str(installed.packages)])}
    assert {"duckdb", "kafka-audit", "pyarrow"} <= packages.keys()
    assert not {"pyspark", "apache-airflow", "py4j", "pandas"} & packages.keys()
    files = [path.locate() for name, found in packages.items() if name not in PIP for path in found.files]
    assert sum(path.stat().st_size for path in files if path.suffix != ".pyc" and path.is_file()) / 1e6 < MOST_MB


def test_a_missing_extra_is_one_line(installed, tmp_path):
    completed = run(installed, tmp_path, "run", "--bootstrap", "127.0.0.1:1", "--engine", "spark")
    assert (completed.returncode, completed.stderr.count("\n")) == (2, 1)
    assert completed.stderr.endswith("-m pip install 'kafka-audit[spark]'\n")

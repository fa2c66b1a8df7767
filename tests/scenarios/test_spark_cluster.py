"""The DAG on a standalone Spark cluster of two workers, by the Airflow connection alone: the findings of `local[*]`."""

import json
import re

import pytest

from scenarios.loopback_cluster import HERE, LoopbackCluster
from testbed.airflow_home import AirflowHome
from testbed.spark_cluster import SparkCluster

pytestmark = [pytest.mark.spark, pytest.mark.airflow, pytest.mark.scenario]

ID = re.compile(r"\d{8}T\d{6}Z-prod-[0-9a-f]{4}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
MEMORY = "1g"


def plain(document):
    """Return the text of a report without ids and times."""
    return TIME.sub("TIME", ID.sub("ID", document))


class Deployment:
    """An Airflow whose connection to Spark, and whose store, are set for each run."""

    def __init__(self, folder, cluster):
        self.folder = folder
        self.clusters = folder / "clusters.yaml"
        self.clusters.write_text(json.dumps({"clusters": {"prod": cluster.entry()}}))
        self.home = self._home("airflow", folder / "unused")
        self.home.ready(self.home.migrate())

    def _home(self, name, store, **variables):
        variables = {"KAFKA_AUDIT_SPARK_MEMORY": MEMORY, **variables}
        return AirflowHome(HERE, self.folder / name, clusters=self.clusters, store=store, variables=variables)

    def run(self, store, **connection):
        """Run the DAG with a connection `kafka_audit_spark`, None for none; return the run and the newest report."""
        variables = {"AIRFLOW_CONN_KAFKA_AUDIT_SPARK": json.dumps({"conn_type": "spark", **connection})} if connection else {}
        run = self._home("airflow", store, **variables).run(self.folder / f"{store.name}.log")
        report = store / "findings.json"
        return run, report.read_text() if report.is_file() else None


@pytest.fixture
def deployment(tmp_path):
    cluster = LoopbackCluster()
    stale = cluster.brokers[2]
    stale.brokers, stale.topics, stale.controller_id = {}, {}, -1
    yield Deployment(tmp_path, cluster)
    cluster.close()


def on(cluster, **extra):
    """Return the connection to a standalone cluster of this machine."""
    return {"host": cluster.master, "extra": {"conf": {"spark.driver.host": "127.0.0.1"}, **extra}}


def test_two_workers_find_what_one_machine_finds(deployment, tmp_path):
    here, alone = deployment.run(tmp_path / "alone")
    assert here.returncode == 1, here.tail()  # the gate
    with SparkCluster(tmp_path / "spark") as spark:
        there, shared = deployment.run(tmp_path / "shared", **on(spark))
        executors = spark.executors()
    assert there.returncode == 1, there.tail()
    assert {name.split("/")[0] for name in executors} == {"work-0", "work-1"}
    assert "KA105" in {one["code"] for one in json.loads(alone)["findings"] if one["status"] == "FAIL"}
    assert plain(shared) == plain(alone)

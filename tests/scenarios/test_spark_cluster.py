"""The DAG on a standalone Spark cluster of two workers, by Airflow connections alone: the findings of `local[*]`.

The store is a folder, then a bucket. Workers and executors have no login of the bucket but what the driver sends them.
"""

import contextlib
import json
import re
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from scenarios.loopback_cluster import HERE, LoopbackCluster
from testbed.airflow_home import AirflowHome
from testbed.jars import s3a_jars
from testbed.object_store import BUCKET, S3Server
from testbed.spark_cluster import SparkCluster

pytestmark = [pytest.mark.spark, pytest.mark.airflow, pytest.mark.scenario]

ID = re.compile(r"\d{8}T\d{6}Z-prod-[0-9a-f]{4}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
MEMORY = "1g"
KILL_AFTER_S = 4.0
"""After both executors have begun: the queries take longer than this."""


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
        home = AirflowHome(HERE, self.folder / name, clusters=self.clusters, store=store, variables=variables)
        for variable in [variable for variable in home.environment if variable.startswith("AWS_")]:
            del home.environment[variable]
        return home

    def run(self, root, log, **connections):
        """Run the DAG with connections `kafka_audit_…`."""
        variables = {f"AIRFLOW_CONN_KAFKA_AUDIT_{name.upper()}": json.dumps(value) for name, value in connections.items()}
        return self._home("airflow", root, **variables).run(self.folder / f"{log}.log")


@pytest.fixture
def deployment(tmp_path):
    cluster = LoopbackCluster()
    stale = cluster.brokers[2]
    stale.brokers, stale.topics, stale.controller_id = {}, {}, -1
    yield Deployment(tmp_path, cluster)
    cluster.close()


def on(cluster, **conf):
    """Return the connection to a standalone cluster of this machine."""
    return {"conn_type": "spark", "host": cluster.master, "extra": {"conf": {"spark.driver.host": "127.0.0.1", **conf}}}


def with_s3():
    """Return Spark configuration by which driver and executors have the client of S3."""
    jars = f"{s3a_jars()}/*"
    return {"spark.driver.extraClassPath": jars, "spark.executor.extraClassPath": jars}


class Commands:
    """All command lines of this machine while the block runs, looked at five times a second."""

    def __init__(self):
        self._lines, self._ended = set(), threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    @property
    def seen(self):
        return "\n".join(self._lines)

    def _look(self):
        while not self._ended.wait(0.2):
            for file in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    self._lines.add(file.read_text(errors="replace").replace("\0", " "))


def test_two_workers_find_what_one_machine_finds(deployment, tmp_path):
    here = deployment.run(tmp_path / "alone", "alone")
    assert here.returncode == 1, here.tail()  # the gate
    alone = (tmp_path / "alone" / "findings.json").read_text()
    assert "KA105" in {finding["code"] for finding in json.loads(alone)["findings"] if finding["status"] == "FAIL"}
    with SparkCluster(tmp_path / "spark") as spark, S3Server(tmp_path) as s3:
        there = deployment.run(tmp_path / "shared", "shared", spark=on(spark))
        assert there.returncode == 1, there.tail()
        assert {name.split("/")[0] for name in spark.executors()} == {"work-0", "work-1"}
        assert plain((tmp_path / "shared" / "findings.json").read_text()) == plain(alone)
        with Commands() as commands:
            far = deployment.run(f"s3://{BUCKET}/store", "bucket", spark=on(spark, **with_s3()), store=s3.connection())
        assert far.returncode == 1, far.tail()
        stored = s3.client("s3").get_object(Bucket=BUCKET, Key="store/findings.json")["Body"].read().decode()
        assert plain(stored) == plain(alone)
        written = spark.said() + far.log.read_text() + (tmp_path / "airflow" / "airflow.db").read_bytes().decode(errors="replace")
        everything = b"".join(s3.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in s3.objects())
    assert "--store s3://audits/store" in commands.seen
    for text in (commands.seen, written, everything.decode(errors="replace")):
        assert s3.secret not in text


def failures(report):
    """Return the failures of a report, and how often each is there."""
    return Counter(
        (finding["code"], finding["resource"]["name"]) for finding in report["findings"] if finding["status"] == "FAIL"
    )


def test_a_worker_killed_midway_costs_no_report_but_its_own(deployment, tmp_path):
    """The run ends with the right report, or fails with its reason; the next one, on the worker that is left, is right."""
    root, reports = tmp_path / "killed", []
    with SparkCluster(tmp_path / "spark") as spark:

        def kill():
            while len(spark.executors()) < 2:
                time.sleep(0.1)
            time.sleep(KILL_AFTER_S)
            spark.kill_worker(1)

        killer = threading.Thread(target=kill)
        killer.start()
        run = deployment.run(root, "killed", spark=on(spark))
        killer.join(5)
        assert not killer.is_alive()
        assert run.returncode == 1  # the gate, whether it has a report or not
        text = run.log.read_text()
        if (root / "findings.json").is_file():
            reports.append(json.loads((root / "findings.json").read_text()))
        else:
            assert "the differences between snapshots cannot be computed" in text or "Lost executor" in text, run.tail()
            assert "GateFailed" in text
        following = deployment.run(root, "following", spark=on(spark))
    assert following.returncode == 1, following.tail()
    reports.append(json.loads((root / "findings.json").read_text()))
    assert reports[-1]["snapshot_id"] == max(path.name for path in (root / "snapshots").iterdir())
    assert ("KA105", "broker/2") in failures(reports[-1])
    for report in reports:
        assert failures(report) == failures(reports[-1])
        assert set(failures(report).values()) == {1}

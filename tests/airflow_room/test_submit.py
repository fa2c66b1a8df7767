"""How the comparison reaches Spark. `spark-submit` is a script that notes how it was called, unless a test says otherwise."""

import json
import os
import sys
from pathlib import Path

import pytest
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

from kafka_audit.airflow import submit
from kafka_audit.airflow.submit import CompareSnapshots
from kafka_audit.checks import catalogue

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # the provider leaves its pipe open

NOTE = """#!{python}
import json, os, sys
umask = os.umask(0)
json.dump({{"argv": sys.argv[1:], "local_ip": os.environ.get("SPARK_LOCAL_IP"), "umask": umask}}, open({file!r}, "w"))
"""


def compare(application):
    return CompareSnapshots(task_id="compare", snapshot_ids=["20260131T080000Z-prod-00aa"], application=application)


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch, tmp_path):
    monkeypatch.setattr("kafka_audit.airflow.tasks.write_run_request", lambda *_: "run-1")
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SPARK", "")  # so that what the operator puts there is taken away again
    monkeypatch.delenv("AIRFLOW_CONN_KAFKA_AUDIT_SPARK")


@pytest.fixture
def submitted(monkeypatch, tmp_path):
    """Submit with a connection and return what `spark-submit` was given: options by name, and SPARK_LOCAL_IP."""
    binary, note = tmp_path / "bin" / "spark-submit", tmp_path / "note.json"
    binary.parent.mkdir()
    binary.write_text(NOTE.format(python=sys.executable, file=str(note)))
    binary.chmod(0o755)

    def run(connection):
        extra = {"spark-binary": "spark-submit", **connection.pop("extra", {})}
        monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SPARK", json.dumps({"conn_type": "spark", "extra": extra, **connection}))
        monkeypatch.setenv("PATH", f"{binary.parent}:{os.environ['PATH']}")
        assert compare("job.py").execute({"run_id": "manual__1"}) == "run-1"
        noted = json.loads(note.read_text())
        argv = noted["argv"]
        conf = dict(argv[i + 1].split("=", 1) for i, word in enumerate(argv) if word == "--conf")
        options = {word: argv[i + 1] for i, word in enumerate(argv) if word.startswith("--") and word != "--conf"}
        return options, conf, noted["local_ip"]

    return run


def test_a_standalone_master_gets_no_address_of_this_machine(submitted, tmp_path):
    options, conf, local_ip = submitted({"host": "spark://master", "port": 7077})
    assert options == {
        "--master": "spark://master:7077",
        "--py-files": f"{tmp_path}/store/runs/run-1/kafka_audit.zip",
        "--driver-memory": "2g",
        "--executor-memory": "2g",
        "--name": "kafka-audit",
        "--store": f"{tmp_path}/store",
        "--run": "run-1",
    }
    assert not {"spark.driver.host", "spark.driver.extraJavaOptions", "spark.buffer.pageSize"} & conf.keys()
    assert conf["spark.pyspark.driver.python"] == sys.executable
    assert local_ip is None


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
@pytest.mark.parametrize("host", ["local[2]", "spark://master"])
def test_what_spark_writes_to_a_folder_is_closed_to_others(submitted, tmp_path, umask, host):
    before = os.umask(umask)
    try:
        _, conf, _ = submitted({"host": host})
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert conf["spark.hadoop.fs.permissions.umask-mode"] == "027"
    assert json.loads((tmp_path / "note.json").read_text())["umask"] == 0o027


def test_rights_in_an_object_store_and_in_hdfs_are_left_alone():
    assert submit.private("s3://bucket/audit") == submit.private("hdfs://namenode/audit") == {}


def test_arguments_that_airflow_shows_hold_no_login(submitted, monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", "s3://AKIA123:s3/cret@bucket/audit")
    options, _, _ = submitted({"host": "local[2]"})
    assert options["--store"] == "s3://***@bucket/audit"
    task = compare("job.py")
    assert "cret" not in json.dumps({name: getattr(task, name, None) for name in task.template_fields}, default=str)


def test_yarn_is_taken_when_the_connection_says_so(submitted):
    options, conf, local_ip = submitted({"host": "yarn", "extra": {"deploy-mode": "client", "queue": "audit"}})
    assert (options["--master"], options["--queue"], options["--deploy-mode"]) == ("yarn", "audit", "client")
    assert "spark.pyspark.python" not in conf
    assert local_ip is None


def test_yarn_in_cluster_mode_is_submitted_and_waited_for(submitted):
    """The provider refuses it for durable tasks, which are its default, without the REST API of the resource manager."""
    options, conf, _ = submitted({"host": "yarn", "extra": {"deploy-mode": "cluster"}})
    assert (options["--master"], options["--deploy-mode"]) == ("yarn", "cluster")
    assert "spark.yarn.submit.waitAppCompletion" not in conf


def test_a_retry_asks_spark_again_and_takes_no_driver_of_an_earlier_try_for_its_own(monkeypatch):
    """In cluster mode the provider keeps the driver of a try, whose answer is that of another run."""
    extra = {"deploy-mode": "cluster", "spark-binary": "spark-submit"}
    connection = {"conn_type": "spark", "host": "spark://master", "port": 7077, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SPARK", json.dumps(connection))
    asked = []

    def submit_driver(self, _):
        asked.append(self._application_args)
        self._driver_status = "FINISHED"
        return "driver-2"

    monkeypatch.setattr(SparkSubmitHook, "submit", submit_driver)
    monkeypatch.setattr(SparkSubmitHook, "_start_driver_status_tracking", lambda _: None)
    monkeypatch.setattr(CompareSnapshots, "get_job_status", lambda *_: "FINISHED")
    compare("job.py").execute({"run_id": "manual__1", "task_state_store": {"remote_job_id": "driver-1"}})
    assert [arguments[-1] for arguments in asked] == ["run-1"]


def test_secrets_of_spark_s_configuration_are_hidden_in_logs_and_rendered_templates(submitted, monkeypatch):
    hidden = []
    monkeypatch.setattr(submit, "mask_secret", hidden.append)
    key = "spark.hadoop.fs.azure.account.key.audits.dfs.core.windows.net"
    conf = {key: "c3RvcmU=", "spark.hadoop.fs.s3a.access.key": "AKIAEXAMPLE", "spark.executor.cores": "2"}
    _, given, _ = submitted({"host": "local[2]", "extra": {"conf": conf}})
    assert given[key] == "c3RvcmU="
    assert set(hidden) == {"c3RvcmU=", "AKIAEXAMPLE"}


def test_local_with_a_connection_is_as_local_as_without(submitted):
    options, conf, local_ip = submitted({"host": "local[2]"})
    assert options["--master"] == "local[2]"
    assert (conf["spark.driver.host"], conf["spark.ui.enabled"], local_ip) == ("127.0.0.1", "false", "127.0.0.1")
    assert "-XX:TieredStopAtLevel=1" in conf["spark.driver.extraJavaOptions"]


def test_a_local_spark_of_ours_starts_with_the_class_archive_and_another_one_does_not(monkeypatch):
    monkeypatch.setattr(submit.class_archive, "archive_java_options", lambda: "-XX:SharedArchiveFile=/a.jsa")

    def options(connection):
        return submit.settings(connection)[0].get("spark.driver.extraJavaOptions", "")

    local, extra = {"conn_id": "c", "conn_type": "spark", "host": "local[2]"}, '{"spark-binary": "spark-submit"}'
    assert options(None).endswith(" -XX:SharedArchiveFile=/a.jsa")
    assert options(submit.Connection(**local)).endswith(" -XX:SharedArchiveFile=/a.jsa")
    assert "SharedArchiveFile" not in options(submit.Connection(**local, extra=extra))
    assert "SharedArchiveFile" not in options(submit.Connection(conn_id="c", conn_type="spark", host="spark://master"))


def test_what_a_connection_says_of_spark_wins(submitted):
    _, conf, _ = submitted({"host": "local[2]", "extra": {"conf": {"spark.buffer.pageSize": "2m", "spark.x": "y"}}})
    assert (conf["spark.buffer.pageSize"], conf["spark.x"], conf["spark.driver.host"]) == ("2m", "y", "127.0.0.1")


def test_cluster_mode_gets_neither_environment_nor_an_interpreter_of_this_machine():
    """A standalone cluster refuses any environment in this mode; the driver's machine has its own Python."""
    conf, environment = submit.settings(submit.Connection(conn_id="c", conn_type="spark", extra='{"deploy-mode": "cluster"}'))
    assert environment is None
    assert sys.executable not in conf.values()


JOB = """
import argparse, json, sys
import kafka_audit
from kafka_audit.checks import catalogue
from pyspark.sql import SparkSession
parser = argparse.ArgumentParser()
parser.add_argument("--store"); parser.add_argument("--run")
given = parser.parse_args()
spark = SparkSession.builder.getOrCreate()
said = {"master": spark.sparkContext.master, "ui": spark.sparkContext.uiWebUrl, "package": kafka_audit.__file__,
        "checks": list(catalogue()), "python": sys.executable, "counted": spark.range(5).count()}
json.dump(said, open(f"{given.store}/{given.run}.json", "w"))
"""


@pytest.mark.spark
def test_without_connection_and_without_path_a_real_spark_runs_here(monkeypatch, tmp_path):
    """The provider alone would say `--master yarn`, and would not find `spark-submit`."""
    from kafka_audit.airflow import pyfiles  # noqa: PLC0415 -- needed by this test alone

    job, packed = tmp_path / "job.py", tmp_path / "store" / "runs" / "run-1" / pyfiles.NAME
    job.write_text(JOB)
    packed.parent.mkdir(parents=True)
    packed.write_bytes(pyfiles.package_zip())
    venv_bin = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != venv_bin))
    compare(str(job)).execute({"run_id": "manual__1"})
    said = json.loads((tmp_path / "store" / "run-1.json").read_text())
    assert said == {
        "master": "local[*]",
        "ui": None,
        "package": f"{packed}/kafka_audit/__init__.py",
        "checks": list(catalogue()),
        "python": sys.executable,
        "counted": 5,
    }

"""How the comparison reaches Spark. `spark-submit` is a script that notes how it was called, unless a test says otherwise."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

import kafka_audit
from kafka_audit.airflow.operators import compare_operator
from kafka_audit.airflow.operators.compare_operator import CompareSnapshots
from kafka_audit.checks import catalogue
from kafka_audit.model.errors import UsageError
from kafka_audit.spark import submission

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # the provider leaves its pipe open

NOTE = """#!{python}
import json, os, sys
umask = os.umask(0)
aws = {{name: value for name, value in os.environ.items() if name.startswith("AWS_") and name != "AWS_CA_BUNDLE"}}
print("exit code: 0")  # as Spark says for a pod that ended
json.dump({{"argv": sys.argv[1:], "local_ip": os.environ.get("SPARK_LOCAL_IP"), "umask": umask, "aws": aws}}, open({file!r}, "w"))
"""


WRITTEN = []
"""Runs for which the package was written into the store."""


def compare(application):
    return CompareSnapshots(task_id="compare", snapshot_ids=["20260131T080000Z-prod-00aa"], application=application)


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch, tmp_path):
    monkeypatch.setattr("kafka_audit.airflow.tasks.audit_tasks.write_run_request", lambda *_: "run-1")
    monkeypatch.setattr("kafka_audit.airflow.tasks.audit_tasks.write_package", WRITTEN.append)
    WRITTEN.clear()
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
    assert WRITTEN == ["run-1"]
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
    assert submission.store_conf("s3://bucket/audit") == submission.store_conf("hdfs://namenode/audit") == {}


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
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SPARK", json.dumps({"conn_type": "spark", "host": "yarn", "extra": extra}))
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
    monkeypatch.setattr(compare_operator, "mask_secret", hidden.append)
    key = "spark.hadoop.fs.azure.account.key.audits.dfs.core.windows.net"
    conf = {key: "c3RvcmU=", "spark.hadoop.fs.s3a.access.key": "AKIAEXAMPLE", "spark.executor.cores": "2"}
    _, variables, _ = submitted({"host": "local[2]", "extra": {"conf": conf}})
    assert variables[key] == "c3RvcmU="
    assert set(hidden) == {"c3RvcmU=", "AKIAEXAMPLE"}


API = {"host": "k8s://https://api", "port": 6443}
CLUSTERS = {
    "yarn in client mode": (
        {"host": "yarn", "extra": {"deploy-mode": "client", "queue": "audit"}},
        "--master yarn {conf} {own_python} --py-files {copy} {common} --queue audit --deploy-mode client {job}",
    ),
    "yarn in cluster mode": (
        {"host": "yarn", "extra": {"deploy-mode": "cluster", "conf": {"spark.pyspark.python": "/opt/venv/bin/python"}}},
        "--master yarn {conf} {its_python} --py-files {url} {common} --deploy-mode cluster {job}",
    ),
    "kubernetes in client mode": (
        {**API, "extra": {"deploy-mode": "client", "namespace": "audit"}},
        "--master k8s://https://api:6443 {conf} {own_python} {namespace} --py-files {copy} {common} --deploy-mode client {job}",
    ),
    "kubernetes in cluster mode": (
        {**API, "extra": {"deploy-mode": "cluster", "namespace": "audit", "conf": {"spark.kubernetes.container.image": "a:1"}}},
        "--master k8s://https://api:6443 {conf} {image} {namespace} --py-files {url} {common} --deploy-mode cluster {job}",
    ),
}
WORDS = {
    "conf": "--conf spark.ui.enabled=false --conf spark.sql.session.timeZone=UTC --conf spark.log.level=WARN",
    "own_python": f"--conf spark.pyspark.driver.python={sys.executable}",
    "its_python": "--conf spark.pyspark.python=/opt/venv/bin/python",
    "namespace": "--conf spark.kubernetes.namespace=audit",
    "image": "--conf spark.kubernetes.container.image=a:1",
    "copy": "COPY/kafka_audit.zip",
    "url": "s3a://bucket/audit/runs/run-1/kafka_audit.zip",
    "common": "--executor-memory 2g --driver-memory 2g --name kafka-audit",
    "job": "job.py --store s3://bucket/audit --run run-1",
}


@pytest.mark.parametrize(("connection", "expected"), CLUSTERS.values(), ids=CLUSTERS)
def test_the_command_line_for_yarn_and_kubernetes(submitted, monkeypatch, tmp_path, connection, expected):
    """As docs/spark.md shows them. The provider of Kubernetes is not installed; the hook looks for it, not into it."""
    monkeypatch.setattr("airflow.providers.apache.spark.hooks.spark_submit.kube_client", object(), raising=False)
    monkeypatch.setenv("KAFKA_AUDIT_STORE", "s3://bucket/audit")
    submitted(connection)
    line = " ".join(json.loads((tmp_path / "note.json").read_text())["argv"])
    assert re.sub(r"--py-files \S+/kafka-audit-scratch-\w+/", "--py-files COPY/", line) == expected.format(**WORDS)


def test_cluster_mode_of_a_standalone_cluster_is_refused_before_anything_is_written(submitted, monkeypatch):
    monkeypatch.setattr(
        "kafka_audit.airflow.tasks.audit_tasks.write_run_request", lambda *_: pytest.fail("a request was written")
    )
    with pytest.raises(UsageError, match="a standalone Spark cluster does not run Python in cluster mode; remove deploy-mode"):
        submitted({"host": "spark://master", "port": 7077, "extra": {"deploy-mode": "cluster"}})


@pytest.mark.spark
def test_spark_itself_refuses_that_mode(tmp_path):
    """When it no longer does, the refusal above can go. It looks at the master's URL only, no master is asked."""
    command = [
        submission.own_spark_submit(),
        "--master",
        "spark://127.0.0.1:1",
        "--deploy-mode",
        "cluster",
        tmp_path / "job.py",
    ]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert completed.returncode != 0
    refusal = "Cluster deploy mode is currently not supported for python applications on standalone clusters."
    assert refusal in completed.stdout + completed.stderr


AWS = {
    "conn_type": "aws",
    "login": "AKIA123",
    "password": "s3cr/et",
    "extra": {"endpoint_url": "http://s3.corp:9000", "region_name": "eu-1"},
}


@pytest.mark.parametrize("host", ["local[2]", "spark://master", "yarn"])
def test_spark_gets_the_login_of_the_store_by_its_environment_alone(submitted, monkeypatch, tmp_path, host):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", "s3://bucket/audit")
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_STORE", json.dumps(AWS))
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-another-login")
    before = dict(os.environ)
    _, conf, _ = submitted({"host": host})
    noted = json.loads((tmp_path / "note.json").read_text())
    assert noted["aws"] == {
        "AWS_ACCESS_KEY_ID": "AKIA123",
        "AWS_SECRET_ACCESS_KEY": "s3cr/et",
        "AWS_REGION": "eu-1",
        "AWS_DEFAULT_REGION": "eu-1",
        "AWS_ENDPOINT_URL_S3": "http://s3.corp:9000",
    }
    assert not [word for word in noted["argv"] if "s3cr/et" in word or "AKIA123" in word]
    assert {key: value for key, value in conf.items() if "s3a" in key} == {
        "spark.hadoop.fs.s3a.endpoint": "http://s3.corp:9000",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.endpoint.region": "eu-1",
    }
    assert {name: value for name, value in os.environ.items() if name.startswith("AWS_")} == {
        name: value for name, value in before.items() if name.startswith("AWS_")
    }


@pytest.mark.parametrize("root", ["{tmp}/store", "gs://bucket/audit"])
def test_a_store_elsewhere_does_not_take_that_login(submitted, monkeypatch, tmp_path, root):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", root.format(tmp=tmp_path))
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_STORE", json.dumps(AWS))
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    _, conf, _ = submitted({"host": "local[2]"})
    assert json.loads((tmp_path / "note.json").read_text())["aws"] == {}
    assert not [key for key in conf if "s3a" in key]


def test_local_with_a_connection_is_as_local_as_without(submitted):
    options, conf, local_ip = submitted({"host": "local[2]"})
    assert options["--master"] == "local[2]"
    assert ("--py-files" in options, WRITTEN) == (False, [])
    assert (conf["spark.driver.host"], conf["spark.ui.enabled"], local_ip) == ("127.0.0.1", "false", "127.0.0.1")
    assert "-XX:TieredStopAtLevel=1" in conf["spark.driver.extraJavaOptions"]


def test_a_local_spark_of_ours_keeps_an_archive_of_its_classes_and_another_one_does_not(monkeypatch):
    monkeypatch.setattr(submission, "shared_archive_options", lambda: "-XX:SharedArchiveFile=/a.jsa")

    def options(connection):
        return compare_operator.settings(connection)[0].get("spark.driver.extraJavaOptions", "")

    local, extra = {"conn_id": "c", "conn_type": "spark", "host": "local[2]"}, '{"spark-binary": "spark-submit"}'
    assert options(None).endswith(" -XX:SharedArchiveFile=/a.jsa")
    assert options(compare_operator.Connection(**local)).endswith(" -XX:SharedArchiveFile=/a.jsa")
    assert "SharedArchiveFile" not in options(compare_operator.Connection(**local, extra=extra))
    assert "SharedArchiveFile" not in options(compare_operator.Connection(conn_id="c", conn_type="spark", host="spark://master"))


@pytest.mark.parametrize("key", ["spark.pyspark.python", "spark.pyspark.driver.python"])
def test_a_local_spark_with_another_python_gets_the_package(submitted, tmp_path, key):
    """That interpreter may have other packages installed."""
    options, conf, _ = submitted({"host": "local[2]", "extra": {"conf": {key: "/opt/venv/bin/python"}}})
    assert conf[key] == "/opt/venv/bin/python"
    assert options["--py-files"] == f"{tmp_path}/store/runs/run-1/kafka_audit.zip"
    assert WRITTEN == ["run-1"]


def test_an_installed_package_does_not_come_before_the_standard_library(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    folder = str(Path(kafka_audit.__file__).parents[1])
    assert submission.python_path() == {"PYTHONPATH": f"{folder}{os.pathsep}/theirs"}
    monkeypatch.setattr(submission.sysconfig, "get_path", lambda _: folder)
    assert submission.python_path() == {}


def test_what_a_connection_says_of_spark_wins(submitted):
    _, conf, _ = submitted({"host": "local[2]", "extra": {"conf": {"spark.buffer.pageSize": "2m", "spark.x": "y"}}})
    assert (conf["spark.buffer.pageSize"], conf["spark.x"], conf["spark.driver.host"]) == ("2m", "y", "127.0.0.1")


def test_settings_of_spark_that_are_no_object_are_one_line_without_them():
    """The form of a connection takes any JSON, such as text with an object in it."""
    extra = json.dumps({"conf": '{"spark.hadoop.fs.s3a.secret.key": "hush"}'})
    with pytest.raises(UsageError, match="connection kafka_audit_spark: conf in its extra must be an object") as error:
        compare_operator.settings(compare_operator.Connection(conn_id="c", conn_type="spark", host="local[2]", extra=extra))
    assert "hush" not in str(error.value)


def test_cluster_mode_gets_neither_environment_nor_an_interpreter_of_this_machine():
    """A standalone cluster refuses any environment in this mode; the driver's machine has its own Python."""
    conf, environment = compare_operator.settings(
        compare_operator.Connection(conn_id="c", conn_type="spark", extra='{"deploy-mode": "cluster"}')
    )
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
    job = tmp_path / "job.py"
    job.write_text(JOB)
    (tmp_path / "store").mkdir()
    venv_bin = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != venv_bin))
    compare(str(job)).execute({"run_id": "manual__1"})
    stored = json.loads((tmp_path / "store" / "run-1.json").read_text())
    assert stored == {
        "master": "local[*]",
        "ui": None,
        "package": kafka_audit.__file__,
        "checks": list(catalogue()),
        "python": sys.executable,
        "counted": 5,
    }

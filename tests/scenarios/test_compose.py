"""The services of `docker-compose.yaml`, without Docker: the command and environment of each on a host of its own, by its name.

A service may write what its container may: volumes and /tmp, and it has no capabilities, but for those by which the
scheduler enters the namespaces of the test bed's brokers. What differs from a container: paths, the user, the address that
Docker puts behind a container's own name, and the database, which is SQLite unless KAFKA_AUDIT_TESTS_DATABASE names another.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import compose_file
from airflow_environment import ROOT
from testbed import Bed
from testbed.names import own_names

pytestmark = [pytest.mark.scenario, pytest.mark.bed, pytest.mark.airflow, pytest.mark.spark]

ENVIRONMENT = compose_file.SECRETS | {"KAFKA_AUDIT_SCHEDULE": "none", "KAFKA_AUDIT_FAIL_ON": "critical"}
SERVICES = {name: service for name, service in compose_file.services(ENVIRONMENT).items() if name != "postgres"}
ADDRESSES = {name: f"10.99.0.{120 + number}" for number, name in enumerate(SERVICES)}
START_SECONDS = 300
RUN_SECONDS = 600

# Said by the host of the API server, as a person's browser would from there.
CALL = """
import json, sys, urllib.request
method, path, token = sys.argv[1:]
request = urllib.request.Request(f"http://airflow-apiserver:8080{path}", method=method, data=sys.stdin.buffer.read() or None)
request.add_header("Content-Type", "application/json")
if token:
    request.add_header("Authorization", f"Bearer {token}")
print(urllib.request.urlopen(request, timeout=60).read().decode())
"""


class Services:
    """The services, each on its host."""

    def __init__(self, bed, folder: Path):
        self.folder = folder
        self._bed = bed
        self._paths = {
            "/opt/kafka-audit": ROOT,
            "/var/lib/airflow": folder / "airflow",
            "/var/lib/kafka-audit": folder / "store",
            "/etc/kafka-audit": folder / "etc",
            "/tmp/spark": folder / "spark",  # noqa: S108 -- the container's own
        }
        for path in self._paths.values():
            path.mkdir(exist_ok=True)
        self.hosts = {name: bed.hosts.add(name, address) for name, address in ADDRESSES.items()}
        for host in self.hosts.values():
            own_names(host, folder / "names", hosts=ADDRESSES)
        self.processes = []
        self._token = ""

    def natively(self, text):
        for inside, here in self._paths.items():
            text = text.replace(inside, str(here))
        return text

    def environment(self, name):
        outside = {key: value for key, value in os.environ.items() if not key.startswith(("AIRFLOW", "_AIRFLOW", "KAFKA_AUDIT_"))}
        environment = {**compose_file.image_environment(), **SERVICES[name].get("environment", {})}
        own = {key: self.natively(value) for key, value in environment.items()}
        database = os.environ.get("KAFKA_AUDIT_TESTS_DATABASE") or f"sqlite:///{self.folder}/airflow/airflow.db"
        if "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN" in own:
            own["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] = database
        here = Path(sys.executable).parent
        return outside | own | {"PATH": f"{here}:{outside['PATH']}", "SPARK_LOCAL_HOSTNAME": ADDRESSES[name]}

    def start(self, name):
        """Start a service and wait until its health check passes; one without a check, until it ends well."""
        service, host, environ = SERVICES[name], self.hosts[name], self.environment(name)
        command = [self.natively(word) for word in service["command"]]
        with (self.folder / f"{name}.log").open("w") as log:
            process = host.popen(
                [*self.confined(name), *command], cwd=self.folder, env=environ, stdout=log, stderr=subprocess.STDOUT
            )
        self.processes.append(process)
        deadline = time.monotonic() + START_SECONDS
        if "healthcheck" not in service:
            assert process.wait(START_SECONDS) == 0, self.told(name)
            return
        kind, *check = service["healthcheck"]["test"]
        assert kind == "CMD"
        while host.run(check, cwd=self.folder, env=environ).returncode:
            assert process.poll() is None, self.told(name)
            assert time.monotonic() < deadline, self.told(name)
            time.sleep(2)

    def confined(self, name):
        """Return what goes before a command so that it has its container's rights: `read_only`, `cap_drop`, `security_opt`."""
        service = SERVICES[name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]
        volumes = (
            volume["target"] if isinstance(volume, dict) else volume.split(":")[1] for volume in service.get("volumes", [])
        )
        writable = [self.natively(path) for path in volumes] + [mount.partition(":")[0] for mount in service["tmpfs"]]
        mounts = [f"mount --bind {path} {path}" for path in sorted(writable)]
        kept = (
            ",+sys_admin,+sys_chroot,+sys_ptrace" if name == "airflow-scheduler" else ""
        )  # by which the bed's vantage enters a namespace
        script = "\n".join(["set -e", *mounts, "mount -o remount,bind,ro /", 'exec "$@"'])
        rights = ["setpriv", f"--bounding-set=-all{kept}", "--inh-caps=-all", "--no-new-privs"]
        return ["unshare", "--mount", "sh", "-c", script, "sh", *rights]

    def told(self, name):
        tail = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-40:]
        return "\n".join([f"{name}:", *tail])

    def call(self, method, path, body=None):
        host = self.hosts["airflow-apiserver"]
        completed = host.run(
            [sys.executable, "-c", CALL, method, path, self._token], input=json.dumps(body) if body is not None else "", cwd="/"
        )
        assert completed.returncode == 0, completed.stderr
        return completed.stdout

    def log_in(self):
        answer = self.call("POST", "/auth/token", {"username": "admin", "password": ENVIRONMENT["AIRFLOW_ADMIN_PASSWORD"]})
        self._token = json.loads(answer)["access_token"]


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compose")
    with Bed(folder / "bed") as bed:
        cluster = bed.cluster("3.9.1")
        cluster.create_topic("orders", {0: [0, 1, 2]})
        found = Services(bed, folder)
        (folder / "etc" / "clusters.yaml").write_text(cluster.clusters_yaml("play"))
        waiting = dict(SERVICES)
        while waiting:  # in the order of depends_on
            name = next(service for service in waiting if not waiting.keys() & waiting[service].get("depends_on", {}).keys())
            found.start(name)
            del waiting[name]
        yield found
    for process in found.processes:  # they ended with their hosts
        process.wait(30)


def test_a_cluster_is_audited_by_these_services(services):
    services.log_in()
    deadline = time.monotonic() + RUN_SECONDS
    while "kafka_audit" not in {dag["dag_id"] for dag in json.loads(services.call("GET", "/api/v2/dags"))["dags"]}:
        assert time.monotonic() < deadline, services.told("airflow-dag-processor")
        time.sleep(2)
    run = json.loads(services.call("POST", "/api/v2/dags/kafka_audit/dagRuns", {"logical_date": None}))["dag_run_id"]
    where = f"/api/v2/dags/kafka_audit/dagRuns/{run}"
    while (state := json.loads(services.call("GET", where))["state"]) not in {"success", "failed"}:
        assert time.monotonic() < deadline, services.told("airflow-scheduler")
        time.sleep(2)
    tasks = json.loads(services.call("GET", f"{where}/taskInstances"))["task_instances"]
    assert state == "success", {task["task_id"]: task["state"] for task in tasks}

    spark = services.hosts["spark-master"].run(
        [sys.executable, "-c", "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8080/json/').read().decode())"]
    )
    known = json.loads(spark.stdout)
    assert [application["name"] for application in known["completedapps"]] == ["kafka-audit"]
    assert [worker["state"] for worker in known["workers"]] == ["ALIVE"]

    page = services.call("GET", "/kafka-audit/clusters/play")
    assert "<h1" in page
    report = json.loads((services.folder / "store" / "findings.json").read_text())
    assert (report["cluster"], report["coverage"]["asked"]) == ("play", report["coverage"]["answered"])


def test_the_log_of_a_task_is_read_by_the_api_server(services):
    services.log_in()
    run = json.loads(services.call("GET", "/api/v2/dags/kafka_audit/dagRuns"))["dag_runs"][0]["dag_run_id"]
    log = services.call("GET", f"/api/v2/dags/kafka_audit/dagRuns/{run}/taskInstances/clusters/logs/1?full_content=true")
    lines = [str(line.get("event", "")) for line in json.loads(log)["content"]]
    assert len(lines) > 1, log[:1000]
    assert not [line for line in lines if "Could not read served logs" in line]

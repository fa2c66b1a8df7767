"""A whole Airflow on loopback: `airflow standalone` with scheduler, DAG processor and API, driven by its REST API."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class AirflowServer:
    """Started at once; a context manager that ends every process of it."""

    def __init__(self, home, log):
        port = free_port()
        self._base = f"http://127.0.0.1:{port}"
        settings = {
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__API__BASE_URL": self._base,
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(free_port()),
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__CORE__PARALLELISM": "4",
            "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
            "KAFKA_AUDIT_SCHEDULE": "none",
        }
        # `standalone` starts its parts as `airflow`, from PATH.
        path = os.pathsep.join([home.environment["PATH"], str(Path(sys.executable).parent)])
        with log.open("w") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "airflow", "standalone"],
                env=home.environment | settings | {"PATH": path},
                cwd=home.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._log = log
        self._token = None

    def __enter__(self):
        self.wait_for(self._is_up, 180, "Airflow's API")
        self._token = self.call("GET", "/auth/token")["access_token"]
        return self

    def __exit__(self, *_):
        os.killpg(self._process.pid, signal.SIGTERM)  # its parts outlive the parent when that alone gets it
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def call(self, method, path, body=None):
        request = urllib.request.Request(  # noqa: S310 -- loopback
            f"{self._base}{path}", method=method, data=None if body is None else json.dumps(body).encode()
        )
        request.add_header("Content-Type", "application/json")
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 -- loopback
            return json.loads(answer.read() or b"null")

    def unpause(self, dag):
        self.wait_for(lambda: self._knows(dag), 120, f"the DAG {dag}")
        self.call("PATCH", f"/api/v2/dags/{dag}", {"is_paused": False})

    def run(self, dag, timeout=240, **conf):
        """Trigger a DAG and return the state in which its run ends."""
        run = self.call("POST", f"/api/v2/dags/{dag}/dagRuns", {"logical_date": None, "conf": conf})["dag_run_id"]
        return self.wait_for(lambda: self._ended(dag, run), timeout, f"the end of {run}")

    def wait_for(self, look, timeout, what):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.5)
        message = f"{what} did not come in {timeout} s:\n{self._log.read_text(errors='replace')[-3000:]}"
        raise AssertionError(message)

    def _is_up(self):
        try:
            health = self.call("GET", "/api/v2/monitor/health")
        except OSError:
            return False
        return health["scheduler"]["status"] == "healthy"

    def _knows(self, dag):
        try:
            return self.call("GET", f"/api/v2/dags/{dag}")
        except urllib.error.HTTPError:
            return None

    def _ended(self, dag, run):
        state = self.call("GET", f"/api/v2/dags/{dag}/dagRuns/{run}")["state"]
        return state if state in {"success", "failed"} else None

"""DAGs under the scheduler of a whole Airflow, driven by its REST API."""

import json
import socket
import time
import urllib.error
import urllib.request
from urllib.parse import quote

from testbed.airflow_server import AirflowServer


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _address(dag, run):
    return f"/api/v2/dags/{dag}/dagRuns/{quote(run, safe='')}"


class Scheduled(AirflowServer):
    """An Airflow whose DAGs run when they are triggered, and people answer when they are asked."""

    def __init__(self, home, **where):
        quick = {
            "KAFKA_AUDIT_SCHEDULE": "none",
            "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "3600",  # the files stay as they are
        }
        super().__init__(home.folder, home.environment | quick, **where)
        self._environment["PATH"] = (
            f"{home.environment['PATH']}:{self._environment['PATH']}"  # its spark-submit before the venv's
        )
        self._token = None

    def __enter__(self):
        super().__enter__()
        self._token = self.call("POST", "/auth/token", {"username": "admin", "password": "admin"})["access_token"]
        return self

    def call(self, method, path, body=None):
        request = urllib.request.Request(  # noqa: S310 -- loopback
            f"{self.url}{path}", method=method, data=None if body is None else json.dumps(body).encode()
        )
        request.add_header("Content-Type", "application/json")
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 -- loopback
            return json.loads(answer.read() or b"null")

    def unpause(self, *dags):
        for dag in dags:
            self.wait_for(lambda dag=dag: self._found(f"/api/v2/dags/{dag}"), 180, f"the DAG {dag}")
            self.call("PATCH", f"/api/v2/dags/{dag}", {"is_paused": False})

    def trigger(self, dag, **conf):
        """Start a run and return its id."""
        return self.call("POST", f"/api/v2/dags/{dag}/dagRuns", {"logical_date": None, "conf": conf})["dag_run_id"]

    def ended(self, dag, run, timeout=300):
        """Return the state in which a run ends."""

        def state():
            found = self.call("GET", _address(dag, run))["state"]
            return found if found in {"success", "failed"} else None

        return self.wait_for(state, timeout, f"the end of {run}")

    def run(self, dag, **conf):
        return self.ended(dag, self.trigger(dag, **conf))

    def states(self, dag, run):
        """Return the state of each task of a run."""
        found = self.call("GET", f"{_address(dag, run)}/taskInstances?limit=100")["task_instances"]
        return {task["task_id"]: task["state"] for task in found}

    def question(self, dag, run, task):
        """Wait until a task asks, and return what; a run that ends without asking fails at once."""
        where = f"{_address(dag, run)}/taskInstances/{task}/-1/hitlDetails"

        def asked():
            found = self._found(where)
            if found is None and self.call("GET", _address(dag, run))["state"] in {"success", "failed"}:
                message = f"{run} ended before {task} asked: {self.states(dag, run)}"
                raise AssertionError(message)
            return found

        return self.wait_for(asked, 300, f"the question of {task}")

    def wait_for(self, look, timeout, what):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.5)
        message = f"{what} did not come in {timeout} s"
        raise AssertionError(message)

    def _found(self, path):
        try:
            return self.call("GET", path)
        except urllib.error.HTTPError:
            return None

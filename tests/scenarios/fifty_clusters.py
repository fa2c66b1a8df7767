"""Fifty clusters in one run of a whole Airflow: 46 small fakes, two real ones, one that refuses connections, one that drips."""

import json
import os
import sys
import time
import urllib.request
from contextlib import ExitStack, closing
from pathlib import Path

import yaml

from kafka_audit.model.report import report_json
from kafka_audit.store import Store
from scenarios.audits import failing
from scenarios.scheduled import Scheduled, free_port
from testbed.airflow_home import DAG, ROOT, AirflowHome
from testbed.bed import Bed

FAKES = 46
NETWORK = "10.97"  # addresses of the worker host alone
HEALTHY, FAULTY, DEAD, DRIPS = "real-healthy", "real-faulty", "dead", "drips"
HEADLINE = "Broker 2 is cut off: controller 0 cannot reach the address it advertises"
READ_S, AUDIT_S, POOL = 5, 30, 10
DEADLINE_S = 15 * 60
"""A run has ended before the default schedule begins the next one."""

TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}}


class FiftyClusters:
    """The clusters, and an Airflow beside them on the worker host of the bed, as long as the `with` block."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._stack = ExitStack()
        self.expected = {}  # id of each cluster that answers, None where the cluster makes its own
        self.places = {}  # address of the two that do not

    def __enter__(self):
        with ExitStack() as stack:
            self.bed = stack.enter_context(Bed(self._folder / "bed", keep_logs=self._folder / "kept-logs"))
            clusters = self._fakes(stack) | self._real()
            limits = {"read_s": READ_S, "settle_s": 0.2, "audit_s": AUDIT_S}
            for name, entry in clusters.items():
                entry["labels"] = {"kind": name.partition("-")[0]}
                entry["limits"] = limits
            file = self._folder / "clusters.yaml"
            file.write_text(json.dumps({"clusters": clusters}))
            self.names = list(clusters)
            self.store = Store(self._folder / "store")
            variables = {"KAFKA_AUDIT_POOL": "kafka_audit"}
            home = AirflowHome(
                self.bed.worker, self._folder / "airflow", clusters=file, store=self._folder / "store", variables=variables
            )
            home.ready(home.migrate())
            self.home = home
            server = Scheduled(home, host=self.bed.worker)
            server._environment["AIRFLOW__CORE__PARALLELISM"] = "4"
            self.airflow = stack.enter_context(server)
            self.airflow.call("POST", "/api/v2/pools", {"name": "kafka_audit", "slots": POOL})
            self.airflow.unpause(DAG)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _fakes(self, stack):
        worker = self.bed.worker
        lines = [f"addr add {NETWORK}.{number}.{last}/32 dev lo" for number in range(FAKES) for last in range(10, 14)]
        worker.demand(["ip", "-batch", "-"], input="\n".join(lines) + "\n", cwd="/")
        paths = ":".join(str(ROOT / part) for part in ("tests", "plugins", "."))
        process = worker.popen(
            [sys.executable, "-m", "hostile_parties.serve_clusters", str(FAKES), NETWORK],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
            stdin=-1,
            stdout=-1,
        )
        stack.enter_context(process)
        stack.enter_context(closing(process.stdin))
        described = json.loads(process.stdout.readline())
        names = [f"fake-{number:02}" for number in range(FAKES)]
        self.expected |= dict(zip(names, described["ids"], strict=True))
        self.places = {DEAD: f"127.0.0.1:{free_port()}", DRIPS: described["drips"]}
        return dict(zip(names, described["entries"], strict=True)) | {
            name: {"bootstrap": [place]} for name, place in self.places.items()
        }

    def _real(self):
        healthy, faulty = self.bed.kraft("4.3.0"), self.bed.cluster("3.9.1")
        for cluster in (healthy, faulty):
            for name, assignment in TOPICS.items():
                cluster.create_topic(name, assignment)
            cluster.await_settled()
        faulty.make_controller(0)
        faulty.await_settled()
        faulty.advertise_through_forward([2])
        self.expected |= {HEALTHY: None, FAULTY: None}
        named = {HEALTHY: healthy, FAULTY: faulty}
        return {name: yaml.safe_load(cluster.clusters_yaml(name))["clusters"][name] for name, cluster in named.items()}

    def run(self):
        """Audit all by the DAG; return the state of the run, its seconds, and its tasks by (id, name of the cluster)."""
        began = time.monotonic()
        run = self.airflow.trigger(DAG)
        state = self.airflow.ended(DAG, run, DEADLINE_S)
        seconds = time.monotonic() - began
        found = self.airflow.call("GET", f"/api/v2/dags/{DAG}/dagRuns/{run}/taskInstances?limit=100")
        tasks = found["task_instances"]
        while len(tasks) < found["total_entries"]:
            more = f"/api/v2/dags/{DAG}/dagRuns/{run}/taskInstances?limit=100&offset={len(tasks)}"
            tasks += self.airflow.call("GET", more)["task_instances"]
        return state, seconds, {(task["task_id"], task["rendered_map_index"]): task for task in tasks}

    def reports(self):
        """Return the newest report of each cluster."""
        newest = {}
        for manifest in self.store.manifests():
            newest.setdefault(manifest.cluster, manifest.snapshot_id)
        reports = {name: self.store.read_report(snapshot_id) for name, snapshot_id in newest.items()}
        return {name: None if report is None else report_json(report) for name, report in reports.items()}

    def wrong(self, reports):
        """Return what is wrong in the reports on the clusters that answer, by cluster."""
        found = {}
        for name, cluster_id in self.expected.items():
            report = reports.get(name)
            fault = "no report" if report is None else self._wrong(name, cluster_id, report)
            if fault:
                found[name] = fault
        return found

    @staticmethod
    def _wrong(name, cluster_id, report):
        coverage, worst = report["coverage"], failing(report, at_least="HIGH")
        if cluster_id is not None and report["cluster_id"] != cluster_id:
            return f"cluster id {report['cluster_id']}"
        if name == FAULTY:
            headlines = [incident["headline"] for incident in report["incidents"]]
            return "" if headlines == [HEADLINE] else f"incidents {headlines}"
        if coverage["answered"] != coverage["asked"] or not coverage["asked"]:
            return f"answered {coverage['answered']} of {coverage['asked']}"
        return f"fails {sorted(worst)}" if worst else ""

    def gate_log(self, task):
        """Return the log of a gate."""
        folder = self.home.folder / "logs" / f"dag_id={DAG}" / f"run_id={task['dag_run_id']}" / "task_id=gate"
        return "".join(log.read_text(errors="replace") for log in (folder / f"map_index={task['map_index']}").glob("*.log"))

    def page(self, path):
        """Return the text of a page and the seconds that it took."""
        request = urllib.request.Request(f"{self.airflow.url}/kafka-audit/{path}")  # noqa: S310 -- loopback
        request.add_header("Authorization", f"Bearer {self.airflow._token}")
        began = time.monotonic()
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 -- loopback
            text = answer.read().decode()
        return text, time.monotonic() - began

"""Audits of a cluster in the bed, by the console script and by the DAG, and what scenarios read off them."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import yaml

from testbed.airflow_home import AirflowHome

PARTS = {
    "far": (),
    "near": ("vantages",),
    "files": ("properties",),
    "written": ("logs",),
    "all": ("vantages", "properties"),
}


@contextmanager
def dag_tests(airflow):
    """Yield a function that runs `airflow dags test kafka_audit` once more into a log, and returns its exit code."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("dag_tests.py"))],
        cwd=airflow.folder,
        env=airflow.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def run(log):
            process.stdin.write(f"{log}\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield run
        process.stdin.close()


class Audits:
    """Audits of one cluster: «near» has a command vantage on the brokers' hosts, «files» their server.properties,
    «written» their logs, «far» neither.

    Each has a store, and so a history, of its own: the previous snapshot is the newest one of the same cluster in any of them.
    """

    NAMES = ("far", "near")

    def __init__(self, bed, cluster, folder: Path, user=None):
        self._bed = bed
        self._cluster = cluster
        self._folder = folder
        self.airflow = None
        self._user = user  # as whom a secured cluster is audited; None for the bed's auditor
        entry = yaml.safe_load(cluster.clusters_yaml("any"))["clusters"]["any"]
        if user is not None:
            entry["security"] = cluster.secured.audit_settings(user)
        optional = {part for parts in PARTS.values() for part in parts}
        for name, parts in PARTS.items():
            described = {key: value for key, value in entry.items() if key in parts or key not in optional}
            self._file(name).parent.mkdir(parents=True)
            self._file(name).write_text(json.dumps({"clusters": {name: described}}))

    def describe(self, name, **more):
        """Write, or write anew, the cluster file of a name: that of «far», and what is said here (None takes a key away)."""
        entry = json.loads(self._file("far").read_text())["clusters"]["far"] | more
        self._file(name).parent.mkdir(parents=True, exist_ok=True)
        entry = {key: value for key, value in entry.items() if value is not None}
        self._file(name).write_text(json.dumps({"clusters": {name: entry}}))

    def config(self, name):
        """Return the options that name a cluster file."""
        return ["--config", str(self._file(name))]

    def environment(self):
        """Return the environment of an audit: the auditor's password, and no setting from outside."""
        return {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_AUDIT_")} | self._passwords()

    def _passwords(self):
        secured = self._cluster.secured
        return {} if secured is None else secured.audit_environment(*([] if self._user is None else [self._user]))

    def by_command(self, name, *options):
        """Run `kafka-audit run`; return what it said with its exit code and the report that it wrote."""
        where = ["--config", str(self._file(name)), "--out", str(self._store(name))]
        command = [sys.executable, "-m", "kafka_audit.cli", "run", name, *where, *options]
        completed = self._bed.worker.run(command, cwd=self._folder, env=self.environment())
        output = completed.stdout + completed.stderr
        return SimpleNamespace(code=completed.returncode, stdout=completed.stdout, said=output, report=self._report(name))

    def by_dag(self, name, log):
        """Run the DAG; return its exit code, its log and the report."""
        if self.airflow is None:
            home = self._folder / "airflow"
            places = {"clusters": self._file(name), "store": self._store(name)}
            self.airflow = AirflowHome(self._bed.worker, home, **places, variables=self._passwords())
            self.airflow.ready(self.airflow.migrate())
        run = self.airflow.run(self._folder / log)
        return SimpleNamespace(code=run.returncode, said=run.log.read_text(), tail=run.tail(), report=self._report(name))

    def _file(self, name):
        return self._folder / name / "clusters.yaml"

    def _store(self, name):
        return self._folder / name / "store"

    def _report(self, name):
        path = self._store(name) / "findings.json"
        return json.loads(path.read_text()) if path.is_file() else None


def from_host(host):
    """Return a vantage of the cluster file: a command that runs what follows on a host of the bed, said on the worker host."""
    return {"command": ["nsenter", "-t", str(host.holder.pid), "-n", "-m", "--"]}


def evidence_of(incident):
    """Return what speaks for an incident as lines."""
    return [f"{evidence['observer']}: {evidence['text']}" for evidence in incident["evidence_for"]]


def finding_of(report, code, resource):
    """Return the only finding of a code at a resource."""
    (found,) = [finding for finding in report["findings"] if (finding["code"], finding["resource"]["name"]) == (code, resource)]
    return found


def failing(report, *, at_least="INFO"):
    """Return (code, resource) of all unmuted failures from a severity on."""
    ranks = ["INFO", "LOW", "MEDIUM", "HIGH", "CRITICAL"]
    return {
        (finding["code"], finding["resource"]["name"])
        for finding in report["findings"]
        if finding["status"] == "FAIL" and not finding["muted"] and ranks.index(finding["severity"]) >= ranks.index(at_least)
    }


def only_incident(audit):
    """Return the only incident of an audit, which fails."""
    assert audit.code == 3, audit.said
    assert len(audit.report["incidents"]) == 1, audit.said
    return audit.report["incidents"][0]


def assert_clean(audit):
    """Fail if an audit says that something of weight is wrong."""
    assert audit.code == 0, audit.said
    assert audit.report["incidents"] == []
    assert failing(audit.report, at_least="HIGH") == set()


def assert_repaired(report, cause):
    """Fail if something of weight is wrong, or if another incident than that of the cause was resolved."""
    assert report["incidents"] == []
    assert failing(report, at_least="HIGH") == set()
    assert [incident["cause"] for incident in report["resolved_incidents"]] == [cause]


def everything_in(cluster):
    """Return what an audit must not change: all znodes, and the partition folders on every broker's disk."""
    folders = {broker: sorted(path.name for path in data.iterdir() if path.is_dir()) for broker, data in _data(cluster)}
    return cluster.znodes(), folders


def znodes_in(cluster):
    """Return which znodes there are, notices left out: what stays the same also in a cluster that is not at rest."""
    return {path for path in cluster.znodes() if not path.startswith("/isr_change_notification/")}


def _data(cluster):
    return [(broker.id, broker.server.folder / "data") for broker in cluster.brokers.values()]

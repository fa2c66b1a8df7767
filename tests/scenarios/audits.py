"""Audits of a cluster in the bed, by the console script and by the DAG, and what scenarios read off them."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

from kafka_audit.testbed.airflow_home import AirflowHome


class Audits:
    """Audits of one cluster, under two names: «near» has a command vantage on the brokers' hosts, «far» has none.

    Each name has its own history in the store; a test that wants to start without one takes a new `Audits`.
    """

    NAMES = ("far", "near")

    def __init__(self, bed, cluster, folder: Path):
        self._bed = bed
        self._folder = folder
        self._airflow = None
        self.store = folder / "store"
        self._clusters = folder / "clusters.yaml"
        folder.mkdir(parents=True, exist_ok=True)
        both = {
            "zookeeper": cluster.zookeeper_connect,
            "bootstrap": [broker.address for broker in cluster.brokers.values()],
            "expect": {"brokers": len(cluster.brokers)},
        }
        near = {"vantages": {"brokers": {"command": cluster.vantage_command(), "role": "broker"}}}
        self._clusters.write_text(json.dumps({"clusters": {"far": both, "near": both | near}}))

    def by_command(self, name, *options):
        """Run `kafka-audit run`; return what it said with its exit code and the report that it wrote."""
        environ = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_AUDIT_")}
        where = ["--config", str(self._clusters), "--out", str(self.store)]
        command = [sys.executable, "-m", "kafka_audit.cli", "run", name, *where, *options]
        done = self._bed.worker.run(command, cwd=self._folder, env=environ)
        said = done.stdout + done.stderr
        return SimpleNamespace(code=done.returncode, stdout=done.stdout, said=said, report=self.report(name))

    def by_dag(self, log):
        """Run the DAG over both names; return its exit code, its log and both reports."""
        if self._airflow is None:
            self._airflow = AirflowHome(self._bed.worker, self._folder / "airflow", clusters=self._clusters, store=self.store)
            self._airflow.ready(self._airflow.migrate())
        run = self._airflow.run(self._folder / log)
        reports = {name: self.report(name) for name in self.NAMES}
        return SimpleNamespace(code=run.returncode, said=run.log.read_text(), tail=run.tail(), reports=reports)

    def report(self, name):
        """Return the newest report of a name, None before its first."""
        path = self.store / "clusters" / name / "findings.json"
        return json.loads(path.read_text()) if path.is_file() else None


def failing(report, *, at_least="INFO"):
    """Return (code, resource) of all unmuted failures from a severity on."""
    ranks = ["INFO", "LOW", "MEDIUM", "HIGH", "CRITICAL"]
    return {
        (finding["code"], finding["resource"]["name"])
        for finding in report["findings"]
        if finding["status"] == "FAIL" and not finding["muted"] and ranks.index(finding["severity"]) >= ranks.index(at_least)
    }


def everything_in(cluster):
    """Return what an audit must not change: all znodes, and the partition folders on every broker's disk."""
    folders = {broker: sorted(path.name for path in data.iterdir() if path.is_dir()) for broker, data in _data(cluster)}
    return cluster.znodes(), folders


def _data(cluster):
    return [(broker.id, broker.server.folder / "data") for broker in cluster.brokers.values()]

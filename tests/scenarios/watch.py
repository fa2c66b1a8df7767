"""Many moments of one cluster, each judged against the one before, by one start of Spark."""

import sys
import time
from types import SimpleNamespace

from kafka_audit import audit, settings
from kafka_audit.model.report import report_json
from kafka_audit.spark.submission import submit_and_wait
from kafka_audit.store import Store
from scenarios.audits import Audits


class Watch(Audits):
    """Takes snapshots one after the other and judges them all at once, each against the one before."""

    def __init__(self, bed, cluster, folder):
        super().__init__(bed, cluster, folder)
        self.steps = []

    def look(self, what):
        """Take a snapshot at a moment that `what` names."""
        where = ["--config", str(self._file("far")), "--out", str(self._store("far"))]
        command = [sys.executable, "-m", "kafka_audit.cli", "snapshot", "far", *where]
        completed = self._bed.worker.run(command, cwd=self._folder, env=self.environment())
        assert completed.returncode == 0, completed.stderr
        self.steps.append(SimpleNamespace(what=what, snapshot=completed.stdout.strip()))

    def seen(self):
        """Return the newest snapshot."""
        return Store(str(self._store("far"))).read(self.steps[-1].snapshot)

    def judged(self):
        """Return what was to be seen at each step, with its report."""
        store, run = Store(str(self._store("far"))), f"watch-{time.time_ns()}"
        ids = [step.snapshot for step in self.steps]
        before = dict(zip(ids, [None, *ids], strict=False))
        clusters = settings.load(str(self._file("far")))
        audit.prepare_request(store, ids, before, run, clusters=clusters, show_all=True)
        submit_and_wait(store.root, run)
        documents = report_json(audit.write_reports(store, run, clusters))
        for step, document in zip(self.steps, documents, strict=True):
            step.report = document
        return self.steps
